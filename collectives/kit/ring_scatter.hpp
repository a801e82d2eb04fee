// Scatter and gather in both directions of every ring at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/all_port.hpp"
#include "wormcube/collectives/kit/reversible.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace wormcube {

/// One node's messages of one copy of a scatter on a torus: one dimension after another, in each in
/// both directions from the root's coordinate to neighbours, the bundle for the farthest nodes
/// first. A gather is the reverse.
class RingScatterPlan {
 public:
  struct Share {
    Rank block;
    int share;
  };
  /// Where a node has a share of a block, cut by the caller.
  using Place = std::function<Span(const Share&)>;

  /// \param first  the wide dimension that this copy begins with
  RingScatterPlan(const Topology& topology, Rank r, Rank root, int first, HalfWay half);

  void run(Node& node, Way way, const Place& place) const;
  /// Calls f(share) for all that a node receives from another one in a scatter.
  template <class F>
  void for_each_taken(F f) const {
    for (const auto& messages : steps_) {
      for (const Message& message : messages) {
        if (message.outgoing) continue;
        for (const Share& share : message.shares) f(share);
      }
    }
  }

 private:
  struct Message {
    Move move;  // a scatter's: where it goes, or where it comes from
    bool outgoing;
    std::vector<Share> shares;
  };
  std::vector<std::vector<Message>> steps_;
};

/// All copies together, of blocks that lie in `all` on every node.
void run_rings(Node& node, Way way, Blocks all, Rank root, HalfWay half, Bytes element_bytes = 1);
/// This node's plans, one for each copy.
std::span<const RingScatterPlan> ring_scatter_plans(Node& node, Rank root, HalfWay half);
/// A share of the j-th copy's part of a block.
Span ring_share(Span block, const RingScatterPlan::Share& of, int j, int copies, HalfWay half,
                Bytes element_bytes = 1);

/// Memory for the blocks of others that pass through a node that is not the root.
class RingScatterRoom {
 public:
  RingScatterRoom(Node& node, std::span<const RingScatterPlan> plans, HalfWay half, Blocks all,
                  Span own, Rank root)
      : half_(half), all_(all), own_(own), rank_(node.rank()), root_(root) {
    const auto copies = static_cast<int>(plans.size());
    Bytes bytes = 0;
    for (int j = 0; node.rank() != root && j < copies; ++j) {
      auto& places = places_.emplace_back();
      plans[static_cast<std::size_t>(j)].for_each_taken([&](const RingScatterPlan::Share& of) {
        if (of.block == rank_) return;
        places.emplace(std::pair(of.block, of.share), bytes);
        bytes += ring_share(own, of, j, copies, half).size();
      });
    }
    memory_.emplace(node.memory(bytes, Purpose::blocks));
  }
  Span operator()(const RingScatterPlan::Share& of, int j, int copies) const {
    if (of.block == rank_ && rank_ != root_) return ring_share(own_, of, j, copies, half_);
    if (rank_ == root_) return ring_share(all_[of.block], of, j, copies, half_);
    return memory_->subspan(places_[static_cast<std::size_t>(j)].at({of.block, of.share}),
                            ring_share(own_, of, j, copies, half_).size());
  }

 private:
  HalfWay half_;
  Blocks all_;
  Span own_;
  Rank rank_, root_;
  std::vector<std::map<std::pair<Rank, int>, Bytes>> places_;  // by copy
  std::optional<Memory> memory_;
};

/// For a scatter or gather.
Prediction ring_scatter_cost(const Topology& topology, HalfWay half);
/// For a scatter or gather of p parts of a block, and all nodes' exchange of them before or after.
Prediction ring_scatter_and_all_cost(const Topology& topology, HalfWay half);

/// A scatter or a gather by these plans.
Algorithm ring_scatters(Operation operation, void (*program)(Node&, const Call&));

}  // namespace wormcube
