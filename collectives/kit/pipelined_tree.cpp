// Broadcast, reduce and all-reduce in segments along one tree.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/packets.hpp"
#include "wormcube/collectives/kit/trees.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// A tree of one call: its edges, and where it lies.
struct LaidTree {
  std::shared_ptr<const TreeSchedule> schedule;
  Positions places;
};

LaidTree laid_tree(const Topology& topology, const Options& options, Rank root) {
  const auto shape = options.choice<TreeShape>("shape");
  const auto radix = static_cast<Rank>(options.number("radix"));
  if (shape == TreeShape::in_order) {
    return {tree_schedule(shape, 2, topology.nodes(), root), Positions(topology, false, 0)};
  }
  return {tree_schedule(shape, radix, topology.nodes(), 0),
          Positions(topology, options.is("order", "ring"), root)};
}

/// The all-reduce has a root of its own: the middle of the ranks, or the first of the order.
Rank root_of_allreduce(const Topology& topology, const Options& options) {
  return options.is("shape", "in-order") ? topology.nodes() / 2 : 0;
}

Rank root_of(const Setting& setting, bool has_root) {
  return has_root ? setting.arguments.root : root_of_allreduce(setting.topology, setting.options);
}

Rank segments_of(const Options& options) { return static_cast<Rank>(options.number("segments")); }

Rank best_segments(const TreeSchedule& tree, Bytes bytes, const CostModel& model) {
  return best_packets(bytes, (tree.last + 1.0 - tree.period) / tree.period, model);
}

/// For a call that leaves them open: the best with the default costs.
Rank segments_of(const Call& call, const TreeSchedule& tree, Bytes bytes) {
  const Rank given = segments_of(call.options);
  return given > 0 ? given : best_segments(tree, bytes, {});
}

void broadcast_pipelined_tree(Node& node, const Call& call) {
  const auto [tree, places] = laid_tree(node.topology(), call.options, call.arguments.root);
  const Span data = call.output.all();
  broadcast_on_trees(node, *tree, places, segments_of(call, *tree, data.size()), 1, data);
}

void reduce_pipelined_tree(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const auto [tree, places] = laid_tree(node.topology(), call.options, root);
  const ConstSpan mine = call.input.all();
  const Memory memory = node.memory(node.rank() == root ? 0 : mine.size());
  reduce_on_trees(node, *tree, places, segments_of(call, *tree, mine.size()),
                  call.arguments.reduction, mine,
                  node.rank() == root ? call.output.all() : memory.span());
}

void allreduce_pipelined_tree(Node& node, const Call& call) {
  const Rank root = root_of_allreduce(node.topology(), call.options);
  const auto [tree, places] = laid_tree(node.topology(), call.options, root);
  const Span result = call.output.all();
  const Rank segments = segments_of(call, *tree, result.size());
  reduce_on_trees(node, *tree, places, segments, call.arguments.reduction, call.input.all(),
                  result);
  broadcast_on_trees(node, *tree, places, segments, call.arguments.reduction.element_bytes, result);
}

/// Whether each subtree combines an interval of ranks.
bool keeps_order(const Arguments& arguments, const Options& options, bool has_root) {
  if (options.is("shape", "in-order")) return true;
  return !options.is("shape", "k-ary") && options.is("order", "rank") &&
         (!has_root || arguments.root == 0);
}

template <bool has_root>
void require_order(const Setting& setting) {
  const Reduction& reduction = setting.arguments.reduction;
  if (reduction.commutative || keeps_order(setting.arguments, setting.options, has_root)) return;
  throw UsageError(fmt::format(
      "pipelined-tree: this tree does not keep the order of ranks, and {} does not "
      "commute; use shape=in-order{}",
      reduction.name, has_root ? "" : ", or order=rank with a chain or a k-nomial tree"));
}

template <bool has_root>
void settle_segments(const Setting& setting, const CostModel& model, Bytes block_bytes,
                     Options& options) {
  if (segments_of(setting.options) > 0) return;
  const auto tree =
      laid_tree(setting.topology, setting.options, root_of(setting, has_root)).schedule;
  options.set("segments", std::to_string(best_segments(*tree, block_bytes, model)));
}

Prediction one_way(const Setting& setting, Rank root, bool backwards) {
  const Rank segments = segments_of(setting.options);
  if (segments == 0) return {.rearranged_blocks = 0};
  const auto [tree, places] = laid_tree(setting.topology, setting.options, root);
  return trees_cost(setting.topology, *tree, places, segments, backwards);
}

/// S = F + (s - 1) K start-ups of m / s, for s segments: F steps bring the first segment to the
/// last node, and a node has at most K children. An all-reduce takes twice that.
///
/// Network  any, of any p; one-port. A chain in ring order shares no link if ring_order() does
///          not. In-order trees keep the order of ranks for any root; so do chains and k-nomial
///          trees with order=rank and root 0. Other reductions must commute.
/// Source   chains, k-ary and k-nomial trees as in MPICH and Open MPI (coll/tuned);
///          in-order: Open MPI's in-order binary tree, here with any root.
Algorithm pipelined_tree(Operation operation, void (*program)(Node&, const Call&)) {
  return {
      .operation = operation,
      .name = "pipelined-tree",
      .summary =
          "segments travel along a chain or tree, in ring order or rank order; every network",
      .source = "MPICH; Open MPI, coll/tuned: pipeline, chain, k-ary, k-nomial, in-order",
      .exactly_once = true,
      .options =
          {{.name = "shape",
            .choices = {"chain", "k-ary", "k-nomial", "in-order"},
            .help = "in-order keeps the order of ranks for any root"},
           {.name = "radix",
            .preset = 2,
            .least = 2,
            .most = 64,
            .help = "children at each level of k-ary and k-nomial trees"},
           {.name = "segments",
            .least = 0,
            .most = most_packets,
            .help = "number of segments; 0: the best number by the model, at most m and 4096"},
           {.name = "order",
            .choices = {"ring", "rank"},
            .help =
                "parents next to their children on the network's ring, or in the order of ranks"}},
      .program = program,
      .parts = [](const Setting& setting) { return std::max(1, segments_of(setting.options)); },
  };
}

Algorithm broadcast() {
  Algorithm algorithm = pipelined_tree(operations::broadcast, broadcast_pipelined_tree);
  algorithm.settle = settle_segments<true>;
  algorithm.predict = [](const Setting& setting) {
    return one_way(setting, setting.arguments.root, false);
  };
  return algorithm;
}

template <bool has_root>
Algorithm reduction(Operation operation, void (*program)(Node&, const Call&)) {
  Algorithm algorithm = pipelined_tree(operation, program);
  algorithm.require = require_order<has_root>;
  algorithm.settle = settle_segments<has_root>;
  return algorithm;
}

Algorithm reduce() {
  Algorithm algorithm = reduction<true>(operations::reduce, reduce_pipelined_tree);
  algorithm.predict = [](const Setting& setting) {
    return one_way(setting, setting.arguments.root, true);
  };
  return algorithm;
}

Algorithm allreduce() {
  Algorithm algorithm = reduction<false>(operations::allreduce, allreduce_pipelined_tree);
  algorithm.predict = [](const Setting& setting) {
    const Rank root = root_of(setting, false);
    return both(one_way(setting, root, true), one_way(setting, root, false));
  };
  return algorithm;
}

}  // namespace

WORMCUBE_ALGORITHMS(pipelined_tree){broadcast(), reduce(), allreduce()};

}  // namespace wormcube
