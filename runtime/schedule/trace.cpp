// The trace of a real run: forwards calls, and logs them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/logger.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

namespace wormcube {

TracingNode::TracingNode(Node& node, RankLog& log) : ForwardingNode(node), log_(log) {
  logger::start(log_);
}

void TracingNode::step(std::span<const Op> ops) {
  logger::step(log_, topology(), rank(), ops);
  ForwardingNode::step(ops);
}

void TracingNode::work(Charge charge, Bytes bytes, FunctionRef work) {
  logger::charged(log_, charge, bytes);
  ForwardingNode::work(charge, bytes, work);
}

Span TracingNode::acquire(Bytes bytes, Purpose purpose) {
  const Span data = ForwardingNode::acquire(bytes, purpose);
  logger::acquired(log_, data.size(), purpose, held_, held_blocks_);
  return data;
}

void TracingNode::release(Span data, Purpose purpose) noexcept {
  logger::released(data.size(), purpose, held_, held_blocks_);
  ForwardingNode::release(data, purpose);
}

}  // namespace wormcube
