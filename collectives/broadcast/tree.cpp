// Broadcast on a balanced binary tree whose leaves are the nodes: interval halving follows it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/broadcast/halving.hpp"

#include <optional>

namespace wormcube::algorithms {

WORMCUBE_ALGORITHM(broadcast_tree){
    .operation = operations::broadcast,
    .name = "tree",
    .summary = "one message crosses the root of every subtree, the largest first; trees",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.4, Fig. 4.7",
    .contention_free = true,
    .exactly_once = true,
    .remark = "halving, which splits ranks where the tree does",
    .rows = {{"1.8", "", "tree:8"}, {"1.8", "", "tree:6"}},
    .needs = {{"needs one balanced binary tree",
               [](const Topology& topology) -> std::optional<std::string> {
                 const bool tree =
                     topology.dimensions() == 1 && topology.factor(0).shape() == Shape::tree;
                 return tree ? std::nullopt : std::optional(topology.name() + " is not one");
               }}},
    .instead = {"halving", "mesh"},
    .predict =
        [](const Setting& setting) {
          const double p = setting.topology.nodes(), steps = log2_ceiling(setting.topology.nodes());
          return Prediction{.startups = steps,
                            .transmission_blocks = steps,
                            .rearranged_blocks = 0,
                            .working_blocks = 0,
                            .link_load = p > 1 ? 1 : 0,
                            .contended_blocks = steps};
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::broadcast_halving(node, call.output.all(), call.arguments.root);
        },
};

}  // namespace wormcube::algorithms
