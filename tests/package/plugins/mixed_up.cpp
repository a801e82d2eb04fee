// A plugin with a wrong algorithm for an operation that another plugin adds (apps/examples/halo.cpp): the two blocks
// are in each other's place, which a proof detects.
// SPDX-License-Identifier: Apache-2.0
#include <wormcube/wormcube.hpp>

namespace {

using namespace wormcube;

void add_all(PluginRegistry& registry) {
  // Kept by address, as long as the process.
  static const Algorithm mixed_up{
      .operation = parse_operation("halo"),
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
  registry.add(mixed_up);
}

}  // namespace

WORMCUBE_PLUGIN(add_all);
