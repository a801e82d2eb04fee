// Reduce-scatter on a ring or a line, right for operators that do not commute.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/hops.hpp"
#include "wormcube/collectives/reduce_scatter/programs.hpp"

#include <array>
#include <utility>

namespace wormcube {

/// All nodes' blocks q combined in the order of ranks, at node q.
///
/// The result for node q starts at node q + 1 and travels once round, each node adding its own
/// block. Between p - 1 and 0 the order of ranks breaks off: from there on two partial results
/// travel together, over the ranks above q and over those below it, unless the operator commutes.
///
/// Network  one ring or line of any p; one-port. On a line the messages from the last node to the
///          first return over the reverse links, which are idle otherwise.
/// Cost     p - 1 steps. For a commutative operator one block in each: (ts + tw m + tc m)(p - 1).
///          Else two from the second on: ts (p - 1) + tw m (2p - 3) + tc m p, for p > 2.
/// Links    each carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.5, Eq. 4.2. That adds in a
///          cyclic order; the two partial results are ours.
void reduce_scatter_ring(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const ConstBlocks in = call.input;
  const Rank p = node.size(), r = node.rank();
  if (p == 1) {
    node.local([&] { copy(in[0], call.output.all()); });
    return;
  }

  // The data for node q, between nodes: the ranks above q, then those below; one may have no ranks.
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
    combine(node, reduction, below(coming, r), result, call.output.all());
    result = call.output.all();
  }
  if (r < p - 1 || reduction.commutative) {
    combine(node, reduction, result, above(coming, r), call.output.all());
  }
}

Prediction reduce_scatter_ring_cost(Rank n, bool commutative) {
  const double steps = n - 1.0;
  Prediction prediction{steps, commutative || n < 3 ? steps : 2 * steps - 1, 0};
  prediction.combined_blocks = commutative || n < 3 ? steps : n;
  return prediction;
}

namespace {

Prediction predict_reduce_scatter_ring(const Setting& setting) {
  Prediction prediction =
      reduce_scatter_ring_cost(setting.topology.nodes(), setting.arguments.reduction.commutative);
  prediction.hops = hops_of_rounds(setting.topology);
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHMS(reduce_scatter_ring) = with_variant(
    {
        .operation = operations::reduce_scatter,
        .name = "ring",
        .summary =
            "each result travels once round, in two parts to keep the order; one line or ring",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.5, Eq. 4.2",
        .contention_free = true,
        .exactly_once = true,
        .remark = "two partial results unless the operator commutes: our extension",
        .needs = {needs::line_or_ring()},
        .instead = {"mesh", "hypercube", "bruck"},
        .predict = predict_reduce_scatter_ring,
        .program = reduce_scatter_ring,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::reduce_scatterv;
      uneven.source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.5";
      uneven.predict = startups_of<predict_reduce_scatter_ring>;
      uneven.remark = {};
    });

}  // namespace wormcube
