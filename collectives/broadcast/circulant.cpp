// Broadcast of packets in the fewest rounds, on any number of nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/circulant.hpp"

#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

/// Broadcast of n packets in n - 1 + ceil(log2 p) rounds, the fewest possible: in round k node r
/// sends one packet to r + s_k (modulo p, counted from the root), the s_k each half of the next.
///
/// Network  any, of any p; one-port.
/// Cost     (n - 1 + ceil(log2 p)) (ts + tw m / n); best about (sqrt((q - 1) ts) + sqrt(m tw))^2,
///          q = ceil(log2 p).
/// Links    one message on complete networks; elsewhere every round is a circular shift.
/// Source   J. L. Traeff, Optimal Broadcast Schedules in Logarithmic Time with Applications to
///          Broadcast, All-Broadcast, Reduction and All-Reduction, arXiv 2312.11236 (ACM TOPC, doi
///          10.1145/3735139); arXiv 2205.10072; the tables as in MPICH's broadcast of the same
///          name.
void broadcast_circulant(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const Rank packets = circulant_packets(call.options);
  const Rank p = node.size(), r = node.rank();
  const Rank n =
      packets > 0 ? packets : best_circulant_packets(p, call.output.all().size(), CostModel());
  const Circulant circulant(p);
  std::vector<Op> ops;
  for (const auto& [k, sent, received] : circulant.rounds(mod(r - root, p), n)) {
    ops.clear();
    const Rank skip = circulant.skip(k);
    if (sent >= 0) ops.push_back(send(mod(r + skip, p), part(call.output.all(), sent, n)));
    if (received >= 0)
      ops.push_back(receive(mod(r - skip, p), part(call.output.all(), received, n)));
    node.step(ops);
  }
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_circulant){
    .operation = operations::broadcast,
    .name = "circulant",
    .summary =
        "n packets in n - 1 + ceil(log2 p) rounds, for long messages and any p; every network",
    .source = "Traeff, arXiv 2312.11236 (ACM TOPC), 2205.10072",
    .exactly_once = true,
    .remark = "free of contention on complete networks",
    .options = {circulant_packets_option()},

    .settle = settle_circulant_packets,
    .predict = [](const Setting& setting) -> Prediction {
      const auto packets = circulant_packets(setting.options);
      if (packets == 0) return {.rearranged_blocks = 0};
      return circulant_cost(setting.topology, setting.arguments.root, packets, false);
    },
    .program = broadcast_circulant,
    .parts = circulant_parts,
};

}  // namespace wormcube
