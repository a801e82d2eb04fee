// Broadcast, reduce and all-reduce along two trees at once, each of which carries one half.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/packets.hpp"
#include "wormcube/collectives/kit/trees.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube {

namespace {

struct DoubleTree {
  std::shared_ptr<const TreeSchedule> schedule;
  Positions places;

  DoubleTree(const Topology& topology, const Options& options, Rank root, bool roots_differ)
      : schedule(double_tree_schedule(topology.nodes(), roots_differ)),
        places(topology, options.is("order", "ring"), root) {}
};

Rank given_segments(const Options& options) {
  return static_cast<Rank>(options.number("segments"));
}

Rank best_half_segments(const TreeSchedule& trees, Bytes bytes, const CostModel& model) {
  return best_packets(bytes, (trees.last - 1.0) / 4, model);
}

Rank segments_in(const Call& call, const TreeSchedule& trees, Bytes bytes) {
  const Rank given = given_segments(call.options);
  return given > 0 ? given : best_half_segments(trees, bytes, {});
}

void broadcast_double_tree(Node& node, const Call& call) {
  const DoubleTree trees(node.topology(), call.options, call.arguments.root, false);
  const Span data = call.output.all();
  broadcast_on_trees(node, *trees.schedule, trees.places,
                     segments_in(call, *trees.schedule, data.size()), 1, data);
}

void reduce_double_tree(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const DoubleTree trees(node.topology(), call.options, root, false);
  const ConstSpan mine = call.input.all();
  const Memory memory = node.memory(node.rank() == root ? 0 : mine.size());
  reduce_on_trees(node, *trees.schedule, trees.places,
                  segments_in(call, *trees.schedule, mine.size()), call.arguments.reduction, mine,
                  node.rank() == root ? call.output.all() : memory.span());
}

void allreduce_double_tree(Node& node, const Call& call) {
  const DoubleTree trees(node.topology(), call.options, 0, true);
  const Span result = call.output.all();
  const Rank segments = segments_in(call, *trees.schedule, result.size());
  reduce_on_trees(node, *trees.schedule, trees.places, segments, call.arguments.reduction,
                  call.input.all(), result);
  broadcast_on_trees(node, *trees.schedule, trees.places, segments,
                     call.arguments.reduction.element_bytes, result);
}

template <bool roots_differ>
void settle_halves(const Setting& setting, const CostModel& model, Bytes block_bytes,
                   Options& options) {
  if (given_segments(setting.options) > 0) return;
  const auto trees = double_tree_schedule(setting.topology.nodes(), roots_differ);
  options.set("segments", std::to_string(best_half_segments(*trees, block_bytes, model)));
}

template <bool roots_differ>
Prediction predict_one_way(const Setting& setting, bool backwards) {
  const Rank segments = given_segments(setting.options);
  if (segments == 0) return {.rearranged_blocks = 0};
  const DoubleTree trees(setting.topology, setting.options,
                         roots_differ ? 0 : setting.arguments.root, roots_differ);
  return trees_cost(setting.topology, *trees.schedule, trees.places, segments, backwards);
}

/// S = G + 1 + 2 (s - 1) start-ups of m / (2 s), for s segments of each half; G + 1 is 2 ceil(log2
/// p) or one less. An all-reduce takes twice that.
///
/// Network  any, of any p; one-port.
/// Links    no two messages share one on complete networks; elsewhere counted.
/// Source   P. Sanders, J. Speck, J. L. Traeff, Two-Tree Algorithms for Full Bandwidth Broadcast,
///          Reduction and Scan, Parallel Computing 35(12), 2009; NCCL, src/graph/trees.cc.
Algorithm double_tree(Operation operation, void (*program)(Node&, const Call&)) {
  return {
      .operation = operation,
      .name = "double-tree",
      .summary = "two trees, each with half of the message, keep both ports busy; every network",
      .source = "Sanders, Speck, Traeff, Parallel Computing 35(12), 2009; NCCL",
      .exactly_once = true,
      .options = {{.name = "segments",
                   .least = 0,
                   .most = most_packets / 2,
                   .help = "number of segments of each half; 0: the best number by the model, at "
                           "most m and 4096"},
                  {.name = "order",
                   .choices = {"rank", "ring"},
                   .help = "positions in the trees: the order of ranks, or of the network's ring"}},
      .program = program,
      .parts =
          [](const Setting& setting) { return 2 * std::max(1, given_segments(setting.options)); },
  };
}

Algorithm broadcast_by_two_trees() {
  Algorithm algorithm = double_tree(operations::broadcast, broadcast_double_tree);
  algorithm.settle = settle_halves<false>;
  algorithm.predict = [](const Setting& setting) { return predict_one_way<false>(setting, false); };
  return algorithm;
}

/// Whether the subtrees of both trees are intervals of ranks.
bool both_keep_order(const Setting& setting, bool roots_differ) {
  const bool is_even = setting.topology.nodes() % 2 == 0;
  return setting.options.is("order", "rank") &&
         (roots_differ ? is_even : !is_even && setting.arguments.root == 0);
}

template <bool roots_differ>
void require_order_of_halves(const Setting& setting) {
  const Reduction& reduction = setting.arguments.reduction;
  if (reduction.commutative || both_keep_order(setting, roots_differ)) return;
  throw UsageError(
      fmt::format("double-tree: {} does not commute, and the order of ranks is kept only {}; use "
                  "pipelined-tree:shape=in-order",
                  reduction.name,
                  roots_differ ? "with order=rank and an even number of nodes"
                               : "with order=rank, root 0 and an odd number of nodes"));
}

template <bool roots_differ>
Algorithm reduction_by_two_trees(Operation operation, void (*program)(Node&, const Call&)) {
  Algorithm algorithm = double_tree(operation, program);
  algorithm.require = require_order_of_halves<roots_differ>;
  algorithm.settle = settle_halves<roots_differ>;
  return algorithm;
}

Algorithm reduce_by_two_trees() {
  Algorithm algorithm = reduction_by_two_trees<false>(operations::reduce, reduce_double_tree);
  algorithm.predict = [](const Setting& setting) { return predict_one_way<false>(setting, true); };
  return algorithm;
}

Algorithm allreduce_by_two_trees() {
  Algorithm algorithm = reduction_by_two_trees<true>(operations::allreduce, allreduce_double_tree);
  algorithm.predict = [](const Setting& setting) {
    return both(predict_one_way<true>(setting, true), predict_one_way<true>(setting, false));
  };
  return algorithm;
}

}  // namespace

WORMCUBE_ALGORITHMS(double_tree){broadcast_by_two_trees(), reduce_by_two_trees(),
                                 allreduce_by_two_trees()};

}  // namespace wormcube
