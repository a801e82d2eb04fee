// Reduction to one node in parts: reduce-scatter, then gather.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/halving.hpp"
#include "wormcube/collectives/kit/loads.hpp"
#include "wormcube/collectives/kit/parts.hpp"
#include "wormcube/collectives/reduce/programs.hpp"
#include "wormcube/collectives/reduce_scatter/programs.hpp"

#include <bit>

namespace wormcube {

namespace {

bool doubles(Rank p) { return std::has_single_bit(static_cast<unsigned>(p)); }

}  // namespace

void reduce_scatter_parts(Node& node, const Call& call) {
  (doubles(node.size()) ? reduce_scatter_hypercube : reduce_scatter_bruck)(node, call);
}

std::vector<Messages> reduce_scatter_parts_messages(Rank p, bool commutative) {
  return doubles(p) ? reduce_scatter_hypercube_messages(p, 1.0 / p)
                    : reduce_scatter_bruck_messages(p, commutative, 1.0 / p);
}

Prediction reduce_scatter_parts_cost(Rank p, bool commutative) {
  Prediction cost = reduce_scatter_bruck_cost(p, commutative || doubles(p));
  *cost.transmission_blocks /= p;
  *cost.combined_blocks /= p;
  return cost;
}

namespace {

/// All nodes' blocks combined in the order of ranks, at the root: each node combines one part of
/// the block, then the root gathers the parts. Parts are whole elements, some empty if there are
/// few.
///
/// Network  any, of any p; one-port. Power of 2: reduce_scatter_hypercube; else _bruck.
/// Cost     2^d nodes: 2 (ts log p + tw m (p-1)/p) + tc m (p-1)/p.
/// Links    free of contention on hypercubes.
void reduce_by_parts(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank root = call.arguments.root;
  const Rank p = node.size(), r = node.rank();
  const std::vector<Bytes> offsets =
      part_offsets(call.input.all().size(), reduction.element_bytes, p);
  const Memory own = node.memory(r == root ? 0 : call.input.all().size());
  const Blocks parts(r == root ? call.output.all() : own.span(), offsets);
  reduce_scatter_parts(node,
                       call.with(ConstBlocks(call.input.all(), offsets), Blocks(parts[r], 1)));
  gather_parts(node, parts, root);
}

}  // namespace

WORMCUBE_ALGORITHM(reduce_scatter_gather){
    .operation = operations::reduce,
    .name = "reduce-scatter-gather",
    .summary = "each node combines one part, the root gathers them; every network, any root",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.7.1, problems 4.17 and 4.19",
    .exactly_once = true,
    .remark = "free of contention on hypercubes",
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes(), root = setting.arguments.root;
      const bool commutative = setting.arguments.reduction.commutative;
      Prediction prediction = reduce_scatter_parts_cost(p, commutative);
      *prediction.startups += log2_ceiling(p);
      *prediction.transmission_blocks += (p - 1.0) / p;
      std::vector<Messages> messages = reduce_scatter_parts_messages(p, commutative);
      for (Messages& step : halving_messages(p, root, true, 1.0 / p)) {
        messages.push_back(std::move(step));
      }
      predict_contention(prediction, setting.topology, messages);
      return prediction;
    },
    .program = reduce_by_parts,
    .parts = [](const Setting& setting) { return setting.topology.nodes(); },
};

}  // namespace wormcube
