// Total exchange on a hypercube, pair by pair.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/hypercube_pairwise.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/pattern_load.hpp"
#include "wormcube/collectives/require.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_hypercube_pairwise;
}

void alltoall_hypercube_pairwise(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_hypercube_pairwise, node.topology());
  require_direct_exchange("alltoall_hypercube_pairwise", node, out, in);
  const Rank p = node.size(), r = node.rank();

  node.local([&] { copy(out[r], in[r]); });
  for (Rank t = 1; t < p; ++t) {
    const Rank partner = r ^ t;
    node.step({send(partner, out[partner]), receive_result(node, partner, in[partner], in)});
  }
}

namespace {

/// The load of all exchanges of one dimension: node r with node r xor t, by t.
std::vector<int> exchange_loads(const Graph& graph) {
  const Rank n = graph.nodes();
  std::vector<int> loads(static_cast<std::size_t>(n));
  const Topology alone({graph});
  for (Rank t = 1; t < n; ++t) {
    int& load = loads[static_cast<std::size_t>(t)];
    if (graph.shape() == Shape::line || graph.shape() == Shape::tree) {
      load = static_cast<int>(std::bit_floor(static_cast<unsigned>(t)));
    } else if (graph.shape() == Shape::complete) {
      load = 1;
    } else {
      PatternSteps step(alone);
      step.add_permutation(1, [t](Rank r) { return r ^ t; });
      load = static_cast<int>(step.with_loads({}).link_load.value_or(-1));
    }
  }
  return loads;
}

/// Loads of large rings, and all routes of a graph together, take long to find.
constexpr Rank most_nodes_of_ring = 4096, most_nodes_of_graph = 1024;

Prediction predict_hypercube_pairwise(const Setting& setting) {
  const Topology& topology = setting.topology;
  const Rank p = topology.nodes();
  Prediction prediction{p - 1, p - 1, 0, 0};
  std::vector<std::vector<int>> loads;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Shape shape = topology.factor(d).shape();
    if ((shape == Shape::graph && topology.size(d) > most_nodes_of_graph) ||
        (shape == Shape::ring && topology.size(d) > most_nodes_of_ring)) {
      return prediction;
    }
    loads.push_back(exchange_loads(topology.factor(d)));
  }
  // All messages of a step are exchanges by one digit in each dimension, in all its copies alike.
  double most = 0, sum = 0;
  for (Rank t = 1; t < p; ++t) {
    int load = 0;
    for (int d = 0; d < topology.dimensions(); ++d) {
      const int own =
          loads[static_cast<std::size_t>(d)][static_cast<std::size_t>(topology.coordinate(t, d))];
      if (own < 0) return prediction;
      load = std::max(load, own);
    }
    most = std::max<double>(most, load);
    sum += load;
  }
  prediction.link_load = most;
  prediction.contended_blocks = sum;
  return prediction;
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_hypercube_pairwise){
    .operation = operations::alltoall,
    .name = "hypercube-pairwise",
    .summary = "every pair of nodes meets once; 2^d nodes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3, Algorithm 4.10, Eq. 4.10",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .rows = {{"5.7", "", "hypercube:4"},
             {"5.8", "", "complete:8"},
             {"5.9", "", "line:8"},
             {"5.9", "", "tree:8"},
             {"5.11", "", "mesh:4x4"},
             {"5.11", "", "torus:4x4"},
             {"5.13", "", "hypercube:4"},
             {"5.14", "", "hypercube:4"},
             {"5.15", "", "hypercube:4"}},
    .needs = {needs::nodes_power_of_two()},
    .instead = {"shift"},
    .predict = predict_hypercube_pairwise,
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_hypercube_pairwise(node, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
