// All-gather by recursive doubling.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/hypercube.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allgather/own_block.hpp"
#include "wormcube/collectives/pattern_load.hpp"

#include <cmath>

namespace wormcube {

namespace algorithms {
extern const Algorithm allgather_hypercube;
}

void allgather_hypercube(Node& node, ConstBlocks mine, Blocks all, BitOrder order) {
  require_network(algorithms::allgather_hypercube, node.topology());
  require_allgather("allgather_hypercube", node, mine, all);
  const Rank p = node.size(), r = node.rank();
  const int bits = log2_ceiling(p);
  keep_own(node, mine, all);

  for (int t = 0; t < bits; ++t) {
    const int b = order == BitOrder::ascending ? t : bits - 1 - t;
    // The blocks of the nodes whose labels differ from `by` in the bits done only.
    const auto held = [&](Rank by) {
      std::vector<Span> pieces;
      if (order == BitOrder::ascending) {
        pieces.push_back(all.range(by >> b << b, 1 << b));
      } else {
        for (Rank e = by & ((2 << b) - 1); e < p; e += 2 << b) pieces.push_back(all[e]);
      }
      return pieces;
    };
    const Rank partner = r ^ 1 << b;
    const std::vector<Span> out = held(r), in = held(partner);
    node.step({send_pieces(partner, out), receive_pieces(partner, in)});
  }
}

namespace {

BitOrder order_of(const Options& options) { return options.choice<BitOrder>("order"); }

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(allgather_hypercube){
    .operation = operations::allgather,
    .name = "hypercube",
    .summary = "recursive doubling: exchange all there is, bit by bit; 2^d nodes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3, Algorithm 4.7, Eq. 4.4",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .options = {{.name = "order",
                 .choices = {"ascending", "descending"},
                 .help =
                     "of the label's bits; on lines, rings and trees it decides the contention"}},
    .rows = {{"2.5", "order=ascending", "hypercube:4"},
             {"2.5", "order=descending", "hypercube:4"},
             {"2.6", "order=ascending", "ring:8"},
             {"2.6", "order=ascending", "line:8"},
             {"2.6", "order=ascending", "tree:8"},
             {"2.7", "order=descending", "tree:8"},
             {"2.7", "order=descending", "line:8"},
             {"2.7", "order=descending", "ring:8"},
             {"2.8", "order=ascending", "mesh:4x4"},
             {"2.8", "order=descending", "mesh:4x4"},
             {"2.12", "order=ascending", "complete:8"}},
    .needs = {needs::nodes_power_of_two()},
    .instead = {"bruck"},
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      const int bits = log2_ceiling(p);
      PatternSteps steps(setting.topology);
      for (int t = 0; t < bits; ++t) {
        const int b = order_of(setting.options) == BitOrder::ascending ? t : bits - 1 - t;
        steps.add_permutation(1 << t, [b](Rank r) { return r ^ 1 << b; });
      }
      return steps.with_loads({bits, p - 1, 0, 0});
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allgather_hypercube(node, call.input, call.output, order_of(call.options));
        },
};

}  // namespace algorithms

}  // namespace wormcube
