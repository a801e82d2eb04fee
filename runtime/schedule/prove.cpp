// The proof run: every rank on a fiber, step by step; messages are copied directly.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/prove.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/fiber.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/schedule/dry_run_limit.hpp"
#include "wormcube/runtime/schedule/logger.hpp"
#include "wormcube/runtime/schedule/long_loop.hpp"
#include "wormcube/runtime/schedule/named.hpp"
#include "wormcube/runtime/schedule/step_matcher.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <pthread.h>

namespace wormcube {
namespace {

/// Programs keep their data in memory(), and stacks are mapped as they are touched.
constexpr std::size_t stack_bytes = std::size_t{256} << 10;

class Proof;

class ProofNode final : public Node {
 public:
  ProofNode(Proof& proof, Rank rank, const Stacks& stacks);

  Rank rank() const override { return rank_; }
  const Topology& topology() const override;

  using Node::step;
  void step(std::span<const Op> ops) override;

  /// The ops of the step at which the fiber is suspended; the program keeps them until then.
  std::span<const Op> posted() const { return posted_; }
  /// That step; for a program that has ended, the number of its steps. A node does not wait in
  /// steps in which it does nothing: no message reaches it there.
  std::size_t at() const { return at_; }
  void run() { fiber_.resume(); }
  bool ended() const { return fiber_.done(); }
  /// Inside the fiber: what its program has thrown.
  void fail(std::exception_ptr failure) noexcept { failure_ = std::move(failure); }
  const std::exception_ptr& failure() const { return failure_; }

 private:
  void work(Charge /*charge*/, Bytes /*bytes*/, FunctionRef work) override { work(); }
  PlanCache& plans() override { return plans_; }

  Span acquire(Bytes bytes, Purpose /*purpose*/) override {
    if (bytes == 0) return {};
    const Span data(static_cast<std::byte*>(::operator new(bytes, alignment)), bytes);
    // The allocator may return memory with what an earlier proof left: right answers that were
    // never delivered.
    std::ranges::fill(data, std::byte{0xDB});
    return data;
  }
  void release(Span data, Purpose /*purpose*/) noexcept override {
    ::operator delete(data.data(), alignment);
  }
  static constexpr std::align_val_t alignment{64};

  Proof& proof_;
  Rank rank_;
  PlanCache plans_;
  std::span<const Op> posted_;
  std::size_t at_ = 0;
  std::exception_ptr failure_;
  Fiber fiber_;
};

class Proof {
 public:
  using Listener = std::function<void(const Delivery&)>;

  Proof(const Topology& topology, const Program& program, const Listener& listener)
      : topology_(topology),
        program_(program),
        listener_(listener),
        stacks_(static_cast<std::size_t>(topology.nodes()), stack_bytes),
        matcher_(topology.nodes()) {}

