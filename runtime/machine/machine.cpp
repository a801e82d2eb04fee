// The machine: nodes, their gates, and what happens when all wait or one fails.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/machine.hpp"

#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/fiber/fiber.hpp"
#include "wormcube/runtime/host/cores.hpp"
#include "wormcube/runtime/host/faults.hpp"
#include "wormcube/runtime/host/memory.hpp"
#include "wormcube/runtime/machine/arena.hpp"
#include "wormcube/runtime/machine/executors.hpp"
#include "wormcube/runtime/machine/inbox.hpp"
#include "wormcube/runtime/machine/request_table.hpp"
#include "wormcube/runtime/machine/waiting.hpp"
#include "wormcube/runtime/network/network.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

namespace wormcube {
namespace {

using Clock = std::chrono::steady_clock;

// Adds the time that it lives to a sum, if it is wanted.
class Stopwatch {
 public:
  Stopwatch(bool wanted, std::chrono::nanoseconds& sum) : sum_(wanted ? &sum : nullptr) {
    if (wanted) start_ = Clock::now();
  }
  ~Stopwatch() {
    if (sum_ != nullptr) *sum_ += Clock::now() - start_;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::chrono::nanoseconds* sum_;
  Clock::time_point start_;
};

// A UsageError whose text names node and step already.
struct UsageErrorOfNode : ProgramError {
  using ProgramError::ProgramError;
};

// A node's gates. Others arrive at `step` all the time, so it has its cache line to itself.
struct Gates {
  alignas(64) Gate step;
  alignas(64) Gate barrier;  // of the lock step
  Gate exit;                 // opens when no node is in the network any more; then stays open
};
static_assert(offsetof(Gates, barrier) == 64 && sizeof(Gates) == 128);

// One function for each kind of thing.
template <class... F>
struct Cases : F... {
  using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

/// The bytes from the lowest to the highest of some pieces; none: no byte.
struct Extent {
  std::uintptr_t begin = ~std::uintptr_t{0}, end = 0;

  void add(std::span<const Span> pieces) {
    for (const Span piece : pieces) {
      if (piece.empty()) continue;
      const auto first = reinterpret_cast<std::uintptr_t>(piece.data());
      begin = std::min(begin, first);
      end = std::max(end, first + piece.size());
    }
  }
  bool overlaps(const Extent& other) const { return begin < other.end && other.begin < end; }
};

/// The sends and receives of one step; kept, so that steady state does not allocate.
struct StepMessages {
  std::deque<Worm> worms;
  std::deque<Receive> receives;
  std::size_t worms_in_use = 0, receives_in_use = 0;
  // With a window, where the caller's may be gone.
  std::vector<Span> pieces;
  Extent sent, received;
  bool receives_empty = false;  // a message without data, whose coming is all that it tells

  template <class F>
  void each(F&& f) {
    for (std::size_t i = 0; i < receives_in_use; ++i) f(receives[i]);
    for (std::size_t i = 0; i < worms_in_use; ++i) f(worms[i]);
  }
  template <class F>
  void each(F&& f) const {
    for (std::size_t i = 0; i < receives_in_use; ++i) f(receives[i]);
    for (std::size_t i = 0; i < worms_in_use; ++i) f(worms[i]);
  }
  std::uint64_t number() const {
    return receives_in_use > 0 ? receives.front().step : worms.front().step;
  }
  void forget() {
    worms_in_use = receives_in_use = 0;
    pieces.clear();
    sent = received = {};
    receives_empty = false;
  }
};

bool waits_for_empty(const StepMessages& step) {
  bool found = false;
  if (step.receives_empty) {
    step.each(Cases{[](const Worm&) {},
                    [&](const Receive& receive) {
                      found = found || (receive.bytes == 0 && !receive.is_complete());
                    }});
  }
  return found;
}

bool overlap(std::span<const Span> some, std::span<const Span> others) {
  for (const Span a : some) {
    Extent of_a;
    of_a.add(std::span(&a, 1));
    for (const Span b : others) {
      Extent of_b;
      of_b.add(std::span(&b, 1));
      if (of_a.overlaps(of_b)) return true;
    }
  }
  return false;
}

/// Whether data are among those of the step that still are the network's: those that it sends, if
/// they will be written to, and those that it receives.
bool uses(const StepMessages& step, std::span<const Span> data, bool to_write) {
  Extent extent;
  extent.add(data);
  bool found = false;
  if (extent.overlaps(step.received)) {
    step.each(Cases{[](const Worm&) {},
                    [&](const Receive& receive) {
                      found = found || (!receive.is_complete() && overlap(data, receive.data));
                    }});
  }
  if (to_write && !found && extent.overlaps(step.sent)) {
    step.each(Cases{[&](const Worm& worm) {
                      found = found || (!worm.is_complete() && overlap(data, worm.data));
                    },
                    [](const Receive&) {}});
  }
  return found;
}

// A counter on a cache line of its own.
template <class T>
struct alignas(64) Padded : std::atomic<T> {
  using std::atomic<T>::atomic;
  using std::atomic<T>::operator=;
};

constexpr std::string_view fewer_nodes = "use fewer nodes";

std::string awaited_text(const Receive& receive) {
  const std::string size = receive.action != Receive::Action::receive ? " of any size"
                           : receive.exact ? fmt::format(" of {} bytes", receive.bytes)
                                           : fmt::format(" of at most {} bytes", receive.bytes);
  return fmt::format("a message{} from {} ({})", size,
                     receive.from == any_source ? "any node" : fmt::format("node {}", receive.from),
                     receive.tag == any_tag ? "any tag" : fmt::format("tag {}", receive.tag));
}

/// Two ops of a step with a byte that one of them receives into and the other names too; or one
/// receive, twice, of whose pieces two overlap. Each pair of pieces is looked at, so a step of more
/// than a few pieces is not: its dry run is, always.
std::optional<std::pair<const Op*, const Op*>> overlapping(std::span<const Op> ops) {
  constexpr std::size_t most_pieces = 16;  // 120 pairs
  struct Piece {
    const std::byte *begin, *end;
    const Op* op;
  };
  std::array<Piece, most_pieces> pieces;  // NOLINT: the first `count` are set
  std::size_t count = 0;
  for (const Op& op : ops) {
    for (const Span piece : op.pieces()) {
      if (count == most_pieces) return std::nullopt;
      pieces[count++] = {piece.data(), piece.data() + piece.size(), &op};
    }
  }
  const std::less<const std::byte*> before;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Piece &a = pieces[j], &b = pieces[i];
      if (a.op->is_send() && b.op->is_send()) continue;
      if (a.begin == a.end || b.begin == b.end) continue;
      if (before(a.begin, b.end) && before(b.begin, a.end)) return std::pair(a.op, b.op);
    }
  }
  return std::nullopt;
}

}  // namespace

/// Threads       run, wait_until_done: one at a time, from outside. completed, failed, stop, all_wait:
///               any. The rest: each node for itself.
/// Invariants    the executor knows when no node runs and none is being woken (all_wait): with nodes
///               unfinished, that is a deadlock. Since worms are only moved by running nodes, nothing
///               is in flight then. Once the machine stops, no node that is woken enters the network
///               again. A stopped node waits at its exit gate before its stack unwinds, until no node
///               runs: until then another node may still copy from or to its memory. A run that ends
///               well leaves network and gates as it found them, and each node forgets the run before
///               when its next one starts; so only after a failure (dirty_) is anything reset.
/// Memory order  who is told that all wait sees what all did before they parked (ExecutorHost); so it
///               may read all nodes' state. The barrier's counter is read-modify-written with acq_rel:
///               who sees the last one sees what all others did before theirs. Who claims a failure
///               writes error_ and thrower_, and publishes them by stopping_ (release).
class Machine::Impl final : public NetworkHost, public ExecutorHost {
 public:
  Impl(Topology topology, const MachineOptions& options);
  ~Impl() override;
  static std::unique_ptr<Impl> make(const Topology& topology, const MachineOptions& options);

