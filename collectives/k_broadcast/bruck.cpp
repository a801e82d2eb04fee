// k-to-all broadcast on any network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/k_broadcast/bruck.hpp"

#include "wormcube/collectives/k_to_all/registration.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <array>

namespace wormcube {

namespace {

/// The sources among the nodes first, first+1, .. (modulo p), as runs of their numbers.
struct Window {
  Rank first, count;          // up to the end of the ranks
  Rank count_from_the_first;  // and on from node 0
  Rank all() const { return count + count_from_the_first; }
};

Window window(const std::vector<Rank>& before, Rank first, Rank count) {
  const auto p = static_cast<Rank>(before.size()) - 1;
  const auto at = [&](Rank rank) { return before[static_cast<std::size_t>(rank)]; };
  const Rank end = std::min(p, first + count);
  return {at(first), at(end) - at(first), at(first + count - end)};
}

}  // namespace

void k_broadcast_bruck(Node& node, std::span<const Rank> sources, ConstBlocks mine, Blocks blocks) {
  require_ends("k_broadcast_bruck", node, Ends::sources, sources, 1, mine, blocks);
  const Rank p = node.size(), r = node.rank(), own = number_of(sources, r);
  if (own >= 0) node.local([&] { copy(mine[0], blocks[own]); });

  const std::vector<Rank> before = sources_before(sources, p);
  const auto pieces = [&](const Window& in) {
    return std::array{blocks.range(in.first, in.count), blocks.range(0, in.count_from_the_first)};
  };
  // Invariant: this node holds the blocks of the sources among r, r+1, .., r+held-1.
  for (Rank held = 1; held < p; held *= 2) {
    const Rank count = std::min(held, p - held), from = mod(r + held, p);
    const Window leaving = window(before, r, count), coming = window(before, from, count);
    const auto out = pieces(leaving), in = pieces(coming);
    std::vector<Op> ops;
    if (leaving.all() > 0) ops.push_back(send_pieces(mod(r - held, p), out));
    if (coming.all() > 0) ops.push_back(receive_pieces(from, in));
    node.step(ops);
  }
}

namespace {

Prediction predict_bruck(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  const std::vector<Rank> before = sources_before(sources_of(setting.arguments), p);
  PatternSteps steps(setting.topology);
  double transmission = 0;
  for (Rank held = 1; held < p; held *= 2) {
    std::vector<PatternMessage> messages;
    double largest = 0;
    for (Rank r = 0; r < p; ++r) {
      const double blocks = window(before, r, std::min(held, p - held)).all();
      if (blocks > 0) messages.push_back({r, mod(r - held, p), blocks});
      largest = std::max(largest, blocks);
    }
    transmission += largest;
    steps.add(messages);
  }
  return steps.with_loads({log2_ceiling(p), transmission, 0, 0});
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(k_broadcast_bruck){
    .operation = operations::k_broadcast,
    .name = "bruck",
    .summary = "Bruck's all-gather with the sources' blocks; every network, any sources",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.16, for any p; Bruck et al. 1997",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .rows = {{"6.2", "", "complete:7"}},
    .predict = predict_bruck,
    .program = with_sources<wormcube::k_broadcast_bruck>,
};

}  // namespace algorithms

}  // namespace wormcube
