// Reduce-scatter as p reductions at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/circulant.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/reduce_scatter/programs.hpp"

namespace wormcube {

namespace {

/// All nodes' blocks q combined, at node q: allgather_circulant backwards.
///
/// Network  any, of any p; one-port. The operator must commute.
/// Cost     n - 1 + ceil(log2 p) rounds, (p - 1) m (tw + tc).
/// Links    one message on complete networks; elsewhere every round is a circular shift.
/// Source   J. L. Traeff, Optimal Broadcast Schedules in Logarithmic Time with Applications to
///          Broadcast, All-Broadcast, Reduction and All-Reduction, arXiv 2312.11236 (ACM TOPC, doi
///          10.1145/3735139); arXiv 2205.10072; the tables as in MPICH's broadcast of the same
///          name.
void reduce_scatter_circulant(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank packets = circulant_packets(call.options);
  reduce_scatter_copies(node, circulant_plans(node, packets), reduction, call.input,
                        call.output.all());
}

Prediction predict_reduce_scatter_circulant(const Setting& setting) {
  const auto packets = circulant_packets(setting.options);
  return circulant_all_cost(setting.topology, packets, true);
}

}  // namespace

WORMCUBE_ALGORITHMS(reduce_scatter_circulant) = with_variant(
    {
        .operation = operations::reduce_scatter,
        .name = "circulant",
        .summary =
            "p simultaneous reductions in packets, in ceil(log2 p) rounds of shifts; every network",
        .source = "Traeff, arXiv 2312.11236 (ACM TOPC), 2205.10072",
        .exactly_once = true,
        .remark = "free of contention on complete networks",
        .options = {circulant_all_packets_option()},
        .needs_commutative = true,
        .predict = predict_reduce_scatter_circulant,
        .program = reduce_scatter_circulant,
        .parts = circulant_parts,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::reduce_scatterv;
      uneven.summary =
          "p simultaneous reductions in packets, in rounds of about average size; every network";
      uneven.predict = predict_circulant_uneven;
    });

}  // namespace wormcube