  Statistics run(const Program& program);
  const Topology& topology() const { return network_.routing().topology(); }
  const MachineOptions& options() const { return options_; }

 private:
  class EmulatedNode;

  static std::string title(const Routing& routing);
  static Routing checked(Topology topology, const MachineOptions& options);

  static double bytes_needed(const Routing& routing, const MachineOptions& options);
  static Network::Settings settings(const MachineOptions& options) {
    return {options.all_port, options.channel_capacity, options.eager_limit, options.observer,
            options.timing};
  }

  void completed(Rank node) noexcept override;
  void noticed(Rank node) noexcept override;
  void failed(Rank node, std::uint64_t step, std::exception_ptr error) noexcept override;
  bool give_back(Rank node, Waiter& waiter) noexcept override;
  std::chrono::nanoseconds own_time() noexcept override { return executor_->own_time(); }
  void moved_data(Rank node, std::chrono::nanoseconds time) noexcept override;
  void all_wait() noexcept override;
  void all_ended() noexcept override;
  bool stop(std::exception_ptr error, const EmulatedNode* thrower = nullptr) noexcept;
  bool claim_failure() noexcept { return !has_failed_.test_and_set(std::memory_order_acq_rel); }
  void stop_all(std::exception_ptr error, const EmulatedNode* thrower) noexcept;
  Rank nodes_outside_of_steps() const;
  void wait_until_done();
  void reset();
  bool is_of_one_node(const EmulatedNode& thrower) const;
  void main(Rank rank) noexcept;
  void caught(Rank rank) noexcept;
  void node_failed(Rank rank, std::exception_ptr error) noexcept;
  void wait(Rank rank, Gate& gate);
  void wait_for_step(EmulatedNode& node);
  template <class Done>
  void wait_for(EmulatedNode& node, Done&& done);
  void park(Rank rank, Gate& gate);
  void wake(Rank rank, Gate& gate) noexcept { executor_->wake(rank, gate); }
  void lock_step(EmulatedNode& node);
  void arrive_at_barrier() noexcept;
  void release_from_barrier(Rank rank) noexcept;
  void leave_barrier(Rank rank) noexcept;
  bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }
  std::string deadlock_table() const;
  std::size_t explain(std::optional<const std::byte*> address, std::span<char> text) const;
  CoreTimes core_times(std::chrono::nanoseconds wall, std::span<const NodeStatistics> nodes) const;
  /// Throws UsageError if a message was not received.
  Statistics statistics(std::chrono::nanoseconds wall) const;

  MachineOptions options_;
  const std::size_t window_ =
      options_.lock_step ? std::size_t{1} : static_cast<std::size_t>(options_.window);
  Network network_;
  std::vector<EmulatedNode> nodes_;

  // Written with every barrier; read in every step; written once by each node: three lines.
  Padded<Rank> barrier_{0};  // lock step: nodes yet to come to this barrier
  Padded<bool> stopping_{false};
  Padded<Rank> finished_{0};  // in lock step
  std::atomic_flag exits_are_open_;
  std::atomic_flag runs_;  // somebody is in run()
  bool dirty_ = false;     // the last run has left something behind
  const pid_t process_ = getpid();
  const int cores_ = usable_cores();
  std::atomic_flag has_failed_;
  std::exception_ptr error_;
  const EmulatedNode* thrower_ = nullptr;  // whose program threw error_, if that is a UsageError

  std::mutex mutex_;  // guards all_done_, for the thread that called run()
  std::condition_variable done_;
  bool all_done_ = false;

  const Program* program_ = nullptr;
  const std::function<void(Rank)> main_ = [this](Rank rank) { main(rank); };
  const FaultReports faults_{
      [this](auto address, std::span<char> text) { return explain(address, text); }};
  std::unique_ptr<NodeExecutor> executor_;  // last: its threads end before the rest does
};

class Machine::Impl::EmulatedNode final : public RequestNode, public RequestHost {
  friend class Machine::Impl;
  // First what each run touches, so that a run of a million nodes that do nothing is short.
  Impl* machine_ = nullptr;
  Rank rank_ = 0;
  int steps_in_a_row_ = 0;
  Arena arena_;

 public:
  EmulatedNode() { gates.exit.arm(1); }
  /// Once, before anything else.
  void attach(Impl& machine, Rank rank) {
    machine_ = &machine;
    rank_ = rank;
  }

