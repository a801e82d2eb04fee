// k-from-all gather on a hypercube.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/k_gather/hypercube.hpp"

#include "wormcube/collectives/k_to_all/registration.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <vector>

namespace wormcube {

namespace algorithms {
extern const Algorithm k_gather_hypercube;
}

namespace {

constexpr std::string_view k_gather_way_out = "use direct";

}  // namespace

void k_gather_hypercube(Node& node, std::span<const Rank> targets, ConstBlocks mine,
                        Blocks result) {
  require_network(algorithms::k_gather_hypercube, node.topology());
  require_ends("k_gather_hypercube", node, Ends::targets, targets, node.size(), mine, result);
  const Rank p = node.size(), r = node.rank(), k = static_cast<Rank>(targets.size()), rows = p / k;
  const Placement placed = require_placement("k_gather_hypercube", targets, p, k_gather_way_out);

  const Rank row = placed.row(r);
  const Bytes m = mine.bytes();
  const Memory memory =
      node.memory(m * static_cast<Bytes>(Placement::passes_through(row) * k), Purpose::blocks);
  // The place of what the node of a row whose column bits are the value `v` gives this subcube's
  // target.
  const auto held = [&](Rank of_row, Rank v) {
    if (row > 0) return memory.subspan(m * static_cast<Bytes>((of_row - row) * k + v), m);
    const Rank from = (placed.with_row(r, of_row) & placed.rows()) | spread_bits(v, placed.columns);
    return result[from];
  };
  const auto wanted_by = [&](Rank e) { return mine[number_of(targets, placed.source_of(e))]; };
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

namespace algorithms {

WORMCUBE_ALGORITHM(k_gather_hypercube){
    .operation = operations::k_gather,
    .name = "hypercube",
    .summary = "exchange pair by pair, then gather in each target's subcube; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.20, backwards",
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"6.5", "", "hypercube:4"}},
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
              .contended_blocks = p - 1.0};
    },
    .program = with_sources<wormcube::k_gather_hypercube>,
};

}  // namespace algorithms

}  // namespace wormcube
