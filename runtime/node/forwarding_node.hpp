// A node that forwards every call to another.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"

#include <span>
#include <string_view>

namespace wormcube {

/// The base of views, parts, traces and tests, which override some of it.
class ForwardingNode : public Node {
 public:
  explicit ForwardingNode(Node& node) : node_(node) {}
  Rank rank() const override { return node_.rank(); }
  const Topology& topology() const override { return node_.topology(); }
  using Node::step;
  void step(std::span<const Op> ops) override { node_.step(ops); }
  void phase(std::string_view name) override { node_.phase(name); }
  void computes(double operations, double bytes) override { node_.computes(operations, bytes); }

 protected:
  Node& node() const { return node_; }
  void work(Charge charge, Bytes bytes, FunctionRef work) override {
    node_.work(charge, bytes, work);
  }
  Span acquire(Bytes bytes, Purpose purpose) override { return node_.acquire(bytes, purpose); }
  void release(Span data, Purpose purpose) noexcept override { node_.release(data, purpose); }
  PlanCache& plans() override { return node_.plans(); }

 private:
  Node& node_;
};

}  // namespace wormcube
