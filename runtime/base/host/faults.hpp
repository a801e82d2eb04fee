// Reports of faults in node programs: a stack that has overflowed, memory that must not be touched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace wormcube {

/// While one of these lives, a fault (SIGSEGV) that its function recognises ends the process with a
/// text: on standard error with exit code 2, or as end_by_fault_with() says. Other faults go to the
/// previous handler, and so does a SIGSEGV that another process has sent.
///
/// Threads  create and destroy anywhere. The function is called in a signal handler of the thread
///          that faulted: it only reads what that thread was working with.
class FaultReports {
 public:
  /// Writes the report for a fault at this address and returns its size; 0: not recognised. It must
  /// not allocate (malloc may be what has faulted). Without an address, it writes only where the
  /// calling thread is in a node program: "alltoall suh-torus: node 5, step 3 on torus:4x4: "; 0:
  /// in none.
  using Explain =
      std::function<std::size_t(std::optional<const std::byte*> address, std::span<char> text)>;
  explicit FaultReports(Explain explain);
  ~FaultReports();
  FaultReports(const FaultReports&) = delete;
  FaultReports& operator=(const FaultReports&) = delete;

  struct Entry;  // in the list of all

 private:
  std::unique_ptr<Entry> entry_;
};

/// Where the calling thread is in a node program, as FaultReports::Explain writes it. Returns the
/// text's size; 0: in none. For signal handlers.
std::size_t where_now(std::span<char> text);

/// Reports a fault that was found without a signal, if a function recognises it; returns if none
/// does.
void report_fault(const std::byte* address);

/// What ends the process after a fault, with the text of the report; must not return. It runs in
/// the signal handler. Null: text and exit code 2.
void end_by_fault_with(void (*end)(std::string_view text));

/// A second stack for the signal handlers of this thread while one lives, so that they run although
/// the thread's own stack, or that of the fiber on it, is used up. Does nothing where the thread
/// has one already.
class SignalStack {
 public:
  /// Enough for the registers of any core and for putting a text together.
  static constexpr std::size_t bytes = std::size_t{32} << 10;
  /// In memory of the caller, of `bytes` bytes: an array of the thread's outermost function costs
  /// no map.
  explicit SignalStack(std::span<std::byte> memory);
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  bool installed_ = false;
};
/// The same until the calling thread ends, in memory of its own; and know_thread_stack().
void keep_signal_stack();

/// Finds out where the calling thread's own stack ends, for is_below_thread_stack.
void know_thread_stack();
/// Whether an address lies where the calling thread's own stack (not that of a fiber) overflows to.
bool is_below_thread_stack(const std::byte* address) noexcept;

/// What the calling thread does now, for reports: "alltoall suh-torus". If several are nested, the
/// innermost counts.
///
/// Threads  each thread has its own: it destroys what it has created, last in, first out. Work that
///          a thread gives to others takes its activity along: loops and proofs lend it (Lent), and
///          a machine keeps a pointer to it while run()'s caller waits.
class Activity {
 public:
  explicit Activity(std::string_view what);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  /// The calling thread's innermost; null: none.
  static const Activity* current() noexcept;
  /// "WHAT: ", or nothing if it is null. Takes no memory and no lock; a long text is truncated.
  static std::string_view prefix(const Activity* activity = current()) noexcept;

  /// While one lives, the calling thread works for another one's activity, which outlives it.
  class Lent {
   public:
    explicit Lent(const Activity* activity) noexcept;
    ~Lent();
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

   private:
    const Activity* outer_;
  };

 private:
  std::string prefix_;
  Lent lent_;
};

}  // namespace wormcube
