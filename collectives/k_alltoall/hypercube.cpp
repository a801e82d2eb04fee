// k-to-all personalized communication on a hypercube, and k-from-all gather: its reverse.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/reversible.hpp"
#include "wormcube/collectives/kit/sources.hpp"

#include <span>
#include <vector>

namespace wormcube {

namespace {

/// k-to-all personalized: block q of each of k source nodes ends at node q. Each source scatters,
/// over its own subcube of p/k nodes, bundles of k blocks: those for the node and its k - 1
/// counterparts in the other subcubes. Then the k counterparts exchange, pair by pair.
///
/// k-from-all gather, the dual: block i of every node ends at the i-th of k nodes. First the nodes
/// of a column exchange pair by pair, so that every node has the column's blocks for its own
/// subcube's target; then each target gathers these in its subcube.
///
/// Network  hypercube; one-port.
/// Cost     log(p/k) + k - 1 steps: ts (log(p/k) + k - 1) + tw m (p - 1). k = 1: scatter, Eq. 4.6;
///          k = p: Eq. 4.10.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, problem 4.20 (which omits that the sources must be placed
///          so).
template <Way way>
void by_subcubes(Node& node, const Call& call) {
  const std::span<const Rank> sources = sources_of(call.arguments);
  const Rank p = node.size(), r = node.rank(), k = static_cast<Rank>(sources.size()), rows = p / k;
  const Placement placed = *placement(sources, p);
  const Rank row = placed.row(r);
  const Reversible blocks(way, call);
  const Bytes m = blocks.own.bytes();
  const Memory memory =
      node.memory(m * static_cast<Bytes>(Placement::passes_through(row) * k), Purpose::blocks);
  // The block of this subcube's source for the node of a row whose column bits are the value `v`.
  const auto held = [&](Rank of_row, Rank v) {
    if (row > 0) return memory.subspan(m * static_cast<Bytes>((of_row - row) * k + v), m);
    return blocks
        .all[(placed.with_row(r, of_row) & placed.rows()) | spread_bits(v, placed.columns)];
  };
  const auto own_of = [&](Rank e) { return blocks.own[number_of(sources, placed.source_of(e))]; };
  const auto bundle = [&](Rank first, Rank count) {
    std::vector<Span> pieces;
    for (Rank i = first; i < first + count; ++i) {
      for (Rank v = 0; v < k; ++v) pieces.push_back(held(i, v));
    }
    return pieces;
  };
  const auto pass_half = [&](Rank half) {
    const Rank place = row % (2 * half), partner = placed.with_row(r, row ^ half);
    if (place == 0) {
      const std::vector<Span> out = bundle(row + half, half);
      node.step({blocks.give_pieces(partner, out)});
    } else if (place == half) {
      const std::vector<Span> in = bundle(row, half);
      node.step({blocks.take_pieces(partner, in)});
    } else {
      node.step();
    }
  };

  if (way == Way::scatter) {
    for (Rank half = rows / 2; half > 0; half /= 2) pass_half(half);
  }
  const Rank own = gather_bits(r, placed.columns);
  blocks.move(node, held(row, own), own_of(r));
  for (Rank t = 1; t < k; ++t) {
    const Rank partner = r ^ spread_bits(t, placed.columns);
    const Span theirs = held(row, own ^ t), ours = own_of(partner);
    node.step(way == Way::scatter ? exchange(partner, theirs, ours)
                                  : exchange(partner, ours, theirs));
  }
  if (way == Way::gather) {
    for (Rank half = 1; half < rows; half *= 2) pass_half(half);
  }
}

template <Way way>
Algorithm over_subcubes(Operation operation, std::string_view summary, std::string_view source) {
  return {
      .operation = operation,
      .name = "hypercube",
      .summary = summary,
      .source = source,
      .contention_free = true,
      .exactly_once = true,
      .needs = {needs::hypercube()},
      .instead = {"direct"},
      .require =
          [](const Setting& setting) {
            require_placement("hypercube", sources_of(setting.arguments), setting.topology.nodes(),
                              "use direct");
          },
      .predict = [](const Setting& setting) -> Prediction {
        const Rank p = setting.topology.nodes();
        const auto k = static_cast<Rank>(sources_of(setting.arguments).size());
        Prediction prediction{log2_ceiling(p / k) + k - 1.0, p - 1.0, 0, k < p ? p / 2.0 : 0};
        if (way == Way::gather) prediction.link_load = p > 1, prediction.link_blocks = p - 1.0;
        // Step t of the exchange crosses as many links as t has bits.
        prediction.hops = log2_ceiling(p / k) + log2_ceiling(k) * k / 2.0;
        return prediction;
      },
      .program = by_subcubes<way>,
  };
}

}  // namespace

WORMCUBE_ALGORITHMS(k_alltoall_hypercube) = over_subcubes<Way::scatter>(
    operations::k_alltoall, "scatter in each source's subcube, then pairwise exchange; hypercubes",
    "Grama, Gupta, Karypis, Kumar, problem 4.20");
WORMCUBE_ALGORITHMS(k_gather_hypercube) = over_subcubes<Way::gather>(
    operations::k_gather, "pairwise exchange, then gather in each target's subcube; hypercubes",
    "Grama, Gupta, Karypis, Kumar, problem 4.20, backwards");

}  // namespace wormcube
