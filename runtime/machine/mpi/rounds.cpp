// The nodes' turns, the rounds that end a run, and how all processes stop.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/host/print_error.hpp"
#include "wormcube/runtime/machine/mpi/gather.hpp"
#include "wormcube/runtime/machine/mpi/impl.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <sched.h>

namespace wormcube {

void MpiMachine::Impl::resume(MpiNode& node) {
  running_ = &node;
  node.fiber->resume();
  running_ = nullptr;
}

// The end of an idle period.
void MpiMachine::Impl::something_to_do() {
  if (idle_since_ == std::chrono::steady_clock::time_point{}) return;
  if (options_.timing) idle_ += std::chrono::steady_clock::now() - idle_since_;
  idle_since_ = {};
}

// Runs the nodes until all processes agree that the run has ended.
void MpiMachine::Impl::schedule() {
  constexpr int most_resumes = 64;  // without a check for arrivals from outside
  for (int resumes = 0; verdict_ == Verdict::none && !drained_; ++resumes) {
    if (ready_.empty()) {
      turn();
      continue;
    }
    if (resumes % most_resumes == 0) {
      transport_.poll(*this);
      watch_clock();
    }
    MpiNode& next = *ready_.front();
    ready_.pop_front();
    something_to_do();
    resume(next);
  }
  if (!drained_) return;
  for (MpiNode& each : nodes_) {
    while (each.fiber && !each.finished) resume(each);
  }
}

// No node can continue: check for arrivals, or whether any are possible. MPI may yield the core in
// each check, so that every one finds an arrival: after some of them the clock is looked at, too.
void MpiMachine::Impl::turn() {
  constexpr int most_arrivals = 64;  // without a look at the clock
  if (transport_.poll(*this)) {
    something_to_do();
    if (++arrivals_in_a_row_ < most_arrivals) return;
    arrivals_in_a_row_ = 0;
    watch_clock();
    return;
  }
  arrivals_in_a_row_ = 0;
  if (idle_since_ == std::chrono::steady_clock::time_point{})
    idle_since_ = std::chrono::steady_clock::now();
  if (round_ != MPI_REQUEST_NULL) {
    int ended = 0;
    MPI_Test(&round_, &ended, MPI_STATUS_IGNORE);
    if (ended != 0) end_round();
  } else if (stopping_) {
    drain();
  } else if (coming_ == 0) {
    // Not at once if nodes wait: usually their messages are on the way.
    constexpr auto patience = std::chrono::milliseconds(2);
    if (unfinished_ == 0 || std::chrono::steady_clock::now() - idle_since_ > patience) join_round();
  }
  watch_clock();
  // Nothing has arrived for a while: perhaps the sender has no core, for instance because of other
  // programs.
  constexpr auto spin = std::chrono::microseconds(50);
  if (is_crowded() || std::chrono::steady_clock::now() - idle_since_ > spin) sched_yield();
}

void MpiMachine::Impl::join_round() {
  ++rounds_;
  mine_ = {counts_.sent, counts_.come, unfinished_};
  MPI_Iallreduce(mine_.data(), all_.data(), 3, MPI_INT64_T, MPI_SUM, transport_.communicator(),
                 &round_);
}

void MpiMachine::Impl::end_round() {
  const auto [sent, come, waiting] = all_;
  const Verdict verdict = quiescence_.judge({sent, come, waiting});
  if (stopping_) return;
  verdict_ = verdict;
  if (verdict_ != Verdict::deadlock) return;
  make_deadlock_table();
  stopping_ = true;
  early_.each([&](const EarlyTransfer& early) {
    if (early.process >= 0) transport_.discard_long(early.process, early.header);
  });
  while (transport_.long_transfers() > 0) transport_.poll(*this);
  drained_ = true;
}

void MpiMachine::Impl::stop() {
  if (std::exchange(stopping_, true)) return;
  stopped_at_ = std::chrono::steady_clock::now();
  Header goodbye;
  goodbye.kind = Header::Kind::goodbye;
  goodbye.bytes = static_cast<std::uint64_t>(rounds_);
  most_rounds_ = std::max(most_rounds_, rounds_);
  for (int process = 0; process < transport_.processes(); ++process) {
    if (process != transport_.process()) transport_.send(process, goodbye, {});
  }
}

// Everybody stops. When all goodbyes are here nothing new can arrive.
void MpiMachine::Impl::drain() {
  if (goodbyes_ < transport_.processes() - 1) return;
  if (rounds_ < most_rounds_) {  // another waits for us in a round
    join_round();
    return;
  }
  early_.each([&](EarlyTransfer& early) {
    if (early.process < 0) return;
    transport_.discard_long(early.process, early.header);
    early.process = -1;
  });
  drained_ = transport_.long_transfers() == 0;
}

void MpiMachine::Impl::watch_clock() {
  const auto now = std::chrono::steady_clock::now();
  if (stopping_ && !drained_ && now - stopped_at_ > options_.grace) {
    // Some process does not respond: it is in a loop of its own, or in a call of the MPI library.
    print_error(
        fmt::format("wormcube: {}\nwormcube: process {} of {} waited {} ms for the others to stop; "
                    "aborting all\n",
                    failure_ ? failure_->text : "another process failed", transport_.process(),
                    transport_.processes(), options_.grace.count()));
    const bool is_usage = failure_ && (failure_->kind == MpiFailure::Kind::usage ||
                                       failure_->kind == MpiFailure::Kind::usage_of_program);
    MpiSession::abort(is_usage ? 2 : 1);
  }
  const auto limit = options_.time_limit;
  if (limit.count() <= 0 || stopping_ || now - start_ < limit) return;
  // A process that was quiet when it joined a round waits for the result, but not for ever.
  const bool may_get_verdict = round_ != MPI_REQUEST_NULL && counts_.come == mine_[1];
  if (may_get_verdict && now - start_ < limit + options_.grace) return;
  if (may_get_verdict) {
    print_error(
        fmt::format("wormcube: not finished {} ms after the time limit of {} ms; aborting all\n",
                    options_.grace.count(), limit.count()));
    MpiSession::abort(4);
  }
  failed({first_, MpiFailure::Kind::time_limit,
          fmt::format("not finished after {} ms, the time limit", limit.count())});
}

}  // namespace wormcube
