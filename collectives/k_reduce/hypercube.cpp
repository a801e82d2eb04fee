// k-from-all reduction on a hypercube by recursive halving.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/sources.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace wormcube {

namespace {

/// k-from-all reduction, the dual of k-to-all broadcast: block i of all nodes, combined, ends at
/// the i-th of k nodes. An all-to-all reduction in which the other nodes receive nothing.
///
/// The lowest bit first: then neighbours are combined, and the order of ranks is kept.
///
/// Network  hypercube, targets anywhere; one-port.
/// Cost     d = log2 p steps, in the step of bit b as many blocks as targets agree in the bits up
///          to b. To 0 .. k-1, k = 2^j: ts log p + tw m (log(p/k) + k - 1), as descending
///          k_broadcast_hypercube; to the multiples of p/k: ts log p + tw m (k log(p/k) + k - 1),
///          as ascending.
/// Links    each link carries one message in a step.
void k_reduce_hypercube(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const std::span<const Rank> targets = sources_of(call.arguments);
  const Rank p = node.size(), r = node.rank(), k = call.input.count();
  if (p == 1) {
    node.local([&] { copy(call.input[0], call.output[0]); });
    return;
  }

  // The targets with the same bits as a node in the places below `end`.
  const auto alike = [&](Rank with, Rank end) {
    std::vector<Rank> found;
    for (Rank i = 0; i < k; ++i) {
      if (((targets[static_cast<std::size_t>(i)] ^ with) & (end - 1)) == 0) found.push_back(i);
    }
    return found;
  };
  // Places for the blocks that are kept in the first step; later ones keep theirs.
  std::vector<Rank> place(static_cast<std::size_t>(k));
  const std::vector<Rank> kept = alike(r, 2);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    place[static_cast<std::size_t>(kept[i])] = static_cast<Rank>(i);
  }
  const Bytes m = call.input.bytes();
  const Memory combined = node.memory(m * kept.size()), incoming = node.memory(combined.size());
  const auto at = [&](const Memory& memory, Rank i) {
    return memory.subspan(m * static_cast<Bytes>(place[static_cast<std::size_t>(i)]), m);
  };
  std::vector<Span> going, coming;
  // Invariant: before the step of `bit` this node has, for every target that agrees with it in the
  // bits below, the contributions of the nodes that differ from it only there.
  for (Rank bit = 1; bit < p; bit *= 2) {
    const Rank partner = r ^ bit;
    const auto held = [&](Rank i) { return bit == 1 ? call.input[i] : ConstSpan(at(combined, i)); };
    going.clear(), coming.clear();
    for (const Rank i : alike(partner, 2 * bit)) going.push_back(only_read(held(i)));
    const std::vector<Rank> mine_still = alike(r, 2 * bit);
    for (const Rank i : mine_still) coming.push_back(at(incoming, i));
    std::vector<Op> ops;
    if (!going.empty()) ops.push_back(send_pieces(partner, going));
    if (!coming.empty()) ops.push_back(receive_pieces(partner, coming));
    node.step(ops);
    for (const Rank i : mine_still) {
      ConstSpan left = held(i), right = at(incoming, i);
      if (partner < r) std::swap(left, right);
      combine(node, reduction, left, right, 2 * bit == p ? call.output[0] : at(combined, i));
    }
  }
}

}  // namespace

WORMCUBE_ALGORITHM(k_reduce_hypercube){
    .operation = operations::k_reduce,
    .name = "hypercube",
    .summary = "strided halves are swapped bit by bit, lowest bit first; hypercubes, any targets",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.16, backwards",
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .remark = "keeps the order of ranks",
    .needs = {needs::hypercube()},
    .instead = {"direct"},
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      Prediction prediction{log2_ceiling(p), 0, 0};
      for (Rank bit = 1; bit < p; bit *= 2) {
        std::vector<Rank> alike(static_cast<std::size_t>(2 * bit));
        for (const Rank target : sources_of(setting.arguments)) {
          ++alike[static_cast<std::size_t>(target % (2 * bit))];
        }
        *prediction.transmission_blocks += *std::ranges::max_element(alike);
      }
      prediction.combined_blocks = prediction.link_blocks = prediction.transmission_blocks;
      prediction.link_load = p > 1 ? 1 : 0;
      return prediction;
    },
    .program = k_reduce_hypercube,
};

}  // namespace wormcube
