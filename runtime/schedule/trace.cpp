// The trace of a real run: passes on, and logs.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/logger.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

namespace wormcube {

/// Node's memory functions, which are not public, called on the node below.
struct TracingNode::Forward : Node {
  static Span acquire_from(Node& node, Bytes bytes, Purpose purpose) {
    return (node.*&Forward::acquire)(bytes, purpose);
  }
  static void release_to(Node& node, Span data, Purpose purpose) noexcept {
    (node.*&Forward::release)(data, purpose);
  }
};

void TracingNode::step(std::span<const Op> ops) {
  logger::step(log_, topology(), rank(), ops);
  node_.step(ops);
}

void TracingNode::local(Bytes rearranged, Work work) {
  logger::rearranged(log_, rearranged);
  node_.rearrange(rearranged, work);
}

Span TracingNode::acquire(Bytes bytes, Purpose purpose) {
  const Span data = Forward::acquire_from(node_, bytes, purpose);
  logger::acquired(log_, data.size(), purpose, held_, held_blocks_);
  return data;
}

void TracingNode::release(Span data, Purpose purpose) noexcept {
  logger::released(data.size(), purpose, held_, held_blocks_);
  Forward::release_to(node_, data, purpose);
}

}  // namespace wormcube
