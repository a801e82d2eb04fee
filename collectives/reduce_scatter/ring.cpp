// Reduce-scatter on a ring or a line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/ring.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/reduce_scatter/require.hpp"

#include <array>
#include <utility>

namespace wormcube {

namespace algorithms {
extern const Algorithm reduce_scatter_ring;
}

void reduce_scatter_ring(Node& node, const Reduction& reduction, ConstBlocks in, Span out) {
  require_network(algorithms::reduce_scatter_ring, node.topology());
  require_reduce_scatter("reduce_scatter_ring", node, reduction, in, out);
  const Rank p = node.size(), r = node.rank();
  if (p == 1) {
    node.local([&] { copy(in[0], out); });
    return;
  }

  // What is for node q, between nodes: the ranks above q, then those below; one may have no ranks.
  const Bytes slot = largest(in);
  const Memory first = node.memory(2 * slot), second = node.memory(2 * slot);
  Span going = first, coming = second;
  const auto above = [&](Span message, Rank q) { return message.subspan(0, in[q].size()); };
  const auto below = [&](Span message, Rank q) { return message.subspan(slot, in[q].size()); };
  // The pieces of a message for q that leaves node s.
  const auto pieces = [&](Span message, Rank q, Rank s) {
    const bool has_above = q < p - 1 || reduction.commutative;
    const bool has_below = s < q && !reduction.commutative;
    return std::array{has_above ? above(message, q) : Span(),
                      has_below ? below(message, q) : Span()};
  };

  const Rank next = mod(r + 1, p), previous = mod(r - 1, p);
  const Move onward{0, node.topology().factor(0).hops(r, next)};
  for (Rank t = 1; t < p; ++t) {
    const Rank gone = mod(r - t, p), q = mod(r - t - 1, p);
    const auto sent = pieces(going, gone, r), received = pieces(coming, q, previous);
    node.step({t == 1 ? send(onward, in[gone]) : send_pieces(onward, sent),
               receive_pieces(previous, received)});
    if (q == r) break;
    if (r > q || reduction.commutative) {
      combine(node, reduction, above(coming, q), in[q], above(coming, q));
    } else if (r > 0) {
      combine(node, reduction, below(coming, q), in[q], below(coming, q));
    } else {
      node.local([&] { copy(in[q], below(coming, q)); });
    }
    std::swap(going, coming);
  }
  ConstSpan result = in[r];
  if (r > 0 && !reduction.commutative) {
    combine(node, reduction, below(coming, r), result, out);
    result = out;
  }
  if (r < p - 1 || reduction.commutative) {
    combine(node, reduction, result, above(coming, r), out);
  }
}

Prediction reduce_scatter_ring_cost(Rank n, bool commutative) {
  const double steps = n - 1.0;
  Prediction prediction{steps, commutative || n < 3 ? steps : 2 * steps - 1, 0};
  prediction.combined_blocks = commutative || n < 3 ? steps : n;
  return prediction;
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_scatter_ring){
    .operation = operations::reduce_scatter,
    .name = "ring",
    .summary = "each result travels once round, in two parts to keep the order; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.5, Eq. 4.2",
    .contention_free = true,
    .exactly_once = true,
    .remark = "two partial results unless the operator commutes: our extension",
    .rows = {{"2.20", "", "ring:8"}, {"2.20", "", "line:7"}},
    .needs = {needs::line_or_ring()},
    .instead = {"mesh", "hypercube", "bruck"},
    .predict =
        [](const Setting& setting) {
          return reduce_scatter_ring_cost(setting.topology.nodes(),
                                          setting.arguments.reduction.commutative);
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_ring(node, call.arguments.reduction, call.input,
                                        call.output.all());
        },
};

}  // namespace algorithms

}  // namespace wormcube
