// The errors of wormcube, and the assertion for broken invariants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>

namespace wormcube {

/// The caller's mistake: sizes, shapes, port model, text that does not parse. Thrown before the
/// first message, by every node. The text names what was given, what is allowed and what to do.
/// Exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A UsageError for a valid request that exceeds this system: its memory maps are used up, or there
/// are no addresses left for stacks.
struct NoRoom : UsageError {
  using UsageError::UsageError;
};

/// A mistake in a node program, not in its caller: a message whose size differs from its receive, a
/// peer out of range. The text names the node.
struct ProgramError : UsageError {
  using UsageError::UsageError;
};

/// Every node waits and nothing is in flight. what() is a table: node, step, what it waits for,
/// which links it holds. Exit code 3.
struct Deadlock : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The run took longer than the caller allowed. Exit code 4.
struct TimeLimit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thrown inside a node program that waits when another node has failed; never leaves Machine::run.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("stopped: another node failed") {}
};

/// A node program threw. what() is its text with the rank in front; the original is nested.
struct NodeFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A std::bad_alloc that says how many bytes there was no memory for.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::size_t bytes) noexcept;
  const char* what() const noexcept override { return text_.data(); }

 private:
  std::array<char, 64> text_{};  // a string would need memory
};

[[noreturn]] void assertion_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace wormcube

/// A broken invariant inside wormcube itself ends the process. Off in release builds only.
#ifdef NDEBUG
#define WORMCUBE_ASSERT(expression) static_cast<void>(0)
#else
#define WORMCUBE_ASSERT(expression) \
  static_cast<void>((expression) || \
                    (::wormcube::assertion_failed(#expression, __FILE__, __LINE__), false))
#endif
