// Broadcast by Wang and Tseng.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/wang_tseng.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/broadcast/wang_tseng_tree.hpp"

#include <fmt/core.h>

namespace wormcube {

void broadcast_wang_tseng(Node& node, Span message, Rank root, const WangTseng& options) {
  require_broadcast_wang_tseng(node.topology(), root, options);
  Itinerary itinerary(node.topology(), root, node.rank());
  if (itinerary.axes() == 0) return;

  const std::vector<Rank>& x = itinerary.position;
  WangTsengTree tree(itinerary.sizes(), options.mirror);
  const auto arrive = [&](int step, auto by) { itinerary.arrive(step, by); };
  const auto depart = [&](int step, auto by) { itinerary.depart(step, by); };
  options.once ? tree.visit_once(x, arrive, depart) : tree.visit(x, arrive, depart);
  tree.for_each_part([&](int step, bool aligns) {
    itinerary.name(step, aligns ? "alignment" : "a stage of distribution");
  });
  itinerary.end_phase(tree.steps());
  travel(node, message, itinerary, options.packets);
}

void require_broadcast_wang_tseng(const Topology& topology, Rank root, const WangTseng& options) {
  require_torus_broadcast("wang-tseng", topology, root, options.packets);
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

Prediction predict_broadcast_wang_tseng(const Topology& topology, const WangTseng& options) {
  const std::vector<Rank> sizes = axis_sizes(topology);
  return predict_tree(sizes.empty() ? 0 : WangTsengTree::steps(sizes), options.packets);
}

namespace {

WangTseng wang_tseng_options(const Options& options) {
  return {options.is("once", "yes"), options.is("mirror", "yes"), packets_of(options)};
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(broadcast_wang_tseng){
    .operation = operations::broadcast,
    .name = "wang-tseng",
    .summary =
        "stages of scaled routing matrices, then alignment; tori n x .. x n, cn x n x .. x n",
    .source =
        "Wang, Tseng, Algebraic Foundations and Broadcasting Algorithms for "
        "Wormhole-Routed Tori",
    .ports = Ports::all,
    .contention_free = true,
    .remark = "any n, rows for k > 3, cn: our reconstruction",
    .options = {{.name = "once",
                 .choices = {"no", "yes"},
                 .help = "leave out what a node has already"},
                {.name = "mirror",
                 .choices = {"no", "yes"},
                 .help = "for routers that break ties at half a ring to +"},
                packets_option(),
                period_option()},
    .require =
        [](const Setting& setting) {
          require_broadcast_wang_tseng(setting.topology, setting.arguments.root,
                                       wang_tseng_options(setting.options));
        },
    .predict =
        [](const Setting& setting) {
          return predict_broadcast_wang_tseng(setting.topology,
                                              wang_tseng_options(setting.options));
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::broadcast_wang_tseng(node, call.output.all(), call.arguments.root,
                                         wang_tseng_options(call.options));
        },
    .parts = packet_parts,
};

}  // namespace algorithms

}  // namespace wormcube
