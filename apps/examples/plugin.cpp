// A plugin with a broadcast algorithm that the program `wormcube` loads.
// SPDX-License-Identifier: Apache-2.0
//
//   wormcube --plugin ./libmine.so list broadcast
//   wormcube --plugin ./libmine.so check broadcast --on ring:8 --algorithm my-chain
//   wormcube --plugin ./libmine.so run broadcast --on ring:8 --algorithm my-chain,halving
#include <wormcube/wormcube.hpp>

namespace {

using namespace wormcube;

// The message travels from node to node in rank order, starting at the root.
void chain(Node& node, const Call& call) {
  const Span message = call.output.all();
  const Rank p = node.size(), place = mod(node.rank() - call.arguments.root, p);
  for (Rank t = 0; t + 1 < p; ++t) {
    if (place == t) {
      node.step({send(mod(node.rank() + 1, p), message)});
    } else if (place == t + 1) {
      node.step({receive(mod(node.rank() - 1, p), message)});
    } else {
      node.step();  // every node takes part in every step
    }
  }
}

const Algorithm my_chain{
    .operation = operations::broadcast,
    .name = "my-chain",
    .summary = "from node to node; at least two nodes",
    .source = "plugin.cpp",
    .exactly_once = true,
    .require =
        [](const Setting& setting) {
          if (setting.topology.nodes() < 2) {
            throw UsageError("my-chain: 1 node, need at least 2; use halving");
          }
        },
    .predict =
        [](const Setting& setting) {
          const double p = setting.topology.nodes();
          return Prediction{.startups = p - 1,
                            .transmission_blocks = p - 1,
                            .rearranged_blocks = 0,
                            .working_blocks = 0};
        },
    .program = chain,
};

void add_mine(PluginRegistry& registry) { registry.add(my_chain); }

}  // namespace

WORMCUBE_PLUGIN(add_mine);
