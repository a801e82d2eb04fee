// All-reduce dimension by dimension.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/mesh.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allreduce/recursive_doubling.hpp"
#include "wormcube/collectives/partial.hpp"
#include "wormcube/collectives/require.hpp"
#include "wormcube/runtime/node/views.hpp"

namespace wormcube {

void allreduce_mesh(Node& node, const Reduction& reduction, ConstSpan mine, Span result) {
  require_reduction("allreduce_mesh", node, reduction, mine, result);
  for (int d = node.topology().dimensions() - 1; d >= 0; --d) {
    LineView line = node.along(d);
    allreduce_recursive_doubling(line, reduction, mine, result);
    mine = result;
  }
  Partial(node, reduction, mine, result).settle();  // a network of no dimensions
}

namespace {

Prediction predict_mesh(const Setting& setting) {
  const Topology& topology = setting.topology;
  double combined = 0;
  std::vector<Messages> messages;
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    combined += log2_ceiling(topology.size(d));
    for (const Messages& of_line : recursive_doubling_messages(topology.size(d))) {
      Messages& step = messages.emplace_back();
      for (Rank r = 0; r < topology.nodes(); ++r) {
        if (topology.coordinate(r, d) != 0) continue;
        for (const Message& m : of_line) {
          step.push_back({topology.with(r, d, m.from), topology.with(r, d, m.to)});
        }
      }
    }
  }
  const auto steps = static_cast<double>(messages.size());
  Prediction prediction{steps, steps, 0};
  prediction.combined_blocks = combined;
  predict_contention(prediction, topology, messages);
  return prediction;
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(allreduce_mesh){
    .operation = operations::allreduce,
    .name = "mesh",
    .summary = "recursive doubling dimension by dimension, the last first; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3 and 4.2.2",
    .exactly_once = true,
    .remark = "free of contention on hypercubes, and products of complete networks",
    .predict = predict_mesh,
    .program =
        [](Node& node, const Call& call) {
          wormcube::allreduce_mesh(node, call.arguments.reduction, call.input.all(),
                                   call.output.all());
        },
};

}  // namespace algorithms

}  // namespace wormcube
