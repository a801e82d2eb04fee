// All-gather with uneven blocks along a circulant graph.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/circulant.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/circulant.hpp"

namespace wormcube::algorithms {

// A step lasts as long as its largest message, which depends on all sizes: only start-ups have a
// formula.
WORMCUBE_ALGORITHM(allgatherv_circulant){
    .operation = operations::allgatherv,
    .name = "circulant",
    .summary = "p broadcasts in packets at once, rounds of about the average; every network",
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

    .predict = [](const Setting& setting) -> Prediction {
      const auto packets = static_cast<Rank>(setting.options.number("packets"));
      return {.startups = setting.topology.nodes() > 1
                              ? packets - 1.0 + log2_ceiling(setting.topology.nodes())
                              : 0};
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::allgather_circulant(node, call.input, call.output,
                                        static_cast<Rank>(call.options.number("packets")));
        },
    .parts =
        [](const Setting& setting) {
          return std::max(1, static_cast<Rank>(setting.options.number("packets")));
        },
};

}  // namespace wormcube::algorithms
