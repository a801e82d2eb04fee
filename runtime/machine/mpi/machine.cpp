// Nodes, their scheduler, the end of a run, and what happens when all wait or one fails.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/mpi/machine.hpp"

#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/fiber/fiber.hpp"
#include "wormcube/runtime/host/faults.hpp"
#include "wormcube/runtime/machine/arena.hpp"
#include "wormcube/runtime/machine/mpi/gather.hpp"
#include "wormcube/runtime/machine/mpi/match_table.hpp"
#include "wormcube/runtime/machine/mpi/transport.hpp"
#include "wormcube/runtime/machine/waiting.hpp"
#include "wormcube/runtime/network/message.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>

namespace wormcube {

/// A send or a receive of a step that is under way; in its node's list until the step ends.
struct MpiTransfer {
  Rank from = 0, to = 0;
  Tag tag = 0;
  Bytes bytes = 0;
  std::span<const Span> pieces;  // the node's memory
  bool is_send = false;
  bool done = true;
  MpiTransfer* next = nullptr;  // match table's list
};

namespace {

using Clock = std::chrono::steady_clock;

class Stopwatch {
 public:
  explicit Stopwatch(std::chrono::nanoseconds& sum) : sum_(sum), start_(Clock::now()) {}
  ~Stopwatch() { sum_ += Clock::now() - start_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::chrono::nanoseconds& sum_;
  Clock::time_point start_;
};

std::optional<Stopwatch> stopwatch(bool timing, std::chrono::nanoseconds& sum) {
  if (!timing) return std::nullopt;
  return std::optional<Stopwatch>(std::in_place, sum);
}

// A UsageError whose text names node and step already.
struct UsageErrorOfStep : UsageError {
  using UsageError::UsageError;
};

/// A message that was here before its receive: kept in a buffer, pinned in the memory of a sender
/// of this process, or announced by another process.
struct Early {
  Rank from = 0, to = 0;
  Tag tag = 0;
  Bytes bytes = 0;
  MpiTransfer* sender = nullptr;  // pinned
  int process = -1;               // announced by
  Header header;                  // announced
  std::unique_ptr<std::byte[]> buffer;
  Bytes capacity = 0;
  Early* next = nullptr;
};

/// Early messages, kept for use again.
class EarlyStore {
 public:
  Early& fresh(Rank from, Rank to, Tag tag, Bytes bytes) {
    if (unused_.empty()) unused_.push_back(&all_.emplace_back());
    Early& early = *unused_.back();
    unused_.pop_back();
    early.from = from;
    early.to = to;
    early.tag = tag;
    early.bytes = bytes;
    early.sender = nullptr;
    early.process = -1;
    return early;
  }
  static Span room(Early& early) {
    if (early.capacity < early.bytes) {
      early.capacity = std::bit_ceil(std::max<Bytes>(early.bytes, 64));
      early.buffer = std::make_unique_for_overwrite<std::byte[]>(early.capacity);
    }
    return {early.buffer.get(), early.bytes};
  }
  void recycle(Early& early) { unused_.push_back(&early); }

 private:
  std::deque<Early> all_;
  std::vector<Early*> unused_;
};

void copy(std::span<const Span> from, std::span<const Span> to) {
  Cursor target(to);
  for (const Span piece : from) target.write(piece);
}

/// A call that may run out of memory where that must not be thrown.
template <class F>
void attempt(F&& f) noexcept {
  try {
    f();
  } catch (const std::bad_alloc&) {
    // What it was to say is not said.
  }
}

/// What has gone wrong, in a form that travels.
struct Failure {
  // A program's own usage error is told apart from a step's, whose text names the node.
  enum class Kind : int { usage, node, deadlock, time_limit, usage_of_program };
  Rank rank = 0;
  Kind kind = Kind::node;
  std::string text;

