// The proof run: every rank on a fiber; messages are copied directly, step by step.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/prove.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/fiber.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/schedule/long_loop.hpp"
#include "wormcube/runtime/schedule/named.hpp"
#include "wormcube/runtime/schedule/parallel.hpp"
#include "wormcube/runtime/schedule/proof_node.hpp"
#include "wormcube/runtime/schedule/step_matcher.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {
namespace {

/// Programs keep their data in memory(), and stacks are mapped as they are touched.
constexpr std::size_t stack_bytes = std::size_t{256} << 10;

/// The node whose program the calling thread runs.
thread_local const ProofNode* resumed = nullptr;

/// Threads     run() is for one. Between two deliveries it lets others run the nodes that can go on,
///             group by group: each node's program, and each group's lane, belongs to one thread
///             until the loop over the groups ends, which publishes what they have posted to the
///             calling thread. Messages are copied in such a loop, too: they have different
///             receivers' memory for a target, and no node runs. The rest is the calling thread's.
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
        threads_(threads),
        stacks_(static_cast<std::size_t>(topology.nodes()), stack_bytes),
        lanes_(static_cast<std::size_t>(topology.nodes()) / most_in_group + 1),
        matcher_(topology.nodes()) {}

  void run() {
    keep_signal_stack();
    const FaultReports faults([this](std::optional<const std::byte*> address,
                                     std::span<char> text) { return explain(address, text); });
    for (Rank rank = 0; rank < setting_.topology.nodes(); ++rank) {
      nodes_.emplace_back(setting_, rank, stacks_);
    }
    for (Rank rank = 0; rank < setting_.topology.nodes(); ++rank) ready_.push_back(rank);
    LongLoop loop("proof", 0);
    while (advance()) {
      loop.step();
      try {
        deliver();
      } catch (...) {
        failure_ = std::current_exception();
        break;
      }
    }
    if (failure_ != nullptr) {
      stop();
      report();
    }
  }

 private:
  static constexpr std::size_t most_posted = 1 << 17, most_steps = 16;  // of all nodes, of one
  static constexpr std::size_t most_in_group = 256;

  /// Calls body(g, first, end) for each group of a range of `count`. Groups are large: a node that
  /// goes on, or a message, takes less than a microsecond.
  template <class Body>
  void each_group(std::size_t count, const Body& body) const {
    const std::size_t in_group = threads_ == ProofThreads::all ? most_in_group : count;
    if (count <= in_group) {
      if (count > 0) body(std::size_t{0}, std::size_t{0}, count);
      return;
    }
    parallel_for_each_index((count + in_group - 1) / in_group, [&](std::size_t group) {
      body(group, group * in_group, std::min((group + 1) * in_group, count));
    });
  }

  void resume(ProofNode& node, ProofLane& lane) {
    const ProofNode* const outer = std::exchange(resumed, &node);  // a program may prove another
    node.run(lane);
    resumed = outer;
  }

  /// Runs the programs that can go on, and takes the first step that is posted; false if there is
  /// none or a program has failed before it.
  bool advance() {
    std::ranges::sort(ready_);
    each_group(ready_.size(), [&](std::size_t group, std::size_t first, std::size_t end) {
      keep_signal_stack();
      ProofLane& lane = lanes_[group];
      for (std::size_t i = first; i < end; ++i) {
        ProofNode& node = nodes_[static_cast<std::size_t>(ready_[i])];
        resume(node, lane);
        if (node.failure() != nullptr) lane.failures.emplace_back(node.at(), node.rank());
      }
    });
    ready_.clear();
    step_ = no_step;
    for (ProofLane& lane : lanes_) {
      failures_.insert(lane.failures.begin(), lane.failures.end());
      lane.failures.clear();
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
    each_group(matched_.size(), [&](std::size_t /*group*/, std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i) {
        copy(matched_[i].send->pieces(), matched_[i].receive->pieces());
      }
    });
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
    for (ProofNode& node : nodes_) {
      if (!node.ended()) resume(node, lanes_.front());
    }
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
  const ProofThreads threads_;
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
  std::vector<ProofLane> lanes_;  // of the groups
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
