// Every execution of a small concurrent program that the memory model allows,
// within bounds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <set>
#include <string>

namespace interleavings {

/// What is explored, docs/explanation/concurrency.md: each order in which the threads'
/// atomic operations can take place, for each load each store that it may see,
/// for each store each place among those to the same word, and each early return
/// that is allowed. Memory is C++20's with one restriction: no load sees a store
/// that is executed after it.
struct Bounds {
  std::size_t states = 20'000'000;
  int operations = 400;  ///< in one execution; more: it does not end
  /// A thread sees one store of a word this many times more, after it was
  /// overwritten: what is stored is seen at last.
  int stale_reads = 1;
  /// In one execution: weak compare-exchanges that fail for no reason, and
  /// sleeps that nobody ends.
  int early_returns = 1;
  /// Two executions that come to the same state go on as one.
  bool merge = true;
};

/// An order as it stands in the code.
struct Order {
  enum class Of : std::uint8_t { load, store, change, failure };
  std::string file;  ///< without its folder
  int line = 0;
  Of of = Of::load;
  std::memory_order order = std::memory_order_relaxed;
  friend auto operator<=>(const Order&, const Order&) = default;
};
/// Another in its place.
struct Weakened {
  Order which;
  std::memory_order to;
};

struct Report {
  std::string failure;         ///< in words, and what was done before; empty: none
  bool complete = false;       ///< all was explored
  std::size_t executions = 0;  ///< that came to their end
  std::size_t merged = 0;      ///< that came to a state that was known
  std::size_t states = 0;
  int longest = 0;         ///< operations in one execution
  std::set<Order> orders;  ///< all that were met
  std::string counts() const;
};

/// A program: an object that is made anew for each execution, at the same
/// address. What its threads share is Atomic and Plain (atomics.hpp), and lies
/// in it.
struct Program {
  int threads;
  const void* room;
  std::size_t bytes;
  std::function<void()> begin;
  std::function<void(int)> thread;
  std::function<void()> end;  ///< after all threads
  std::function<void()> destroy;
};
Report explore(const Program& program, const Bounds& bounds = {},
               const Weakened* weakened = nullptr);

/// \tparam World  has `threads` (2 or 3), thread(int) and end()
template <class World>
Report explore(const Bounds& bounds = {}, const Weakened* weakened = nullptr) {
  // More than it needs: an address that stands for something else may be looked
  // at by a faulty program.
  constexpr std::size_t bytes = sizeof(World) + 512;
  struct alignas(64) Room {
    std::byte bytes[sizeof(World) + 512];
  };
  const auto room = std::make_unique<Room>();
  World* world = nullptr;
  return explore(
      {World::threads, room.get(), bytes, [&] { world = new (room.get()) World; },
       [&](int thread) { world->thread(thread); }, [&] { world->end(); }, [&] { world->~World(); }},
      bounds, weakened);
}

/// From inside a program: fails if it does not hold.
void require(bool holds, const char* what);
/// From inside a thread: what it does from here on depends on `where` and on
/// what is shared, not on what it has read before. So executions that differ in
/// that alone go on as one.
void forget(int where);
/// From inside: what this execution has come to, for programs of which all
/// outcomes count.
void outcome(const std::string& text);
/// All that the last exploration has come to.
const std::set<std::string>& outcomes();

const char* name_of(std::memory_order order);

}  // namespace interleavings
