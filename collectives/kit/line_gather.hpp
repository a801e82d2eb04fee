// All-gathers along one dimension as rules, and the all-gathers and reduce-scatters that products
// make of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/cost.hpp"
#include "wormcube/collectives/kit/handover.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace wormcube {

/// An all-gather among the nodes of one dimension. A bundle is what a coordinate had before it.
/// Messages of a step that a node sends to different nodes are in different lanes.
struct LineGather {
  struct Arrival {
    int step, lane;
  };
  struct Neighbours {
    Rank to, from;  ///< coordinates; -1: none
  };
  int steps = 0, lanes = 1;
  /// When coordinate x receives the bundle (or a share of it) of coordinate z.
  std::function<Arrival(Rank x, Rank z, int share)> arrival = {};
  /// Whom x sends to and receives from.
  std::function<Neighbours(Rank x, int step, int lane)> neighbours = {};
  /// By step: the most bundles in one message, and of one node in all lanes.
  std::vector<double> in_message = {}, of_node = {};
};

/// Once round: n - 1 steps to the next coordinate.
LineGather gather_round(Rank n);
/// Neighbours in pairs, alternating: n/2 steps on an even ring. Elsewhere gather_round().
LineGather gather_in_pairs_round(const Graph& graph);
/// The same on a line without the closing hop, in n - 1 + (n mod 2) steps.
LineGather gather_in_pairs(Rank n);
/// How the block for the node half way round an even ring travels: all of it in one direction, or
/// half in each.
enum class HalfWay : std::uint8_t { plus, split };
/// All directions of a line, ring or complete graph at once.
LineGather gather_all_ways(const Graph& graph, HalfWay half);

/// A copy of an all-gather on a product: the steps of its dimensions' rules, in order.
struct GatherCopy {
  struct Slot {
    int dimension = -1;  ///< -1: no node sends
    int step = 0;
  };
  std::vector<LineGather> rules = {};  ///< by dimension
  std::vector<Slot> slots = {};
  int shares = 1;
};
/// 0, 1, ..: all dimensions.
std::vector<int> in_order(const Topology& topology);
/// The dimensions one after another, each with all its steps.
GatherCopy gather_by_dimension(std::vector<LineGather> rules, std::span<const int> order);

/// Round the lines of one dimension after another; backwards the last dimension comes first.
std::vector<GatherCopy> lines_round(const Topology& topology);

/// The reduce-scatter that is the copy backwards, of which HandoverPlan makes both.
Handovers gather_handovers(const Topology& topology, const GatherCopy& copy);
std::vector<HandoverPlan> gather_plans(const Topology& topology, std::span<const GatherCopy> copies,
                                       Rank r);
/// The cost of all copies together, for the reduce-scatter: copy j moves part j of every block, and
/// no two copies are in the same dimension in one step. No link carries two messages.
Prediction gather_cost(const Topology& topology, std::span<const GatherCopy> copies);

}  // namespace wormcube
