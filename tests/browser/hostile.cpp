// A plugin whose texts contain markup: the pages must show it as text. With
// HOSTILE_NAME its name also contains markup, and wormcube refuses it.
// SPDX-License-Identifier: Apache-2.0
#include <wormcube/wormcube.hpp>

namespace {

using namespace wormcube;

#define HOSTILE "<img src=x onerror=alert(3)>\"'&\u202e]]></script><script>alert(4)</script><!--"

// The message travels from node to node in rank order, starting at the root.
void chain(Node& node, Span message, Rank root) {
  const Rank p = node.size(), place = mod(node.rank() - root, p);
  for (Rank t = 0; t + 1 < p; ++t) {
    node.phase(t % 2 == 0 ? "even " HOSTILE : "odd " HOSTILE);
    if (place == t) {
      node.step({send(mod(node.rank() + 1, p), message)});
    } else if (place == t + 1) {
      node.step({receive(mod(node.rank() - 1, p), message)});
    } else {
      node.step();
    }
  }
}

const Algorithm hostile{
    .operation = operations::broadcast,
#ifdef HOSTILE_NAME
    .name = HOSTILE,
#else
    .name = "hostile",
#endif
    .summary = "summary " HOSTILE,
    .source = "source " HOSTILE,
    .exactly_once = true,
    .remark = "remark " HOSTILE,
    .require =
        [](const Setting& setting) {
          if (setting.topology.nodes() < 2) throw UsageError("refused " HOSTILE);
        },
    .predict = [](const Setting&) { return Prediction{}; },
    .program = [](Node& node,
                  const Call& call) { chain(node, call.output.all(), call.arguments.root); },
};

void add_hostile(PluginRegistry& registry) { registry.add(hostile); }

}  // namespace

WORMCUBE_PLUGIN(add_hostile);