  void run() {
    keep_signal_stack();
    const FaultReports faults(
        [this, thread = pthread_self()](std::optional<const std::byte*> address,
                                        std::span<char> text) -> std::size_t {
          return pthread_equal(pthread_self(), thread) != 0 ? explain(address, text) : 0;
        });
    for (Rank rank = 0; rank < topology_.nodes(); ++rank) {
      nodes_.emplace_back(*this, rank, stacks_);
    }
    for (ProofNode& node : nodes_) running_.push_back(&node);
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

  const Topology& topology() const { return topology_; }

  /// Inside the node's fiber: its whole life.
  void live(ProofNode& node) noexcept {
    try {
      program_(node);
    } catch (...) {
      node.fail(std::current_exception());
    }
  }

  /// Inside the node's fiber: before it waits for a step, or passes one in which it does nothing.
  void require(const ProofNode& node, std::span<const Op> ops) {
    require_running();
    DryRunLimit::require();
    if (!ops.empty()) rules_.require(topology_, node.rank(), node.at(), ops);
  }
  void require_running() const {
    if (stopping_) throw Stopped();
  }

 private:
  void resume(ProofNode& node) {
    resumed_ = &node;
    node.run();
  }

  /// Runs those whose step is done to their next step or to their end, and advances to the first
  /// step that any node waits for; false if none is left or one has failed there.
  bool advance() {
    std::size_t next = none;
    for (ProofNode* node : running_) {
      if (!node->ended() && (node->at() == step_ || step_ == none)) resume(*node);
      if (!node->ended() || node->failure() != nullptr) next = std::min(next, node->at());
    }
    std::erase_if(running_, [](ProofNode* node) { return node->ended() && !node->failure(); });
    step_ = next;
    for (const ProofNode* node : running_) {
      if (!node->ended() || node->at() != step_) continue;
      failure_ = node->failure(), failed_ = node->rank();
      return false;
    }
    return !running_.empty();
  }

  void deliver() {
    for (ProofNode* node : running_) {
      if (node->at() != step_) continue;
      const Rank rank = node->rank();
      for (const Op& op : node->posted()) {
        const Rank peer = peer_of(topology_, rank, op);
        op.is_send() ? matcher_.add_send(rank, peer, op) : matcher_.add_receive(peer, rank, op);
      }
    }
    using End = StepMatcher<Op>::End;
    matcher_.match(
        [this](const End& send, const End& receive) {
          const Bytes sent = send.record->bytes(), expected = receive.record->bytes();
          if (sent != expected) {
            throw ProgramError(
                unmatched_send_text(step_, send.from, send.to, send.tag, sent, expected));
          }
          copy(send.record->pieces(), receive.record->pieces());
          if (listener_) {
            listener_({send.from, send.to, step_, send.tag, receive.record->pieces()});
          }
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

  /// The report of a stack overflow in the program that was resumed last.
  std::size_t explain(std::optional<const std::byte*> address, std::span<char> text) const {
    if (resumed_ == nullptr || (address && !Fiber::is_below_stack(*address))) return 0;
    const auto end = fmt::format_to_n(text.data(), text.size(), "{}node {}, step {} on {}: {}",
                                      Activity::prefix(), resumed_->rank(), resumed_->at(),
                                      topology_.name(), address ? used_up_ : std::string_view());
    return std::min<std::size_t>(end.size, text.size());
  }

  /// Throws Stopped in every program that waits in a step, so that its stack unwinds.
  void stop() {
    stopping_ = true;
    for (ProofNode& node : nodes_) {
      if (!node.ended()) resume(node);
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

  const Topology& topology_;
  const Program& program_;
  const Listener& listener_;
  Stacks stacks_;
  std::deque<ProofNode> nodes_;
  std::vector<ProofNode*> running_;  // ascending
  StepMatcher<Op> matcher_;
  StepRules rules_;
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::size_t step_ = none;  // that is delivered; none: no node has started
  bool stopping_ = false;
  std::exception_ptr failure_;
  /// The node whose program has thrown failure_; none: the delivery or the listener has.
  std::optional<Rank> failed_;
  const ProofNode* resumed_ = nullptr;  // the last one; none: no node has started
  /// Built here, because the report of a fault must not allocate.
  const std::string used_up_ = fmt::format(
      "a node program has used up its stack of {} bytes in a proof (too deep a recursion, or too "
      "large a local array?)",
      stack_bytes);
};

ProofNode::ProofNode(Proof& proof, Rank rank, const Stacks& stacks)
    : proof_(proof),
      rank_(rank),
      fiber_(stacks, static_cast<std::size_t>(rank), [this] { proof_.live(*this); }) {}

const Topology& ProofNode::topology() const { return proof_.topology(); }

void ProofNode::step(std::span<const Op> ops) {
  proof_.require(*this, ops);
  if (!ops.empty()) {
    posted_ = ops;
    fiber_.suspend();
    proof_.require_running();
  }
  ++at_;
}

}  // namespace

void prove(const Topology& topology, const Program& program,
           const std::function<void(const Delivery&)>& listener) {
  Proof(topology, program, listener).run();
}

}  // namespace wormcube
