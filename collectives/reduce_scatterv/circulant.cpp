// Reduce-scatter with uneven blocks along a circulant graph.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/reduce_scatter/circulant.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/circulant.hpp"

namespace wormcube::algorithms {

// A step lasts as long as its largest message, which depends on all sizes: only start-ups have a
// formula.
WORMCUBE_ALGORITHM(reduce_scatterv_circulant){
    .operation = operations::reduce_scatterv,
    .name = "circulant",
    .summary = "p reductions in packets at once, rounds of about the average; every network",
    .source = "Traeff, arXiv 2312.11236 (ACM TOPC), 2205.10072",
    .ports = Ports::one,
    .contention_free = false,
    .exactly_once = true,
    .remark = "free of contention on complete networks",
    .options = {{.name = "packets",
                 .preset = 1,
                 .least = 1,
                 .most = most_circulant_packets,
                 .help = "into which each block is cut; more pay where blocks differ in size"}},
    .needs_commutative = true,
    .predict = [](const Setting& setting) -> Prediction {
      const auto packets = static_cast<Rank>(setting.options.number("packets"));
      return {.startups = setting.topology.nodes() > 1
                              ? packets - 1.0 + log2_ceiling(setting.topology.nodes())
                              : 0};
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::reduce_scatter_circulant(node, call.arguments.reduction, call.input,
                                             call.output.all(),
                                             static_cast<Rank>(call.options.number("packets")));
        },
    .parts =
        [](const Setting& setting) {
          return std::max(1, static_cast<Rank>(setting.options.number("packets")));
        },
};

}  // namespace wormcube::algorithms