  [[noreturn]] void raise() const {
    switch (kind) {
      case Kind::usage:
      case Kind::usage_of_program:
        throw UsageError(text);
      case Kind::deadlock:
        throw Deadlock(text);
      case Kind::time_limit:
        throw TimeLimit(text);
      case Kind::node:
        break;
    }
    throw NodeFailure(text);
  }
};

}  // namespace

/// Threads     one: nodes are fibers of it, or the one node is the caller's own program.
/// Invariants  sent_ counts the headers sent to other processes and the long messages matched here;
///             come_ counts the headers that came and the long sends of ours that are complete,
///             which a synchronous send is only when its receiver has matched it. So each is caused
///             by one of the other kind, elsewhere, and sums of both that are equal in two rounds,
///             with all processes quiet, say that nothing is in flight. A process is quiet when
///             none of its nodes can go on and no long message that it has matched is still coming.
///
/// When one process fails, it says goodbye to all others, and each of them to all others; goodbye
/// is a process' last message of a run. Who has all of them knows all headers that it will get,
/// takes what was announced, for its sender's memory must not go before, and only then unwinds its
/// nodes.
class MpiMachine::Impl final : public Transport::Listener {
 public:
  Impl(Topology topology, const MpiOptions& options);
  ~Impl() override;

  Statistics run(const Program& program);
  const Topology& topology() const { return topology_; }
  const Transport& transport() const { return transport_; }
  Rank first() const { return first_; }
  Rank end() const { return first_ + static_cast<Rank>(nodes_.size()); }

 private:
  class MpiNode;
  static MpiOptions usable(MpiOptions options);
  enum class Verdict { none, finished, deadlock };
  struct Counts {
    std::int64_t sent = 0, come = 0, waiting = 0;
  };

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
  void failed(Failure failure);
  void stop();
  void unwind_when_drained(MpiNode& node);

  void post_receive(MpiTransfer& receive);
  void post_send(MpiTransfer& send);
  void deliver(Early& early, MpiTransfer& receive);
  bool sizes_agree(Bytes sent, const MpiTransfer& receive);
  void complete(MpiTransfer& transfer);
  void arrived(int process, const Header& header, ConstSpan payload) override;
  void completed(MpiTransfer& transfer) override;

  void give_way(MpiNode& node);
  void schedule();
  void turn();
  void join_round();
  void end_round();
  void drain();
  void watch_clock();

  std::string waiting_rows() const;
  void agree_on_failure();
  bool is_of_one_node(const Failure& failure);
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
  Transport transport_;
  Rank first_ = 0;
  std::optional<Stacks> stacks_;  // of the fibers: none if the process has one node
  std::deque<MpiNode> nodes_;
  std::deque<MpiNode*> ready_;  // fibers that can go on
  const Program* program_ = nullptr;
  const MpiNode* running_ = nullptr;  // its program is on this thread's stack, or a fiber's
  const pthread_t thread_ = pthread_self();
  const FaultReports faults_{
      [this](auto address, std::span<char> text) { return explain(address, text); }};

  MatchTable<MpiTransfer> posted_;
  MatchTable<Early> early_;
  EarlyStore early_store_;

  // Of this run:
  Counts counts_;
  std::int64_t coming_ = 0;  // long messages matched here and not yet complete
  Rank unfinished_ = 0;
  std::optional<Failure> failure_;
  Clock::time_point start_, idle_since_, stopped_at_;
  std::chrono::nanoseconds idle_{0}, moving_{0};
  bool stopping_ = false;
  bool drained_ = false;  // nodes may unwind
  Verdict verdict_ = Verdict::none;
  int goodbyes_ = 0;
  std::int64_t most_rounds_ = 0;  // that any process has joined, by their goodbyes

  // Rounds.
  std::int64_t rounds_ = 0;  // joined
  MPI_Request round_ = MPI_REQUEST_NULL;
  std::array<std::int64_t, 3> mine_{}, all_{};  // sent, come, waiting
  std::int64_t come_before_ = -1;               // of all, a round ago
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
  }
  NodeStatistics statistics_with_peaks() const {
    NodeStatistics result = statistics;
    result.peak_bytes = arena_.peak_bytes();
    result.peak_block_bytes = arena_.peak_block_bytes();
    return result;
  }

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

 private:
  void prepare(std::span<const Op> ops);