  Rank rank() const override { return rank_; }
  const Topology& topology() const override { return machine_->topology(); }
  using Node::step;
  void step(std::span<const Op> ops) override;
  Requests& requests() override {
    if (requests_ == nullptr) requests_ = std::make_unique<RequestTable>(*this, rank_, size());
    return *requests_;
  }
  /// At the end of its program. Throws UsageError if a request is open.
  void end_program();
  /// Waits until all its steps are complete. False: the machine stops; then none is under way.
  bool complete_all() noexcept;
  /// Where its program begins: what lies beyond on the stack is not the program's.
  void set_stack(const void* begin) { stack_ = reinterpret_cast<std::uintptr_t>(begin); }
  /// Calls f(worm) or f(receive) for each end of a message that is under way. While it waits.
  template <class F>
  void each_incomplete(F&& f) const;

  /// At the start of its program: forgets the run before.
  void restart() {
    arena_.restart();
    statistics = {};
    moving = {};
    received = 0;
    steps_in_a_row_ = 0;
    stopped = false;
    finished.store(false, std::memory_order_relaxed);
    usage_error.reset();
    if (requests_ != nullptr) requests_->reset();
  }
  /// Fetches what restart() will touch, without waiting for it.
  void prefetch() const {
    constexpr int lines = 4;
    for (int i = 0; i < lines; ++i) {
      __builtin_prefetch(reinterpret_cast<const std::byte*>(this) + 64 * i, 1);
    }
  }
  /// Between runs, after one that failed.
  void reset() {
    abandon();
    static_cast<void>(inbox.close());
    gates.step.reset();
    gates.barrier.reset();
    gates.exit.reset();
    gates.exit.arm(1);
  }
  NodeStatistics statistics_with_peaks() const {
    NodeStatistics result = statistics;
    result.peak_bytes = arena_.peak_bytes();
    result.peak_block_bytes = arena_.peak_block_bytes();
    return result;
  }

  NodeStatistics statistics;
  std::chrono::nanoseconds moving{0};  // that it moved data, its own and others'
  std::uint64_t received = 0;          // messages
  // Published to others by barrier_, and to who is told that all wait.
  std::atomic<bool> finished{false};
  // How its program ended, for run(): published by all_ended().
  bool stopped = false;                      // a step has thrown Stopped
  std::unique_ptr<std::string> usage_error;  // that its program threw; its text
  Gates gates;
  Inbox inbox;  // open while it waits in a step

 private:
  PlanCache plans_;  // kept from run to run
  std::unique_ptr<RequestTable> requests_;

  // The steps under way: `open_` of a ring of window_, from the `oldest_` on. With a window of 1 the
  // one that is being taken, not counted.
  StepMessages first_;
  std::vector<std::unique_ptr<StepMessages>> more_;  // made when first needed
  std::size_t oldest_ = 0, open_ = 0;
  std::uintptr_t stack_ = 0;

  StepMessages& messages(std::size_t i) { return i == 0 ? first_ : *more_[i - 1]; }
  const StepMessages& messages(std::size_t i) const { return i == 0 ? first_ : *more_[i - 1]; }
  /// The first that is not complete.
  std::uint64_t waits_in_step() const {
    return open_ > 0 ? open_step(0).number() : statistics.steps;
  }
  /// The i-th step under way, the oldest first.
  const StepMessages& open_step(std::size_t i) const {
    return messages((oldest_ + i) % machine_->window_);
  }
  StepMessages& next_messages();
  void check(std::span<const Op> ops) const;
  void prepare(StepMessages& step, std::span<const Op> ops);
  void post(StepMessages& step);
  void wait_for(StepMessages& step);
  bool complete_oldest() noexcept;
  bool complete(std::size_t steps) noexcept;
  void complete_or_unwind(std::size_t steps);
  void settle();
  void abandon() noexcept;
  void keep_apart(std::span<const Op> ops);
  std::size_t conflicting(const Op& op) const;
  bool is_on_stack(std::span<const Op> ops) const;
  void require_running();
  [[noreturn]] void unwind();
  void count_turn() override;
  void count_message(const Worm& worm);

  void address(Worm& worm, const Op& op) override { machine_->network_.address(worm, rank_, op); }
  void launch(Worm& worm) override;
  void post(Receive& receive) override;
  void wait_for_all(std::span<Transfer* const> transfers) override;
  void wait_for_one(std::span<Transfer* const> transfers) override;
  void give_way() override;
  void count_received() override { ++received; }

  void work(Charge charge, Bytes /*bytes*/, Work work) override {
    if (open_ > 0) settle();
    if (!machine_->options_.timing) return work();
    const auto start = machine_->own_time();
    work();
    (charge == Charge::none        ? statistics.local
     : charge == Charge::rearrange ? statistics.rearranging
                                   : statistics.combining) += machine_->own_time() - start;
  }
  PlanCache& plans() override { return plans_; }
  Span acquire(Bytes bytes, Purpose purpose) override { return arena_.acquire(bytes, purpose); }
  void release(Span data, Purpose purpose) noexcept override {
    if (open_ > 0) let_go(data);
    arena_.release(data, purpose);
  }
  void let_go(Span data) noexcept;

  // A node that need not wait gives its core away after so many steps.
  static constexpr int most_steps_in_a_row = 64;
};

void Machine::Impl::EmulatedNode::check(std::span<const Op> ops) const {
  for (const Op& op : ops) {
    if (op.to() == Op::To::rank && (op.peer() < 0 || op.peer() >= size())) {
      throw UsageError(
          fmt::format("names node {} of {} nodes ({})", op.peer(), size(), topology().name()));
    }
    if (!op.is_send() || machine_->options_.any_order) continue;
    for (std::size_t i = 1; i < op.moves().size(); ++i) {
      if (op.moves()[i - 1].dimension > op.moves()[i].dimension) continue;
      throw UsageError(
          fmt::format("moves along dimension {} and then {} of {}; the network is deadlock free "
                      "only for messages that travel the last dimension first, each dimension once",
                      op.moves()[i - 1].dimension, op.moves()[i].dimension, topology().name()));
    }
  }
  if (const auto pair = overlapping(ops)) {
    throw UsageError(overlap_text(topology(), rank_, *pair->first, *pair->second));
  }
}

