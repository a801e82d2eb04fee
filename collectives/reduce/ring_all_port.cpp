// Reduction of long vectors to one node both ways round all rings.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce/ring_all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/reduce/parts.hpp"
#include "wormcube/collectives/require.hpp"
#include "wormcube/collectives/ring_scatter.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm reduce_ring_all_port;
}

void reduce_ring_all_port(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                          Rank root, HalfWay half) {
  require_network(algorithms::reduce_ring_all_port, node.topology());
  require_reduction_to_root("reduce_ring_all_port", node, reduction, mine, result, root);
  require_commutative("reduce_ring_all_port", reduction);
  const Rank r = node.rank();
  const std::vector<Bytes> offsets =
      part_offsets(mine.size(), reduction.element_bytes, node.size());
  const Memory passing = node.memory(r == root ? 0 : mine.size());
  const Blocks parts(r == root ? result : passing.span(), offsets);
  reduce_scatter_copies(node, ring_all_port_plans(node, half), reduction,
                        ConstBlocks(mine, offsets), parts[r]);
  gather_rings(node, parts, root, half, reduction.element_bytes);
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_ring_all_port){
    .operation = operations::reduce,
    .name = "ring-all-port",
    .summary =
        "reduce-scatter and gather both ways round every ring, on all links: for long vectors; "
        "tori",
    .source = "Jain, Sabharwal, ICS 2010 (abstract); the text ours",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .options = {half_way_option()},
    .needs = {needs::rings()},
    .instead = {"reduce-scatter-gather", "halving"},
    .needs_commutative = true,
    .predict =
        [](const Setting& setting) {
          const Topology& topology = setting.topology;
          const HalfWay half = half_of(setting.options);
          Prediction prediction = ring_scatter_and_all_cost(topology, half);
          prediction.combined_blocks =
              *ring_all_port_cost(topology, half).combined_blocks / topology.nodes();
          return prediction;
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_ring_all_port(node, call.arguments.reduction, call.input.all(),
                                         call.output.all(), call.arguments.root,
                                         half_of(call.options));
        },
    .parts =
        [](const Setting& setting) {
          return setting.topology.nodes() *
                 ring_all_port_parts(setting.topology, half_of(setting.options));
        },
};

}  // namespace algorithms

}  // namespace wormcube
