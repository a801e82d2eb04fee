// Reduction to one node in parts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce/reduce_scatter_gather.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/reduce/parts.hpp"
#include "wormcube/collectives/reduce/tree.hpp"
#include "wormcube/collectives/reduce_scatter/bruck.hpp"
#include "wormcube/collectives/reduce_scatter/hypercube.hpp"
#include "wormcube/collectives/require.hpp"

#include <bit>

namespace wormcube {

namespace {

bool doubles(Rank p) { return std::has_single_bit(static_cast<unsigned>(p)); }

}  // namespace

void reduce_scatter_parts(Node& node, const Reduction& reduction, ConstBlocks in, Span out) {
  (doubles(node.size()) ? reduce_scatter_hypercube : reduce_scatter_bruck)(node, reduction, in,
                                                                           out);
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

void reduce_by_parts(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                     Rank root) {
  require_reduction_to_root("reduce_by_parts", node, reduction, mine, result, root);
  const Rank p = node.size(), r = node.rank();
  const std::vector<Bytes> offsets = part_offsets(mine.size(), reduction.element_bytes, p);
  const Memory own = node.memory(r == root ? 0 : mine.size());
  const Blocks parts(r == root ? result : own.span(), offsets);
  reduce_scatter_parts(node, reduction, ConstBlocks(mine, offsets), parts[r]);
  gather_parts(node, parts, root);
}

namespace algorithms {

WORMCUBE_ALGORITHM(reduce_scatter_gather){
    .operation = operations::reduce,
    .name = "reduce-scatter-gather",
    .summary = "each node combines one part, the root gathers them; every network, any root",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.7.1, problems 4.17 and 4.19",
    .exactly_once = true,
    .remark = "free of contention on hypercubes",
    .rows = {{"1.21", "", "hypercube:6"}},
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
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_by_parts(node, call.arguments.reduction, call.input.all(),
                                    call.output.all(), call.arguments.root);
        },
    .parts = [](const Setting& setting) { return setting.topology.nodes(); },
};

}  // namespace algorithms

}  // namespace wormcube