void Machine::Impl::EmulatedNode::prepare(StepMessages& step, std::span<const Op> ops) {
  step.forget();
  const bool stays = machine_->window_ > 1;
  if (stays) {
    std::size_t count = 0;
    for (const Op& op : ops) count += op.pieces().size();
    step.pieces.reserve(count);
  }
  const auto pieces_of = [&](const Op& op) {
    if (!stays) return op.pieces();
    const auto pieces = op.pieces();
    (op.is_send() ? step.sent : step.received).add(pieces);
    step.pieces.insert(step.pieces.end(), pieces.begin(), pieces.end());
    return std::span<const Span>(step.pieces).last(pieces.size());
  };
  const auto progress = stays ? Transfer::Progress::pending : Transfer::Progress::awaited;
  auto& worms = step.worms;
  auto& receives = step.receives;
  auto &worms_in_use = step.worms_in_use, &receives_in_use = step.receives_in_use;
  const bool routes_differ =
      machine_->options_.all_port &&
      std::ranges::any_of(ops, [](const Op& op) { return op.is_send() && !op.moves().empty(); });
  for (const Op& op : ops) {
    if (op.is_send()) {
      if (worms_in_use == worms.size()) worms.emplace_back();
      Worm& worm = worms[worms_in_use++];
      machine_->network_.address(worm, rank_, op);
      worm.begin(progress);
      worm.step = statistics.steps;
      worm.tag = op.tag();
      worm.bytes = op.bytes();
      worm.data = pieces_of(op);
      // Worms of one step to one node go in order: those of one route queue up behind each other,
      // others are chained.
      for (std::size_t i = worms_in_use - 1; routes_differ && i-- > 0;) {
        if (worms[i].to != worm.to || worms[i].tag != worm.tag) continue;
        worms[i].successor = &worm;
        worm.follows = true;
        break;
      }
    } else {
      if (receives_in_use == receives.size()) receives.emplace_back();
      Receive& receive = receives[receives_in_use++];
      receive.begin(progress);
      receive.step = statistics.steps;
      receive.from = peer_of(topology(), rank_, op);
      receive.to = rank_;
      receive.tag = op.tag();
      receive.bytes = op.bytes();
      step.receives_empty |= receive.bytes == 0;
      receive.data = pieces_of(op);
      receive.unread = op.is_unread();
      receive.done = false;
    }
  }
}

void Machine::Impl::EmulatedNode::step(std::span<const Op> ops) {
  const Stopwatch watch(machine_->options_.timing, statistics.stepping);
  require_running();
  if (!ops.empty()) {
    StepMessages& step = next_messages();
    const std::size_t window = machine_->window_;
    try {
      check(ops);
      if (open_ > 0) keep_apart(ops);
      prepare(step, ops);
    } catch (const UsageError& error) {
      step.forget();
      throw UsageErrorOfNode(
          fmt::format("node {}, step {}: {}", rank_, statistics.steps, error.what()));
    }
    if (window == 1) {
      // One for ourselves: nobody wakes us while we post.
      gates.step.arm(static_cast<std::uint32_t>(ops.size()) + 1);
      post(step);
      static_cast<void>(gates.step.arrive());  // we are not parked
      machine_->wait_for_step(*this);
      if (machine_->stopping()) unwind();
      received += step.receives_in_use;
      step.worms_in_use = step.receives_in_use = 0;
    } else {
      ++open_;
      post(step);
      if (open_ == window) complete_or_unwind(1);
    }
    if (open_ > 0 && is_on_stack(ops)) complete_or_unwind(open_);
  }
  count_turn();
  ++statistics.steps;
  if (machine_->options_.lock_step) machine_->lock_step(*this);
}

StepMessages& Machine::Impl::EmulatedNode::next_messages() {
  const std::size_t i = (oldest_ + open_) % machine_->window_;
  if (i > more_.size()) more_.push_back(std::make_unique<StepMessages>());
  return messages(i);
}

void Machine::Impl::EmulatedNode::post(StepMessages& step) {
  for (std::size_t i = 0; i < step.receives_in_use; ++i) machine_->network_.post(step.receives[i]);
  for (std::size_t i = 0; i < step.worms_in_use; ++i) {
    count_message(step.worms[i]);
    if (!step.worms[i].follows) machine_->network_.launch(step.worms[i]);
  }
}

// Returns at once if all is complete, or the machine stops.
void Machine::Impl::EmulatedNode::wait_for(StepMessages& step) {
  std::uint32_t left = 0, complete = 1;  // one for ourselves: nobody wakes us while we mark them
  step.each([&](const Transfer& transfer) { left += transfer.is_complete() ? 0 : 1; });
  if (left == 0) return;
  gates.step.arm(static_cast<std::uint32_t>(step.receives_in_use + step.worms_in_use) + 1);
  step.each([&](Transfer& transfer) { complete += transfer.await() ? 0 : 1; });
  gates.step.arrive_here(complete);
  machine_->wait_for_step(*this);
}

// False: the machine stops; then nobody is in the network any more, and no step is under way.
bool Machine::Impl::EmulatedNode::complete_oldest() noexcept {
  StepMessages& step = messages(oldest_);
  wait_for(step);
  if (machine_->stopping()) {
    machine_->wait(rank_, gates.exit);
    statistics.steps = step.number();
    stopped = true;
    abandon();
    return false;
  }
  received += step.receives_in_use;
  step.forget();
  oldest_ = (oldest_ + 1) % machine_->window_;
  --open_;
  return true;
}

// The oldest `steps`.
bool Machine::Impl::EmulatedNode::complete(std::size_t steps) noexcept {
  while (steps-- > 0) {
    if (!complete_oldest()) return false;
  }
  return true;
}
bool Machine::Impl::EmulatedNode::complete_all() noexcept { return complete(open_); }

void Machine::Impl::EmulatedNode::complete_or_unwind(std::size_t steps) {
  if (!complete(steps)) throw Stopped();
}

// Outside of step(): the time is that of steps all the same.
void Machine::Impl::EmulatedNode::settle() {
  const Stopwatch watch(machine_->options_.timing, statistics.stepping);
  complete_or_unwind(open_);
}

void Machine::Impl::EmulatedNode::abandon() noexcept {
  first_.forget();
  for (const auto& messages : more_) messages->forget();
  oldest_ = open_ = 0;
}

