// The parts as fibers of the node: each suspends where it posts a step.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/node/together.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/strand.hpp"
#include "wormcube/runtime/node/forwarding_node.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace wormcube {
namespace {

/// What a part sees: its steps wait for those of the others.
class PartNode final : public ForwardingNode {
 public:
  PartNode(Node& node, const Part& part) : ForwardingNode(node), part_(part) {}

  using Node::step;
  void step(std::span<const Op> ops) override {
    if (stopping_) throw Stopped();
    posted_ = ops;
    strand_->suspend();
    posted_ = {};
    if (stopping_) throw Stopped();
  }

  /// Runs the part to its next step or its end. Throws what the part throws.
  void run() {
    if (strand_ == nullptr) {
      strand_ = IdleStrands::take();
      strand_->give(body_);
    }
    strand_->resume();
    if (ended_) IdleStrands::give_back(std::move(strand_));
    if (failure_ != nullptr && !stopping_) std::rethrow_exception(failure_);
  }
  /// Unwinds the part if it waits in a step.
  void stop() {
    stopping_ = true;
    if (strand_ != nullptr) run();
  }
  bool ended() const { return ended_; }
  /// Appends the ops of the step that it waits in. The part's stack changes once that step has
  /// returned, and the node below does not know that stack.
  void add_posted(std::vector<Op>& ops) const {
    for (const Op& op : posted_) ops.push_back(is_on_stack(op) ? op.transient() : op);
  }

 private:
  bool is_on_stack(const Op& op) const {
    const std::span<const std::byte> stack = strand_->stack();
    const std::less<const std::byte*> before;
    return std::ranges::any_of(op.pieces(), [&](const Span& piece) {
      return !piece.empty() && before(piece.data(), stack.data() + stack.size()) &&
             before(stack.data(), piece.data() + piece.size());
    });
  }

  const Part& part_;
  std::unique_ptr<Strand> strand_;  // while the part runs
  std::function<void()> body_ = [this] {
    try {
      part_(*this);
    } catch (...) {
      failure_ = std::current_exception();
    }
    ended_ = true;
  };
  std::span<const Op> posted_;
  std::exception_ptr failure_;
  bool stopping_ = false, ended_ = false;
};

}  // namespace

void together(Node& node, std::span<const Part> parts) {
  std::deque<PartNode> nodes;
  for (const Part& part : parts) nodes.emplace_back(node, part);
  std::vector<Op> ops;
  try {
    for (;;) {
      ops.clear();
      bool all_ended = true;
      for (PartNode& part : nodes) {
        if (part.ended()) continue;
        part.run();
        if (part.ended()) continue;
        all_ended = false;
        part.add_posted(ops);
      }
      if (all_ended) return;
      node.step(std::span<const Op>(ops));
    }
  } catch (...) {
    for (PartNode& part : nodes) {
      if (!part.ended()) part.stop();
    }
    throw;
  }
}

}  // namespace wormcube
