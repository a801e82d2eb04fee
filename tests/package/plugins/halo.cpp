// A plugin with an operation of its own, and an algorithm for it: every node gets its two neighbours' blocks.
// SPDX-License-Identifier: Apache-2.0
#include <wormcube/wormcube.hpp>

namespace {

using namespace wormcube;

// What each node gives and ends with: from this row it is listed, checked, proved, run and timed.
constexpr OperationRow halo{
    .name = "halo",
    .summary = "to every node the blocks of the nodes before and after it, in a ring of ranks",
    .gives = [](const Instance&, Rank) { return Rank{1}; },
    .ends_with = [](const Instance&, Rank) { return Rank{2}; },
    .result = [](const Instance& on, Rank rank,
                 Rank block) { return from(mod(rank + (block == 0 ? -1 : 1), on.nodes), 0); },
    .data = [](const Instance&) { return 2.0; },
    .bus_factor = [](double) { return 1.0; }};

const Algorithm there_and_back{
    .operation = halo,
    .name = "there-and-back",
    .summary = "forward, then backward; at least 3 nodes",
    .source = "a test",
    .require =
        [](const Setting& setting) {
          if (setting.topology.nodes() < 3) {
            throw UsageError("there-and-back: fewer than 3 nodes; every neighbour is another");
          }
        },
    .predict =
        [](const Setting&) {
          return Prediction{2, 2, 0, 0};
        },
    .program =
        [](Node& node, const Call& call) {
          const Rank next = mod(node.rank() + 1, node.size());
          const Rank previous = mod(node.rank() - 1, node.size());
          node.step({send(next, call.input[0]), receive(previous, call.output[0])});
          node.step({send(previous, call.input[0]), receive(next, call.output[1])});
        },
};

// The same the wrong way round: a proof sees it.
const Algorithm mixed_up{
    .operation = halo,
    .name = "mixed-up",
    .summary = "the two blocks in each other's place",
    .source = "a test",
    .program =
        [](Node& node, const Call& call) {
          const Rank next = mod(node.rank() + 1, node.size());
          const Rank previous = mod(node.rank() - 1, node.size());
          node.step({send(next, call.input[0]), receive(previous, call.output[1])});
          node.step({send(previous, call.input[0]), receive(next, call.output[0])});
        },
};

void add_all(PluginRegistry& registry) {
  registry.add(halo);
  registry.add(there_and_back);
  registry.add(mixed_up);
}

}  // namespace

WORMCUBE_PLUGIN(add_all);
