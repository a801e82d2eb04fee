// Total exchange on any network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/shift.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/require.hpp"

#include <algorithm>

namespace wormcube {

void alltoall_shift(Node& node, ConstBlocks out, Blocks in) {
  require_direct_exchange("alltoall_shift", node, out, in);
  const Rank p = node.size(), r = node.rank();

  node.local([&] { copy(out[r], in[r]); });
  for (Rank i = 1; i < p; ++i) {
    const Rank to = mod(r + i, p), from = mod(r - i, p);
    node.step({send(to, out[to]), receive_result(node, from, in[from], in)});
  }
}

std::optional<Rank> shift_link_load(const Topology& topology, Rank offset) {
  Rank most = 0;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Rank n = topology.size(d), digit = topology.coordinate(offset, d);
    const bool carries = offset % topology.stride(d) != 0;
    const Shape shape = topology.factor(d).shape();
    if (shape == Shape::graph) return std::nullopt;
    for (const Rank o : {digit, carries ? (digit + 1) % n : digit}) {
      most = std::max(most, shape == Shape::complete ? std::min(o, 1) : std::min(o, n - o));
    }
  }
  return most;
}

void predict_shifts(Prediction& prediction, const Topology& topology) {
  double most = 0, sum = 0;
  for (Rank i = 1; i < topology.nodes(); ++i) {
    const std::optional<Rank> load = shift_link_load(topology, i);
    if (!load) return;
    most = std::max<double>(most, *load);
    sum += *load;
  }
  prediction.link_load = most;
  prediction.contended_blocks = sum;
}

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_shift){
    .operation = operations::alltoall,
    .name = "shift",
    .summary = "step i sends to the node i ranks on; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3 with the permutations of 4.6",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .rows = {{"5.7", "", "hypercube:4"}, {"5.8", "", "complete:7"}, {"5.13", "", "complete:7"}},
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      Prediction prediction{p - 1.0, p - 1.0, 0, 0};
      predict_shifts(prediction, setting.topology);
      return prediction;
    },
    .program = [](Node& node,
                  const Call& call) { wormcube::alltoall_shift(node, call.input, call.output); },
};

}  // namespace algorithms

}  // namespace wormcube
