// Reduction of packets in the fewest rounds, on any number of nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/circulant.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/handover.hpp"
#include "wormcube/collectives/kit/parts.hpp"

namespace wormcube {

namespace {

/// All nodes' vectors combined, at the root: broadcast_circulant of n packets backwards.
///
/// Network  any, of any p; one-port. The operator must commute.
/// Cost     (n - 1 + ceil(log2 p)) (ts + (tw + tc) m / n).
/// Links    one message on complete networks; elsewhere every round is a circular shift.
/// Source   J. L. Traeff, Optimal Broadcast Schedules in Logarithmic Time with Applications to
///          Broadcast, All-Broadcast, Reduction and All-Reduction, arXiv 2312.11236 (ACM TOPC, doi
///          10.1145/3735139); arXiv 2205.10072; the tables as in MPICH's broadcast of the same
///          name.
void reduce_circulant(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const ConstSpan mine = call.input.all();
  const Rank root = call.arguments.root;
  const Rank packets = circulant_packets(call.options);
  const Rank p = node.size(), r = node.rank();
  const Rank n = packets > 0 ? packets : best_circulant_packets(p, mine.size(), CostModel());
  const std::vector<Bytes> offsets = part_offsets(mine.size(), reduction.element_bytes, n);
  const auto packet = [&](auto of, Rank i) {
    const Bytes first = offsets[static_cast<std::size_t>(i)];
    return of.subspan(first, offsets[static_cast<std::size_t>(i) + 1] - first);
  };
  const Memory sum = node.memory(r == root ? 0 : mine.size());
  const Memory arriving = node.memory(packet(mine, n - 1).size());  // the last is the largest
  const Span partial = r == root ? call.output.all() : sum.span();
  node.local([&] { copy(mine, partial); });
  const Circulant circulant(p);
  std::vector<Op> ops;
  // A node sends what it would receive in a broadcast, after all that it would send has arrived.
  const auto rounds = circulant.rounds(mod(r - root, p), n);
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    const auto& [k, sent, received] = *round;
    ops.clear();
    const Rank skip = circulant.skip(k);
    if (received >= 0) ops.push_back(send(mod(r - skip, p), packet(partial, received)));
    if (sent >= 0) {
      const Bytes bytes = packet(partial, sent).size();
      ops.push_back(receive(mod(r + skip, p), arriving.subspan(0, bytes)));
    }
    node.step(ops);
    if (sent < 0) continue;
    const Span to = packet(partial, sent);
    combine(node, reduction, to, arriving.subspan(0, to.size()), to);
  }
}

}  // namespace

WORMCUBE_ALGORITHM(reduce_circulant){
    .operation = operations::reduce,
    .name = "circulant",
    .summary =
        "n packets in n - 1 + ceil(log2 p) rounds, for long vectors and any p; every network",
    .source = "Traeff, arXiv 2312.11236 (ACM TOPC), 2205.10072",
    .exactly_once = true,
    .remark = "free of contention on complete networks",
    .options = {circulant_packets_option()},
    .needs_commutative = true,
    .settle = settle_circulant_packets,
    .predict = [](const Setting& setting) -> Prediction {
      const auto packets = circulant_packets(setting.options);
      if (packets == 0) return {.rearranged_blocks = 0};
      Prediction prediction =
          circulant_cost(setting.topology, setting.arguments.root, packets, true);
      prediction.combined_blocks = prediction.transmission_blocks;
      return prediction;
    },
    .program = reduce_circulant,
    .parts = circulant_parts,
};

}  // namespace wormcube
