// k-to-all broadcast on any network in the fewest steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/sources.hpp"

#include <algorithm>
#include <array>
#include <span>

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

/// k-to-all broadcast: the blocks of k source nodes end at every node. Bruck's all-gather, to which
/// the other nodes contribute nothing. A node without blocks sends nothing.
///
/// Network  any, of any p, sources anywhere; one-port.
/// Cost     ceil(log2 p) steps; step t moves as many blocks as there are sources among min(2^t,
///          p - 2^t) neighbouring ranks at the most.
/// Links    every step is part of a circular shift: free of contention on hypercubes and complete
///          networks.
/// Source   Grama, Gupta, Karypis, Kumar, problem 4.16, for any sources; Bruck et al., IEEE TPDS
///          8(11), 1997.
void k_broadcast_bruck(Node& node, const Call& call) {
  const std::span<const Rank> sources = sources_of(call.arguments);
  const Rank p = node.size(), r = node.rank(), own = number_of(sources, r);
  if (own >= 0) node.local([&] { copy(call.input[0], call.output[own]); });

  const std::vector<Rank> before = sources_before(sources, p);
  const auto pieces = [&](const Window& in) {
    return std::array{call.output.range(in.first, in.count),
                      call.output.range(0, in.count_from_the_first)};
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

WORMCUBE_ALGORITHM(k_broadcast_bruck){
    .operation = operations::k_broadcast,
    .name = "bruck",
    .summary = "Bruck's all-gather with the sources' blocks; every network, any sources",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.16, for any p; Bruck et al. 1997",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .predict = predict_bruck,
    .program = k_broadcast_bruck,
};

}  // namespace wormcube
