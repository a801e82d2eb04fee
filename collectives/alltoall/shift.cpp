// Total exchange on any network: in step i every node sends i ranks on.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/shift.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/loads.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r.
///
/// Network  any, of any p; one-port.
/// Cost     p - 1 steps of one block: (ts + tw m)(p - 1) if links are not shared; nothing is
///          rearranged.
/// Links    free of contention on hypercubes and complete networks. Elsewhere shift_link_load(i)
///          messages share a link in step i: min(i, p - i) on a ring or line, which makes
///          floor(p^2/4) blocks of time.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.5.3 (pairs may be chosen in any congestion-free
///          way) and 4.6 (circular shifts; problem 4.22: free on hypercubes).
void alltoall_shift(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank();
  node.local([&] { copy(call.input[r], call.output[r]); });
  for (Rank i = 1; i < p; ++i) {
    const Rank to = mod(r + i, p), from = mod(r - i, p);
    node.step({send(to, call.input[to]), receive_result(node, from, call.output)});
  }
}

namespace {

Prediction predict_alltoall_shift(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  Prediction prediction{p - 1.0, p - 1.0, 0, 0};
  predict_shifts(prediction, setting.topology);
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHMS(alltoall_shift) = with_variant(
    {
        .operation = operations::alltoall,
        .name = "shift",
        .summary = "in step i each node sends to the node i ranks ahead; every network",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3 with the permutations of 4.6",
        .exactly_once = true,
        .remark = "free of contention on hypercubes and complete networks",
        .predict = predict_alltoall_shift,
        .program = alltoall_shift,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::alltoallv;
      uneven.source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3 and 4.6";
      uneven.predict = startups_of<predict_alltoall_shift>;
    });

}  // namespace wormcube
