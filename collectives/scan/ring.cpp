// Prefix reduction along a line: a pipeline.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/parts.hpp"
#include "wormcube/collectives/scan/programs.hpp"

#include <fmt/core.h>

namespace wormcube {

namespace {

Rank segments_of(const Options& options) { return static_cast<Rank>(options.number("segments")); }

/// The blocks of the lower ranks combined in their order, at each node: node r gets what 0 .. r-1
/// have combined from its neighbour, adds its own and sends it on, segment by segment.
///
/// Network  one line or ring of any p > 0; one-port.
/// Cost     p - 2 + k steps of 1/k block for k segments: (ts + (tw + tc) m/k)(p - 2 + k), where the
///          last node of an exclusive one does not combine.
/// Links    each carries one message in a step.
/// Source   the textbook's linear array (Grama, Gupta, Karypis, Kumar, sec. 4.3) in a pipeline.
template <Prefix prefix>
void scan_ring(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank segments = segments_of(call.options);
  const Rank p = node.size(), r = node.rank();
  const bool inclusive = prefix == Prefix::inclusive;
  const std::vector<Bytes> offsets =
      part_offsets(call.input.all().size(), reduction.element_bytes, segments);
  const ConstBlocks own(call.input.all(), offsets);
  // An inclusive result is what is sent; an exclusive one is what arrives.
  const Memory memory = node.memory(call.input.all().size());
  const Blocks coming(inclusive ? memory.span() : call.output.all(), offsets);
  const Blocks sums(inclusive ? call.output.all() : memory.span(), offsets);
  if (r == 0 && inclusive) node.local([&] { copy(call.input.all(), call.output.all()); });

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

template <Prefix prefix>
Prediction predict_scan_ring(const Setting& setting) {
  const Rank p = setting.topology.nodes(), segments = segments_of(setting.options);
  const double steps = p > 1 ? p - 2 + segments : 0;
  Prediction prediction{steps, steps / segments, 0};
  // The last node of all combines after the last step, if at all; of two nodes it is the only one.
  const double combining = prefix == Prefix::inclusive ? steps : p > 2 ? steps - 1 : 0;
  prediction.combined_blocks = combining / segments;
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHMS(scan_ring) = with_variant(
    {
        .operation = operations::scan,
        .name = "ring",
        .summary =
            "segments travel from neighbour to neighbour, starting at node 0; one line or ring",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3",
        .contention_free = true,
        .exactly_once = true,
        .neighbours_only = true,
        .remark = "our extension: a pipeline",
        .options = {{.name = "segments",
                     .preset = 1,
                     .least = 1,
                     .most = 4096,
                     .help =
                         "number of parts into which a block is divided; they follow each other"}},
        .needs = {needs::line_or_ring()},
        .instead = {"hypercube"},
        .predict = predict_scan_ring<Prefix::inclusive>,
        .program = scan_ring<Prefix::inclusive>,
        .parts = [](const Setting& setting) { return segments_of(setting.options); },
    },
    [](Algorithm& exclusive) {
      exclusive.operation = operations::exscan;
      exclusive.predict = predict_scan_ring<Prefix::exclusive>;
      exclusive.program = scan_ring<Prefix::exclusive>;
    });

}  // namespace wormcube
