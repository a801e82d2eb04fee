// Reduction to one node, dimension by dimension of a mesh.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/halving.hpp"
#include "wormcube/collectives/kit/partial.hpp"
#include "wormcube/collectives/reduce/programs.hpp"
#include "wormcube/runtime/node/views.hpp"

namespace wormcube {

namespace {

/// All nodes' blocks combined in the order of ranks, at the root: each line of the last dimension
/// reduces to the root's coordinate there, then the lines through these nodes of the dimension
/// before, and so on. In this order the ranks of each partial result are neighbours.
///
/// Network  any product of lines, rings, trees, complete graphs; any sides, any root; one-port.
/// Cost     sum of ceil(log2 side) steps of one block, one combination each.
/// Links    free of contention: each line works separately.
void reduce_mesh(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  ConstSpan mine = call.input.all();
  const Rank root = call.arguments.root;
  const Topology& topology = node.topology();
  // A node that takes part in more than the last dimension keeps the result of that one.
  const int last = topology.dimensions() - 1;
  const bool keeps = last >= 0 && node.rank() != root &&
                     topology.coordinate(node.rank(), last) == topology.coordinate(root, last);
  const Memory own = node.memory(keeps ? mine.size() : 0);
  const Span place = node.rank() == root ? call.output.all() : own.span();
  bool active = true;  // this node agrees with the root in all dimensions done
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    LineView line = node.along(d);
    const Rank to = topology.coordinate(root, d);
    if (active) {
      reduce_halving(line, call.with(ConstBlocks(mine, 1), Blocks(place, 1)), to);
      mine = place;
    } else {
      line.idle(static_cast<std::size_t>(log2_ceiling(line.size())));
    }
    active = active && line.rank() == to;
  }
  // A network of no dimensions.
  if (node.rank() == root) Partial(node, reduction, mine, call.output.all()).settle();
}

Prediction predict_mesh(const Setting& setting) {
  const Topology& topology = setting.topology;
  double steps = 0;
  for (const Rank size : topology.sizes()) steps += log2_ceiling(size);
  Prediction prediction{steps, steps, 0};
  prediction.combined_blocks = steps;

  std::vector<Messages> messages;
  std::vector<Rank> active(static_cast<std::size_t>(topology.nodes()));
  for (Rank r = 0; r < topology.nodes(); ++r) active[static_cast<std::size_t>(r)] = r;
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const Rank to = topology.coordinate(setting.arguments.root, d);
    std::erase_if(active, [&](Rank r) { return topology.coordinate(r, d) != to; });
    for (const Messages& of_line : halving_messages(topology.size(d), to, false)) {
      Messages& step = messages.emplace_back();
      for (const Rank r : active) {
        for (const Message& m : of_line) {
          step.push_back({topology.with(r, d, m.from), topology.with(r, d, m.to)});
        }
      }
    }
  }
  predict_contention(prediction, topology, messages);
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHM(reduce_mesh){
    .operation = operations::reduce,
    .name = "mesh",
    .summary =
        "interval halving in one dimension after another, last dimension first; every network, any "
        "root",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.2",
    .exactly_once = true,
    .remark = "free of contention on products of lines, rings, trees and complete graphs",
    .predict = predict_mesh,
    .program = reduce_mesh,
};

}  // namespace wormcube
