// All-reduce on a ring through all nodes of any network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/ring.hpp"

#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

Rank segments_on_ring(const Options& options) {
  return static_cast<Rank>(options.number("segments"));
}

/// All nodes' vectors combined, on every node, with the same bits on all: each of p parts travels
/// once round a ring through all nodes and is combined on the way, then the parts are gathered
/// along the ring. With s segments a part is reduced in s pieces, one after the other.
///
/// Network  any, of any p; one-port. An operator that does not commute needs order=rank, or a ring
///          in the order of ranks.
/// Cost     (s + 1)(p - 1) steps, 2 (p - 1)/p vectors, of which (p - 1)/p are combined. If the
///          operator does not commute, (3 (p - 1) - 1)/p vectors, 1 combined, for p > 2.
/// Links    each carries one message in a step, on products of lines, rings, complete graphs and
///          trees. On other graphs the load is counted.
/// Source   P. Patarasuk, X. Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of
///          Workstations, JPDC 69(2), 2009. Segments: Open MPI, coll/tuned.
void allreduce_ring(Node& node, const Call& call) {
  allreduce_on_ring(node, Positions(node.topology(), is_by_ring(call.options)),
                    call.arguments.reduction, call.input.all(), call.output.all(),
                    segments_on_ring(call.options));
}

}  // namespace

WORMCUBE_ALGORITHM(allreduce_ring){
    .operation = operations::allreduce,
    .name = "ring",
    .summary = "parts travel twice around a ring through all nodes; every network",
    .source = "Patarasuk, Yuan, JPDC 69(2), 2009; segments: Open MPI, coll/tuned",
    .exactly_once = true,
    .remark = "two partial results unless the operator commutes: our extension",
    .options = {ring_order_option(),
                {.name = "segments",
                 .preset = 1,
                 .least = 1,
                 .most = 4096,
                 .help = "number of pieces of each part, which are reduced one after another"}},
    .require = require_ring_order,
    .predict =
        [](const Setting& setting) {
          return with_ring_load(
              allreduce_ring_cost(setting.topology.nodes(), setting.arguments.reduction.commutative,
                                  segments_on_ring(setting.options)),
              setting.topology, is_by_ring(setting.options),
              setting.arguments.reduction.commutative);
        },
    .program = allreduce_ring,
    .parts =
        [](const Setting& setting) {
          return setting.topology.nodes() * segments_on_ring(setting.options);
        },
};

}  // namespace wormcube
