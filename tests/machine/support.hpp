// Shared by the tests of the machine: payload identified by its key, checks for use inside node
// programs, and machines of every kind.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/tests/alive.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace machine_tests {

using namespace wormcube;

/// Sanitizers make a run this many times slower: tests with a free number of repetitions divide it.
constexpr int patience = sanitized ? 8 : 1;

/// A well-mixed number (splitmix64).
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}
/// The same for several numbers in a row.
inline std::uint64_t mix(std::initializer_list<std::uint64_t> numbers) {
  std::uint64_t mixed = 0;
  for (const std::uint64_t number : numbers) mixed = mix(mixed ^ number);
  return mixed;
}
inline std::uint64_t key(std::uint64_t seed, Rank from, Rank to, std::uint64_t number) {
  return mix({seed, static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to), number});
}

/// Byte i of the payload with this key.
inline std::byte payload(std::uint64_t key, Bytes i) {
  return static_cast<std::byte>(mix(key + i / 8) >> (i % 8 * 8));
}
inline void fill(Span data, std::uint64_t key) {
  for (Bytes i = 0; i < data.size(); i += 8) {
    const std::uint64_t word = mix(key + i / 8);
    std::memcpy(data.data() + i, &word, std::min<Bytes>(8, data.size() - i));
  }
}

/// Inside a node program Catch's own checks are not allowed: they are for one thread.
inline void expect(bool condition, const std::string& what) {
  if (!condition) throw std::logic_error("test: " + what);
}
inline void expect_payload(ConstSpan data, std::uint64_t key, const std::string& what) {
  for (Bytes i = 0; i < data.size(); i += 8) {
    const std::uint64_t word = mix(key + i / 8);
    const Bytes bytes = std::min<Bytes>(8, data.size() - i);
    expect(std::memcmp(data.data() + i, &word, bytes) == 0,
           "wrong bytes at " + std::to_string(i) + " of " + what);
  }
}

/// What an exception of this type says; the test fails if there is none.
template <class Error, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  FAIL("nothing was thrown");
  return {};
}

inline std::string describe(const MachineOptions& options) {
  return std::string(options.executor == ExecutorKind::threads ? "threads" : "fibers") +
         (options.all_port ? " all-port" : " one-port") +
         (options.transport == Transport::flits
              ? ", flits, capacity " + std::to_string(options.channel_capacity) + ", routers " +
                    std::to_string(options.routers)
              : "") +
         ", eager limit " + std::to_string(options.eager_limit) +
         (options.lock_step ? ", lock step" : "") + ", window " + std::to_string(options.window) +
         ", workers " + std::to_string(options.workers);
}

/// Threads, fibers, and fibers of one worker, which does not synchronise and reserves no free path;
/// with any two values of any two options together in each.
inline std::vector<MachineOptions> variations() {
  struct Row {
    Bytes eager_limit;
    bool all_port, lock_step;
    std::size_t flits = 0;  // in a lane; 0: one copy
  };
  constexpr Bytes huge = ~Bytes{0};
  std::vector<MachineOptions> all;
  for (const auto& [executor, workers] :
       {std::pair(ExecutorKind::threads, 0), std::pair(ExecutorKind::fibers, 0),
        std::pair(ExecutorKind::fibers, 1)}) {
    for (const Row& row : {Row{0, false, false}, Row{0, true, true}, Row{64, false, true},
                           Row{64, true, false}, Row{1024, true, true}, Row{1024, false, false},
                           Row{huge, true, false}, Row{huge, false, true}, Row{0, true, false, 1},
                           Row{1024, false, true, 4}, Row{huge, false, false, 1}}) {
      MachineOptions options;
      options.executor = executor;
      options.workers = workers;
      options.eager_limit = row.eager_limit;
      options.all_port = row.all_port;
      options.lock_step = row.lock_step;
      if (row.flits > 0) {
        options.transport = Transport::flits;
        options.channel_capacity = row.flits;
        options.routers = executor == ExecutorKind::threads ? 2 : 0;
      }
      options.stack_bytes = Bytes{256} << 10;
      all.push_back(options);
    }
  }
  return all;
}

/// These, and windows of 2 and 8: for programs that touch data in local work only.
inline std::vector<MachineOptions> with_windows() {
  std::vector<MachineOptions> all = variations();
  int window = 2;
  for (const MachineOptions& options : variations()) {
    if (options.lock_step) continue;
    all.push_back(options);
    all.back().window = window;
    window = 10 - window;
  }
  return all;
}

inline MachineOptions plain(ExecutorKind executor) {
  MachineOptions options;
  options.executor = executor;
  options.stack_bytes = Bytes{256} << 10;
  return options;
}

/// Sizes around the flit's and the eager limits, zero among them.
inline Bytes some_size(std::uint64_t seed, Rank from, Rank to) {
  constexpr Bytes sizes[] = {0, 1, 8, 63, 64, 65, 200, 1024, 1025, 3000};
  return sizes[key(seed, from, to, 77) % std::size(sizes)];
}

/// Total exchange with oneself included, sizes all different: step t is for the node t further on.
inline void exchange(Node& node, std::uint64_t seed) {
  const Rank p = node.size(), r = node.rank();
  for (Rank t = 0; t < p; ++t) {
    const Rank to = mod(r + t, p), from = mod(r - t, p);
    const Memory out = node.memory(some_size(seed, r, to), Purpose::blocks);
    const Memory in = node.memory(some_size(seed, from, r), Purpose::blocks);
    node.local([&] { fill(out, key(seed, r, to, 0)); });
    node.step({send(to, out.span(), t % 3), receive(from, in.span(), t % 3)});
    node.local([&] {
      expect_payload(in.span(), key(seed, from, r, 0),
                     "the message from " + std::to_string(from) + " to " + std::to_string(r));
    });
  }
}

/// The same in one step, the ops in any order.
inline void exchange_at_once(Node& node, std::uint64_t seed) {
  const Rank p = node.size(), r = node.rank();
  std::vector<std::vector<std::byte>> out, in;
  for (Rank q = 0; q < p; ++q) {
    out.emplace_back(some_size(seed, r, q));
    in.emplace_back(some_size(seed, q, r));
  }
  node.local([&] {
    for (Rank q = 0; q < p; ++q) fill(out[q], key(seed, r, q, 0));
  });
  std::vector<Op> ops;
  for (Rank q = 0; q < p; ++q) {
    ops.push_back(send(q, ConstSpan(out[q])));
    ops.push_back(receive(q, Span(in[q])));
  }
  for (std::size_t i = ops.size(); i > 1; --i) {
    std::swap(ops[i - 1], ops[key(seed, r, 0, i) % i]);
  }
  node.step(std::span<const Op>(ops));
  node.local([&] {
    for (Rank q = 0; q < p; ++q) {
      expect_payload(in[q], key(seed, q, r, 0),
                     "the message from " + std::to_string(q) + " to " + std::to_string(r));
    }
  });
}

}  // namespace machine_tests
