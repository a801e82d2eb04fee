// Scatter both ways round all rings.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/ring_all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/ring_scatter.hpp"
#include "wormcube/collectives/scatter/require.hpp"
#include "wormcube/runtime/node/together.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm scatter_ring_all_port;
}

void scatter_ring_all_port(Node& node, ConstBlocks out, Span mine, Rank root, HalfWay half) {
  require_network(algorithms::scatter_ring_all_port, node.topology());
  require_rooted("scatter_ring_all_port", node, out, mine, root, {});
  if (node.rank() == root) node.local([&] { copy(out[root], mine); });
  const auto plans = ring_scatter_plans(node, root, half);
  const auto copies = static_cast<int>(plans.size());
  const Blocks all(only_read(out.all()), out.count());
  const RingScatterRoom room(node, plans, half, all, mine, root);
  together(node, copies, [&](int j, Node& own) {
    plans[static_cast<std::size_t>(j)].scatter(
        own, [&](const RingScatterPlan::Share& of) { return room(of, j, copies); });
  });
}

namespace algorithms {

WORMCUBE_ALGORITHM(scatter_ring_all_port){
    .operation = operations::scatter,
    .name = "ring-all-port",
    .summary =
        "both ways round every ring, farthest first, rotated copies on all links; rings and tori",
    .source = "Jain, Sabharwal, ICS 2010 (abstract); the text ours",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .options = {half_way_option()},
    .needs = {needs::rings()},
    .instead = {"halving", "mesh"},

    .predict =
        [](const Setting& setting) {
          return ring_scatter_cost(setting.topology, half_of(setting.options));
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::scatter_ring_all_port(node, call.input, call.output.all(), call.arguments.root,
                                          half_of(call.options));
        },
    .parts =
        [](const Setting& setting) {
          return ring_all_port_parts(setting.topology, half_of(setting.options));
        },
};

}  // namespace algorithms

}  // namespace wormcube