// How many of the oldest steps must be complete before the op may begin.
std::size_t Machine::Impl::EmulatedNode::conflicting(const Op& op) const {
  for (std::size_t i = open_; i-- > 0;) {
    if (uses(open_step(i), op.pieces(), !op.is_send())) return i + 1;
    if (op.is_send() && waits_for_empty(open_step(i))) return i + 1;
  }
  if (!machine_->options_.all_port || !op.is_send()) return 0;
  // A message must not overtake another of its destination and tag on a different way.
  const Rank to = peer_of(topology(), rank_, op);
  for (std::size_t i = open_; i-- > 0;) {
    bool found = false;
    open_step(i).each(Cases{[](const Receive&) {},
                            [&](const Worm& worm) {
                              const bool same_way = worm.way == Worm::Way::to_rank
                                                        ? op.to() == Op::To::rank
                                                        : worm.way == Worm::Way::by_move &&
                                                              op.to() == Op::To::move &&
                                                              worm.move == op.moves().front();
                              found = found || (worm.to == to && worm.tag == op.tag() &&
                                                !same_way && !worm.is_complete());
                            }});
    if (found) return i + 1;
  }
  return 0;
}

void Machine::Impl::EmulatedNode::keep_apart(std::span<const Op> ops) {
  std::size_t steps = 0;
  for (const Op& op : ops) steps = std::max(steps, conflicting(op));
  if (steps > 0) complete_or_unwind(steps);
}

// Such data may be gone when the step has returned.
bool Machine::Impl::EmulatedNode::is_on_stack(std::span<const Op> ops) const {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const Extent stack{std::min(here, stack_), std::max(here, stack_)};
  return std::ranges::any_of(ops, [&](const Op& op) {
    return std::ranges::any_of(op.pieces(), [&](const Span& piece) {
      Extent extent;
      extent.add(std::span(&piece, 1));
      return stack.overlaps(extent);
    });
  });
}

void Machine::Impl::EmulatedNode::let_go(Span data) noexcept {
  for (std::size_t i = open_; i-- > 0;) {
    if (!uses(open_step(i), std::span(&data, 1), true)) continue;
    const Stopwatch watch(machine_->options_.timing, statistics.stepping);
    static_cast<void>(complete(i + 1));
    return;
  }
}

// Nobody may touch what the node's stack holds once it unwinds.
void Machine::Impl::EmulatedNode::unwind() {
  statistics.steps = waits_in_step();  // where it would be if it had waited in each
  machine_->wait(rank_, gates.exit);
  stopped = true;
  abandon();
  throw Stopped();
}

void Machine::Impl::EmulatedNode::require_running() {
  if (!machine_->stopping()) return;
  if (open_ > 0 || (requests_ != nullptr && requests_->has_active())) unwind();
  stopped = true;
  throw Stopped();
}

void Machine::Impl::EmulatedNode::count_turn() {
  if (++steps_in_a_row_ >= most_steps_in_a_row) give_way();
}

void Machine::Impl::EmulatedNode::give_way() {
  steps_in_a_row_ = 0;
  machine_->executor_->yield(rank_);
  require_running();
}

void Machine::Impl::EmulatedNode::count_message(const Worm& worm) {
  statistics.bytes += worm.bytes;
  ++statistics.messages;
}

void Machine::Impl::EmulatedNode::launch(Worm& worm) {
  require_running();
  if (open_ > 0) settle();
  worm.step = statistics.steps;
  count_message(worm);
  machine_->network_.launch(worm);
  count_turn();
}

void Machine::Impl::EmulatedNode::post(Receive& receive) {
  require_running();
  if (open_ > 0) settle();
  receive.step = statistics.steps;
  machine_->network_.post(receive);
}

void Machine::Impl::EmulatedNode::wait_for_all(std::span<Transfer* const> transfers) {
  const Stopwatch watch(machine_->options_.timing, statistics.stepping);
  // One for ourselves: nobody wakes us while we mark them.
  gates.step.arm(static_cast<std::uint32_t>(transfers.size()) + 1);
  for (Transfer* const transfer : transfers) {
    if (!transfer->await()) static_cast<void>(gates.step.arrive());
  }
  static_cast<void>(gates.step.arrive());
  machine_->wait_for_step(*this);
  if (machine_->stopping()) unwind();
}

// Nobody arrives: a completion calls.
void Machine::Impl::EmulatedNode::wait_for_one(std::span<Transfer* const> transfers) {
  const Stopwatch watch(machine_->options_.timing, statistics.stepping);
  gates.step.arm(1);
  bool none_complete = true;
  for (Transfer* const transfer : transfers) none_complete &= transfer->watch();
  if (none_complete) {
    machine_->wait_for(*this, [&] {
      return std::ranges::any_of(transfers,
                                 [](const Transfer* each) { return each->is_complete(); });
    });
  }
  for (Transfer* const transfer : transfers) transfer->unwatch();
  if (machine_->stopping()) unwind();
}

void Machine::Impl::EmulatedNode::end_program() {
  if (open_ > 0) settle();
  if (requests_ == nullptr) return;
  if (const auto open = requests_->open()) {
    throw UsageErrorOfNode(fmt::format("node {} {}", rank_, *open));
  }
}

template <class F>
void Machine::Impl::EmulatedNode::each_incomplete(F&& f) const {
  if (machine_->window_ == 1) {
    first_.each(f);
  } else {
    for (std::size_t i = 0; i < open_; ++i) open_step(i).each(f);
  }
  if (requests_ != nullptr) requests_->each_incomplete(f);
}

Routing Machine::Impl::checked(Topology topology, const MachineOptions& options) {
  if (options.channel_capacity < 1 ||
      options.channel_capacity > MachineOptions::most_channel_capacity) {
    throw UsageError(fmt::format("channel capacity: {} flits, need 1 to {}",
                                 options.channel_capacity, MachineOptions::most_channel_capacity));
  }
  if (options.window < 1 || options.window > MachineOptions::most_window) {
    throw UsageError(
        fmt::format("window: {} steps, need 1 to {}", options.window, MachineOptions::most_window));
  }
  Routing routing(std::move(topology), options.virtual_channels);
  require_memory(title(routing), bytes_needed(routing, options), fewer_nodes);
  if (options.nodes_as == NodesAs::threads) require_threads(routing.topology().nodes());
  if (options.allow_cycles) return routing;
  if (const auto cycle = dependency_cycle(routing)) {
    throw UsageError(
        fmt::format("{} with {} virtual channel{} per link can deadlock: the channels {} wait "
                    "for each other in a cycle; use 2 virtual channels",
                    routing.topology().name(), options.virtual_channels,
                    options.virtual_channels == 1 ? "" : "s", *cycle));
  }
  return routing;
}