  void work(Charge charge, Bytes /*bytes*/, Work work) override {
    const auto watch =
        stopwatch(machine_.options_.timing, charge == Charge::none        ? statistics.local
                                            : charge == Charge::rearrange ? statistics.rearranging
                                                                          : statistics.combining);
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

// Receives first, so that a message to oneself finds its own.
void MpiMachine::Impl::MpiNode::prepare(std::span<const Op> ops) {
  transfers_in_use = 0;
  for (const bool sends : {false, true}) {
    for (const Op& op : ops) {
      if (op.is_send() != sends) continue;
      const Rank peer = peer_of(machine_.topology_, rank_, op);
      if (transfers_in_use == transfers.size()) transfers.emplace_back();
      MpiTransfer& transfer = transfers[transfers_in_use++];
      transfer.from = sends ? rank_ : peer;
      transfer.to = sends ? peer : rank_;
      transfer.tag = op.tag();
      transfer.bytes = op.bytes();
      transfer.pieces = op.pieces();
      transfer.is_send = sends;
      transfer.done = false;
    }
  }
}

void MpiMachine::Impl::MpiNode::step(std::span<const Op> ops) {
  const auto watch = stopwatch(machine_.options_.timing, statistics.stepping);
  if (machine_.stopping_) machine_.unwind_when_drained(*this);
  try {
    prepare(ops);
  } catch (const UsageError& error) {
    throw UsageErrorOfStep(
        fmt::format("node {}, step {}: {}", rank_, statistics.steps, error.what()));
  }
  pending = transfers_in_use;
  // Once the machine stops, nothing is sent any more.
  for (std::size_t i = 0; i < transfers_in_use && !machine_.stopping_; ++i) {
    MpiTransfer& transfer = transfers[i];
    if (transfer.is_send) {
      ++statistics.messages;
      statistics.bytes += transfer.bytes;
      machine_.post_send(transfer);
    } else {
      machine_.post_receive(transfer);
    }
  }
  if (pending > 0) {
    ++statistics.parked;
    do {
      machine_.give_way(*this);
    } while (pending > 0 && !machine_.drained_);
    if (pending > 0) {
      stopped = true;
      throw Stopped();
    }
  }
  transfers_in_use = 0;
  ++statistics.steps;
}

MpiOptions MpiMachine::Impl::usable(MpiOptions options) {
  options.time_limit = waitable(options.time_limit);
  options.grace = waitable(options.grace);
  options.stack_bytes = std::max(options.stack_bytes, MachineOptions::least_stack_bytes);
  return options;
}

MpiMachine::Impl::Impl(Topology topology, const MpiOptions& options)
    : topology_(std::move(topology)),
      options_(usable(options)),
      transport_(options.eager_limit,
                 options.pack_pieces ? LongPieces::packed : LongPieces::datatype) {
  keep_signal_stack();
  first_ = first_of(transport_.process());
  for (Rank rank = first_; rank < first_of(transport_.process() + 1); ++rank) {
    nodes_.emplace_back(*this, rank);
  }
  if (nodes_.size() < 2) return;
  stacks_.emplace(nodes_.size(), options_.stack_bytes);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    MpiNode& each = nodes_[i];
    each.fiber = std::make_unique<Fiber>(*stacks_, i, [this, &each] {
      for (;;) {
        each.fiber->suspend();
        if (program_ == nullptr) return;
        main(each);
      }
    });
    each.fiber->resume();  // to its first suspend: from here on a resume is a run
  }
}

MpiMachine::Impl::~Impl() {
  program_ = nullptr;
  for (MpiNode& each : nodes_) {
    if (each.fiber) each.fiber->resume();  // to its end
  }
}

Statistics MpiMachine::Impl::run(const Program& program) {
  posted_.clear();
  early_.each([&](Early& early) { early_store_.recycle(early); });
  early_.clear();
  ready_.clear();
  counts_ = {};
  coming_ = 0;
  failure_.reset();
  stopping_ = drained_ = false;
  verdict_ = Verdict::none;
  goodbyes_ = 0;
  most_rounds_ = rounds_ = 0;
  come_before_ = -1;
  program_ = &program;
  unfinished_ = static_cast<Rank>(nodes_.size());
  for (MpiNode& each : nodes_) each.restart();

  start_ = Clock::now();
  idle_since_ = {};
  idle_ = moving_ = {};
  if (nodes_.size() == 1) {
    running_ = &nodes_.front();
    main(nodes_.front());
    running_ = nullptr;
  } else {
    for (MpiNode& each : nodes_) ready_.push_back(&each);
  }
  schedule();
  something_to_do();
  const auto wall = Clock::now() - start_;

  if (verdict_ == Verdict::finished && !failure_) {
    early_.each([&](const Early& early) {
      if (failure_) return;
      failure_ = {
          early.to, Failure::Kind::usage,
          fmt::format("node {} never received a message of {} bytes from node {} with tag {}",
                      early.to, early.bytes, early.from, early.tag)};
    });
  }
  agree_on_failure();
  return statistics(wall);
}

void MpiMachine::Impl::main(MpiNode& node) noexcept {
  try {
    if (!stopping_) {
      node.started = true;
      (*program_)(node);
    }
  } catch (...) {
    caught(node);
  }
  node.finished = true;
  --unfinished_;
}

// The exception being handled has left this node's program.
void MpiMachine::Impl::caught(MpiNode& node) noexcept {
  const Rank rank = node.rank();
  const auto fail = [&](Failure::Kind kind, auto&& text) {
    Failure failure{rank, kind, {}};
    attempt([&] { failure.text = text(); });
    attempt([&] { failed(std::move(failure)); });
  };
  try {
    throw;
  } catch (const Stopped&) {
    // Another node's failure is the one to report.
  } catch (const UsageErrorOfStep& error) {
    fail(Failure::Kind::usage, [&] { return std::string(error.what()); });
  } catch (const UsageError& error) {
    attempt([&] { node.usage_error = error.what(); });
    fail(Failure::Kind::usage_of_program, [&] { return std::string(error.what()); });
  } catch (const std::exception& error) {
    fail(Failure::Kind::node, [&] { return fmt::format("node {}: {}", rank, error.what()); });
  } catch (...) {
    fail(Failure::Kind::node,
         [&] { return fmt::format("node {}: threw something that is no std::exception", rank); });
  }
}

// The lowest rank's is kept.
void MpiMachine::Impl::failed(Failure failure) {
  if (!failure_ || failure.rank < failure_->rank) failure_ = std::move(failure);
  stop();
}

// The report of a node's stack that is used up; without an address, of the node that runs.
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

void MpiMachine::Impl::resume(MpiNode& node) {
  running_ = &node;
  node.fiber->resume();
  running_ = nullptr;
}

// The end of a time with nothing to do.
void MpiMachine::Impl::something_to_do() {
  if (idle_since_ == Clock::time_point{}) return;
  if (options_.timing) idle_ += Clock::now() - idle_since_;
  idle_since_ = {};
}

template <class F>
void MpiMachine::Impl::move_data(F&& move) {
  const auto watch = stopwatch(options_.timing, moving_);
  move();
}

void MpiMachine::Impl::stop() {
  if (std::exchange(stopping_, true)) return;
  stopped_at_ = Clock::now();
  Header goodbye;
  goodbye.kind = Header::Kind::goodbye;
  goodbye.bytes = static_cast<std::uint64_t>(rounds_);
  most_rounds_ = std::max(most_rounds_, rounds_);
  for (int process = 0; process < transport_.processes(); ++process) {
    if (process != transport_.process()) transport_.send(process, goodbye, {});
  }
}

void MpiMachine::Impl::unwind_when_drained(MpiNode& node) {
  while (!drained_) give_way(node);
  node.stopped = true;
  throw Stopped();
}

void MpiMachine::Impl::complete(MpiTransfer& transfer) {
  transfer.done = true;
  MpiNode& owner = node(transfer.is_send ? transfer.from : transfer.to);
  if (--owner.pending > 0 || !owner.suspended) return;
  owner.suspended = false;
  if (owner.fiber) ready_.push_back(&owner);
}

bool MpiMachine::Impl::sizes_agree(Bytes sent, const MpiTransfer& receive) {
  if (sent == receive.bytes) return true;
  failed({receive.to, Failure::Kind::usage,
          fmt::format("node {} receives {} bytes from node {} with tag {}, but the message has {}",
                      receive.to, receive.bytes, receive.from, receive.tag, sent)});
  return false;
}

void MpiMachine::Impl::post_receive(MpiTransfer& receive) {
  Early* const early =
      early_.count() == 0 ? nullptr : early_.take(receive.from, receive.to, receive.tag);
  if (early == nullptr) {
    posted_.append(receive);
  } else if (sizes_agree(early->bytes, receive)) {
    deliver(*early, receive);
  } else {
    early_.append(*early);  // if it was announced, its data is still to be taken
  }
}

void MpiMachine::Impl::deliver(Early& early, MpiTransfer& receive) {
  if (early.process >= 0) {
    ++counts_.sent;
    ++coming_;
    transport_.receive_long(early.process, early.header, receive.pieces, receive);
  } else if (early.sender != nullptr) {
    move_data([&] { copy(early.sender->pieces, receive.pieces); });
    complete(*early.sender);
    complete(receive);
  } else {
    move_data([&] { Cursor(receive.pieces).write(EarlyStore::room(early)); });
    complete(receive);
  }
  early_store_.recycle(early);
}

void MpiMachine::Impl::post_send(MpiTransfer& send) {
  const bool is_short = send.bytes <= options_.eager_limit;
  if (!is_here(send.to)) {
    ++counts_.sent;
    const Header header{.from = send.from, .to = send.to, .tag = send.tag, .bytes = send.bytes};
    if (is_short) {
      move_data([&] { transport_.send(process_of(send.to), header, send.pieces); });
      complete(send);
    } else {
      transport_.send_long(process_of(send.to), header, send.pieces, send);
    }
    return;
  }
  if (MpiTransfer* const receive = posted_.take(send.from, send.to, send.tag)) {
    if (!sizes_agree(send.bytes, *receive)) return;
    move_data([&] { copy(send.pieces, receive->pieces); });
    complete(*receive);
    complete(send);
    return;
  }
  Early& early = early_store_.fresh(send.from, send.to, send.tag, send.bytes);
  if (is_short) {
    move_data([&] { Cursor(send.pieces).read(EarlyStore::room(early)); });
    complete(send);
  } else {
    early.sender = &send;
  }
  early_.append(early);
}

void MpiMachine::Impl::arrived(int process, const Header& header, ConstSpan payload) {
  if (header.kind == Header::Kind::goodbye) {
    ++goodbyes_;
    most_rounds_ = std::max(most_rounds_, static_cast<std::int64_t>(header.bytes));
    stop();
    return;
  }
  ++counts_.come;
  const bool is_short = header.kind == Header::Kind::message;
  MpiTransfer* const receive =
      stopping_ ? nullptr : posted_.take(header.from, header.to, header.tag);
  if (receive != nullptr && sizes_agree(header.bytes, *receive)) {
    if (is_short) {
      move_data([&] { Cursor(receive->pieces).write(payload); });
      complete(*receive);
    } else {
      ++counts_.sent;
      ++coming_;
      transport_.receive_long(process, header, receive->pieces, *receive);
    }
    return;
  }
  Early& early = early_store_.fresh(header.from, header.to, header.tag, header.bytes);
  if (is_short) {
    if (!payload.empty())
      std::memcpy(EarlyStore::room(early).data(), payload.data(), payload.size());
  } else {
    early.process = process;
    early.header = header;
  }
  early_.append(early);
}

void MpiMachine::Impl::completed(MpiTransfer& transfer) {
  if (transfer.is_send) {
    ++counts_.come;
  } else {
    --coming_;
  }
  complete(transfer);
}

// Lets others run until this node may go on.
void MpiMachine::Impl::give_way(MpiNode& node) {
  node.suspended = true;
  if (node.fiber) {
    node.fiber->suspend();
  } else {
    turn();
  }
}

// Runs the nodes until all processes agree that the run has ended.
void MpiMachine::Impl::schedule() {
  constexpr int most_resumes = 64;  // without a look at what has come from outside
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

// No node can go on: see what has come, or whether anything can.
void MpiMachine::Impl::turn() {
  if (transport_.poll(*this)) {
    something_to_do();
    return;
  }
  if (idle_since_ == Clock::time_point{}) idle_since_ = Clock::now();
  if (round_ != MPI_REQUEST_NULL) {
    int ended = 0;
    MPI_Test(&round_, &ended, MPI_STATUS_IGNORE);
    if (ended != 0) end_round();
  } else if (stopping_) {
    drain();
  } else if (coming_ == 0) {
    // Not at once if nodes wait: mostly their messages are on their way.
    constexpr auto patience = std::chrono::milliseconds(2);
    if (unfinished_ == 0 || Clock::now() - idle_since_ > patience) join_round();
  }
  watch_clock();
  // Nothing has come for a while: perhaps who would send has no core, be it for other programs' sake.
  constexpr auto spin = std::chrono::microseconds(50);
  if (is_crowded() || Clock::now() - idle_since_ > spin) sched_yield();
}

void MpiMachine::Impl::join_round() {
  ++rounds_;
  mine_ = {counts_.sent, counts_.come, unfinished_};
  MPI_Iallreduce(mine_.data(), all_.data(), 3, MPI_INT64_T, MPI_SUM, transport_.communicator(),
                 &round_);
}

void MpiMachine::Impl::end_round() {
  const auto [sent, come, waiting] = all_;
  const bool nothing_in_flight = come_before_ == sent;
  come_before_ = come;
  if (stopping_ || !nothing_in_flight) return;
  verdict_ = waiting == 0 ? Verdict::finished : Verdict::deadlock;
  if (verdict_ == Verdict::finished) return;
  make_deadlock_table();
  stopping_ = true;
  early_.each([&](const Early& early) {
    if (early.process >= 0) transport_.discard_long(early.process, early.header);
  });
  while (transport_.long_transfers() > 0) transport_.poll(*this);
  drained_ = true;
}

// Everybody stops. When all goodbyes are here nothing new can come.
void MpiMachine::Impl::drain() {
  if (goodbyes_ < transport_.processes() - 1) return;
  if (rounds_ < most_rounds_) {  // another waits for us in a round
    join_round();
    return;
  }
  early_.each([&](Early& early) {
    if (early.process < 0) return;
    transport_.discard_long(early.process, early.header);
    early.process = -1;
  });
  drained_ = transport_.long_transfers() == 0;
}

void MpiMachine::Impl::watch_clock() {
  const auto now = Clock::now();
  if (stopping_ && !drained_ && now - stopped_at_ > options_.grace) {
    // Some process does not listen: in a loop of its own, or in a call of the MPI library.
    fmt::print(stderr,
               "wormcube: {}\nwormcube: process {} of {} waited {} ms for the others to stop; "
               "aborting all\n",
               failure_ ? failure_->text : "another process failed", transport_.process(),
               transport_.processes(), options_.grace.count());
    const bool is_usage = failure_ && (failure_->kind == Failure::Kind::usage ||
                                       failure_->kind == Failure::Kind::usage_of_program);
    MpiSession::abort(is_usage ? 2 : 1);
  }
  const auto limit = options_.time_limit;
  if (limit.count() <= 0 || stopping_ || now - start_ < limit) return;
  // A process that was quiet since it joined a round waits for the verdict, but not for ever.
  const bool may_get_verdict = round_ != MPI_REQUEST_NULL && counts_.come == mine_[1];
  if (may_get_verdict && now - start_ < limit + options_.grace) return;
  if (may_get_verdict) {
    fmt::print(stderr, "wormcube: not finished {} ms after the time limit of {} ms; aborting all\n",
               options_.grace.count(), limit.count());
    MpiSession::abort(4);
  }
  failed({first_, Failure::Kind::time_limit,
          fmt::format("not finished after {} ms, the time limit", limit.count())});
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

// All processes are here: they have the same verdict.
void MpiMachine::Impl::make_deadlock_table() {
  const std::string rows = gather_texts(transport_.communicator(), waiting_rows());
  const auto waiting = all_[2];
  failure_ = {
      0, Failure::Kind::deadlock,
      fmt::format("deadlock: {} of {} nodes wait, {} have finished, nothing is in "
                  "flight\n{:>6} {:>6}  waits for{}",
                  waiting, topology_.nodes(), topology_.nodes() - waiting, "node", "step", rows)};
}

// Throws in every process what the lowest rank that failed has thrown.
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
  failure_->kind = static_cast<Failure::Kind>(kind[0]);
  Failure failure = *std::exchange(failure_, std::nullopt);
  if (failure.kind == Failure::Kind::usage_of_program && is_of_one_node(failure)) {
    failure.text = fmt::format("node {}: {}", failure.rank, failure.text);
  }
  failure.raise();
}

// As in Machine: another node has thrown something else, or has got further than the step in which
// this was thrown. One that was stopped before its program began tells nothing. All processes call it.
bool MpiMachine::Impl::is_of_one_node(const Failure& failure) {
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

CoreTimes MpiMachine::Impl::core_times(std::chrono::nanoseconds wall,
                                       std::span<const NodeStatistics> nodes) {
  std::array<std::uint64_t, 2> sums{static_cast<std::uint64_t>(moving_.count()),
                                    static_cast<std::uint64_t>(idle_.count())};
  reduce_all(transport_.communicator(), std::span<std::uint64_t>(sums), MPI_UINT64_T, MPI_SUM);
  CoreTimes times;
  times.cores = transport_.processes();
  for (const NodeStatistics& each : nodes) {
    times.computing += each.local;
    times.rearranging += each.rearranging;
    times.combining += each.combining;
  }
  times.moving_data = std::chrono::nanoseconds(sums[0]);
  const auto all = times.cores * wall;
  const auto known = times.computing + times.rearranging + times.combining + times.moving_data;
  times.idle = std::min(std::chrono::nanoseconds(sums[1]),
                        std::max(std::chrono::nanoseconds{0}, all - known));
  times.network = all - known - times.idle;
  return times;
}

Statistics MpiMachine::Impl::statistics(std::chrono::nanoseconds wall) {
  const MPI_Comm all = transport_.communicator();
  Statistics result;
  std::int64_t longest = wall.count();
  reduce_all(all, std::span(&longest, 1), MPI_INT64_T, MPI_MAX);
  result.wall = std::chrono::nanoseconds(longest);
  std::vector<NodeStatistics> mine;
  for (const MpiNode& each : nodes_) mine.push_back(each.statistics_with_peaks());
  result.nodes = gather_all(all, std::span<const NodeStatistics>(mine));
  if (options_.timing) result.cores = core_times(result.wall, result.nodes);
  return result;
}

MpiMachine::MpiMachine(Topology topology, MpiOptions options)
    : impl_(std::make_unique<Impl>(std::move(topology), options)) {}
MpiMachine::~MpiMachine() = default;

const Topology& MpiMachine::topology() const { return impl_->topology(); }
int MpiMachine::process() const { return impl_->transport().process(); }
int MpiMachine::processes() const { return impl_->transport().processes(); }
int MpiMachine::processes_here() const { return processes_on_this_computer(); }
std::pair<Rank, Rank> MpiMachine::nodes_here() const { return {impl_->first(), impl_->end()}; }

Statistics MpiMachine::run(const Program& program) { return impl_->run(program); }

Statistics MpiMachine::run(const Program& program, Schedule& trace) {
  trace = {.topology = topology(),
           .ranks = std::vector<RankLog>(static_cast<std::size_t>(topology().nodes()))};
  const Statistics statistics = impl_->run([&](Node& node) {
    TracingNode traced(node, trace.ranks[static_cast<std::size_t>(node.rank())]);
    program(traced);
  });
  gather_logs(impl_->transport().communicator(), nodes_here(), trace.ranks);
  return statistics;
}

void MpiMachine::sum(std::span<std::uint64_t> values) {
  reduce_all(impl_->transport().communicator(), values, MPI_UINT64_T, MPI_SUM);
}

void MpiMachine::maximum(std::span<double> values) {
  reduce_all(impl_->transport().communicator(), values, MPI_DOUBLE, MPI_MAX);
}

std::string MpiMachine::first_text(std::string text) {
  int first = text.empty() ? processes() : process();
  const MPI_Comm all = impl_->transport().communicator();
  reduce_all(all, std::span(&first, 1), MPI_INT, MPI_MIN);
  if (first < processes()) broadcast_text(all, text, first);
  return text;
}

// One broadcast per process and GiB: MPI counts in int.
void MpiMachine::join(Span array, std::size_t begin, std::size_t end) {
  constexpr std::size_t most = std::size_t{1} << 30;
  const MPI_Comm all = impl_->transport().communicator();
  const std::array<std::uint64_t, 2> mine{begin, end};
  const auto ranges = gather_all(all, std::span<const std::array<std::uint64_t, 2>>(&mine, 1));
  for (int process = 0; process < processes(); ++process) {
    const auto [first, last] = ranges[static_cast<std::size_t>(process)];
    for (std::size_t at = first; at < last; at += most) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibcast(array.data() + at, static_cast<int>(std::min(most, last - at)), MPI_BYTE, process,
                 all, &request);
      await(request);
    }
  }
}

std::unique_ptr<Multicomputer::Counter> MpiMachine::counter() {
  return make_counter(impl_->transport().communicator());
}

}  // namespace wormcube
