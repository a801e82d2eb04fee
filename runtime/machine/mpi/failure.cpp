// How a failure is reported, and how all processes agree on one.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/machine/mpi/gather.hpp"
#include "wormcube/runtime/machine/mpi/impl.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <new>

#include <fmt/core.h>

namespace wormcube {
namespace {

/// A call that may run out of memory where the error must not be thrown.
template <class F>
void attempt(F&& f) noexcept {
  try {
    f();
  } catch (const std::bad_alloc&) {
    // Its text is lost.
  }
}

}  // namespace

// The exception being handled has left this node's program.
void MpiMachine::Impl::caught(MpiNode& node) noexcept {
  const Rank rank = node.rank();
  const auto fail = [&](MpiFailure::Kind kind, auto&& text) {
    MpiFailure failure{rank, kind, {}};
    attempt([&] { failure.text = text(); });
    attempt([&] { failed(std::move(failure)); });
  };
  try {
    throw;
  } catch (const Stopped&) {
    // Another node's failure is the one to report.
  } catch (const UsageErrorOfStep& error) {
    fail(MpiFailure::Kind::usage, [&] { return std::string(error.what()); });
  } catch (const UsageError& error) {
    attempt([&] { node.usage_error = error.what(); });
    fail(MpiFailure::Kind::usage_of_program, [&] { return std::string(error.what()); });
  } catch (const std::exception& error) {
    fail(MpiFailure::Kind::node, [&] { return fmt::format("node {}: {}", rank, error.what()); });
  } catch (...) {
    fail(MpiFailure::Kind::node,
         [&] { return fmt::format("node {}: unknown exception type", rank); });
  }
}

// The lowest rank's failure is kept.
void MpiMachine::Impl::failed(MpiFailure failure) {
  if (!failure_ || failure.rank < failure_->rank) failure_ = std::move(failure);
  stop();
}

// The report of a stack overflow in a node; without an address, of the node that runs.
std::size_t MpiMachine::Impl::explain(std::optional<const std::byte*> address,
                                      std::span<char> text) const {
  if (running_ == nullptr || pthread_equal(pthread_self(), thread_) == 0) return 0;
  if (address && !Fiber::is_below_stack(*address)) return 0;
  const auto end = fmt::format_to_n(
      text.data(), text.size(), "{}node {}, step {} on {}: {}", Activity::prefix(),
      running_->rank(), running_->statistics.steps, topology_.name(),
      address ? "a node program has used up its stack (too deep a recursion, or too large a local "
                "array?)"
              : "");
  return std::min<std::size_t>(end.size, text.size());
}

std::string MpiMachine::Impl::waiting_rows() const {
  constexpr Rank most_rows = 64;
  constexpr std::size_t most_items = 8;  // of a node
  std::string rows;
  Rank count = 0;
  for (const MpiNode& node : nodes_) {
    if (node.finished || ++count > most_rows) continue;
    std::string what;
    std::size_t items = 0;
    for (std::size_t i = 0; i < node.transfers_in_use; ++i) {
      const MpiTransfer& transfer = node.transfers[i];
      if (transfer.done || ++items > most_items) continue;
      what += what.empty() ? "" : "; ";
      what += transfer.is_send ? fmt::format("node {} to receive {} bytes (tag {})", transfer.to,
                                             transfer.bytes, transfer.tag)
                               : fmt::format("a message of {} bytes from node {} (tag {})",
                                             transfer.bytes, transfer.from, transfer.tag);
    }
    if (items > most_items) what += fmt::format("; and {} more", items - most_items);
    rows += fmt::format("\n{:>6} {:>6}  {}", node.rank(), node.statistics.steps, what);
  }
  if (count > most_rows) {
    rows +=
        fmt::format("\n   ... and {} more of process {}", count - most_rows, transport_.process());
  }
  return rows;
}

// All processes are here: they have the same result.
void MpiMachine::Impl::make_deadlock_table() {
  const std::string rows = gather_texts(transport_.communicator(), waiting_rows());
  const auto waiting = all_[2];
  failure_ = {
      0, MpiFailure::Kind::deadlock,
      fmt::format("deadlock: {} of {} nodes wait, {} have finished, nothing is in "
                  "flight\n{:>6} {:>6}  waits for{}",
                  waiting, topology_.nodes(), topology_.nodes() - waiting, "node", "step", rows)};
}

// Throws in every process what the lowest failed rank has thrown.
void MpiMachine::Impl::agree_on_failure() {
  struct {
    int rank, process;
  } lowest{failure_ ? failure_->rank : std::numeric_limits<int>::max(), transport_.process()};
  const MPI_Comm all = transport_.communicator();
  reduce_all(all, std::span(&lowest, 1), MPI_2INT, MPI_MINLOC);
  if (lowest.rank == std::numeric_limits<int>::max()) return;
  if (!failure_) failure_.emplace();
  failure_->rank = lowest.rank;
  std::string kind(1, static_cast<char>(failure_->kind));
  broadcast_text(all, kind, lowest.process);
  broadcast_text(all, failure_->text, lowest.process);
  failure_->kind = static_cast<MpiFailure::Kind>(kind[0]);
  MpiFailure failure = *std::exchange(failure_, std::nullopt);
  if (failure.kind == MpiFailure::Kind::usage_of_program && is_of_one_node(failure)) {
    failure.text = fmt::format("node {}: {}", failure.rank, failure.text);
  }
  failure.raise();
}

// As in Machine: another node has thrown a different error, or has got further than the step in
// which this was thrown. A node that was stopped before its program began proves nothing. All
// processes call it.
bool MpiMachine::Impl::is_of_one_node(const MpiFailure& failure) {
  const MPI_Comm all = transport_.communicator();
  std::uint64_t steps = is_here(failure.rank) ? node(failure.rank).statistics.steps : 0;
  reduce_all(all, std::span(&steps, 1), MPI_UINT64_T, MPI_MAX);
  int is_own = std::ranges::any_of(nodes_, [&](const MpiNode& each) {
    if (each.usage_error) return *each.usage_error != failure.text;
    return each.started && (!each.stopped || each.statistics.steps >= steps);
  });
  reduce_all(all, std::span(&is_own, 1), MPI_INT, MPI_MAX);
  return is_own != 0;
}

}  // namespace wormcube
