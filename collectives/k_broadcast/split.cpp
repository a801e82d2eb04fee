// k-to-all broadcast on a hypercube with messages that are split.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/sources.hpp"

#include <span>

namespace wormcube {

namespace {

constexpr std::string_view k_broadcast_way_out = "use hypercube or bruck";

/// The parts first .. first+count-1 of a block.
Span parts_of(Span block, Rank first, Rank count, Rank parts) {
  const Bytes begin = block.size() * first / parts, end = block.size() * (first + count) / parts;
  return block.subspan(begin, end - begin);
}

/// k-to-all broadcast: the blocks of k source nodes end at every node. Each source scatters its
/// block in p/k nearly equal parts over its own subcube of p/k nodes; then every node has one
/// part, and all parts are gathered everywhere.
///
/// Network  hypercube; one-port.
/// Cost     2 log p - log k steps: ts (2 log p - log k) + tw m (k + 1 - 2k/p). k = 1: Eq. 4.13.
/// Links    each link carries one message in a step.
void k_broadcast_split(Node& node, const Call& call) {
  const std::span<const Rank> sources = sources_of(call.arguments);
  const Rank p = node.size(), r = node.rank(), rows = p / static_cast<Rank>(sources.size());
  const Placement placed = *placement(sources, p);
  const auto block_of = [&](Rank e) {
    return call.output[number_of(sources, placed.source_of(e))];
  };
  const Span block = block_of(r);
  if (call.input.count() == 1) node.local([&] { copy(call.input[0], block); });

  // Invariant: the nodes of rows that `half` divides have the parts up to the next such row.
  const Rank row = placed.row(r);
  for (Rank half = rows / 2; half > 0; half /= 2) {
    const Rank place = row % (2 * half), partner = placed.with_row(r, row ^ half);
    if (place == 0) {
      node.step({send(partner, parts_of(block, row + half, half, rows))});
    } else if (place == half) {
      node.step({receive(partner, parts_of(block, row, half, rows))});
    } else {
      node.step();
    }
  }

  // Invariant: this node has the part of every node that differs only in the bits done.
  const auto held = [&](Rank by, int b) {
    std::vector<Span> pieces;
    for (Rank e = by >> b << b, i = 0; i < 1 << b; ++e, ++i) {
      pieces.push_back(part(block_of(e), placed.row(e), rows));
    }
    return pieces;
  };
  for (int b = 0; 1 << b < p; ++b) {
    const Rank partner = r ^ 1 << b;
    const std::vector<Span> out = held(r, b), in = held(partner, b);
    node.step({send_pieces(partner, out), receive_pieces(partner, in)});
  }
}

}  // namespace

WORMCUBE_ALGORITHM(k_broadcast_split){
    .operation = operations::k_broadcast,
    .name = "split",
    .summary = "scatter in each source's subcube, then an all-gather of parts; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.18 and sec. 4.7.1",
    .contention_free = true,
    .exactly_once = false,  // parts that a node scattered come back to it
    .neighbours_only = true,
    .needs = {needs::hypercube()},
    .instead = {"bruck"},
    .require =
        [](const Setting& setting) {
          require_placement("split", sources_of(setting.arguments), setting.topology.nodes(),
                            k_broadcast_way_out);
        },
    .predict = [](const Setting& setting) -> Prediction {
      const double p = setting.topology.nodes();
      const auto k = static_cast<double>(sources_of(setting.arguments).size());
      const int steps =
          log2_ceiling(setting.topology.nodes()) + log2_ceiling(nodes_to_a_source(setting));
      return {steps, k + 1 - 2 * k / p, 0, 0};
    },
    .program = k_broadcast_split,
    .parts = nodes_to_a_source,
};

}  // namespace wormcube
