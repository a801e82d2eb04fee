// Total exchange on a ring or a line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/ring.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/require.hpp"

#include <array>
#include <utility>

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_ring;
}

void alltoall_ring(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_ring, node.topology());
  require_exchange("alltoall_ring", node.size(), out, in);
  const Rank p = node.size(), r = node.rank();
  node.local([&] { copy(out[r], in[r]); });
  if (p == 1) return;

  const Rank next = mod(r + 1, p), previous = mod(r - 1, p);
  const Move onward{0, node.topology().factor(0).hops(r, next)};
  const Memory first = node.memory(out.bytes() * (p - 1)), second = node.memory(first.size());
  Blocks going(first, p - 1), coming(second, p - 1);

  node.local([&] {
    for (Rank q = 1; q < p; ++q) copy(out[mod(r + q, p)], going[q - 1]);
  });
  // Invariant: before step t this node has, from t-1 on, the bundle of node r-t+1 for r+1, .., r-t.
  for (Rank t = 1; t < p; ++t) {
    const std::array arriving{in[mod(r - t, p)], coming.range(t, p - t - 1)};
    node.step({send(onward, going.range(t - 1, p - t)), receive_pieces(previous, arriving)});
    std::swap(going, coming);
  }
}

namespace {

Prediction predict(const Setting& setting) {
  const Topology& topology = setting.topology;
  const double p = topology.nodes();
  return {p - 1, p * (p - 1) / 2, 0, 0};
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_ring){
    .operation = operations::alltoall,
    .name = "ring",
    .summary = "neighbours in one direction, bundles that shrink; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.1, Eq. 4.7",
    .needs = {needs::line_or_ring()},
    .instead = "use mesh or shift",
    .predict = predict,
    .program = [](Node& node,
                  const Call& call) { wormcube::alltoall_ring(node, call.input, call.output); },
};

}  // namespace algorithms

}  // namespace wormcube
