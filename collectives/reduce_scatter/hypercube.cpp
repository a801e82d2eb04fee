// Reduce-scatter by halving the labels' bits.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/hypercube.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/reduce_scatter/require.hpp"

#include <utility>

namespace wormcube {

namespace algorithms {
extern const Algorithm reduce_scatter_hypercube;
}

void reduce_scatter_hypercube(Node& node, const Reduction& reduction, ConstBlocks in, Span out) {
  require_network(algorithms::reduce_scatter_hypercube, node.topology());
  require_reduce_scatter("reduce_scatter_hypercube", node, reduction, in, out);
  const Rank p = node.size(), r = node.rank();
  if (p == 1) {
    node.local([&] { copy(in[0], out); });
    return;
  }

  // Places for the blocks that are kept in the first step; later ones keep theirs.
  std::vector<Bytes> place(static_cast<std::size_t>(p));
  Bytes total = 0;
  for (Rank q = r % 2; q < p; q += 2) {
    place[static_cast<std::size_t>(q)] = total;
    total += in[q].size();
  }
  const Memory combined = node.memory(total), incoming = node.memory(total);
  const auto at = [&](const Memory& memory, Rank q) {
    return memory.subspan(place[static_cast<std::size_t>(q)], in[q].size());
  };
  std::vector<Span> going, coming;
  for (Rank bit = 1; bit < p; bit *= 2) {
    const Rank partner = r ^ bit;
    const auto held = [&](Rank q) { return bit == 1 ? in[q] : ConstSpan(at(combined, q)); };
    going.clear(), coming.clear();
    for (Rank q = partner % (2 * bit); q < p; q += 2 * bit) going.push_back(only_read(held(q)));
    for (Rank q = r % (2 * bit); q < p; q += 2 * bit) coming.push_back(at(incoming, q));
    node.step({send_pieces(partner, going), receive_pieces(partner, coming)});
    for (Rank q = r % (2 * bit); q < p; q += 2 * bit) {
      ConstSpan left = held(q), right = at(incoming, q);
      if (partner < r) std::swap(left, right);
      combine(node, reduction, left, right, 2 * bit == p ? out : at(combined, q));
    }
  }
}

std::vector<Messages> reduce_scatter_hypercube_messages(Rank p, double blocks) {
  std::vector<Messages> steps;
  for (Rank bit = 1; bit < p; bit *= 2) {
    Messages& step = steps.emplace_back();
    for (Rank r = 0; r < p; ++r) step.push_back({r, r ^ bit, blocks * p / (2.0 * bit)});
  }
  return steps;
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_scatter_hypercube){
    .operation = operations::reduce_scatter,
    .name = "hypercube",
    .summary = "strided halves swapped bit by bit, lowest first; every network of 2^d nodes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3, Algorithm 4.8, problem 4.8",
    .exactly_once = true,
    .remark = "free of contention on hypercubes; the order of ranks kept",
    .rows = {{"2.22", "", "hypercube:6"}},
    .needs = {needs::nodes_power_of_two()},
    .instead = {"bruck", "pairwise", "ring"},
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      Prediction prediction{log2_ceiling(p), p - 1.0, 0};
      prediction.combined_blocks = p - 1.0;
      predict_contention(prediction, setting.topology, reduce_scatter_hypercube_messages(p));
      return prediction;
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_hypercube(node, call.arguments.reduction, call.input,
                                             call.output.all());
        },
};

}  // namespace algorithms

}  // namespace wormcube
