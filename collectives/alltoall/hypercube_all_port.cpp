// Total exchange on a hypercube with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/hypercube_all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/require.hpp"

#include <algorithm>
#include <vector>

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_hypercube_all_port;
}

void alltoall_hypercube_all_port(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_hypercube_all_port, node.topology());
  require_exchange("alltoall_hypercube_all_port", node.size(), out, in);
  const Rank p = node.size(), r = node.rank(), d = node.topology().dimensions();
  if (p == 1) {
    node.local([&] { copy(out[0], in[0]); });
    return;
  }
  const Bytes m = out.bytes();
  const Memory first = node.memory(p * m, Purpose::blocks), second = node.memory(p * m);

  // Copy j's parts of all blocks lie together.
  const auto parts = [&](Span array, Rank j) {
    const Bytes begin = m * j / d, end = m * (j + 1) / d;
    return Blocks(array.subspan(p * begin, p * (end - begin)), p);
  };
  // A held part is named by the label e with its source's bits in the dimensions done and its
  // destination's in the others. Before crossing dimension b the half that stays stands first.
  const auto place = [&](Rank b, Rank e) {
    const Rank low = e & ((1 << b) - 1), high = e >> (b + 1);
    return ((e ^ r) >> b & 1) * (p / 2) + (high << b | low);
  };

  std::vector<Op> ops;
  for (Rank t = 0; t < d; ++t) {
    node.rearrange(p * m, [&] {
      for (Rank j = 0; j < d; ++j) {
        const Blocks held = parts(second, j), ready = parts(first, j);
        for (Rank e = 0; e < p; ++e) {
          copy(t == 0 ? part(out[e], j, d) : held[place((j + t - 1) % d, e)],
               ready[place((j + t) % d, e)]);
        }
      }
    });
    ops.clear();
    for (Rank j = 0; j < d; ++j) {
      const Rank partner = r ^ 1 << (j + t) % d;
      ops.push_back(send(partner, parts(first, j).range(p / 2, p / 2)));
      ops.push_back(receive(partner, parts(second, j).range(p / 2, p / 2)));
    }
    node.step(ops);
    node.local([&] {
      for (Rank j = 0; j < d; ++j) {
        copy(parts(first, j).range(0, p / 2), parts(second, j).range(0, p / 2));
      }
    });
  }
  node.local([&] {
    for (Rank j = 0; j < d; ++j) {
      const Blocks held = parts(second, j);
      for (Rank e = 0; e < p; ++e) copy(held[place((j + d - 1) % d, e)], part(in[e], j, d));
    }
  });
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
