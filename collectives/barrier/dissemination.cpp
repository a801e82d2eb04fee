// Barrier by dissemination.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/barrier/dissemination.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/shift.hpp"

#include <algorithm>

namespace wormcube {

void barrier_dissemination(Node& node) {
  const Rank p = node.size(), r = node.rank();
  // Invariant: before a step this node has heard, through others, from r, r-1, .., r-distance+1.
  for (Rank distance = 1; distance < p; distance *= 2) {
    node.step({send(mod(r + distance, p), {}), receive(mod(r - distance, p), {})});
  }
}

namespace algorithms {

WORMCUBE_ALGORITHM(barrier_dissemination){
    .operation = operations::barrier,
    .name = "dissemination",
    .summary = "in step i everybody tells the node 2^i ranks on; every network",
    .source = "Hensgen, Finkel, Manber 1988; Grama, Gupta, Karypis, Kumar, sec. 4.3",
    .remark = "free of contention on hypercubes and complete networks",
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      Prediction prediction{0, 0, 0, 0};
      std::optional<double> most = 0;
      for (Rank distance = 1; distance < topology.nodes(); distance *= 2) {
        ++*prediction.startups;
        const std::optional<Rank> load = shift_link_load(topology, distance);
        most = most && load ? std::optional(std::max<double>(*most, *load)) : std::nullopt;
      }
      prediction.link_load = most;
      return prediction;
    },
    .program = [](Node& node, const Call& /*call*/) { wormcube::barrier_dissemination(node); },
};

}  // namespace algorithms

}  // namespace wormcube
