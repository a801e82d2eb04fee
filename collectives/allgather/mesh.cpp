// All-gather on a mesh or a torus: the ring algorithm in one dimension after another.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/programs.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/holding.hpp"
#include "wormcube/collectives/kit/hops.hpp"
#include "wormcube/collectives/kit/ring.hpp"
#include "wormcube/runtime/node/views.hpp"

namespace wormcube {

/// All-gather: every node's block to every node. In each dimension, the last first, what a node has
/// gathered so far travels once round its line or ring.
///
/// Network  any mesh or torus, of any number of dimensions and any sizes n_d; one-port.
/// Cost     sum(n_d - 1) steps, p - 1 blocks: ts sum(n_d - 1) + tw m (p - 1); nothing is
///          rearranged, as gathered blocks are neighbours.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.2.2, Algorithm 4.6, Eq. 4.3; problem 4.13 (more
///          dimensions).
void allgather_mesh(Node& node, const Call& call) {
  const Topology& topology = node.topology();
  const Rank r = node.rank();
  keep_own(node, call);
  // Invariant: this node holds the blocks of the `stride` nodes that differ from it in the
  // dimensions done, which are neighbours in the order of ranks.
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const Rank n = topology.size(d), stride = topology.stride(d);
    if (n == 1) continue;
    const Rank first = r - r % (n * stride);
    std::vector<Bytes> offsets{0};
    for (Rank c = 0; c < n; ++c) {
      offsets.push_back(offsets.back() + call.output.range(first + c * stride, stride).size());
    }
    LineView line = node.along(d);
    allgather_on_ring(line, Positions(line.topology(), false),
                      Blocks(call.output.range(first, n * stride), offsets));
  }
}

namespace {

Prediction predict_allgather_mesh(const Setting& setting) {
  const double p = setting.topology.nodes();
  double steps = 0;
  for (const Rank size : setting.topology.sizes()) steps += size - 1;
  Prediction prediction{steps, p - 1, 0, 0};
  prediction.hops = hops_of_rounds(setting.topology);
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHMS(allgather_mesh) = with_variant(
    {
        .operation = operations::allgather,
        .name = "mesh",
        .summary = "the ring algorithm dimension by dimension; meshes and tori",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.2, Algorithm 4.6, Eq. 4.3",
        .contention_free = true,
        .exactly_once = true,
        .needs = {needs::lines_and_rings()},
        .instead = {"bruck"},
        .predict = predict_allgather_mesh,
        .program = allgather_mesh,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::allgatherv;
      uneven.source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.2, Algorithm 4.6";
      uneven.predict = startups_of<predict_allgather_mesh>;
    });

}  // namespace wormcube
