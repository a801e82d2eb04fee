// The proof run: every rank on a fiber; messages are copied directly, step by step.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/prove.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/fiber.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/schedule/long_loop.hpp"
#include "wormcube/runtime/schedule/parallel.hpp"
#include "wormcube/runtime/schedule/proof_node.hpp"
#include "wormcube/runtime/schedule/step_matcher.hpp"
#include "wormcube/runtime/schedule/unmatched.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {
namespace {

/// Programs keep their data in memory(), and stacks are mapped as they are touched.
constexpr std::size_t stack_bytes = std::size_t{256} << 10;

/// The node whose program the calling thread runs.
thread_local const ProofNode* resumed = nullptr;

/// The calling thread and some more.
///
/// Threads     one calls run() and is number 0.
/// Invariants  round_, work_ and left_ are guarded by the mutex: what the caller has written before
///             run() is published to all, and what they write to the caller when run() returns.
class Crew {
 public:
  /// \param most  threads; fewer where the system has no more
  explicit Crew(std::size_t most) {
    threads_.reserve(most);
    try {
      while (size() < most) {
        threads_.emplace_back([this, k = size(), activity = Activity::current()] {
          const Activity::Lent lent(activity);
          live(k);
        });
      }
    } catch (const std::system_error&) {
      // The threads that there are do the work.
    }
  }
  ~Crew() {
    begin(nullptr);
    for (std::thread& thread : threads_) thread.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  std::size_t size() const { return threads_.size() + 1; }
  /// Calls work(k) on each thread k; returns when all have. It must not throw.
  void run(const std::function<void(std::size_t)>& work) {
    begin(&work);
    work(0);
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return left_ == 0; });
  }

 private:
  using Work = const std::function<void(std::size_t)>*;

