// Prefix reduction along a line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scan/ring.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/reduce/parts.hpp"
#include "wormcube/collectives/require.hpp"

#include <fmt/core.h>

namespace wormcube {

namespace algorithms {
extern const Algorithm scan_ring;
}

void scan_ring(Node& node, const Reduction& reduction, ConstSpan mine, Span result, Prefix prefix,
               Rank segments) {
  require_reduction("scan_ring", node, reduction, mine, result);
  require_network(algorithms::scan_ring, node.topology());
  if (segments < 1) {
    throw UsageError(fmt::format("scan_ring: {} segments; need 1 or more", segments));
  }
  const Rank p = node.size(), r = node.rank();
  const bool inclusive = prefix == Prefix::inclusive;
  const std::vector<Bytes> offsets = part_offsets(mine.size(), reduction.element_bytes, segments);
  const ConstBlocks own(mine, offsets);
  // An inclusive result is what is sent on; an exclusive one is what comes.
  const Memory memory = node.memory(mine.size());
  const Blocks coming(inclusive ? memory.span() : result, offsets);
  const Blocks sums(inclusive ? result : memory.span(), offsets);
  if (r == 0 && inclusive) node.local([&] { copy(mine, result); });

  for (Rank t = 0; p > 1 && t < p - 2 + segments; ++t) {
    const Rank to_send = t - r, to_receive = t - r + 1;
    std::vector<Op> ops;
    if (r < p - 1 && to_send >= 0 && to_send < segments) {
      ops.push_back(send(r + 1, r == 0 ? own[to_send] : ConstSpan(sums[to_send])));
    }
    const bool receives = r > 0 && to_receive >= 0 && to_receive < segments;
    if (receives) ops.push_back(receive(r - 1, coming[to_receive]));
    node.step(ops);
    if (receives && (inclusive || r < p - 1)) {
      combine(node, reduction, coming[to_receive], own[to_receive], sums[to_receive]);
    }
  }
}

Prediction scan_ring_cost(Rank p, Prefix prefix, Rank segments) {
  const double steps = p > 1 ? p - 2 + segments : 0;
  Prediction prediction{steps, steps / segments, 0};
  // The last node of all combines after the last step, if at all; of two nodes it is the only one.
  const double combining = prefix == Prefix::inclusive ? steps : p > 2 ? steps - 1 : 0;
  prediction.combined_blocks = combining / segments;
  return prediction;
}

Option segments_option() {
  return {.name = "segments",
          .preset = 1,
          .least = 1,
          .most = 4096,
          .help = "parts of a block that follow each other"};
}

namespace algorithms {

WORMCUBE_ALGORITHM(scan_ring){
    .operation = operations::scan,
    .name = "ring",
    .summary = "neighbour to neighbour from node 0 on, in segments; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3",
    .contention_free = true,
    .exactly_once = true,
    .remark = "our extension: a pipeline",
    .options = {segments_option()},
    .needs = {needs::line_or_ring()},
    .instead = {"hypercube"},
    .predict =
        [](const Setting& setting) {
          return scan_ring_cost(setting.topology.nodes(), Prefix::inclusive,
                                segments_of(setting.options));
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::scan_ring(node, call.arguments.reduction, call.input.all(), call.output.all(),
                              Prefix::inclusive, segments_of(call.options));
        },
    .parts = [](const Setting& setting) { return segments_of(setting.options); },
};

}  // namespace algorithms

}  // namespace wormcube
