// Reduce-scatter by halving the labels' bits.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/loads.hpp"
#include "wormcube/collectives/reduce_scatter/programs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// The label's bits in the order of the steps.
std::vector<Rank> bits_of(Rank p, bool ascending) {
  std::vector<Rank> bits;
  for (Rank bit = 1; bit < p; bit *= 2) bits.push_back(bit);
  if (!ascending) std::ranges::reverse(bits);
  return bits;
}

/// The nodes on node r's side after the step of this bit: those that agree with r in all bits done.
std::vector<Rank> side_of(Rank r, Rank bit, Rank p, bool ascending) {
  const Rank first = ascending ? r % (2 * bit) : r / bit * bit;
  const Rank stride = ascending ? 2 * bit : 1, end = ascending ? p : first + bit;
  std::vector<Rank> side;
  for (Rank q = first; q < end; q += stride) side.push_back(q);
  return side;
}

/// All nodes' blocks q combined, at node q: in the step of a bit, partners that differ there swap
/// what they have for all nodes on the other's side. Before the step a node holds the blocks for
/// the nodes that agree with it in the bits done, each combined over the nodes that agree with it
/// in the others. If the lowest bit is first, these are neighbours, and the order of ranks is kept.
///
/// Network  any of p = 2^d nodes; one-port. With the highest bit first the operator must commute.
/// Cost     d steps of p/2, p/4, .., 1 blocks: ts log p + (tw + tc) m (p - 1).
/// Links    free of contention on hypercubes. On a line 2^i messages share one in the step of bit
///          i: ascending tw m p/2 log p, descending tw m (p^2 - 1)/3.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.2.3, Algorithm 4.8: contiguous halves, highest bit
///          first. Strided halves, lowest bit first, keep the order: ours.
void swap_halves(Node& node, const Call& call, bool ascending) {
  const Reduction& reduction = call.arguments.reduction;
  const ConstBlocks in = call.input;
  const Rank p = node.size(), r = node.rank();
  if (p == 1) {
    node.local([&] { copy(in[0], call.output.all()); });
    return;
  }

  // Places for the blocks that are kept in the first step; later ones keep theirs.
  const std::vector<Rank> bits = bits_of(p, ascending);
  std::vector<Bytes> place(static_cast<std::size_t>(p));
  Bytes total = 0;
  for (const Rank q : side_of(r, bits.front(), p, ascending)) {
    place[static_cast<std::size_t>(q)] = total;
    total += in[q].size();
  }
  const Memory combined = node.memory(total), incoming = node.memory(total);
  const auto at = [&](const Memory& memory, Rank q) {
    return memory.subspan(place[static_cast<std::size_t>(q)], in[q].size());
  };
  std::vector<Span> going, coming;
  for (const Rank bit : bits) {
    const Rank partner = r ^ bit;
    const auto held = [&](Rank q) {
      return bit == bits.front() ? in[q] : ConstSpan(at(combined, q));
    };
    const std::vector<Rank> kept = side_of(r, bit, p, ascending);
    going.clear(), coming.clear();
    for (const Rank q : side_of(partner, bit, p, ascending)) going.push_back(only_read(held(q)));
    for (const Rank q : kept) coming.push_back(at(incoming, q));
    node.step({send_pieces(partner, going), receive_pieces(partner, coming)});
    for (const Rank q : kept) {
      ConstSpan left = held(q), right = at(incoming, q);
      if (partner < r) std::swap(left, right);
      combine(node, reduction, left, right,
              bit == bits.back() ? call.output.all() : at(combined, q));
    }
  }
}

std::vector<Messages> messages_of_halves(Rank p, double blocks, bool ascending) {
  std::vector<Messages> steps;
  for (const Rank bit : bits_of(p, ascending)) {
    blocks /= 2;
    Messages& step = steps.emplace_back();
    for (Rank r = 0; r < p; ++r) step.push_back({r, r ^ bit, blocks * p});
  }
  return steps;
}

bool is_ascending(const Options& options) { return options.is("order", "ascending"); }

Prediction predict_reduce_scatter_hypercube(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  Prediction prediction{log2_ceiling(p), p - 1.0, 0};
  prediction.combined_blocks = p - 1.0;
  predict_contention(prediction, setting.topology,
                     messages_of_halves(p, 1, is_ascending(setting.options)));
  return prediction;
}

void require_order_of_halves(const Setting& setting) {
  if (setting.arguments.reduction.commutative || is_ascending(setting.options)) return;
  throw UsageError(
      fmt::format("hypercube: {} does not commute, and order=descending combines the operands in "
                  "another order than that of the ranks; use order=ascending",
                  setting.arguments.reduction.name));
}

}  // namespace

void reduce_scatter_hypercube(Node& node, const Call& call) { swap_halves(node, call, true); }

std::vector<Messages> reduce_scatter_hypercube_messages(Rank p, double blocks) {
  return messages_of_halves(p, blocks, true);
}

WORMCUBE_ALGORITHMS(reduce_scatter_hypercube) = with_variant(
    {
        .operation = operations::reduce_scatter,
        .name = "hypercube",
        .summary = "halves are swapped bit by bit; 2^d nodes, every network",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3, Algorithm 4.8, problem 4.8",
        .exactly_once = true,
        .remark = "free of contention on hypercubes; order=ascending keeps the order of ranks",
        .options = {{.name = "order",
                     .choices = {"ascending", "descending"},
                     .help = "order of the label's bits: ascending keeps the order of ranks; "
                             "descending is the textbook's, in contiguous halves",
                     .by_name = true}},
        .needs = {needs::nodes_power_of_two()},
        .instead = {"bruck", "pairwise", "ring"},
        .require = require_order_of_halves,
        .predict = predict_reduce_scatter_hypercube,
        .program = [](Node& node,
                      const Call& call) { swap_halves(node, call, is_ascending(call.options)); },
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::reduce_scatterv;
      uneven.source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3, Algorithm 4.8";
      uneven.remark = "free of contention on hypercubes and complete networks";
      uneven.predict = startups_of<predict_reduce_scatter_hypercube>;
    });

}  // namespace wormcube
