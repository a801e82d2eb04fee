// All-gather as p broadcasts at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/circulant.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/holding.hpp"
#include "wormcube/collectives/kit/torus_handover.hpp"

namespace wormcube {

namespace {

/// Every node's block to every node: the broadcasts of broadcast_circulant from all nodes at once,
/// one message in a round with a part of each block.
///
/// Network  any, of any p; one-port.
/// Cost     n - 1 + ceil(log2 p) rounds, (p - 1) m tw. More than one packet makes rounds of uneven
///          blocks more equal.
/// Links    one message on complete networks; elsewhere every round is a circular shift.
/// Source   J. L. Traeff, Optimal Broadcast Schedules in Logarithmic Time with Applications to
///          Broadcast, All-Broadcast, Reduction and All-Reduction, arXiv 2312.11236 (ACM TOPC, doi
///          10.1145/3735139); arXiv 2205.10072; the tables as in MPICH's broadcast of the same
///          name.
void allgather_circulant(Node& node, const Call& call) {
  const Rank packets = circulant_packets(call.options);
  keep_own(node, call);
  allgather_copies(node, circulant_plans(node, packets), call.output);
}

Prediction predict_allgather_circulant(const Setting& setting) {
  const auto packets = circulant_packets(setting.options);
  return allgather_cost(circulant_all_cost(setting.topology, packets, false));
}

}  // namespace

WORMCUBE_ALGORITHMS(allgather_circulant) = with_variant(
    {
        .operation = operations::allgather,
        .name = "circulant",
        .summary =
            "p simultaneous broadcasts in packets, in ceil(log2 p) rounds of shifts; every network",
        .source = "Traeff, arXiv 2312.11236 (ACM TOPC), 2205.10072",
        .exactly_once = true,
        .remark = "free of contention on complete networks",
        .options = {circulant_all_packets_option()},

        .predict = predict_allgather_circulant,
        .program = allgather_circulant,
        .parts = circulant_parts,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::allgatherv;
      uneven.summary =
          "p simultaneous broadcasts in packets, in rounds of about average size; every network";
      uneven.predict = predict_circulant_uneven;
    });

}  // namespace wormcube