// Before the first message: the network's tables, and of each node its state and three pages of stack.
double Machine::Impl::bytes_needed(const Routing& routing, const MachineOptions& options) {
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  return Network::bytes_of_tables(routing, settings(options)) +
         routing.topology().nodes() * (sizeof(EmulatedNode) + 3 * page);
}

std::string Machine::Impl::title(const Routing& routing) {
  return fmt::format("{}: a machine of {} nodes and {} channels", routing.topology().name(),
                     routing.topology().nodes(), routing.channels());
}

Machine::Impl::Impl(Topology topology, const MachineOptions& options)
    : options_(options), network_(checked(std::move(topology), options), settings(options), *this) {
  const Rank nodes = this->topology().nodes();
  const Bytes stack = std::max(options.stack_bytes, MachineOptions::least_stack_bytes);
  nodes_ = std::vector<EmulatedNode>(static_cast<std::size_t>(nodes));
  for (Rank rank = 0; rank < nodes; ++rank) nodes_[rank].attach(*this, rank);
  executor_ = options.nodes_as == NodesAs::threads
                  ? make_thread_executor(*this, nodes, stack, options.timing)
                  : make_fiber_executor(*this, nodes, stack, options.workers, options.timing);
}

// In a child process none of the executor's threads is there: nothing can be joined.
Machine::Impl::~Impl() {
  if (getpid() != process_) static_cast<void>(executor_.release());
}

std::unique_ptr<Machine::Impl> Machine::Impl::make(const Topology& topology,
                                                   const MachineOptions& options) {
  try {
    return std::make_unique<Impl>(topology, options);
  } catch (const std::bad_alloc&) {
    throw UsageError(
        out_of_memory_text(title(Routing(topology, options.virtual_channels)), fewer_nodes));
  }
}

Statistics Machine::Impl::run(const Program& program) {
  if (getpid() != process_) {
    throw UsageError(
        "run: this process was forked from the one that made the machine, whose threads are there; "
        "make a machine after fork()");
  }
  if (runs_.test_and_set(std::memory_order_acquire)) {
    throw UsageError("run: this machine is running a program; one run at a time, or two machines");
  }
  struct Release {
    ~Release() { flag.clear(std::memory_order_release); }
    std::atomic_flag& flag;
  } const release{runs_};

  if (std::exchange(dirty_, true)) reset();
  network_.begin_run();
  finished_ = 0;
  barrier_ = topology().nodes();
  stopping_ = false;
  has_failed_.clear();
  exits_are_open_.clear();
  error_ = nullptr;
  thrower_ = nullptr;
  all_done_ = false;
  program_ = &program;

  const auto start = Clock::now();
  executor_->start(main_);
  wait_until_done();
  const auto wall = Clock::now() - start;

  if (error_ != nullptr) {
    if (thrower_ != nullptr && is_of_one_node(*thrower_)) {
      throw ProgramError(fmt::format("node {}: {}", thrower_->rank(), *thrower_->usage_error));
    }
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  Statistics result = statistics(wall);
  dirty_ = false;
  return result;
}

void Machine::Impl::reset() {
  network_.reset();
  for (EmulatedNode& node : nodes_) node.reset();
}

void Machine::Impl::wait_until_done() {
  std::unique_lock lock(mutex_);
  const auto is_done = [&] { return all_done_; };
  std::exception_ptr thrown;
  const auto limit = waitable(options_.time_limit);
  if (limit.count() > 0 && !done_.wait_for(lock, limit, is_done)) {
    lock.unlock();
    const std::string text =
        fmt::format("not finished after {} ms, the time limit", options_.time_limit.count());
    const bool is_ours = stop(std::make_exception_ptr(TimeLimit(text)));
    lock.lock();
    if (options_.on_overrun && !done_.wait_for(lock, waitable(options_.overrun_grace), is_done)) {
      lock.unlock();
      try {
        options_.on_overrun(fmt::format("{}; {} of {} nodes run on outside of steps", text,
                                        nodes_outside_of_steps(), topology().nodes()));
      } catch (...) {  // the nodes still use what the caller has
        thrown = std::current_exception();
      }
      lock.lock();
    }
    done_.wait(lock, is_done);
    if (is_ours && thrown != nullptr) error_ = thrown;
  }
  done_.wait(lock, is_done);
}

// Whether a UsageError of a node's program is its own: another node has thrown a different one, or
// has got further than the step in which it was thrown. Otherwise it is of the arguments that all
// nodes share, or the others were stopped before they came to it.
bool Machine::Impl::is_of_one_node(const EmulatedNode& thrower) const {
  return std::ranges::any_of(nodes_, [&](const EmulatedNode& node) {
    if (node.usage_error) return *node.usage_error != *thrower.usage_error;
    return !node.stopped || node.statistics.steps >= thrower.statistics.steps;
  });
}

void Machine::Impl::main(Rank rank) noexcept {
  EmulatedNode& node = nodes_[rank];
  if (rank + 1 < topology().nodes()) nodes_[rank + 1].prefetch();
  node.restart();
  node.set_stack(__builtin_frame_address(0));
  try {
    (*program_)(node);
    node.end_program();
  } catch (...) {
    caught(rank);
  }
  node.finished.store(true, std::memory_order_relaxed);
  // A node that stop() took out of the barrier has arrived there: it must not again.
  if (!options_.lock_step || stopping()) return;
  finished_.fetch_add(1, std::memory_order_acq_rel);
  arrive_at_barrier();
}

void Machine::Impl::all_ended() noexcept {
  const std::lock_guard lock(mutex_);
  all_done_ = true;
  done_.notify_one();  // under the lock: once it is free the machine may be gone
}

// Of a run that is being stopped: those that have not ended and do not wait.
Rank Machine::Impl::nodes_outside_of_steps() const {
  return static_cast<Rank>(std::ranges::count_if(nodes_, [](const EmulatedNode& node) {
    return !node.finished.load(std::memory_order_relaxed) && !node.gates.step.is_parked() &&
           !node.gates.barrier.is_parked() && !node.gates.exit.is_parked();
  }));
}

// The exception being handled has left this node's program.
void Machine::Impl::caught(Rank rank) noexcept {
  EmulatedNode& node = nodes_[rank];
  // Where one of its steps never completes, the program would have thrown this only after it.
  if (!node.complete_all()) return;
  try {
    throw;
  } catch (const Stopped&) {
    // Another node's failure is the one to report.
  } catch (const UsageErrorOfNode&) {
    stop(std::current_exception());
  } catch (const UsageError& error) {
    try {
      node.usage_error = std::make_unique<std::string>(error.what());
      stop(std::current_exception(), &node);
    } catch (...) {
      stop(std::current_exception());
    }
  } catch (...) {
    node_failed(rank, std::current_exception());
  }
}

void Machine::Impl::failed(Rank rank, std::uint64_t step, std::exception_ptr error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const UsageError& usage) {
    try {
      stop(std::make_exception_ptr(
          ProgramError(fmt::format("node {}, step {}: {}", rank, step, usage.what()))));
    } catch (...) {  // no memory for the words
      stop(std::move(error));
    }
  } catch (...) {
    node_failed(rank, std::move(error));
  }
}

