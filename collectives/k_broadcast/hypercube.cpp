// k-to-all broadcast on a hypercube by recursive doubling.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/programs.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/sources.hpp"

#include <algorithm>
#include <span>

namespace wormcube {

namespace {

/// k-to-all broadcast: the blocks of k source nodes end at every node: an all-gather to which the
/// other nodes contribute nothing. A node without blocks sends nothing.
///
/// Network  hypercube, sources anywhere; one-port.
/// Cost     d = log2 p steps, each of the most blocks that a node has. From sources 0 .. k-1,
///          k = 2^j: ascending ts log p + tw m (k log(p/k) + k - 1), which is the book's;
///          descending ts log p + tw m (log(p/k) + k - 1), never more.
/// Links    each link carries one message in a step.
void k_broadcast_hypercube(Node& node, const Call& call) {
  const std::span<const Rank> sources = sources_of(call.arguments);
  const bool ascending = call.options.is("order", "ascending");
  const Rank r = node.rank(), own = number_of(sources, r);
  const int bits = log2_ceiling(node.size());
  if (own >= 0) node.local([&] { copy(call.input[0], call.output[own]); });

  for (int t = 0, done = 0; t < bits; ++t) {
    const int b = ascending ? t : bits - 1 - t;
    // The blocks of the sources whose labels differ from `by` only in the bits done.
    const auto held = [&](Rank by) {
      std::vector<Span> pieces;
      for (std::size_t i = 0; i < sources.size(); ++i) {
        if (((sources[i] ^ by) & ~done) == 0) pieces.push_back(call.output[static_cast<Rank>(i)]);
      }
      return pieces;
    };
    const Rank partner = r ^ 1 << b;
    const std::vector<Span> out = held(r), in = held(partner);
    std::vector<Op> ops;
    if (!out.empty()) ops.push_back(send_pieces(partner, out));
    if (!in.empty()) ops.push_back(receive_pieces(partner, in));
    node.step(ops);
    done |= 1 << b;
  }
}

Prediction predict_hypercube(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  const int bits = log2_ceiling(p);
  std::vector<Rank> held(static_cast<std::size_t>(p));
  for (const Rank source : sources_of(setting.arguments))
    held[static_cast<std::size_t>(source)] = 1;
  double transmission = 0;
  for (int t = 0; t < bits; ++t) {
    const int b = setting.options.is("order", "ascending") ? t : bits - 1 - t;
    transmission += *std::ranges::max_element(held);
    for (Rank r = 0; r < p; ++r) {
      if ((r >> b & 1) != 0) continue;
      Rank &low = held[static_cast<std::size_t>(r)],
           &high = held[static_cast<std::size_t>(r | 1 << b)];
      low = high = low + high;
    }
  }
  return {bits, transmission, 0, 0};
}

}  // namespace

WORMCUBE_ALGORITHM(k_broadcast_hypercube){
    .operation = operations::k_broadcast,
    .name = "hypercube",
    .summary = "recursive doubling with the sources' blocks; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.16",
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .remark = "descending order: our extension",
    .options = {{.name = "order",
                 .choices = {"ascending", "descending"},
                 .help =
                     "order of the dimensions; ascending is the book's, descending costs less"}},
    .needs = {needs::hypercube()},
    .instead = {"bruck"},
    .predict = predict_hypercube,
    .program = k_broadcast_hypercube,
};

}  // namespace wormcube
