// A process's part of the MPI machine: its nodes, its messages, its share in the end of a run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/fiber/fiber.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/machine/mpi/failure.hpp"
#include "wormcube/runtime/machine/mpi/machine.hpp"
#include "wormcube/runtime/machine/mpi/quiescence.hpp"
#include "wormcube/runtime/machine/mpi/transfer.hpp"
#include "wormcube/runtime/machine/mpi/transport.hpp"
#include "wormcube/runtime/machine/node/arena.hpp"
#include "wormcube/runtime/machine/node/node_figures.hpp"
#include "wormcube/runtime/machine/node/stopwatch.hpp"
#include "wormcube/runtime/network/match_lists.hpp"

#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>
#include <pthread.h>

namespace wormcube {

/// Threads     one: nodes are fibers of it, or the one node is the caller's own program.
/// Invariants  sent_ counts the headers sent to other processes and the long messages matched here;
///             come_ counts the headers that arrived and our own long sends that are complete. A
///             synchronous send completes only when its receiver has matched it. So each event is
///             caused by one of the other kind, elsewhere. Equal sums of both in two rounds, with
///             all processes quiet, mean that nothing is in flight. A process is quiet when none of
///             its nodes can continue and no long message that it has matched is still arriving.
///
/// When one process fails, it sends a goodbye to all others, and each of them to all others. A
/// goodbye is a process's last message in a run. A process that has all of them knows all headers
/// that it will get, receives what was announced (the sender's memory must live until then), and
/// only then unwinds its nodes.
class MpiMachine::Impl final : public MpiTransport::Listener {
 public:
  Impl(Topology topology, const MpiOptions& options);
  ~Impl() override;

  Statistics run(const Program& program);
  const Topology& topology() const { return topology_; }
  const MpiTransport& transport() const { return transport_; }
  Rank first() const { return first_; }
  Rank end() const { return first_ + static_cast<Rank>(nodes_.size()); }

 private:
  class MpiNode;
  static MpiOptions usable(MpiOptions options);
  using Verdict = Quiescence::Verdict;

  int process_of(Rank node) const {
    return static_cast<int>((static_cast<std::int64_t>(node + 1) * transport_.processes() - 1) /
                            topology_.nodes());
  }
  Rank first_of(int process) const {
    return static_cast<Rank>(static_cast<std::int64_t>(topology_.nodes()) * process /
                             transport_.processes());
  }
  bool is_here(Rank node) const { return first_ <= node && node < end(); }
  MpiNode& node(Rank rank) { return nodes_[static_cast<std::size_t>(rank - first_)]; }

  void main(MpiNode& node) noexcept;
  void caught(MpiNode& node) noexcept;
  void failed(MpiFailure failure);
  void stop();
  void unwind_when_drained(MpiNode& node);

  void post_receive(MpiTransfer& receive);
  void post_send(MpiTransfer& send);
  void deliver(EarlyTransfer& early, MpiTransfer& receive);
  bool sizes_agree(Bytes sent, const MpiTransfer& receive);
  void complete(MpiTransfer& transfer);
  void arrived(int process, const Header& header, ConstSpan payload) override;
  void completed(MpiTransfer& transfer) override;

  void let_others_run(MpiNode& node);
  void give_way(MpiNode& node);
  void schedule();
  void turn();
  void join_round();
  void end_round();
  void drain();
  void watch_clock();

  std::string waiting_rows() const;
  void agree_on_failure();
  bool is_of_one_node(const MpiFailure& failure);
  void make_deadlock_table();
  std::size_t explain(std::optional<const std::byte*> address, std::span<char> text) const;
  void resume(MpiNode& node);
  void something_to_do();
  template <class F>
  void move_data(F&& move);
  CoreTimes core_times(std::chrono::nanoseconds wall, std::span<const NodeStatistics> nodes);
  Statistics statistics(std::chrono::nanoseconds wall);

  Topology topology_;
  MpiOptions options_;
  MpiTransport transport_;
  Rank first_ = 0;
  std::optional<Stacks> stacks_;  // of the fibers: none if the process has one node
  std::deque<MpiNode> nodes_;
  std::deque<MpiNode*> ready_;  // fibers that can continue
  const Program* program_ = nullptr;
  const MpiNode* running_ = nullptr;  // its program is on this thread's stack, or a fiber's
  const pthread_t thread_ = pthread_self();
  const FaultReports faults_{
      [this](auto address, std::span<char> text) { return explain(address, text); }};

  MatchLists<MpiTransfer> posted_;
  MatchLists<EarlyTransfer> early_;
  EarlyStore early_store_;

  // Of this run:
  Quiescence::Counts counts_;
  std::int64_t coming_ = 0;  // long messages matched here and not yet complete
  Rank unfinished_ = 0;
  std::optional<MpiFailure> failure_;
  std::chrono::steady_clock::time_point start_, idle_since_, stopped_at_;
  std::chrono::nanoseconds idle_{0}, moving_{0};
  int arrivals_in_a_row_ = 0;  // turns that found one
  bool stopping_ = false;
  bool drained_ = false;  // nodes may unwind
  Verdict verdict_ = Verdict::none;
  int goodbyes_ = 0;
  std::int64_t most_rounds_ = 0;  // that any process has joined, by their goodbyes

  // Rounds.
  std::int64_t rounds_ = 0;  // joined
  MPI_Request round_ = MPI_REQUEST_NULL;
  std::array<std::int64_t, 3> mine_{}, all_{};  // sent, come, waiting
  Quiescence quiescence_;
};

class MpiMachine::Impl::MpiNode final : public Node {
 public:
  MpiNode(Impl& machine, Rank rank) : machine_(machine), rank_(rank) {}

  Rank rank() const override { return rank_; }
  const Topology& topology() const override { return machine_.topology_; }
  using Node::step;
  void step(std::span<const Op> ops) override;

  void restart() {
    arena_.restart();
    statistics = {};
    finished = suspended = started = stopped = false;
    usage_error.reset();
    pending = 0;
    transfers_in_use = 0;
    steps_in_a_row = 0;
  }
  NodeStatistics statistics_with_peaks() const { return with_peaks(statistics, arena_); }

  NodeStatistics statistics;
  std::unique_ptr<Fiber> fiber;  // none if the process has one node
  bool finished = false;
  bool started = false, stopped = false;   // its program; a step has thrown Stopped
  std::optional<std::string> usage_error;  // that its program threw; its text
  bool suspended = false;                  // waits for pending to become 0
  std::size_t pending = 0;                 // transfers of this step that are not done
  std::deque<MpiTransfer>
      transfers;  // of the current step; kept, so that steady state does not allocate
  std::size_t transfers_in_use = 0;
  /// Steps that did not wait; after most_steps_in_a_row the node yields, as in EmulatedNode.
  static constexpr int most_steps_in_a_row = 64;
  int steps_in_a_row = 0;

 private:
  void prepare(std::span<const Op> ops);

  void work(Charge charge, Bytes /*bytes*/, FunctionRef work) override {
    const Stopwatch watch(machine_.options_.timing, time_of(statistics, charge));
    work();
  }
  PlanCache& plans() override { return plans_; }
  Span acquire(Bytes bytes, Purpose purpose) override { return arena_.acquire(bytes, purpose); }
  void release(Span data, Purpose purpose) noexcept override { arena_.release(data, purpose); }

  Impl& machine_;
  Rank rank_;
  Arena arena_;
  PlanCache plans_;  // kept from run to run
};

}  // namespace wormcube