void Machine::Impl::node_failed(Rank rank, std::exception_ptr error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    try {
      std::throw_with_nested(NodeFailure(fmt::format("node {}: {}", rank, exception.what())));
    } catch (...) {
      stop(std::current_exception());
    }
  } catch (...) {
    try {
      stop(std::make_exception_ptr(
          NodeFailure(fmt::format("node {}: threw something that is no std::exception", rank))));
    } catch (...) {
      stop(std::move(error));
    }
  }
}

void Machine::Impl::noticed(Rank rank) noexcept {
  if (nodes_[rank].gates.step.call()) wake(rank, nodes_[rank].gates.step);
}

void Machine::Impl::completed(Rank rank) noexcept {
  if (nodes_[rank].gates.step.arrive()) wake(rank, nodes_[rank].gates.step);
}

bool Machine::Impl::give_back(Rank rank, Waiter& waiter) noexcept {
  EmulatedNode& node = nodes_[rank];
  if (!node.inbox.put(waiter)) return false;
  if (node.gates.step.call()) wake(rank, node.gates.step);
  return true;
}

void Machine::Impl::moved_data(Rank rank, std::chrono::nanoseconds time) noexcept {
  nodes_[rank].moving += time;
}

void Machine::Impl::wait(Rank rank, Gate& gate) {
  if (!executor_->linger(gate)) park(rank, gate);
}

void Machine::Impl::wait_for_step(EmulatedNode& node) {
  const Gate& gate = node.gates.step;
  if (!executor_->linger(gate)) wait_for(node, [&] { return gate.is_open(); });
}

// Parks until it is done or the machine stops, carrying on what others give back.
template <class Done>
void Machine::Impl::wait_for(EmulatedNode& node, Done&& done) {
  Gate& gate = node.gates.step;
  node.inbox.open();
  for (;;) {
    park(node.rank(), gate);
    node.steps_in_a_row_ = 0;
    if (done() || gate.is_stopped()) break;
    gate.answer();
    if (Waiter* const given_back = node.inbox.take()) network_.carry_on(given_back);
    if (done()) break;
  }
  Waiter* const given_back = node.inbox.close();
  if (given_back != nullptr && !stopping()) network_.carry_on(given_back);
}

void Machine::Impl::park(Rank rank, Gate& gate) {
  if (!gate.park()) return;
  ++nodes_[rank].statistics.parked;
  if (options_.node_observer != nullptr) options_.node_observer->waits(rank);
  executor_->block(rank, gate);
  if (options_.node_observer != nullptr) options_.node_observer->goes_on(rank);
}

// A deadlock; or, if the machine stops, the end of all traffic. It stops before it wakes anyone, so
// that what waits now never enters the network again.
void Machine::Impl::all_wait() noexcept {
  if (stopping()) {
    if (exits_are_open_.test_and_set(std::memory_order_acq_rel)) return;
    for (EmulatedNode& node : nodes_) {
      if (node.gates.exit.arrive()) wake(node.rank(), node.gates.exit);
    }
    return;
  }
  if (!claim_failure()) return;  // somebody else is about to stop the machine, from outside
  std::exception_ptr error;
  try {
    error = std::make_exception_ptr(Deadlock(deadlock_table()));
  } catch (...) {
    error = std::current_exception();
  }
  stop_all(std::move(error), nullptr);
}

// The first to come gives the error that run() throws; true for it.
bool Machine::Impl::stop(std::exception_ptr error, const EmulatedNode* thrower) noexcept {
  if (!claim_failure()) return false;
  stop_all(std::move(error), thrower);
  return true;
}

void Machine::Impl::stop_all(std::exception_ptr error, const EmulatedNode* thrower) noexcept {
  error_ = std::move(error);
  thrower_ = thrower;
  stopping_.store(true, std::memory_order_release);
  for (EmulatedNode& node : nodes_) {
    if (node.gates.step.stop()) wake(node.rank(), node.gates.step);
    if (node.gates.barrier.stop()) wake(node.rank(), node.gates.barrier);
  }
}

void Machine::Impl::lock_step(EmulatedNode& node) {
  node.gates.barrier.arm(1);
  arrive_at_barrier();
  wait(node.rank(), node.gates.barrier);
  if (!stopping()) leave_barrier(node.rank());  // else not all have come
}

