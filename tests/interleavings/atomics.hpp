// Atomics whose every operation the explorer decides, and plain variables whose
// races it finds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace interleavings {

/// One operation of an Atomic, or on its word.
struct Operation {
  enum class Kind : std::uint8_t { load, store, change, compare, sleep, wake, await };
  Kind kind;
  std::memory_order order = std::memory_order_relaxed, failure = std::memory_order_relaxed;
  bool weak = false;
  std::uint64_t operand = 0, expected = 0;
  std::uint64_t (*apply)(std::uint64_t old, std::uint64_t operand) = nullptr;
  const char* file = nullptr;
  int line = 0;
};

/// What an Atomic is to the explorer.
class Cell {
 public:
  explicit Cell(std::uint64_t value);
  ~Cell();
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;
  /// Of a load, change or compare-exchange that fails: what was seen.
  struct Result {
    std::uint64_t value;
    bool done;
  };
  Result perform(Operation operation) const;

 private:
  friend class Execution;
  std::uint32_t magic_;
  mutable int location_ = -1;  // none before its first operation
  int born_by_;
  std::uint16_t born_at_;
  std::uint64_t value_;
};

/// What a Plain is to the explorer.
class Trace {
 public:
  /// \param shared  any thread may use it at any time
  explicit Trace(std::uint64_t value, bool shared = false);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  /// Before anything of it is read: what a faulty program takes for a variable
  /// may be none.
  void require_ours() const;
  void read(std::uint64_t value) const;
  void write(std::uint64_t value);

 private:
  friend class Execution;
  static constexpr int threads = 4;
  std::uint32_t magic_;
  bool shared_;
  int writer_;
  std::uint16_t written_;
  mutable std::uint16_t reads_[threads] = {};
  std::uint64_t hash_ = 0;
};

template <class T>
std::uint64_t bits_of(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// As std::atomic, what of it the machine uses; the line of a call is that of
/// its order.
template <class T>
class Atomic {
  using Kind = Operation::Kind;

 public:
  Atomic() noexcept : cell_(bits_of(T{})) {}
  Atomic(T value) noexcept : cell_(bits_of(value)) {}

  T load(std::memory_order order, const char* file = __builtin_FILE(),
         int line = __builtin_LINE()) const noexcept {
    return from_bits<T>(
        cell_.perform({.kind = Kind::load, .order = order, .file = file, .line = line}).value);
  }
  void store(T value, std::memory_order order, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) noexcept {
    cell_.perform({.kind = Kind::store,
                   .order = order,
                   .operand = bits_of(value),
                   .file = file,
                   .line = line});
  }
  T exchange(T value, std::memory_order order, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) noexcept {
    return change(value, order, file, line,
                  [](std::uint64_t, std::uint64_t operand) { return operand; });
  }
  T fetch_add(T value, std::memory_order order, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) noexcept {
    return change(value, order, file, line, [](std::uint64_t old, std::uint64_t operand) {
      return bits_of(static_cast<T>(from_bits<T>(old) + from_bits<T>(operand)));
    });
  }
  T fetch_sub(T value, std::memory_order order, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) noexcept {
    return change(value, order, file, line, [](std::uint64_t old, std::uint64_t operand) {
      return bits_of(static_cast<T>(from_bits<T>(old) - from_bits<T>(operand)));
    });
  }
  T fetch_or(T value, std::memory_order order, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) noexcept {
    return change(value, order, file, line,
                  [](std::uint64_t old, std::uint64_t operand) { return old | operand; });
  }
  T fetch_and(T value, std::memory_order order, const char* file = __builtin_FILE(),
              int line = __builtin_LINE()) noexcept {
    return change(value, order, file, line,
                  [](std::uint64_t old, std::uint64_t operand) { return old & operand; });
  }
  bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                               std::memory_order failure, const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) noexcept {
    return compare(expected, desired, success, failure, false, file, line);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order success,
                             std::memory_order failure, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) noexcept {
    return compare(expected, desired, success, failure, true, file, line);
  }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order order,
                               const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) noexcept {
    return compare(expected, desired, order, of_failure(order), false, file, line);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order order,
                             const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) noexcept {
    return compare(expected, desired, order, of_failure(order), true, file, line);
  }

  /// For what surrounds the code: until this is its value; acquires.
  void await(T value, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    cell_.perform({.kind = Kind::await,
                   .order = std::memory_order_acquire,
                   .operand = bits_of(value),
                   .file = file,
                   .line = line});
  }

  friend void sleep_while_equal(Atomic& word, T value) noexcept {
    word.cell_.perform({.kind = Kind::sleep, .operand = bits_of(value)});
  }
  /// Its time is either up at once or never.
  friend bool sleep_while_equal(Atomic& word, T value,
                                std::chrono::steady_clock::time_point until) noexcept {
    if (until != std::chrono::steady_clock::time_point::max()) return false;
    sleep_while_equal(word, value);
    return true;
  }
  friend void wake_sleepers(Atomic& word) noexcept { word.cell_.perform({.kind = Kind::wake}); }

 private:
  static std::memory_order of_failure(std::memory_order order) {
    return order == std::memory_order_acq_rel   ? std::memory_order_acquire
           : order == std::memory_order_release ? std::memory_order_relaxed
                                                : order;
  }
  T change(T value, std::memory_order order, const char* file, int line,
           std::uint64_t (*apply)(std::uint64_t, std::uint64_t)) noexcept {
    return from_bits<T>(cell_
                            .perform({.kind = Kind::change,
                                      .order = order,
                                      .operand = bits_of(value),
                                      .apply = apply,
                                      .file = file,
                                      .line = line})
                            .value);
  }
  bool compare(T& expected, T desired, std::memory_order success, std::memory_order failure,
               bool weak, const char* file, int line) noexcept {
    const Cell::Result result = cell_.perform({.kind = Kind::compare,
                                               .order = success,
                                               .failure = failure,
                                               .weak = weak,
                                               .operand = bits_of(desired),
                                               .expected = bits_of(expected),
                                               .file = file,
                                               .line = line});
    if (!result.done) expected = from_bits<T>(result.value);
    return result.done;
  }

  Cell cell_;
};

template <class T, bool Shared>
class Variable {
 public:
  Variable(T value = T{}) : trace_(bits_of(value), Shared), value_(value) {}
  Variable(const Variable& other) : Variable(static_cast<T>(other)) {}
  Variable& operator=(const Variable& other) { return *this = static_cast<T>(other); }
  Variable& operator=(T value) {
    trace_.write(bits_of(value));
    value_ = value;
    return *this;
  }
  operator T() const {
    trace_.require_ours();
    trace_.read(bits_of(value_));
    return value_;
  }

 private:
  Trace trace_;
  T value_;
};

/// A variable of which the explorer requires that one thread at a time uses it:
/// whoever writes it comes after all who have used it before, as the atomics'
/// orders say.
template <class T>
using Plain = Variable<T, false>;
/// What a program knows of its own execution: read and written between two
/// operations, by whichever thread.
template <class T>
using Ghost = Variable<T, true>;

/// In place of wormcube::HostAtomics.
struct Explored {
  template <class T>
  using Atomic = interleavings::Atomic<T>;
  template <class T>
  using Plain = interleavings::Plain<T>;
};

}  // namespace interleavings
