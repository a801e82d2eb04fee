// All-gather, reduce-scatter and all-reduce by exchanges between neighbours.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/handover_algorithms.hpp"
#include "wormcube/collectives/kit/line_gather.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

bool lines_exchange(const Options& options) { return options.is("lines", "exchange"); }

GatherCopy neighbour_copy(const Topology& topology, const Options& options, bool last_first) {
  std::vector<LineGather> rules;
  std::vector<int> order = in_order(topology);
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    rules.push_back(lines_exchange(options) && !graph.wraps() ? gather_in_pairs(graph.nodes())
                                                              : gather_in_pairs_round(graph));
  }
  if (last_first) std::ranges::reverse(order);
  return gather_by_dimension(std::move(rules), order);
}

/// All-gather, reduce-scatter and all-reduce by exchanges between neighbours, dimension by
/// dimension: in one step with the node on the one side, in the next with that on the other, each
/// passing on the pair of bundles that came last. A reduce-scatter is the same backwards.
///
/// Network  lines and rings, and their products; one-port. The operator must commute, except on
///          meshes with lines=exchange.
/// Cost     even rings n/2 steps, odd rings and closing lines n - 1, lines that exchange
///          n - 1 + (n mod 2), summed over the dimensions. p - 1 blocks; a line that exchanges
///          takes 2n - 3 + (n mod 2) bundles. All-reduce: twice, of vectors of p blocks.
/// Links    each carries one message in a step. All hops are to neighbours, but for the closing hop
///          of odd rings and lines, which on a line takes n - 1 links.
/// Source   J. Chen, Y. Zhang, L. Zhang, W. Yuan, Performance Evaluation of Allgather Algorithms on
///          Terascale Linux Cluster with Fast Ethernet, HPCASIA 2005; Open MPI, coll/tuned,
///          neighbor. Dimension by dimension, and lines: ours.
template <bool last_first>
struct NeighbourExchange {
  static std::span<const HandoverPlan> plans(Node& node, const Options& options) {
    return node.plan<std::vector<HandoverPlan>>(
        "neighbour-exchange", {last_first ? 1 : 0, lines_exchange(options) ? 1 : 0}, [&] {
          const std::vector copies{neighbour_copy(node.topology(), options, last_first)};
          return gather_plans(node.topology(), copies, node.rank());
        });
  }
  static Prediction cost(const Setting& setting) {
    const std::vector copies{neighbour_copy(setting.topology, setting.options, last_first)};
    return gather_cost(setting.topology, copies);
  }
  static Rank parts(const Setting& /*setting*/) { return 1; }
};

/// Along lines that exchange partial results are intervals of ranks.
void require_order_of_neighbours(const Setting& setting) {
  if (setting.arguments.reduction.commutative) return;
  const bool is_mesh = !needs::lines().complaint(setting.topology).has_value();
  if (is_mesh && lines_exchange(setting.options)) return;
  throw UsageError(fmt::format(
      "neighbour-exchange: {} does not commute, and the order of ranks is "
      "kept only on meshes with lines=exchange; use {}",
      setting.arguments.reduction.name, is_mesh ? "lines=exchange" : "mesh or recursive-doubling"));
}

Algorithm neighbour_exchange() {
  return {
      .operation = operations::allgather,
      .name = "neighbour-exchange",
      .summary = "pairs of bundles move between neighbours on both sides in turn; meshes and tori",
      .source = "Chen, Zhang, Zhang, Yuan, HPCASIA 2005; Open MPI, coll/tuned: neighbor",
      .contention_free = true,
      .exactly_once = true,
      .remark = "dimension by dimension, and lines: our extension",
      .options = {{.name = "lines",
                   .choices = {"closing", "exchange"},
                   .help = "lines: as rings, with a closing hop; or between neighbours only"}},
      .needs = {needs::lines_and_rings()},
      .instead = {"ring", "mesh"},
  };
}

Algorithm reducing(Algorithm algorithm) {
  algorithm.needs_commutative = false;
  algorithm.require = require_order_of_neighbours;
  return algorithm;
}

}  // namespace

WORMCUBE_ALGORITHMS(neighbour_exchange){
    allgather_by<NeighbourExchange<true>>(neighbour_exchange()),
    reducing(reduce_scatter_by<NeighbourExchange<false>>(neighbour_exchange())),
    reducing(allreduce_by<NeighbourExchange<false>>(neighbour_exchange())),
};

}  // namespace wormcube
