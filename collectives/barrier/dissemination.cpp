// Barrier by dissemination: in step i each node signals the node 2^i ranks on.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/hops.hpp"
#include "wormcube/collectives/kit/loads.hpp"

#include <algorithm>

namespace wormcube {

namespace {

/// Barrier: no node leaves before the last one has entered.
///
/// Network  any, of any p; one-port.
/// Cost     ceil(log2 p) steps of empty messages: ts ceil(log2 p), the least possible.
/// Links    shift_link_load(2^i) messages share a link in step i: one on hypercubes and complete
///          networks.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.3 (a barrier as an all-reduce of one word). For
///          any p: D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization,
///          Int. J. Parallel Programming 17(1), 1988.
void barrier_dissemination(Node& node, const Call& /*call*/) {
  const Rank p = node.size(), r = node.rank();
  // Invariant: before a step this node has heard, through others, from r, r-1, .., r-distance+1.
  for (Rank distance = 1; distance < p; distance *= 2) {
    node.step({send(mod(r + distance, p), {}), receive(mod(r - distance, p), {})});
  }
}

}  // namespace

WORMCUBE_ALGORITHM(barrier_dissemination){
    .operation = operations::barrier,
    .name = "dissemination",
    .summary = "in step i each node signals the node 2^i ranks ahead; every network",
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
      prediction.hops = hops_of_doubling(topology);
      return prediction;
    },
    .program = barrier_dissemination,
};

}  // namespace wormcube
