// Total exchange on a hypercube with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/hypercube_all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/require.hpp"
#include "wormcube/runtime/together.hpp"

#include <algorithm>

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_hypercube_all_port;
}

namespace {

/// Copy j of the exchange: of every block its part j, over the dimensions j, j+1, .., j-1 (mod d).
///
/// A held part is named by the label e with its source's bits in the dimensions done and its
/// destination's in the others. Before it crosses dimension b, a node puts the half that stays
/// first: the parts whose label has its own bit b.
void exchange_part(Node& node, int j, ConstBlocks out, Blocks in) {
  const Rank p = node.size(), r = node.rank(), d = node.topology().dimensions();
  const Bytes bytes = p * part(out[0], j, d).size();
  const Memory ready_memory = node.memory(bytes, Purpose::blocks), held_memory = node.memory(bytes);
  const Blocks ready(ready_memory, p), held(held_memory, p);
  const auto place = [r, p](int b, Rank e) {
    const Rank low = e & ((1 << b) - 1), high = e >> (b + 1);
    return ((e ^ r) >> b & 1) * (p / 2) + (high << b | low);
  };
  const auto staying = [p](Blocks parts) { return parts.range(0, p / 2); };
  const auto leaving = [p](Blocks parts) { return parts.range(p / 2, p / 2); };

  for (int t = 0; t < d; ++t) {
    const int last = (j + t + d - 1) % d, b = (j + t) % d;
    node.rearrange(bytes, [&] {
      for (Rank e = 0; e < p; ++e) {
        copy(t == 0 ? part(out[e], j, d) : held[place(last, e)], ready[place(b, e)]);
      }
    });
    node.step(exchange(r ^ 1 << b, leaving(ready), leaving(held)));
    node.local([&] { copy(staying(ready), staying(held)); });
  }
  node.local([&] {
    for (Rank e = 0; e < p; ++e) copy(held[place((j + d - 1) % d, e)], part(in[e], j, d));
  });
}

}  // namespace

void alltoall_hypercube_all_port(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_hypercube_all_port, node.topology());
  require_exchange("alltoall_hypercube_all_port", node.size(), out, in);
  if (node.size() == 1) {
    node.local([&] { copy(out[0], in[0]); });
    return;
  }
  together(node, node.topology().dimensions(),
           [&](int j, Node& own) { exchange_part(own, j, out, in); });
}

namespace {

Prediction predict(const Setting& setting) {
  const Topology& topology = setting.topology;
  const double p = topology.nodes(), d = topology.dimensions();
  return {d, d > 0 ? p / 2 : 0, d * p, d > 0 ? p : 0};
}

Rank parts(const Setting& setting) {
  const Topology& topology = setting.topology;
  return std::max(1, topology.dimensions());
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_hypercube_all_port){
    .operation = operations::alltoall,
    .name = "hypercube-all-port",
    .summary = "d rotated copies of the log p exchange on all links at once; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3 and 4.7.2",
    .ports = Ports::all,
    .needs = {needs::hypercube()},
    .instead = "use shift",
    .predict = predict,
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_hypercube_all_port(node, call.input, call.output);
        },
    .parts = parts,
};

}  // namespace algorithms

}  // namespace wormcube
