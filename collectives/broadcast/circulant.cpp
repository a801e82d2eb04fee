// Broadcast of packets along a circulant graph.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/circulant.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/circulant.hpp"
#include "wormcube/collectives/require.hpp"

#include <string>

namespace wormcube {

void broadcast_circulant(Node& node, Span message, Rank root, Rank packets) {
  require_root("broadcast_circulant", node.size(), root);
  require_packets("broadcast_circulant", packets, 0);
  const Rank p = node.size(), r = node.rank();
  const Rank n = packets > 0 ? packets : best_circulant_packets(p, message.size(), CostModel());
  const Circulant circulant(p);
  std::vector<Op> ops;
  for (const auto& [k, sent, received] : circulant.rounds(mod(r - root, p), n)) {
    ops.clear();
    const Rank skip = circulant.skip(k);
    if (sent >= 0) ops.push_back(send(mod(r + skip, p), part(message, sent, n)));
    if (received >= 0) ops.push_back(receive(mod(r - skip, p), part(message, received, n)));
    node.step(ops);
  }
}

namespace algorithms {

WORMCUBE_ALGORITHM(broadcast_circulant){
    .operation = operations::broadcast,
    .name = "circulant",
    .summary = "n packets in n - 1 + ceil(log2 p) rounds: for long messages, any p; every network",
    .source = "Traeff, arXiv 2312.11236 (ACM TOPC), 2205.10072",
    .ports = Ports::one,
    .contention_free = false,
    .exactly_once = true,
    .remark = "free of contention on complete networks",
    .options = {circulant_packets_option()},

    .settle = settle_circulant_packets,
    .predict = [](const Setting& setting) -> Prediction {
      const auto packets = circulant_packets(setting.options);
      if (packets == 0) return {.rearranged_blocks = 0};
      return circulant_cost(setting.topology, setting.arguments.root, packets, false);
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::broadcast_circulant(node, call.output.all(), call.arguments.root,
                                        circulant_packets(call.options));
        },
    .parts = circulant_parts,
};

}  // namespace algorithms

}  // namespace wormcube
