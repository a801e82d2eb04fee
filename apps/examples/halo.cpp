// A plugin with an operation and an algorithm for it: every node receives its neighbours' blocks.
// docs/how-to/write-your-own-operation.md explains it.
// SPDX-License-Identifier: Apache-2.0
//
//   wormcube --plugin ./libhalo.so check halo --on torus:3x5 --algorithm there-and-back
#include <fmt/core.h>
#include <wormcube/wormcube.hpp>

namespace {

using namespace wormcube;

// The row describes the input and the result of each node. `list`, `check` and `run` use it.
constexpr OperationRow halo{
    .name = "halo",
    .summary = "every node gets the blocks of the nodes before and after it in a ring of ranks",
    .gives = [](const Instance&, Rank) { return Rank{1}; },
    .ends_with = [](const Instance&, Rank) { return Rank{2}; },
    .result = [](const Instance& on, Rank rank,
                 Rank block) { return from(mod(rank + (block == 0 ? -1 : 1), on.nodes), 0); },
    .data = [](const Instance&) { return 2.0; },
    .bus_factor = [](double) { return 1.0; },
    .bound =
        [](const Limits& limits, const Instance& on) {
          if (on.nodes < 3) return LowerBound{};
          return LowerBound{.startups = limits.fewest_ports == 1 ? 2 : 1,
                            .transmission_blocks = 2.0 / limits.fewest_ports};
        }};

const Algorithm there_and_back{
    .operation = halo,
    .name = "there-and-back",
    .summary = "forward, then backward; at least 3 nodes",
    .source = "docs/how-to/write-your-own-operation.md",
    .exactly_once = true,
    .require =
        [](const Setting& setting) {
          if (setting.topology.nodes() < 3) {
            throw UsageError(
                fmt::format("there-and-back: {} nodes, need at least 3", setting.topology.nodes()));
          }
        },
    .predict =
        [](const Setting&) {
          return Prediction{
              .startups = 2, .transmission_blocks = 2, .rearranged_blocks = 0, .working_blocks = 0};
        },
    .program =
        [](Node& node, const Call& call) {
          const Rank next = mod(node.rank() + 1, node.size());
          const Rank previous = mod(node.rank() - 1, node.size());
          node.step({send(next, call.input[0]), receive(previous, call.output[0])});
          node.step({send(previous, call.input[0]), receive(next, call.output[1])});
        },
};

void add_all(PluginRegistry& registry) {
  registry.add(halo);
  registry.add(there_and_back);
}

}  // namespace

WORMCUBE_PLUGIN(add_all);
