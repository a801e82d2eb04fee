// Which steps must be complete before another begins, so that no program can observe that they were
// under way.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/node/step_window.hpp"

#include <algorithm>
#include <span>

namespace wormcube {

std::size_t StepWindow::in_the_way_of(const Op& op) const {
  for (std::size_t i = open_; i-- > 0;) {
    if (step(i).uses(op.pieces(), !op.is_send())) return i + 1;
    if (op.is_send() && step(i).waits_for_empty()) return i + 1;
  }
  return 0;
}

std::size_t StepWindow::that_could_be_passed(const Op& send, Rank to) const {
  for (std::size_t i = open_; i-- > 0;) {
    bool found = false;
    step(i).each(Cases{[](const Receive&) {},
                       [&](const Worm& worm) {
                         const bool same_path = worm.way == Worm::Way::to_rank
                                                    ? send.to() == Op::To::rank
                                                    : worm.way == Worm::Way::by_move &&
                                                          send.to() == Op::To::move &&
                                                          worm.move == send.moves().front();
                         found = found || (worm.to == to && worm.tag == send.tag() &&
                                           (worm.follows || !same_path) && !worm.is_complete());
                       }});
    if (found) return i + 1;
  }
  return 0;
}

std::size_t StepWindow::that_use(Span data) const {
  for (std::size_t i = open_; i-- > 0;) {
    if (step(i).uses(std::span(&data, 1), true)) return i + 1;
  }
  return 0;
}

bool StepWindow::returns_complete(std::span<const Op> ops, const Extent& stack) {
  return std::ranges::any_of(ops, [&](const Op& op) {
    return op.is_transient() || std::ranges::any_of(op.pieces(), [&](const Span& piece) {
             Extent extent;
             extent.add(std::span(&piece, 1));
             return stack.overlaps(extent);
           });
  });
}

}  // namespace wormcube
