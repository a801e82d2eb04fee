// Broadcast in packets along edge-disjoint spanning binomial trees of a hypercube.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/packets.hpp"

#include <vector>

namespace wormcube {

namespace {

Rank best_pipelined_packets(Bytes message, int d, const CostModel& model) {
  return d <= 1 ? 1 : best_packets(message, d, model);  // d = 1: nothing to overlap
}

/// The packet that a node, labelled by its difference from the root, sends in step t over dimension
/// t mod d. Packet a spreads over dimensions a, a+1, .., a+d (mod d): to dimension a's nodes first,
/// among them, and in step a+d from each of them to its neighbour without bit a.
Rank packet_sent(Rank label, Rank t, int d) {
  const auto bit = [&](int k) { return (label >> k % d & 1) != 0; };
  if (label == 0) return t;
  if (bit(t % d)) return t - d;
  int j = 1;  // to the next bit set, cyclically above
  while (!bit(t % d + j)) ++j;
  return t - d + j;
}

/// Broadcast: the root's message, cut into packets, ends on every node. In step t all messages
/// cross dimension t mod d; the root sends packet t. All nodes with this bit set forward what the
/// root sent d steps ago; no node waits for a packet that arrives later.
///
/// Network  hypercube of dimension d; one-port.
/// Cost     N + d steps of m / N (N if d is 1): (N + d) (ts + tw m / N); with the best N
///          (sqrt(ts d) + sqrt(tw m))^2.
/// Links    a step crosses one dimension.
/// Source   S. L. Johnsson, C.-T. Ho, Optimum broadcasting and personalized communication in
///          hypercubes, IEEE Trans. Computers 38(9), 1989; Grama, Gupta, Karypis, Kumar, sec. 4.9.
void broadcast_pipelined(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const Rank packets = static_cast<Rank>(call.options.number("packets"));
  const int d = node.topology().dimensions();
  const Rank count =
      packets > 0 ? packets : best_pipelined_packets(call.output.all().size(), d, {});
  const Rank label = node.rank() ^ root;
  const auto valid = [count](Rank packet) { return packet >= 0 && packet < count; };

  std::vector<Op> ops;
  for (Rank t = 0; d > 0 && t < count + d; ++t) {
    const Rank across = 1 << t % d, partner = node.rank() ^ across;
    const Rank going = packet_sent(label, t, d), coming = packet_sent(label ^ across, t, d);
    ops.clear();
    if (valid(going) && partner != root)
      ops.push_back(send(partner, part(call.output.all(), going, count)));
    if (valid(coming) && label != 0)
      ops.push_back(receive(partner, part(call.output.all(), coming, count)));
    node.step(ops);
  }
}

Rank packets(const Setting& setting) {
  return static_cast<Rank>(setting.options.number("packets"));
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_pipelined){
    .operation = operations::broadcast,
    .name = "pipelined",
    .summary = "packets along edge-disjoint spanning binomial trees; hypercubes",
    .source = "Johnsson, Ho 1989; Grama, Gupta, Karypis, Kumar, sec. 4.9",
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .options = {{.name = "packets",
                 .least = 0,
                 .most = most_packets,
                 .help = "number of packets; 0: sqrt(tw m d / ts), at most m and 4096"}},
    .needs = {needs::hypercube()},
    .instead = {"scatter-allgather", "halving"},
    .settle =
        [](const Setting& setting, const CostModel& model, Bytes block_bytes, Options& options) {
          if (packets(setting) > 0) return;
          const Rank best =
              best_pipelined_packets(block_bytes, setting.topology.dimensions(), model);
          options.set("packets", std::to_string(best));
        },
    .predict = [](const Setting& setting) -> Prediction {
      /// The best number of packets depends on the message's size: no count before that is known.
      const double d = setting.topology.dimensions(), count = packets(setting);
      Prediction prediction{
          .rearranged_blocks = 0, .working_blocks = 0, .link_load = d > 0 ? 1 : 0};
      if (count == 0 && d > 0) return prediction;
      prediction.startups = d > 1 ? count + d : d * count;
      prediction.transmission_blocks = d > 0 ? *prediction.startups / count : 0;
      prediction.link_blocks = prediction.transmission_blocks;
      return prediction;
    },
    .program = broadcast_pipelined,
    .parts = [](const Setting& setting) { return std::max(1, packets(setting)); },
};

}  // namespace wormcube
