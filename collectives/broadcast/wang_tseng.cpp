// Broadcast by Wang and Tseng: by the algebra of the torus, on all ports.
// SPDX-License-Identifier: Apache-2.0

#include "wormcube/collectives/broadcast/itinerary.hpp"
#include "wormcube/collectives/broadcast/wang_tseng_tree.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/numbered.hpp"

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Broadcast: the root's message ends on every node.
///
/// k stages. In stage i every holder sends along the 2k rows of a routing matrix R_i, scaled, and
/// the holders' set grows by one dimension; an alignment step moves it to where the next stage
/// needs it. Each node computes its part from its own coordinates.
///
/// Network  tori n x .. x n, n >= 2, and cn x n x .. x n, n >= 3, in this project's order of
///          dimensions, the first one long; all ports; any root.
/// Cost     k ceil(log_{2k+1} n) + (k-1) steps of the whole message, one less for n = 2 and 3 with
///          k >= 2; if c > 1, the first logarithm is that of cn.
/// Links    free of contention, if routers honour the signs of the hops (or with `mirror`).
/// Source   S.-Y. Wang, Y.-C. Tseng, Algebraic Foundations and Broadcasting Algorithms for
///          Wormhole-Routed All-Port Tori. Rounding for any n, the rows for k > 3, cn, `once` and
///          `mirror` are ours.
void broadcast_wang_tseng(Node& node, const Call& call) {
  Itinerary itinerary(node.topology(), call.arguments.root, node.rank());
  if (itinerary.axes() == 0) return;

  const std::vector<Rank>& x = itinerary.position;
  WangTsengTree tree(itinerary.sizes(), call.options.is("mirror", "yes"));
  const auto arrive = [&](int step, auto by) { itinerary.arrive(step, by); };
  const auto depart = [&](int step, auto by) { itinerary.depart(step, by); };
  call.options.is("once", "yes") ? tree.visit_once(x, arrive, depart)
                                 : tree.visit(x, arrive, depart);
  static const NumberedPhases distributions("stage ", "distribution"),
      alignments("stage ", "alignment");
  tree.for_each_part([&](int step, int stage, bool aligns) {
    itinerary.name(step, aligns ? alignments(stage) : distributions(stage));
  });
  itinerary.end_phase(tree.steps());
  travel(node, call, itinerary);
}

void require_broadcast_wang_tseng(const Setting& setting) {
  const Topology& topology = setting.topology;
  require_torus_broadcast("wang-tseng", setting);
  const std::vector<Rank> sizes = axis_sizes(topology);
  if (sizes.empty()) return;
  const Rank n = sizes.front(), longest = sizes.back();
  const bool square = std::all_of(sizes.begin(), sizes.end() - 1, [n](Rank s) { return s == n; });
  if (!square || longest % n != 0 || (longest > n && n < 3)) {
    throw UsageError(
        fmt::format("wang-tseng: needs a torus n x .. x n, or c n x n x .. x n with n >= 3; {} is "
                    "neither (its last dimension has {} nodes, its first {}); use plan, peel or "
                    "squeeze",
                    topology.name(), n, longest));
  }
}

Prediction predict_broadcast_wang_tseng(const Setting& setting) {
  const std::vector<Rank> sizes = axis_sizes(setting.topology);
  return predict_tree(sizes.empty() ? 0 : WangTsengTree::steps(sizes), setting.options);
}

/// U_0, U_1, ..: the nodes that hold the message in place after each stage, by the first of them.
NodeSets spans(const Setting& setting) {
  const Topology& topology = setting.topology;
  const int k = static_cast<int>(axis_sizes(topology).size());
  NodeSets sets;
  for (int i = 0; i <= k; ++i) {
    sets.names.push_back(i == 0 ? "U_0, the root" : fmt::format("U_{}, after stage {}", i, i));
  }
  for (Rank r = 0; r < topology.nodes(); ++r) {
    const Itinerary itinerary(topology, setting.arguments.root, r);
    const std::vector<Rank>& x = itinerary.position;
    // U_i = span(e_{1,k}, .., e_{1,k-i+1}): the axes between are 0, the first is the others' sum.
    const auto holds = [&](int i) {
      if (i == k) return true;
      Rank first = x[0];
      for (int axis = 1; axis < k; ++axis) {
        if (axis >= k - i) {
          first -= x[axis];
        } else if (x[axis] != 0) {
          return false;
        }
      }
      return first % itinerary.size(0) == 0;
    };
    int i = 0;
    while (!holds(i)) ++i;
    sets.set_of.push_back(i);
  }
  return sets;
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_wang_tseng){
    .operation = operations::broadcast,
    .name = "wang-tseng",
    .summary =
        "stages of scaled routing matrices, then alignment; tori of n x .. x n and cn x n x .. x n",
    .source =
        "Wang, Tseng, Algebraic Foundations and Broadcasting Algorithms for "
        "Wormhole-Routed Tori",
    .ports = Ports::all,
    .contention_free = true,
    .remark = "any n, rows for k > 3, cn: our reconstruction",
    .options = {{.name = "once",
                 .choices = {"no", "yes"},
                 .help = "leave out messages to nodes that already have the data"},
                {.name = "mirror",
                 .choices = {"no", "yes"},
                 .help = "for routers that break ties halfway round a ring towards +"},
                packets_option(),
                period_option()},
    .require = require_broadcast_wang_tseng,
    .predict = predict_broadcast_wang_tseng,
    .program = broadcast_wang_tseng,
    .parts = packet_parts,
    .node_sets = spans,
};

}  // namespace wormcube
