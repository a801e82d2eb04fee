// The proof run: every rank on a fiber; messages are copied directly, step by step.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/prove.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/fiber.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/schedule/dry_run_limit.hpp"
#include "wormcube/runtime/schedule/logger.hpp"
#include "wormcube/runtime/schedule/long_loop.hpp"
#include "wormcube/runtime/schedule/named.hpp"
#include "wormcube/runtime/schedule/posted_steps.hpp"
#include "wormcube/runtime/schedule/step_matcher.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <set>
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

  /// The step that the program has reached; if it has ended, the number of its steps.
  std::size_t at() const { return at_; }
  void run() { fiber_.resume(); }
  /// One of the steps that the program has posted is delivered. Returns whether it was the last, so
  /// that the program can go on.
  bool delivered() {
    if (--undelivered_ > 0) return false;
    released_.clear();
    return !ended();
  }
  bool ended() const { return fiber_.done(); }
  /// Inside the fiber: what its program has thrown.
  void fail(std::exception_ptr failure) noexcept { failure_ = std::move(failure); }
  const std::exception_ptr& failure() const { return failure_; }

 private:
  void work(Charge /*charge*/, Bytes /*bytes*/, FunctionRef work) override {
    wait();
    work();
  }
  PlanCache& plans() override { return plans_; }

  struct Free {
    void operator()(std::byte* data) const { ::operator delete(data, alignment); }
  };
  struct Piece {
    std::unique_ptr<std::byte[], Free> data;
    Bytes bytes;
  };

  Span acquire(Bytes bytes, Purpose /*purpose*/) override {
    if (bytes == 0) return {};
    Piece& piece = held_.emplace_back();
    piece.data.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
    piece.bytes = bytes;
    // The allocator may return memory with what an earlier proof left: right answers that were
    // never delivered.
    const Span data(piece.data.get(), bytes);
    std::ranges::fill(data, std::byte{0xDB});
    return data;
  }
  /// Steps that are not delivered may still use it: then it is freed later.
  void release(Span data, Purpose /*purpose*/) noexcept override {
    const auto piece = std::find_if(held_.rbegin(), held_.rend(), [&](const Piece& held) {
      return held.data.get() == data.data();
    });
    WORMCUBE_ASSERT(piece != held_.rend());
    if (undelivered_ > 0) released_.push_back(std::move(*piece));
    held_.erase(std::next(piece).base());
  }
  static constexpr std::align_val_t alignment{64};

  /// Whether the data stay where they are until they are delivered, although the step returns. A
  /// receive without data is waited for: programs order what they do by such messages.
  bool stays(const Op& op) const {
    const auto pieces = op.pieces();
    if (pieces.size() != 1) return false;  // the list is the program's
    const Span data = pieces.front();
    if (data.empty()) return op.is_send();
    constexpr std::size_t most_compared = 16;
    const std::less_equal<const std::byte*> not_after;
    return std::ranges::any_of(
        std::span(held_).last(std::min(held_.size(), most_compared)), [&](const Piece& held) {
          return not_after(held.data.get(), data.data()) &&
                 not_after(data.data() + data.size(), held.data.get() + held.bytes);
        });
  }
  /// Inside the fiber: until all steps that the program has posted are delivered.
  void wait();

  Proof& proof_;
  Rank rank_;
  PlanCache plans_;
  std::size_t at_ = 0;
  std::size_t undelivered_ = 0;  // steps that the program has posted
  std::vector<Piece> held_, released_;
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
        most_undelivered_(std::clamp<std::size_t>(
            most_posted / static_cast<std::size_t>(topology.nodes()), 1, most_steps)),
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
    for (Rank rank = 0; rank < topology_.nodes(); ++rank) ready_.push_back(rank);
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

  /// Inside the node's fiber.
  void post(const ProofNode& node, std::span<const Op> ops) {
    PostedStep& step = posted_[node.at()];
    step.nodes.push_back(node.rank());
    for (const Op& op : ops) {
      step.ops.emplace_back(node.rank(), peer_of(topology_, node.rank(), op), op);
    }
  }
  /// The steps that a node may post before one is delivered. A program that goes on at once is
  /// still in the cache; there is a limit because what it has posted takes memory.
  std::size_t most_undelivered() const { return most_undelivered_; }

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
  static constexpr std::size_t most_posted = 1 << 17, most_steps = 16;  // of all nodes, of one

  void resume(ProofNode& node) {
    resumed_ = &node;
    node.run();
  }

  /// Runs the programs that can go on, and takes the first step that is posted; false if there is
  /// none or a program has failed before it.
  bool advance() {
    std::ranges::sort(ready_);
    for (const Rank rank : ready_) {
      ProofNode& node = nodes_[static_cast<std::size_t>(rank)];
      resume(node);
      if (node.failure() != nullptr) failures_.emplace(node.at(), rank);
    }
    ready_.clear();
    if (!failures_.empty() && (posted_.empty() || failures_.begin()->first <= posted_.first())) {
      failed_ = failures_.begin()->second;
      failure_ = nodes_[static_cast<std::size_t>(*failed_)].failure();
      return false;
    }
    if (posted_.empty()) return false;
    now_ = posted_.take_first();
    step_ = now_.key();
    return true;
  }

  void deliver() {
    for (const PostedOp& op : now_.mapped().ops) {
      op.is_send ? matcher_.add_send(op.rank, op.peer, op)
                 : matcher_.add_receive(op.peer, op.rank, op);
    }
    using End = StepMatcher<PostedOp>::End;
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
    for (const Rank rank : now_.mapped().nodes) {
      if (nodes_[static_cast<std::size_t>(rank)].delivered()) ready_.push_back(rank);
    }
    posted_.give_back(std::move(now_));
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
  std::vector<Rank> ready_;  // can go on: all that they have posted is delivered
  PostedSteps posted_;
  PostedSteps::Entry now_;  // the step that is delivered
  std::size_t step_ = 0;    // its number
  const std::size_t most_undelivered_;
  StepMatcher<PostedOp> matcher_;
  StepRules rules_;
  bool stopping_ = false;
  std::set<std::pair<std::size_t, Rank>> failures_;  // step and node of programs that have thrown
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
    proof_.post(*this, ops);
    ++undelivered_;
    const bool all_stay = std::ranges::all_of(ops, [&](const Op& op) { return stays(op); });
    if (!all_stay || undelivered_ == proof_.most_undelivered()) wait();
  }
  ++at_;
}

void ProofNode::wait() {
  if (undelivered_ == 0) return;
  proof_.require_running();
  fiber_.suspend();
  proof_.require_running();
}

}  // namespace

void prove(const Topology& topology, const Program& program,
           const std::function<void(const Delivery&)>& listener) {
  Proof(topology, program, listener).run();
}

}  // namespace wormcube
