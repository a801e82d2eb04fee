// A node of a proof run: its program on a fiber, and what it posts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/fiber.hpp"
#include "wormcube/runtime/schedule/dry_run_limit.hpp"
#include "wormcube/runtime/schedule/logger.hpp"
#include "wormcube/runtime/schedule/posted_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace wormcube {

/// What all nodes of a proof share. `stopping` changes only while no node runs.
struct ProofSetting {
  const Topology& topology;
  const Program& program;
  /// The steps that a node may post before one is delivered. A program that goes on at once is
  /// still in the cache; there is a limit because what it has posted takes memory.
  std::size_t most_undelivered;
  bool stopping = false;  // every step throws Stopped
};

class ProofNode;

/// What the nodes of one thread post until the next delivery.
struct ProofLane {
  PostedSteps posted;
  StepRules rules;
  std::vector<const ProofNode*> failed;  // their programs have thrown
};

/// Threads  one runs it; others may call the rest while it does not run.
class ProofNode final : public Node {
 public:
  ProofNode(const ProofSetting& setting, Rank rank, const Stacks& stacks)
      : setting_(setting),
        rank_(rank),
        fiber_(stacks, static_cast<std::size_t>(rank), [this] { live(); }) {}

  Rank rank() const override { return rank_; }
  const Topology& topology() const override { return setting_.topology; }

  using Node::step;
  void step(std::span<const Op> ops) override {
    require_running();
    DryRunLimit::require();
    if (!ops.empty()) {
      lane_->rules.require(setting_.topology, rank_, at_, ops);
      post(ops);
      ++undelivered_;
      const bool all_stay = std::ranges::all_of(ops, [&](const Op& op) { return stays(op); });
      if (!all_stay || undelivered_ == setting_.most_undelivered) wait();
    }
    ++at_;
  }

  /// The step that the program has reached; if it has ended, the number of its steps.
  std::size_t at() const { return at_; }
  /// Runs the program until it waits; what it posts until then goes to the lane.
  void run(ProofLane& lane) {
    lane_ = &lane;
    fiber_.resume();
  }
  /// One of the steps that the program has posted is delivered. Returns whether it was the last, so
  /// that the program can go on.
  bool delivered() {
    if (--undelivered_ > 0) return false;
    released_.clear();
    return !ended();
  }
  bool ended() const { return fiber_.done(); }
  /// What its program has thrown.
  const std::exception_ptr& failure() const { return failure_; }

 private:
  /// Inside the fiber: its whole life.
  void live() noexcept {
    try {
      setting_.program(*this);
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  void post(std::span<const Op> ops) {
    PostedStep& step = lane_->posted[at_];
    step.nodes.push_back(rank_);
    for (const Op& op : ops) {
      step.ops.emplace_back(rank_, peer_of(setting_.topology, rank_, op), op);
    }
  }
  /// Inside the fiber: until all steps that the program has posted are delivered.
  void wait() {
    if (undelivered_ == 0) return;
    require_running();
    fiber_.suspend();
    require_running();
  }
  void require_running() const {
    if (setting_.stopping) throw Stopped();
  }

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

  const ProofSetting& setting_;
  Rank rank_;
  ProofLane* lane_ = nullptr;
  PlanCache plans_;
  std::size_t at_ = 0;
  std::size_t undelivered_ = 0;  // steps that the program has posted
  std::vector<Piece> held_, released_;
  std::exception_ptr failure_;
  Fiber fiber_;
};

}  // namespace wormcube
