// k-from-all reduction: reduce-scatter of parts, then a gather.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/parts.hpp"
#include "wormcube/collectives/kit/sources.hpp"

#include <span>
#include <utility>

namespace wormcube {

namespace {

constexpr std::string_view k_reduce_way_out = "use hypercube or direct";

/// Every node's part of its target's block, combined: lowest bit first, as
/// reduce_scatter_hypercube.
/// \param piece   the part of node e in this node's input
/// \param result  memory for this node's own part
void reduce_parts(Node& node, const Reduction& reduction, auto piece, Span result) {
  const Rank p = node.size(), r = node.rank();
  if (p == 1) {
    node.local([&] { copy(piece(0), result); });
    return;
  }
  std::vector<Bytes> place(static_cast<std::size_t>(p));
  Bytes total = 0;
  for (Rank e = r % 2; e < p; e += 2) {
    place[static_cast<std::size_t>(e)] = total;
    total += piece(e).size();
  }
  const Memory combined = node.memory(total), incoming = node.memory(total);
  const auto at = [&](const Memory& memory, Rank e) {
    return memory.subspan(place[static_cast<std::size_t>(e)], piece(e).size());
  };
  std::vector<Span> going, coming;
  for (Rank bit = 1; bit < p; bit *= 2) {
    const Rank partner = r ^ bit;
    const auto held = [&](Rank e) { return bit == 1 ? piece(e) : ConstSpan(at(combined, e)); };
    going.clear(), coming.clear();
    for (Rank e = partner % (2 * bit); e < p; e += 2 * bit) going.push_back(only_read(held(e)));
    for (Rank e = r % (2 * bit); e < p; e += 2 * bit) coming.push_back(at(incoming, e));
    node.step({send_pieces(partner, going), receive_pieces(partner, coming)});
    for (Rank e = r % (2 * bit); e < p; e += 2 * bit) {
      ConstSpan left = held(e), right = at(incoming, e);
      if (partner < r) std::swap(left, right);
      combine(node, reduction, left, right, 2 * bit == p ? result : at(combined, e));
    }
  }
}

/// k-from-all reduction of messages in p/k parts, the dual of k_broadcast_split: every node
/// combines one part of one target's block, the target gathers them in its own subcube of p/k
/// nodes.
///
/// Network  hypercube; one-port.
/// Cost     2 log p - log k steps: ts (2 log p - log k) + tw m (k + 1 - 2k/p).
/// Links    each link carries one message in a step.
void k_reduce_split(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const std::span<const Rank> targets = sources_of(call.arguments);
  const Rank p = node.size(), r = node.rank(), rows = p / static_cast<Rank>(targets.size());
  const Placement placed = *placement(targets, p);
  const std::vector<Bytes> offsets =
      part_offsets(call.input.bytes(), reduction.element_bytes, rows);
  const Rank row = placed.row(r);
  const Memory passing = node.memory(row == 0 ? 0 : call.input.bytes());
  const Blocks parts(row == 0 ? call.output[0] : passing.span(), offsets);
  const auto part_of = [&](ConstSpan block, Rank of_row) {
    return block.subspan(offsets[of_row], offsets[of_row + 1] - offsets[of_row]);
  };

  reduce_parts(
      node, reduction,
      [&](Rank e) {
        const Rank target = number_of(targets, placed.source_of(e));
        return part_of(call.input[target], placed.row(e));
      },
      parts[row]);

  // Invariant: the nodes of rows that `half` divides have the parts up to the next such row.
  for (Rank half = 1; half < rows; half *= 2) {
    const Rank place = row % (2 * half), partner = placed.with_row(r, row ^ half);
    if (place == 0) {
      node.step({receive(partner, parts.range(row + half, half))});
    } else if (place == half) {
      node.step({send(partner, parts.range(row, half))});
    } else {
      node.step();
    }
  }
}

}  // namespace

WORMCUBE_ALGORITHM(k_reduce_split){
    .operation = operations::k_reduce,
    .name = "split",
    .summary = "reduce-scatter of parts, then a gather in each target's subcube; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.18, backwards, and sec. 4.7.1",
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .remark = "keeps the order of ranks",
    .needs = {needs::hypercube()},
    .instead = {"direct"},
    .require =
        [](const Setting& setting) {
          require_placement("split", sources_of(setting.arguments), setting.topology.nodes(),
                            k_reduce_way_out);
        },
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes();
      const auto k = static_cast<double>(sources_of(setting.arguments).size());
      Prediction prediction{log2_ceiling(p) + log2_ceiling(nodes_to_a_source(setting)),
                            k + 1 - 2 * k / p, 0};
      prediction.combined_blocks = k * (p - 1) / p;
      prediction.link_blocks = prediction.transmission_blocks;
      prediction.link_load = p > 1 ? 1 : 0;
      return prediction;
    },
    .program = k_reduce_split,
    .parts = nodes_to_a_source,
};

}  // namespace wormcube
