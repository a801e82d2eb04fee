// Reduce-scatter in ceil(log2 p) steps for any number of nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/loads.hpp"
#include "wormcube/collectives/reduce_scatter/programs.hpp"

#include <algorithm>

namespace wormcube {

namespace {

/// Whether the partial result of node r for node r - j before the step of `bit`, over `bit` ranks
/// from r on but not beyond r - j, is in two parts: of r .. p-1 and from 0 on.
bool in_two(Rank p, Rank r, Rank j, Rank bit, bool commutative) {
  return !commutative && r + std::min(bit, p - j) > p;
}

}  // namespace

/// All nodes' blocks q combined in the order of ranks, at node q: the dual of Bruck's all-gather.
///
/// The partial result of node r = q + j for node q goes to node r - D in the step of the lowest bit
/// D of j. So before that step it is combined over D neighbours from r on, round the ring of ranks:
/// two partial results if they pass p - 1, unless the operator commutes.
///
/// Network  any, of any p; one-port.
/// Cost     c = ceil(log2 p) steps. For a commutative operator ts c + (tw + tc) m (p - 1); else
///          transmission grows by floor((p - 2) / 2) blocks and combining by one, for p > 2.
/// Links    shift_link_load(2^i) messages share a link in step i: one on hypercubes and complete
///          networks.
/// Source   J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for
///          All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), 1997
///          (the all-gather); order of ranks ours.
void reduce_scatter_bruck(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank p = node.size(), r = node.rank();
  const bool commutative = reduction.commutative;
  if (p == 1) {
    node.local([&] { copy(call.input[0], call.output.all()); });
    return;
  }

  // Block j is for node r - j. Those with even j are received here: each has a place in four
  // memories, for two parts of the combination and of the arrival.
  const auto block = [&](Rank j) { return call.input[mod(r - j, p)]; };
  std::vector<Bytes> place(static_cast<std::size_t>(p));
  Bytes total = 0;
  for (Rank j = 0; j < p; j += 2) {
    place[static_cast<std::size_t>(j)] = total;
    total += block(j).size();
  }
  const Memory upper = node.memory(total), lower = node.memory(total);
  const Memory upper_in = node.memory(total), lower_in = node.memory(total);
  const auto at = [&](const Memory& memory, Rank j) {
    return memory.subspan(place[static_cast<std::size_t>(j)], block(j).size());
  };

  std::vector<Span> going, coming;
  for (Rank bit = 1; bit < p; bit *= 2) {
    const Rank from = mod(r + bit, p);
    const bool passes_end = r + bit >= p && !commutative;  // the arrival covers ranks from 0 on
    const auto held = [&](Rank j) { return bit == 1 ? block(j) : ConstSpan(at(upper, j)); };
    going.clear(), coming.clear();
    for (Rank j = bit; j < p; j += 2 * bit) {
      going.push_back(only_read(held(j)));
      if (in_two(p, r, j, bit, commutative)) going.push_back(at(lower, j));
    }
    for (Rank j = 0; j + bit < p; j += 2 * bit) {
      coming.push_back(at(passes_end && r + bit == p ? lower : upper_in, j));
      if (in_two(p, from, j + bit, bit, commutative)) coming.push_back(at(lower, j));
    }
    node.step({send_pieces(mod(r - bit, p), going), receive_pieces(from, coming)});
    for (Rank j = 0; j < p; j += 2 * bit) {
      if (j + bit >= p) {  // nothing arrived: it stays as it is
        if (bit == 1) node.local([&] { copy(block(j), at(upper, j)); });
      } else if (!passes_end) {
        combine(node, reduction, held(j), at(upper_in, j), at(upper, j));
      } else {
        if (bit == 1) node.local([&] { copy(block(j), at(upper, j)); });
        if (r + bit > p) combine(node, reduction, at(lower, j), at(upper_in, j), at(lower, j));
      }
    }
  }
  if (r > 0 && !commutative) {
    combine(node, reduction, at(lower, 0), at(upper, 0), call.output.all());
  } else {
    node.local([&] { copy(at(upper, 0), call.output.all()); });
  }
}

std::vector<Messages> reduce_scatter_bruck_messages(Rank p, bool commutative, double blocks) {
  std::vector<Messages> steps;
  for (Rank bit = 1; bit < p; bit *= 2) {
    Messages& step = steps.emplace_back();
    // All j = bit, 3 bit, .. are alike for a node, except for one less than bit below p.
    const Rank alike = p / (2 * bit), other = (2 * alike + 1) * bit;
    for (Rank r = 0; r < p; ++r) {
      const auto parts = [&](Rank j) { return in_two(p, r, j, bit, commutative) ? 2.0 : 1.0; };
      const double count = alike * parts(bit) + (other < p ? parts(other) : 0);
      step.push_back({r, mod(r - bit, p), count * blocks});
    }
  }
  return steps;
}

Prediction reduce_scatter_bruck_cost(Rank p, bool commutative) {
  const double others = p - 1.0;
  const bool parts = !commutative && p > 2;
  Prediction prediction{log2_ceiling(p), others + (parts ? (p - 2) / 2 : 0), 0};  // NOLINT
  prediction.combined_blocks = others + (parts ? 1 : 0);
  return prediction;
}

namespace {

Prediction predict_reduce_scatter_bruck(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  const bool commutative = setting.arguments.reduction.commutative;
  Prediction prediction = reduce_scatter_bruck_cost(p, commutative);
  predict_contention(prediction, setting.topology, reduce_scatter_bruck_messages(p, commutative));
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHMS(reduce_scatter_bruck) = with_variant(
    {
        .operation = operations::reduce_scatter,
        .name = "bruck",
        .summary = "the dual of Bruck's all-gather, in ceil(log2 p) steps; every network",
        .source =
            "Bruck, Ho, Kipnis, Upfal, Weathersby 1997; Grama, Gupta, Karypis, Kumar, sec. 4.2.3",
        .exactly_once = true,
        .remark =
            "free of contention on hypercubes and complete networks; two partial results unless "
            "the operator commutes: our extension",
        .predict = predict_reduce_scatter_bruck,
        .program = reduce_scatter_bruck,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::reduce_scatterv;
      uneven.source = "Bruck, Ho, Kipnis, Upfal, Weathersby 1997";
      uneven.remark = "free of contention on hypercubes and complete networks";
      uneven.predict = startups_of<predict_reduce_scatter_bruck>;
    });

}  // namespace wormcube
