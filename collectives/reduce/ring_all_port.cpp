// Reduction of long vectors to one node in both directions of all rings.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/all_port.hpp"
#include "wormcube/collectives/kit/parts.hpp"
#include "wormcube/collectives/kit/ring_scatter.hpp"

namespace wormcube {

namespace {

/// All nodes' vectors combined, at the root: each node combines one of p parts, the root gathers
/// them, both by the ring-all-port algorithms of these operations.
///
/// Network  ring or torus of any sides; all-port. The operator must commute.
/// Cost     sides n: 2 D floor(n/2) steps; (p - 1)/(p D) vectors if n is odd or half=split.
/// Links    each link carries one message in a step.
/// Source   N. Jain, Y. Sabharwal, Optimal bucket algorithms for large MPI collectives on torus
///          interconnects, ICS 2010 (abstract); the algorithm here is ours after it.
void reduce_ring_all_port(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank root = call.arguments.root;
  const HalfWay half = half_of(call.options);
  const Rank r = node.rank();
  const std::vector<Bytes> offsets =
      part_offsets(call.input.all().size(), reduction.element_bytes, node.size());
  const Memory passing = node.memory(r == root ? 0 : call.input.all().size());
  const Blocks parts(r == root ? call.output.all() : passing.span(), offsets);
  reduce_scatter_copies(node, all_port_plans(node, half), reduction,
                        ConstBlocks(call.input.all(), offsets), parts[r]);
  run_rings(node, Way::gather, parts, root, half, reduction.element_bytes);
}

}  // namespace

WORMCUBE_ALGORITHM(reduce_ring_all_port){
    .operation = operations::reduce,
    .name = "ring-all-port",
    .summary =
        "reduce-scatter and gather in both directions of every ring, on all links, for long "
        "vectors; tori",
    .source = "Jain, Sabharwal, ICS 2010 (abstract only; our details)",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
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
              *all_port_cost(topology, half).combined_blocks / topology.nodes();
          return prediction;
        },
    .program = reduce_ring_all_port,
    .parts =
        [](const Setting& setting) {
          return setting.topology.nodes() *
                 all_port_parts(setting.topology, half_of(setting.options));
        },
};

}  // namespace wormcube