  void begin(Work work) {
    {
      const std::lock_guard lock(mutex_);
      work_ = work, left_ = threads_.size();
      ++round_;
    }
    begun_.notify_all();
  }
  void live(std::size_t k) {
    keep_signal_stack();
    std::unique_lock lock(mutex_);
    for (std::uint64_t round = 1;; ++round) {
      begun_.wait(lock, [&] { return round_ == round; });
      const Work work = work_;
      if (work == nullptr) return;
      lock.unlock();
      (*work)(k);
      lock.lock();
      if (--left_ == 0) ended_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  std::uint64_t round_ = 0;
  Work work_ = nullptr;  // null: the end
  std::size_t left_ = 0;
  std::vector<std::thread> threads_;
};

/// Threads     run() is for one. Between two deliveries a crew runs the nodes that can go on: each
///             thread has nodes of its own, from beginning to end, because the strands and the
///             exceptions of a fiber belong to its thread; and a lane of its own. Messages are
///             copied in a loop on several threads, too: they have different receivers' memory for
///             a target, and no node runs. The rest is the calling thread's.
/// Invariants  a step is delivered when no node can go on: then all have posted it that ever will.
class Proof {
 public:
  using Listener = std::function<void(const Delivery&)>;

  Proof(const Topology& topology, const Program& program, const Listener& listener,
        ProofThreads threads)
      : setting_{topology, program,
                 std::clamp<std::size_t>(most_posted / static_cast<std::size_t>(topology.nodes()),
                                         1, most_steps)},
        listener_(listener),
        stacks_(static_cast<std::size_t>(topology.nodes()), stack_bytes),
        crew_(threads_for(threads, topology.nodes())),
        lanes_(crew_.size()),
        matcher_(topology.nodes()) {}

  void run() {
    keep_signal_stack();
    const FaultReports faults([this](std::optional<const std::byte*> address,
                                     std::span<char> text) { return explain(address, text); });
    for (Rank rank = 0; rank < setting_.topology.nodes(); ++rank) {
      nodes_.emplace_back(setting_, rank, stacks_);
    }
    for (Rank rank = 0; rank < setting_.topology.nodes(); ++rank) ready_.push_back(rank);
    for (ProofLane& lane : lanes_) lane.failed.reserve(nodes_.size());  // no thread may throw
    LongLoop loop("proof", 0);
    try {
      for (; advance(); loop.step()) deliver();
    } catch (...) {
      failure_ = std::current_exception();
    }
    if (failure_ != nullptr) {
      stop();
      report();
    }
  }

 private:
  static constexpr std::size_t most_posted = 1 << 17, most_steps = 16;  // of all nodes, of one
  /// A node that goes on, or a message, takes less than a microsecond.
  static constexpr std::size_t worth_a_thread = 256;

  static std::size_t threads_for(ProofThreads threads, Rank nodes) {
    const std::size_t most = static_cast<std::size_t>(nodes) / worth_a_thread;
    if (threads == ProofThreads::calling || most < 2) return 1;
    return std::min(most, static_cast<std::size_t>(loop_threads()));
  }
  /// Calls f(node, lane) for each of these nodes, on its own thread.
  template <class F>
  void on_own_threads(std::span<const Rank> ascending, const F& f) {
    const auto nodes = static_cast<std::size_t>(setting_.topology.nodes());
    crew_.run([&](std::size_t k) {
      const auto first = static_cast<Rank>(nodes * k / crew_.size());
      const auto end = static_cast<Rank>(nodes * (k + 1) / crew_.size());
      for (auto rank = std::ranges::lower_bound(ascending, first);
           rank != ascending.end() && *rank < end; ++rank) {
        f(nodes_[static_cast<std::size_t>(*rank)], lanes_[k]);
      }
    });
  }

  static void resume(ProofNode& node, ProofLane& lane) {
    const ProofNode* const outer = std::exchange(resumed, &node);  // a program may prove another
    node.run(lane);
    resumed = outer;
  }

  /// Runs the programs that can go on, and takes the first step that is posted; false if there is
  /// none or a program has failed before it.
  bool advance() {
    std::ranges::sort(ready_);
    on_own_threads(ready_, [](ProofNode& node, ProofLane& lane) {
      resume(node, lane);
      if (node.failure() != nullptr) lane.failed.push_back(&node);
    });
    ready_.clear();
    step_ = no_step;
    for (ProofLane& lane : lanes_) {
      for (const ProofNode* const node : lane.failed) failures_.emplace(node->at(), node->rank());
      lane.failed.clear();
      if (!lane.posted.empty()) step_ = std::min(step_, lane.posted.first());
    }
    if (!failures_.empty() && failures_.begin()->first <= step_) {
      failed_ = failures_.begin()->second;
      failure_ = nodes_[static_cast<std::size_t>(*failed_)].failure();
      return false;
    }
    return step_ != no_step;
  }

  void deliver() {
    now_.clear();
    for (ProofLane& lane : lanes_) {
      if (lane.posted.empty() || lane.posted.first() != step_) continue;
      now_.emplace_back(&lane, lane.posted.take_first());
    }
    for (const auto& [lane, step] : now_) {
      for (const PostedOp& op : step.mapped().ops) {
        op.is_send ? matcher_.add_send(op.rank, op.peer, op)
                   : matcher_.add_receive(op.peer, op.rank, op);
      }
    }
    match();
    copy_all();
    for (const Matched& each : matched_) {
      if (!listener_) break;
      listener_(
          {each.send->rank, each.receive->rank, step_, each.send->tag, each.receive->pieces()});
    }
    for (auto& [lane, step] : now_) {
      for (const Rank rank : step.mapped().nodes) {
        if (nodes_[static_cast<std::size_t>(rank)].delivered()) ready_.push_back(rank);
      }
      lane->posted.give_back(std::move(step));
    }
  }

  void copy_all() const {
    const auto copy_group = [&](std::size_t group) {
      const std::size_t first = group * worth_a_thread;
      for (std::size_t i = first; i < std::min(first + worth_a_thread, matched_.size()); ++i) {
        copy(matched_[i].send->pieces(), matched_[i].receive->pieces());
      }
    };
    const std::size_t groups = (matched_.size() + worth_a_thread - 1) / worth_a_thread;
    if (crew_.size() > 1) return parallel_for_each_index(groups, copy_group);
    for (std::size_t group = 0; group < groups; ++group) copy_group(group);
  }

  void match() {
    using End = StepMatcher<PostedOp>::End;
    matched_.clear();
    matcher_.match(
        [this](const End& send, const End& receive) {
          const Bytes sent = send.record->bytes(), expected = receive.record->bytes();
          if (sent != expected) {
            throw ProgramError(
                unmatched_send_text(step_, send.from, send.to, send.tag, sent, expected));
          }
          matched_.push_back({send.record, receive.record});
        },
        [this](const End& end, bool is_send) {
          const Bytes bytes = end.record->bytes();
          throw ProgramError(
              is_send ? unmatched_send_text(step_, end.from, end.to, end.tag, bytes, std::nullopt) +
                            ended(end.to)
                      : unmatched_receive_text(step_, end.from, end.to, end.tag, bytes) +
                            ended(end.from));
        });
  }

  const char* ended(Rank rank) const {
    const ProofNode& node = nodes_[static_cast<std::size_t>(rank)];
    return node.ended() && node.at() <= step_ ? ": its program has ended" : "";
  }

  /// One message; both sides have the same number of bytes, in any pieces.
  static void copy(std::span<const Span> from, std::span<const Span> to) {
    Bytes from_offset = 0, to_offset = 0;
    auto source = from.begin();
    auto target = to.begin();
    while (true) {
      while (source != from.end() && from_offset == source->size()) ++source, from_offset = 0;
      while (target != to.end() && to_offset == target->size()) ++target, to_offset = 0;
      if (source == from.end() || target == to.end()) return;
      const Bytes bytes = std::min(source->size() - from_offset, target->size() - to_offset);
      std::memcpy(target->data() + to_offset, source->data() + from_offset, bytes);
      from_offset += bytes;
      to_offset += bytes;
    }
  }

  /// The report of a stack overflow in the program that the calling thread runs.
  std::size_t explain(std::optional<const std::byte*> address, std::span<char> text) const {
    if (resumed == nullptr || (address && !Fiber::is_below_stack(*address))) return 0;
    const auto end =
        fmt::format_to_n(text.data(), text.size(), "{}node {}, step {} on {}: {}",
                         Activity::prefix(), resumed->rank(), resumed->at(),
                         resumed->topology().name(), address ? used_up_ : std::string_view());
    return std::min<std::size_t>(end.size, text.size());
  }

  /// Throws Stopped in every program that waits in a step, so that its stack unwinds.
  void stop() {
    setting_.stopping = true;
    std::vector<Rank> all(nodes_.size());
    std::iota(all.begin(), all.end(), 0);
    on_own_threads(all, [](ProofNode& node, ProofLane& lane) {
      if (!node.ended()) resume(node, lane);
    });
  }

  [[noreturn]] void report() const {
    if (!failed_) std::rethrow_exception(failure_);
    const auto fail = [this](const char* text) {
      std::throw_with_nested(NodeFailure(fmt::format("node {}: {}", *failed_, text)));
    };
    try {
      std::rethrow_exception(failure_);
    } catch (const UsageError&) {
      throw;
    } catch (const TimeLimit&) {
      throw;
    } catch (const std::exception& error) {
      fail(error.what());
    } catch (...) {
      fail("unknown exception type");
    }
    std::terminate();
  }

  ProofSetting setting_;
  const Listener& listener_;
  Stacks stacks_;
  std::deque<ProofNode> nodes_;
  std::vector<Rank> ready_;  // can go on: all that they have posted is delivered
  static constexpr std::size_t no_step = std::numeric_limits<std::size_t>::max();
  std::size_t step_ = 0;                                        // that is delivered
  std::vector<std::pair<ProofLane*, PostedSteps::Entry>> now_;  // what was posted in it
  struct Matched {
    const PostedOp *send, *receive;
  };
  std::vector<Matched> matched_;  // its messages
  Crew crew_;
  std::vector<ProofLane> lanes_;  // of its threads
  StepMatcher<PostedOp> matcher_;
  std::set<std::pair<std::size_t, Rank>> failures_;  // step and node of programs that have thrown
  std::exception_ptr failure_;
  /// The node whose program has thrown failure_; none: the delivery or the listener has.
  std::optional<Rank> failed_;
  /// Built here, because the report of a fault must not allocate.
  const std::string used_up_ = fmt::format(
      "a node program has used up its stack of {} bytes in a proof (too deep a recursion, or too "
      "large a local array?)",
      stack_bytes);
};

}  // namespace

void prove(const Topology& topology, const Program& program,
           const std::function<void(const Delivery&)>& listener, ProofThreads threads) {
  Proof(topology, program, listener, threads).run();
}

}  // namespace wormcube
