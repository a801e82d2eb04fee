// k-to-all broadcast on a hypercube.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/k_broadcast/hypercube.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/k_to_all/sources.hpp"

#include <algorithm>

namespace wormcube {

namespace algorithms {
extern const Algorithm k_broadcast_hypercube;
}

void k_broadcast_hypercube(Node& node, std::span<const Rank> sources, ConstBlocks mine,
                           Blocks blocks, BitOrder order) {
  require_network(algorithms::k_broadcast_hypercube, node.topology());
  require_ends("k_broadcast_hypercube", node, Ends::sources, sources, 1, mine, blocks);
  const Rank r = node.rank(), own = number_of(sources, r);
  const int bits = log2_ceiling(node.size());
  if (own >= 0) node.local([&] { copy(mine[0], blocks[own]); });

  for (int t = 0, done = 0; t < bits; ++t) {
    const int b = order == BitOrder::ascending ? t : bits - 1 - t;
    // The blocks of the sources whose labels differ from `by` in the bits done only.
    const auto held = [&](Rank by) {
      std::vector<Span> pieces;
      for (std::size_t i = 0; i < sources.size(); ++i) {
        if (((sources[i] ^ by) & ~done) == 0) pieces.push_back(blocks[static_cast<Rank>(i)]);
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

namespace {

BitOrder order_of(const Options& options) { return options.choice<BitOrder>("order"); }

Prediction predict_hypercube(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  const int bits = log2_ceiling(p);
  std::vector<Rank> held(static_cast<std::size_t>(p));
  for (const Rank source : sources_of(setting.arguments))
    held[static_cast<std::size_t>(source)] = 1;
  double transmission = 0;
  for (int t = 0; t < bits; ++t) {
    const int b = order_of(setting.options) == BitOrder::ascending ? t : bits - 1 - t;
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

namespace algorithms {

WORMCUBE_ALGORITHM(k_broadcast_hypercube){
    .operation = operations::k_broadcast,
    .name = "hypercube",
    .summary = "recursive doubling with the sources' blocks; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.16",
    .contention_free = true,
    .exactly_once = true,
    .remark = "descending order: our extension",
    .options = {{.name = "order",
                 .choices = {"ascending", "descending"},
                 .help = "of the dimensions; ascending is the book's, descending costs less"}},
    .rows = {{"6.1", "order=ascending", "hypercube:4"}, {"6.2", "order=descending", "hypercube:4"}},
    .needs = {needs::hypercube()},
    .instead = {"bruck"},
    .predict = predict_hypercube,
    .program =
        [](Node& node, const Call& call) {
          wormcube::k_broadcast_hypercube(node, sources_of(call.arguments), call.input, call.output,
                                          order_of(call.options));
        },
};

}  // namespace algorithms

}  // namespace wormcube
