// All-gather by recursive doubling, in either order of the dimensions.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/holding.hpp"
#include "wormcube/collectives/kit/pattern_load.hpp"

namespace wormcube {

namespace {

/// All-gather: every node's block to every node. In step t every node exchanges all that it has
/// with the node whose label differs in one bit.
///
/// Network  any of p = 2^d nodes; one-port.
/// Cost     d steps of 1, 2, .., p/2 blocks: ts log p + tw m (p - 1) if links are not shared.
/// Links    free of contention on hypercubes and complete networks. On a line, ring or tree bit b
///          loads a link with 2^b messages: ascending tw m (p^2 - 1)/3, descending tw m (p log
///          p)/2. On an open mesh of s x s: tw m (p - 1)(s + 1)/3 and tw m (p + s)(log p)/4.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.2.3, Algorithm 4.7, Eq. 4.4; Fig. 4.12, problems
///          4.3, 4.5, 4.24 (poorer networks).
void allgather_hypercube(Node& node, const Call& call) {
  const bool ascending = call.options.is("order", "ascending");
  const Rank p = node.size(), r = node.rank();
  const int bits = log2_ceiling(p);
  keep_own(node, call);

  for (int t = 0; t < bits; ++t) {
    const int b = ascending ? t : bits - 1 - t;
    // The blocks of the nodes whose labels differ from `by` only in the bits done.
    const auto held = [&](Rank by) {
      std::vector<Span> pieces;
      if (ascending) {
        pieces.push_back(call.output.range(by >> b << b, 1 << b));
      } else {
        for (Rank e = by & ((2 << b) - 1); e < p; e += 2 << b) pieces.push_back(call.output[e]);
      }
      return pieces;
    };
    const Rank partner = r ^ 1 << b;
    const std::vector<Span> out = held(r), in = held(partner);
    node.step({send_pieces(partner, out), receive_pieces(partner, in)});
  }
}

Prediction predict_allgather_hypercube(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  const int bits = log2_ceiling(p);
  PatternSteps steps(setting.topology);
  for (int t = 0; t < bits; ++t) {
    const int b = setting.options.is("order", "ascending") ? t : bits - 1 - t;
    steps.add_permutation(1 << t, [b](Rank r) { return r ^ 1 << b; });
  }
  return steps.with_loads({bits, p - 1, 0, 0});
}

}  // namespace

WORMCUBE_ALGORITHMS(allgather_hypercube) = with_variant(
    {
        .operation = operations::allgather,
        .name = "hypercube",
        .summary =
            "recursive doubling: partners exchange all that they hold, bit by bit; 2^d nodes",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3, Algorithm 4.7, Eq. 4.4",
        .exactly_once = true,
        .remark = "free of contention on hypercubes and complete networks",
        .options = {{.name = "order",
                     .choices = {"ascending", "descending"},
                     .help = "order of the label's bits; on lines, rings and trees it determines "
                             "the contention"}},
        .needs = {needs::nodes_power_of_two()},
        .instead = {"bruck"},
        .predict = predict_allgather_hypercube,
        .program = allgather_hypercube,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::allgatherv;
      uneven.source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3, Algorithm 4.7";
      uneven.options = {{.name = "order",
                         .choices = {"ascending", "descending"},
                         .help = "order of the label's bits"}};
      uneven.predict = startups_of<predict_allgather_hypercube>;
    });

}  // namespace wormcube
