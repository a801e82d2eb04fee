// The algorithms of trees without a common link: a broadcast and a reduction in segments.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/packets.hpp"
#include "wormcube/collectives/kit/trees.hpp"
#include "wormcube/runtime/base/recently_made.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace wormcube {

/// The trees of a rule, in segments. `Rule` has make(topology, root), a TreeSchedule of ranks, and
/// count(setting), the number of its trees.
template <class Rule>
struct AlongTrees {
  // Computed once for all nodes of a process.
  static std::shared_ptr<const TreeSchedule> trees(const Topology& topology, Rank root) {
    static RecentlyMade<std::pair<Topology, Rank>, TreeSchedule> made;
    return made({topology, root}, [&] { return Rule::make(topology, root); });
  }
  static Rank segments(const Options& options) {
    return static_cast<Rank>(options.number("segments"));
  }
  static Rank best_segments(const TreeSchedule& trees, Bytes bytes, const CostModel& model) {
    return best_packets(bytes, static_cast<double>(trees.last) / trees.trees, model);
  }
  static Rank segments(const Call& call, const TreeSchedule& trees, Bytes bytes) {
    const Rank given = segments(call.options);
    return given > 0 ? given : best_segments(trees, bytes, {});
  }

  static void broadcast(Node& node, const Call& call) {
    const auto of_root = trees(node.topology(), call.arguments.root);
    const Span data = call.output.all();
    broadcast_on_trees(node, *of_root, Positions(node.topology(), false),
                       segments(call, *of_root, data.size()), 1, data);
  }
  static void reduce(Node& node, const Call& call) {
    const Rank root = call.arguments.root;
    const auto of_root = trees(node.topology(), root);
    const ConstSpan mine = call.input.all();
    const Memory memory = node.memory(node.rank() == root ? 0 : mine.size());
    reduce_on_trees(node, *of_root, Positions(node.topology(), false),
                    segments(call, *of_root, mine.size()), call.arguments.reduction, mine,
                    node.rank() == root ? call.output.all() : memory.span());
  }
  template <bool backwards>
  static Prediction predict(const Setting& setting) {
    if (segments(setting.options) == 0) return {.rearranged_blocks = 0};
    return trees_cost(setting.topology, *trees(setting.topology, setting.arguments.root),
                      Positions(setting.topology, false), segments(setting.options), backwards,
                      LinksOfTrees::own);
  }
  static void settle(const Setting& setting, const CostModel& model, Bytes block_bytes,
                     Options& options) {
    if (segments(setting.options) > 0) return;
    const auto of_root = trees(setting.topology, setting.arguments.root);
    options.set("segments", std::to_string(best_segments(*of_root, block_bytes, model)));
  }
};

/// \param algorithm  names, source, needs
template <class Rule>
Algorithm broadcast_along(Algorithm algorithm) {
  using Along = AlongTrees<Rule>;
  algorithm.operation = operations::broadcast;
  algorithm.ports = Ports::all;
  algorithm.contention_free = true;
  algorithm.exactly_once = true;
  algorithm.options = {{.name = "segments",
                        .least = 0,
                        .most = most_packets / 2,
                        .help = "number of segments for each tree; 0: the best number by the "
                                "model, at most m and 4096"}};
  algorithm.settle = Along::settle;
  algorithm.predict = Along::template predict<false>;
  algorithm.program = Along::broadcast;
  algorithm.parts = [](const Setting& setting) {
    return Rule::count(setting) * std::max(1, Along::segments(setting.options));
  };
  return algorithm;
}

template <class Rule>
Algorithm reduce_along(Algorithm algorithm) {
  algorithm = broadcast_along<Rule>(std::move(algorithm));
  algorithm.operation = operations::reduce;
  algorithm.needs_commutative = true;
  algorithm.predict = AlongTrees<Rule>::template predict<true>;
  algorithm.program = AlongTrees<Rule>::reduce;
  return algorithm;
}

}  // namespace wormcube
