// All-gather on rings, tori and hypercubes with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allgather/own_block.hpp"
#include "wormcube/runtime/together.hpp"

#include <algorithm>
#include <vector>

namespace wormcube {

namespace algorithms {
extern const Algorithm allgather_ring_all_port;
}

namespace {

/// The dimensions of more than one node.
std::vector<int> wide_dimensions(const Topology& topology) {
  std::vector<int> wide;
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.size(d) > 1) wide.push_back(d);
  }
  return wide;
}

/// Steps that the longest ring takes.
Rank longest(const Topology& topology) {
  Rank steps = 0;
  for (const Rank size : topology.sizes()) steps = std::max(steps, size / 2);
  return steps;
}

/// Copy j: of every block its part j. All copies change the dimension together.
void gather_part(Node& node, int j, std::span<const int> dimensions, Blocks all) {
  const Topology& topology = node.topology();
  const Rank r = node.rank(), steps = longest(topology);
  const auto copies = static_cast<int>(dimensions.size());
  std::vector<Rank> held{r};
  for (int t = 0; t < copies; ++t) {
    const int d = dimensions[static_cast<std::size_t>((j + t) % copies)];
    const Rank n = topology.size(d), c = topology.coordinate(r, d);
    const auto with = [&](Rank e, Rank coordinate) {
      return topology.with(e, d, mod(coordinate, n));
    };
    // What the node with that coordinate brought to this dimension.
    const auto bundle = [&](Rank coordinate) {
      std::vector<Span> pieces;
      for (const Rank e : held) pieces.push_back(part(all[with(e, coordinate)], j, copies));
      return pieces;
    };
    const Rank above = with(r, c + 1), below = with(r, c - 1);
    for (Rank s = 1; s <= steps; ++s) {
      const bool up = s <= n / 2, down = s <= (n - 1) / 2;
      const auto up_out = bundle(c - s + 1), up_in = bundle(c - s);
      const auto down_out = bundle(c + s - 1), down_in = bundle(c + s);
      std::vector<Op> ops;
      if (up) ops.insert(ops.end(), {send_pieces(above, up_out), receive_pieces(below, up_in)});
      if (down)
        ops.insert(ops.end(), {send_pieces(below, down_out), receive_pieces(above, down_in)});
      node.step(ops);
    }
    std::vector<Rank> grown;
    for (Rank coordinate = 0; coordinate < n; ++coordinate) {
      for (const Rank e : held) grown.push_back(with(e, coordinate));
    }
    held = std::move(grown);
  }
}

}  // namespace

void allgather_all_port(Node& node, ConstBlocks mine, Blocks all) {
  if (!node.topology().is_hypercube()) {
    require_network(algorithms::allgather_ring_all_port, node.topology());
  }
  require_allgather("allgather_all_port", node, mine, all);
  keep_own(node, mine, all);
  const std::vector<int> dimensions = wide_dimensions(node.topology());
  together(node, static_cast<int>(dimensions.size()),
           [&](int j, Node& own) { gather_part(own, j, dimensions, all); });
}

namespace {

Prediction predict_all_port(const Setting& setting) {
  const Topology& topology = setting.topology;
  const std::vector<int> dimensions = wide_dimensions(topology);
  const std::size_t copies = dimensions.size();
  std::vector<double> held(copies, 1.0 / static_cast<double>(copies));  // by copy
  double transmission = 0;
  for (std::size_t t = 0; t < copies; ++t) {
    for (Rank s = 1; s <= longest(topology); ++s) {
      double largest = 0;
      for (std::size_t j = 0; j < copies; ++j) {
        const Rank n = topology.size(dimensions[(j + t) % copies]);
        if (s <= n / 2) largest = std::max(largest, held[j]);
      }
      transmission += largest;
    }
    for (std::size_t j = 0; j < copies; ++j) held[j] *= topology.size(dimensions[(j + t) % copies]);
  }
  return {static_cast<double>(copies) * longest(topology), transmission, 0, 0};
}

Rank parts(const Setting& setting) {
  return std::max(1, static_cast<Rank>(wide_dimensions(setting.topology).size()));
}

void program(Node& node, const Call& call) { allgather_all_port(node, call.input, call.output); }

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(allgather_ring_all_port){
    .operation = operations::allgather,
    .name = "ring-all-port",
    .summary = "rotated copies, both ways round each ring, on all links at once; rings and tori",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.7.2",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"2.9", "", "ring:8"}, {"2.9", "", "torus:4x4"}},
    .needs = {needs::rings()},
    .instead = {"mesh", "bruck"},
    .predict = predict_all_port,
    .program = program,
    .parts = parts,
};

WORMCUBE_ALGORITHM(allgather_hypercube_all_port){
    .operation = operations::allgather,
    .name = "hypercube-all-port",
    .summary = "d rotated copies of recursive doubling on all links at once; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.3 and 4.7.2",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"2.9", "", "hypercube:4"}},
    .needs = {needs::hypercube()},
    .instead = {"ring-all-port", "bruck"},
    .predict = predict_all_port,
    .program = program,
    .parts = parts,
};

}  // namespace algorithms

}  // namespace wormcube
