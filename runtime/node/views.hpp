// Parts of the network as nodes of their own: lines, planes, every s-th node, groups.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/forwarding_node.hpp"

#include <initializer_list>
#include <span>
#include <vector>

namespace wormcube {

/// A node of a part of the network. Steps of a view are steps of the node below it: all members of
/// all views of one partition take them together, so global step numbers stay global.
class View : public ForwardingNode {
 public:
  const Topology& topology() const final { return topology_; }
  Rank rank() const final { return rank_; }
  using Node::step;
  void step(std::span<const Op> ops) final;

 protected:
  /// The topology must outlive the view: a plan of the node below, for instance.
  View(Node& node, const Topology& topology, Rank rank)
      : ForwardingNode(node), topology_(topology), rank_(rank) {}
  virtual Rank below(Rank member) const = 0;  // the member's rank in the node below
  /// True for all messages: moves only determine the destination.
  virtual bool goes_by_rank() const { return false; }
  /// Otherwise: the move as the node below makes it. `at` is the member that it starts at; a view
  /// whose moves depend on it keeps it up to date along an op's moves.
  virtual Move below(Move move, Rank& /*at*/) const { return move; }

 private:
  const Topology& topology_;
  Rank rank_;
  std::vector<Op> ops_;  // translated; kept so that steady state does not allocate
  std::vector<Move> moves_;
};

/// Some dimensions of the node below, and in each of them every spacing-th node.
class GridView final : public View {
 private:
  friend class Node;
  struct Plan {
    Topology topology;
    std::vector<int> dimensions;  // below, of each of the view's
    std::vector<Rank> strides;    // below, from one node of the view to the next
    int spacing;
    Rank base;  // below, of the view's node 0
    Rank rank;
  };
  static Plan make(const Node& node, std::span<const int> dimensions, int spacing);

  GridView(Node& node, const Plan& plan) : View(node, plan.topology, plan.rank), plan_(plan) {}
  Rank below(Rank member) const override;
  Move below(Move move, Rank& at) const override;
  const Plan& plan_;
};
using LineView = GridView;  ///< of one dimension

class GroupView final : public View {
 public:
  /// Throws UsageError if this node is not among the members, or a member is out of range or occurs
  /// twice.
  GroupView(Node& node, std::span<const Rank> members);

 private:
  bool goes_by_rank() const override { return true; }
  Rank below(Rank member) const override { return members_[member]; }
  std::span<const Rank> members_;
};

inline GridView Node::along(std::initializer_list<int> dimensions) {
  return along(std::span(dimensions.begin(), dimensions.size()));
}
inline GroupView Node::group(std::span<const Rank> members) { return {*this, members}; }

}  // namespace wormcube
