// Circular shift in one step, on any network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/pattern_load.hpp"
#include "wormcube/collectives/shift/traveller.hpp"

namespace wormcube {

namespace {

/// Circular shift: node r's block ends at node r + by (modulo p).
///
/// Network  any, of any p; one-port.
/// Cost     1 step of 1 block, none if p divides `by`: ts + tw m if links are not shared.
/// Links    free of contention on hypercubes (with natural binary labels and e-cube routing) and
///          complete networks. A ring or line carries min(q, p - q) messages on a link, q = by mod
///          p; a mesh or torus the maximum over its dimensions: for the digit of q there, and one
///          more where lower digits carry.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.6.2, Eq. 4.12, Fig. 4.24; problems 4.22, 4.23.
void shift_direct(Node& node, const Call& call) {
  const std::int64_t by = call.arguments.by;
  const Rank p = node.size(), r = node.rank(), q = shift_distance(by, p);
  Traveller block(node, call.input, call.output, q == 0 ? 0 : 1);
  if (q == 0) return;
  const auto [leaving, arriving] = block.next();
  node.step({send(mod(r + q, p), leaving), receive(mod(r - q, p), arriving)});
}

}  // namespace

WORMCUBE_ALGORITHM(shift_direct){
    .operation = operations::shift,
    .name = "direct",
    .summary = "one message from each node to its destination; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.6.2, Eq. 4.12, Fig. 4.24",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .predict = [](const Setting& setting) -> Prediction {
      const Rank p = setting.topology.nodes(), q = shift_distance(setting.arguments.by, p);
      if (q == 0) return PatternSteps(setting.topology).with_loads({0, 0, 0, 0});
      PatternSteps steps(setting.topology);
      steps.add_permutation(1, [=](Rank r) { return mod(r + q, p); });
      return steps.with_loads({1, 1, 0, 0});
    },
    .program = shift_direct,
};

}  // namespace wormcube