// Finished nodes count as arrived for good.
void Machine::Impl::arrive_at_barrier() noexcept {
  if (barrier_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  barrier_.store(topology().nodes() - finished_.load(std::memory_order_acquire),
                 std::memory_order_release);
  release_from_barrier(0);
}

// All have come. Each node that goes on releases two others first, so that no node wakes all.
void Machine::Impl::release_from_barrier(Rank rank) noexcept {
  if (rank >= topology().nodes()) return;
  EmulatedNode& node = nodes_[rank];
  if (node.finished) return leave_barrier(rank);
  if (node.gates.barrier.arrive()) wake(rank, node.gates.barrier);
}

void Machine::Impl::leave_barrier(Rank rank) noexcept {
  if (rank > (topology().nodes() - 2) / 2) return;  // a leaf
  release_from_barrier(2 * rank + 1);
  release_from_barrier(2 * rank + 2);
}

// The report of a node's stack that is used up, in that node's thread.
std::size_t Machine::Impl::explain(std::optional<const std::byte*> address,
                                   std::span<char> text) const {
  const Rank rank = executor_ != nullptr ? executor_->running_here() : -1;
  if (rank < 0 || (address && !Fiber::is_below_stack(*address))) return 0;
  const auto end = fmt::format_to_n(
      text.data(), text.size(), "{}node {}, step {} on {}: {}", Activity::prefix(), rank,
      nodes_[static_cast<std::size_t>(rank)].statistics.steps, topology().name(),
      address ? "a node program has used up its stack (too deep a recursion, or too large a local "
                "array?)"
              : "");
  return std::min<std::size_t>(end.size, text.size());
}

std::string Machine::Impl::deadlock_table() const {
  const auto holder = [&](const Reservation* reservation) {
    std::string text;
    const auto look = [&](const Worm& worm) {
      if (worm.state != Worm::State::travelling || !text.empty()) return;
      for (std::size_t entry = 0; entry < worm.reserved; ++entry) {
        if (worm.path[entry] == reservation)
          text = fmt::format(", held by {} -> {}", worm.from, worm.to);
      }
    };
    for (const EmulatedNode& node : nodes_) {
      node.each_incomplete(Cases{look, [](const Receive&) {}});
    }
    return text;
  };

  const auto finished = static_cast<Rank>(
      std::ranges::count_if(nodes_, [](const EmulatedNode& node) { return node.finished.load(); }));
  const Rank waiting = topology().nodes() - finished;
  std::string table = fmt::format(
      "deadlock: {} of {} nodes wait, {} have finished, nothing is in flight\n{:>6} {:>6}  {}",
      waiting, topology().nodes(), finished, "node", "step", "waits for / holds");
  constexpr Rank most_rows = 64;
  constexpr std::size_t most_items = 8;  // of a node
  Rank rows = 0;
  for (const EmulatedNode& node : nodes_) {
    if (node.finished) continue;
    if (++rows > most_rows) continue;
    const std::uint64_t step = node.waits_in_step();
    std::string what;
    std::size_t items = 0;
    const auto of_step = [&](const Transfer& transfer) {
      return node.open_ == 0 || transfer.step == step ? ""
                                                      : fmt::format(" in step {}", transfer.step);
    };
    const auto say = [&](const std::string& text) {
      if (++items <= most_items) what += (what.empty() ? "" : "; ") + text;
    };
    const auto say_receive = [&](const Receive& receive) {
      if (!receive.done) say(awaited_text(receive) + of_step(receive));
    };
    const auto say_worm = [&](const Worm& worm) {
      if (worm.state == Worm::State::absorbed) {
        say(fmt::format("node {} to receive {} bytes (tag {}){}", worm.to, worm.bytes, worm.tag,
                        of_step(worm)));
      } else if (worm.state == Worm::State::travelling && worm.reserved < worm.path.size()) {
        say(fmt::format("{} for its message to node {}{}{}", network_.describe(worm, worm.reserved),
                        worm.to, of_step(worm), holder(worm.path[worm.reserved])));
        if (const std::string held = network_.held_links(worm);
            !held.empty() && items <= most_items)
          what += " / holds " + held;
      }
    };
    node.each_incomplete(Cases{say_receive, say_worm});
    if (items > most_items) what += fmt::format("; and {} more", items - most_items);
    if (what.empty()) what = "the other nodes at the barrier of the lock step";
    table += fmt::format("\n{:>6} {:>6}  {}", node.rank(), step, what);
  }
  if (rows > most_rows) table += fmt::format("\n   ... and {} more", rows - most_rows);
  return table;
}

CoreTimes Machine::Impl::core_times(std::chrono::nanoseconds wall,
                                    std::span<const NodeStatistics> nodes) const {
  CoreTimes times;
  times.cores = cores_;
  for (const NodeStatistics& node : nodes) {
    times.computing += node.local;
    times.rearranging += node.rearranging;
    times.combining += node.combining;
  }
  for (const EmulatedNode& node : nodes_) times.moving_data += node.moving;
  const auto all = cores_ * wall;
  const auto known = times.computing + times.rearranging + times.combining + times.moving_data;
  const auto busy = std::max(known, std::min(executor_->busy(wall), all));
  times.network = busy - known;
  times.idle = all - busy;
  return times;
}

Statistics Machine::Impl::statistics(std::chrono::nanoseconds wall) const {
  Statistics result;
  result.wall = wall;
  result.nodes.reserve(nodes_.size());
  std::uint64_t sent = 0, received = 0;
  for (const EmulatedNode& node : nodes_) {
    result.nodes.push_back(node.statistics_with_peaks());
    sent += node.statistics.messages;
    received += node.received;
  }
  if (sent != received) {
    if (const auto leftover = network_.leftover()) throw ProgramError(*leftover);
  }
  if (options_.timing) result.cores = core_times(wall, result.nodes);
  network_.each_channel([&](const VirtualChannel& channel) {  // a link's channels are neighbours
    const Link link = network_.routing().link(channel.id());
    if (result.links.empty() || result.links.back().link != link)
      result.links.push_back({.link = link});
    LinkStatistics& of_link = result.links.back();
    of_link.messages += channel.messages();
    of_link.bytes += channel.bytes();
    of_link.blocked += channel.blocked();
    of_link.channels[network_.routing().virtual_channel(channel.id())] = {channel.messages(),
                                                                          channel.bytes()};
  });
  return result;
}

Machine::Machine(const Topology& topology, const MachineOptions& options)
    : impl_(Impl::make(topology, options)) {}
Machine::~Machine() = default;

const Topology& Machine::topology() const { return impl_->topology(); }
const MachineOptions& Machine::options() const { return impl_->options(); }
Statistics Machine::run(const Program& program) { return impl_->run(program); }

Statistics Machine::run(const Program& program, Schedule& trace) {
  trace = {.topology = topology(),
           .ranks = std::vector<RankLog>(static_cast<std::size_t>(topology().nodes()))};
  return impl_->run([&](Node& node) {
    TracingNode traced(node, trace.ranks[static_cast<std::size_t>(node.rank())]);
    program(traced);
  });
}

}  // namespace wormcube
