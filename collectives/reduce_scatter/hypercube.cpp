// Reduce-scatter by halving the labels' bits.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/loads.hpp"
#include "wormcube/collectives/reduce_scatter/programs.hpp"

#include <utility>

namespace wormcube {

/// All nodes' blocks q combined in the order of ranks, at node q: in the step of bit i, lowest
/// first, partners that differ there swap what they have for all nodes on the other's side. Before
/// it a node holds the blocks for the nodes that agree with it below bit i, each combined over the
/// 2^i nodes that agree with it from bit i on, which are neighbours.
///
/// Network  any of p = 2^d nodes; one-port.
/// Cost     d steps of p/2, p/4, .., 1 blocks: ts log p + (tw + tc) m (p - 1).
/// Links    free of contention on hypercubes; on a line 2^i messages share one in step i.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.2.3, Algorithm 4.8: with contiguous halves,
///          highest bit first, which combines groups that are no neighbours; strided halves,
///          lowest bit first, keep the order.
void reduce_scatter_hypercube(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const ConstBlocks in = call.input;
  const Rank p = node.size(), r = node.rank();
  if (p == 1) {
    node.local([&] { copy(in[0], call.output.all()); });
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
      combine(node, reduction, left, right, 2 * bit == p ? call.output.all() : at(combined, q));
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

namespace {

Prediction predict_reduce_scatter_hypercube(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  Prediction prediction{log2_ceiling(p), p - 1.0, 0};
  prediction.combined_blocks = p - 1.0;
  predict_contention(prediction, setting.topology, reduce_scatter_hypercube_messages(p));
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHMS(reduce_scatter_hypercube) = with_variant(
    {
        .operation = operations::reduce_scatter,
        .name = "hypercube",
        .summary =
            "strided halves are swapped bit by bit, lowest bit first; 2^d nodes, every network",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3, Algorithm 4.8, problem 4.8",
        .exactly_once = true,
        .remark = "free of contention on hypercubes; keeps the order of ranks",
        .needs = {needs::nodes_power_of_two()},
        .instead = {"bruck", "pairwise", "ring"},
        .predict = predict_reduce_scatter_hypercube,
        .program = reduce_scatter_hypercube,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::reduce_scatterv;
      uneven.source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3, Algorithm 4.8";
      uneven.remark = "free of contention on hypercubes and complete networks";
      uneven.predict = startups_of<predict_reduce_scatter_hypercube>;
    });

}  // namespace wormcube
