// All-reduce in parts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/reduce_scatter_allgather.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/reduce/parts.hpp"
#include "wormcube/collectives/reduce/reduce_scatter_gather.hpp"
#include "wormcube/collectives/reduce_scatter/ring.hpp"
#include "wormcube/collectives/require.hpp"

#include <fmt/core.h>

namespace wormcube {

namespace {

void require_pattern(const Topology& topology, PartsPattern pattern) {
  const Need one = needs::line_or_ring();
  if (pattern != PartsPattern::ring) return;
  if (const auto found = one.complaint(topology)) {
    throw UsageError(
        fmt::format("reduce-scatter-allgather:pattern=ring: {}; {}; use "
                    "pattern=doubling",
                    one.text, *found));
  }
}

/// Part by part round a line or ring: p - 1 steps.
void allgather_ring_parts(Node& node, Blocks parts) {
  const Rank p = node.size(), r = node.rank(), next = mod(r + 1, p), previous = mod(r - 1, p);
  if (p == 1) return;
  const Move onward{0, node.topology().factor(0).hops(r, next)};
  for (Rank t = 1; t < p; ++t) {
    node.step({send(onward, parts[mod(r - t + 1, p)]), receive(previous, parts[mod(r - t, p)])});
  }
}

}  // namespace

void allreduce_by_parts(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                        PartsPattern pattern) {
  require_reduction("allreduce_by_parts", node, reduction, mine, result);
  require_pattern(node.topology(), pattern);
  const std::vector<Bytes> offsets =
      part_offsets(mine.size(), reduction.element_bytes, node.size());
  const ConstBlocks in(mine, offsets);
  const Blocks out(result, offsets);
  if (pattern == PartsPattern::ring) {
    reduce_scatter_ring(node, reduction, in, out[node.rank()]);
    allgather_ring_parts(node, out);
  } else {
    reduce_scatter_parts(node, reduction, in, out[node.rank()]);
    allgather_parts(node, out);
  }
}

namespace {

PartsPattern pattern_of(const Setting& setting) {
  return setting.options.choice<PartsPattern>("pattern");
}

Prediction predict_reduce_scatter_allgather(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  const bool commutative = setting.arguments.reduction.commutative;
  if (pattern_of(setting) == PartsPattern::ring) {
    Prediction prediction = reduce_scatter_ring_cost(p, commutative);
    *prediction.startups += p - 1;
    prediction.transmission_blocks = (*prediction.transmission_blocks + p - 1) / p;
    *prediction.combined_blocks /= p;
    prediction.link_load = p > 1 ? 1 : 0;
    prediction.contended_blocks = prediction.transmission_blocks;
    return prediction;
  }
  Prediction prediction = reduce_scatter_parts_cost(p, commutative);
  *prediction.startups += log2_ceiling(p);
  *prediction.transmission_blocks += (p - 1.0) / p;
  std::vector<Messages> messages = reduce_scatter_parts_messages(p, commutative);
  for (Messages& step : allgather_parts_messages(p, 1.0 / p)) messages.push_back(std::move(step));
  predict_contention(prediction, setting.topology, messages);
  return prediction;
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(allreduce_reduce_scatter_allgather){
    .operation = operations::allreduce,
    .name = "reduce-scatter-allgather",
    .summary = "each node combines one part, all gather them; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.7.1, Eq. 4.14",
    .exactly_once = true,
    .remark = "free of contention: doubling on hypercubes, ring on lines and rings",
    .options = {{.name = "pattern",
                 .choices = {"doubling", "ring"},
                 .help = "ceil(log2 p) steps of growing size twice, or p - 1 of one part"}},
    .rows = {{"3.6", "pattern=doubling", "hypercube:6"}, {"3.6", "pattern=ring", "ring:8"}},
    .require = [](const Setting& on) { require_pattern(on.topology, pattern_of(on)); },
    .predict = predict_reduce_scatter_allgather,
    .program =
        [](Node& node, const Call& call) {
          wormcube::allreduce_by_parts(node, call.arguments.reduction, call.input.all(),
                                       call.output.all(),
                                       call.options.choice<PartsPattern>("pattern"));
        },
    .parts = [](const Setting& setting) { return setting.topology.nodes(); },
};

}  // namespace algorithms

}  // namespace wormcube
