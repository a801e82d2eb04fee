// k-to-all personalized communication on a hypercube: scatter, then exchange.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/sources.hpp"

#include <span>
#include <vector>

namespace wormcube {

namespace {

constexpr std::string_view k_alltoall_way_out = "use direct";

/// k-to-all personalized: block q of each of k source nodes ends at node q. Each source scatters,
/// over its own subcube of p/k nodes, bundles of k blocks: those for the node and its k - 1
/// counterparts in the other subcubes. Then the k counterparts exchange, pair by pair.
///
/// Network  hypercube; one-port.
/// Cost     log(p/k) + k - 1 steps: ts (log(p/k) + k - 1) + tw m (p - 1). k = 1: scatter, Eq. 4.6;
///          k = p: Eq. 4.10.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, problem 4.20 (which omits that the sources must be placed
///          so).
void k_alltoall_hypercube(Node& node, const Call& call) {
  const std::span<const Rank> sources = sources_of(call.arguments);
  const Rank p = node.size(), r = node.rank(), k = static_cast<Rank>(sources.size()), rows = p / k;
  const Placement placed = *placement(sources, p);
  const Rank row = placed.row(r);
  const Bytes m = call.output.bytes();
  const Memory memory =
      node.memory(m * static_cast<Bytes>(Placement::passes_through(row) * k), Purpose::blocks);
  // The block of this subcube's source for the node of a row whose column bits are the value `v`.
  const auto held = [&](Rank of_row, Rank v) {
    if (row > 0) return memory.subspan(m * static_cast<Bytes>((of_row - row) * k + v), m);
    const Rank to = (placed.with_row(r, of_row) & placed.rows()) | spread_bits(v, placed.columns);
    return only_read(call.input[to]);
  };
  const auto bundle = [&](Rank first, Rank count) {
    std::vector<Span> pieces;
    for (Rank i = first; i < first + count; ++i) {
      for (Rank v = 0; v < k; ++v) pieces.push_back(held(i, v));
    }
    return pieces;
  };
  for (Rank half = rows / 2; half > 0; half /= 2) {
    const Rank place = row % (2 * half), partner = placed.with_row(r, row ^ half);
    if (place == 0) {
      const std::vector<Span> out = bundle(row + half, half);
      node.step({send_pieces(partner, out)});
    } else if (place == half) {
      const std::vector<Span> in = bundle(row, half);
      node.step({receive_pieces(partner, in)});
    } else {
      node.step();
    }
  }

  const auto from = [&](Rank e) { return call.output[number_of(sources, placed.source_of(e))]; };
  const Rank own = gather_bits(r, placed.columns);
  node.local([&] { copy(held(row, own), from(r)); });
  for (Rank t = 1; t < k; ++t) {
    const Rank partner = r ^ spread_bits(t, placed.columns);
    node.step(exchange(partner, held(row, own ^ t), from(partner)));
  }
}

}  // namespace

WORMCUBE_ALGORITHM(k_alltoall_hypercube){
    .operation = operations::k_alltoall,
    .name = "hypercube",
    .summary = "scatter in each source's subcube, then pairwise exchange; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.20",
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::hypercube()},
    .instead = {"direct"},
    .require =
        [](const Setting& setting) {
          require_placement("hypercube", sources_of(setting.arguments), setting.topology.nodes(),
                            k_alltoall_way_out);
        },
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      const auto k = static_cast<Rank>(sources_of(setting.arguments).size());
      Prediction prediction{log2_ceiling(p / k) + k - 1.0, p - 1.0, 0, k < p ? p / 2.0 : 0};
      // Step t of the exchange crosses as many links as t has bits.
      prediction.hops = log2_ceiling(p / k) + log2_ceiling(k) * k / 2.0;
      return prediction;
    },
    .program = k_alltoall_hypercube,
};

}  // namespace wormcube
