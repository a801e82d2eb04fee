// Which of a step's memory still belongs to the network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/node/step_messages.hpp"

namespace wormcube {
namespace {

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

}  // namespace

bool StepMessages::waits_for_empty() const {
  bool found = false;
  if (receives_empty) {
    each(Cases{[](const Worm&) {},
               [&](const Receive& receive) {
                 found = found || (receive.bytes == 0 && !receive.is_complete());
               }});
  }
  return found;
}

bool StepMessages::uses(std::span<const Span> data, bool to_write) const {
  Extent extent;
  extent.add(data);
  bool found = false;
  if (extent.overlaps(received)) {
    each(Cases{[](const Worm&) {},
               [&](const Receive& receive) {
                 found = found || (!receive.is_complete() && overlap(data, receive.data));
               }});
  }
  if (to_write && !found && extent.overlaps(sent)) {
    each(Cases{[&](const Worm& worm) {
                 found = found || (!worm.is_complete() && overlap(data, worm.data));
               },
               [](const Receive&) {}});
  }
  return found;
}

}  // namespace wormcube
