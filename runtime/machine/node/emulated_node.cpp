// A node's steps: checked, posted, waited for.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/node/emulated_node.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/machine/failure.hpp"
#include "wormcube/runtime/machine/node/stopwatch.hpp"
#include "wormcube/runtime/network/unread.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace wormcube {
namespace {

/// Two ops of a step with a byte that one of them receives into and the other names too; or one
/// receive, twice, of whose pieces two overlap. Each pair of pieces is looked at, so a step of more
/// than a few pieces is not: its dry run is, always.
std::optional<std::pair<const Op*, const Op*>> overlapping(std::span<const Op> ops) {
  const auto is_alone = [](const Op& op) { return op.pieces().size() <= 1; };
  if (ops.size() == 1 && is_alone(ops[0])) return std::nullopt;
  constexpr std::size_t most_pieces = 16;  // 120 pairs
  std::size_t count = 0;
  for (const Op& op : ops) count += op.pieces().size();
  if (count > most_pieces) return std::nullopt;
  const std::less<const std::byte*> before;
  const auto overlap = [&](const Span& a, const Span& b) {
    return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) &&
           before(b.data(), a.data() + a.size());
  };
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::span<const Span> pieces = ops[i].pieces();
    for (std::size_t j = 0; j < i; ++j) {
      if (ops[i].is_send() && ops[j].is_send()) continue;
      for (const Span& a : ops[j].pieces()) {
        for (const Span& b : pieces) {
          if (overlap(a, b)) return std::pair(&ops[j], &ops[i]);
        }
      }
    }
    for (std::size_t k = ops[i].is_send() ? pieces.size() : 0; k < pieces.size(); ++k) {
      for (std::size_t l = 0; l < k; ++l) {
        if (overlap(pieces[l], pieces[k])) return std::pair(&ops[i], &ops[i]);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

void EmulatedNode::restart() {
  arena_.restart();
  statistics = {};
  moving = {};
  received = 0;
  steps_in_a_row_ = 0;
  progress_engine_ = nullptr;
  progressing_ = is_unwinding_ = false;
  stopped = false;
  finished.store(false, std::memory_order_relaxed);
  usage_error.reset();
  if (requests_ != nullptr) requests_->reset();
}

void EmulatedNode::reset() {
  abandon();
  static_cast<void>(inbox.close());
  gates.step.reset();
  gates.exit.reset();
  gates.exit.arm(1);
}

void EmulatedNode::check(std::span<const Op> ops) const {
  for (const Op& op : ops) {
    if (op.to() == Op::To::rank && (op.peer() < 0 || op.peer() >= size())) {
      throw UsageError(
          fmt::format("peer {} out of range [0, {}) ({})", op.peer(), size(), topology().name()));
    }
    if (!op.is_send() || around_->options.any_order) continue;
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

void EmulatedNode::prepare(StepMessages& step, std::span<const Op> ops) {
  step.forget();
  const bool stays = steps_.size() > 1;
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
  const bool routes_differ = around_->may_pass && std::ranges::any_of(ops, [](const Op& op) {
                               return op.is_send() && !op.moves().empty();
                             });
  for (const Op& op : ops) {
    if (op.is_send()) {
      Worm& worm = step.worms.another();
      around_->network.address(worm, rank_, op);
      around_->network.prefetch(worm.to);
      // Nodes lie in one array, by rank.
      if (around_->is_large) (this + (worm.to - rank_))->prefetch_receive();
      worm.begin(progress);
      worm.step = statistics.steps;
      worm.tag = op.tag();
      worm.bytes = op.bytes();
      worm.set_data(pieces_of(op));
      // Worms from one step to one node keep their order: those on one route queue up behind each
      // other, others are chained.
      for (std::size_t i = step.worms.size() - 1; routes_differ && i-- > 0;) {
        Worm& before = step.worms[i];
        if (before.to != worm.to || before.tag != worm.tag) continue;
        before.successor = &worm;
        worm.follows = true;
        break;
      }
    } else {
      Receive& receive = step.receives.another();
      receive.begin(progress);
      receive.step = statistics.steps;
      receive.from = peer_of(topology(), rank_, op);
      receive.to = rank_;
      receive.tag = op.tag();
      receive.bytes = op.bytes();
      step.receives_empty |= receive.bytes == 0;
      receive.set_data(pieces_of(op));
      receive.unread = exceeds_caches(op.unread_bytes());
      receive.done = false;
    }
  }
}

void EmulatedNode::step(std::span<const Op> ops) {
  const Stopwatch watch(around_->options.timing, statistics.stepping);
  require_running();
  if (!ops.empty()) {
    StepMessages& step = steps_.next();
    around_->network.prefetch(rank_);
    try {
      check(ops);
      if (has_steps_under_way()) keep_apart(ops);
      prepare(step, ops);
    } catch (const UsageError& error) {
      step.forget();
      throw UsageErrorOfNode(
          fmt::format("node {}, step {}: {}", rank_, statistics.steps, error.what()));
    }
    if (steps_.size() == 1) {
      // One count for the node itself: nobody wakes it while it posts.
      gates.step.arm(static_cast<std::uint32_t>(ops.size()) + 1);
      post(step);
      static_cast<void>(gates.step.arrive());  // not parked
      wait_for_step();
      if (around_->is_stopping()) unwind();
      received += step.receives.size();
      step.worms.clear();
      step.receives.clear();
    } else {
      steps_.begin_next();
      post(step);
      if (steps_.is_full()) complete_or_unwind(1);
    }
    if (has_steps_under_way() && StepWindow::returns_complete(ops, own_stack())) {
      complete_or_unwind(steps_.open());
    }
  }
  count_turn();
  ++statistics.steps;
  if (around_->barrier == nullptr) return;
  wait(around_->barrier->come(rank_));
  if (!around_->is_stopping()) around_->barrier->leave(rank_);  // else not all have arrived
}

void EmulatedNode::post(StepMessages& step) {
  for (std::size_t i = 0; i < step.receives.size(); ++i) around_->network.post(step.receives[i]);
  for (std::size_t i = 0; i < step.worms.size(); ++i) {
    count_message(step.worms[i]);
    if (!step.worms[i].follows) around_->network.launch(step.worms[i]);
  }
}

void EmulatedNode::keep_apart(std::span<const Op> ops) {
  std::size_t steps = 0;
  for (const Op& op : ops) {
    steps = std::max(steps, steps_.in_the_way_of(op));
    if (!around_->may_pass || !op.is_send()) continue;
    steps = std::max(steps, steps_.that_could_be_passed(op, peer_of(topology(), rank_, op)));
  }
  if (steps > 0) complete_or_unwind(steps);
}

Extent EmulatedNode::own_stack() const {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return {std::min(here, stack_), std::max(here, stack_)};
}

void EmulatedNode::let_go(Span data) noexcept {
  const std::size_t steps = steps_.that_use(data);
  if (steps == 0) return;
  const Stopwatch watch(around_->options.timing, statistics.stepping);
  static_cast<void>(complete(steps));
}

void EmulatedNode::work(Charge charge, Bytes /*bytes*/, FunctionRef work) {
  if (must_settle()) settle();
  if (!around_->options.timing) return work();
  const auto start = around_->executor.own_time();
  work();
  time_of(statistics, charge) += around_->executor.own_time() - start;
}

}  // namespace wormcube
