// k-from-all gather on a hypercube: exchange, then gather.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/sources.hpp"

#include <span>
#include <vector>

namespace wormcube {

namespace {

constexpr std::string_view k_gather_way_out = "use direct";

/// k-from-all gather, the dual of k-to-all personalized communication: block i of every node ends
/// at the i-th of k nodes. First the nodes of a column exchange pair by pair, so that every node
/// has the column's blocks for its own subcube's target; then each target gathers these in its
/// subcube.
///
/// Network  hypercube; one-port.
/// Cost     log(p/k) + k - 1 steps: ts (log(p/k) + k - 1) + tw m (p - 1).
/// Links    each link carries one message in a step.
void k_gather_hypercube(Node& node, const Call& call) {
  const std::span<const Rank> targets = sources_of(call.arguments);
  const Rank p = node.size(), r = node.rank(), k = static_cast<Rank>(targets.size()), rows = p / k;
  const Placement placed = *placement(targets, p);

  const Rank row = placed.row(r);
  const Bytes m = call.input.bytes();
  const Memory memory =
      node.memory(m * static_cast<Bytes>(Placement::passes_through(row) * k), Purpose::blocks);
  // The place of the block for this subcube's target from the node of a row whose column bits are
  // the value `v`.
  const auto held = [&](Rank of_row, Rank v) {
    if (row > 0) return memory.subspan(m * static_cast<Bytes>((of_row - row) * k + v), m);
    const Rank from = (placed.with_row(r, of_row) & placed.rows()) | spread_bits(v, placed.columns);
    return call.output[from];
  };
  const auto wanted_by = [&](Rank e) {
    return call.input[number_of(targets, placed.source_of(e))];
  };
  const Rank own = gather_bits(r, placed.columns);
  node.local([&] { copy(wanted_by(r), held(row, own)); });
  for (Rank t = 1; t < k; ++t) {
    const Rank partner = r ^ spread_bits(t, placed.columns);
    node.step(exchange(partner, wanted_by(partner), held(row, own ^ t)));
  }

  const auto bundle = [&](Rank first, Rank count) {
    std::vector<Span> pieces;
    for (Rank i = first; i < first + count; ++i) {
      for (Rank v = 0; v < k; ++v) pieces.push_back(held(i, v));
    }
    return pieces;
  };
  for (Rank half = 1; half < rows; half *= 2) {
    const Rank place = row % (2 * half), partner = placed.with_row(r, row ^ half);
    if (place == 0) {
      const std::vector<Span> in = bundle(row + half, half);
      node.step({receive_pieces(partner, in)});
    } else if (place == half) {
      const std::vector<Span> out = bundle(row, half);
      node.step({send_pieces(partner, out)});
    } else {
      node.step();
    }
  }
}

}  // namespace

WORMCUBE_ALGORITHM(k_gather_hypercube){
    .operation = operations::k_gather,
    .name = "hypercube",
    .summary = "pairwise exchange, then gather in each target's subcube; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.20, backwards",
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::hypercube()},
    .instead = {"direct"},
    .require =
        [](const Setting& setting) {
          require_placement("hypercube", sources_of(setting.arguments), setting.topology.nodes(),
                            k_gather_way_out);
        },
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      const auto k = static_cast<Rank>(sources_of(setting.arguments).size());
      return {.startups = log2_ceiling(p / k) + k - 1.0,
              .transmission_blocks = p - 1.0,
              .rearranged_blocks = 0,
              .working_blocks = k < p ? p / 2.0 : 0,
              .link_load = p > 1 ? 1 : 0,
              .link_blocks = p - 1.0,
              .hops = log2_ceiling(p / k) + log2_ceiling(k) * k / 2.0};
    },
    .program = k_gather_hypercube,
};

}  // namespace wormcube
