// Total exchange on a hypercube with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/hypercube_all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/block_array.hpp"
#include "wormcube/collectives/require.hpp"
#include "wormcube/runtime/together.hpp"

#include <algorithm>

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_hypercube_all_port;
}

namespace {

/// A block's place, before or after it crosses dimension b: whether it crosses b, then the bits of
/// the label e, the high ones first, with e its source's bits in the dimensions done and its
/// destination's in the others.
Layout layout(Rank r, int d, int b, std::uint32_t done) {
  const auto bit = [&](int k, Rank value) {
    const Rank own = r & 1 << k, other = value << k;
    return (done >> k & 1) != 0 ? BlockName{other, own} : BlockName{own, other};
  };
  const Rank own = r >> b & 1;
  Places places{{}, {{bit(b, own), bit(b, own ^ 1)}}};
  for (int k = d - 1; k >= 0; --k) {
    if (k != b) places.digits.push_back({bit(k, 0), bit(k, 1)});
  }
  return places;
}

/// Copy j of the exchange: of every block its part j, over the dimensions j, j+1, .., j-1 (mod d).
BlockArray plan(const Topology& topology, Rank r, int j) {
  require_network(algorithms::alltoall_hypercube_all_port, topology);
  const Rank p = topology.nodes(), d = topology.dimensions();
  BlockArray array(p);
  std::uint32_t done = 0;
  for (int t = 0; t < d; ++t) {
    const int last = (j + t + d - 1) % d, b = (j + t) % d;
    if (t == 0) {
      array.lay_out(layout(r, d, b, done), Charge::rearrange);
    } else {
      array.rearrange(layout(r, d, last, done), layout(r, d, b, done));
    }
    array.exchange(r ^ 1 << b, {{p / 2, p / 2}});
    done |= 1U << b;
  }
  array.deliver(layout(r, d, (j + d - 1) % d, done));
  return array;
}

}  // namespace

void alltoall_hypercube_all_port(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_hypercube_all_port, node.topology());
  require_exchange("alltoall_hypercube_all_port", node.size(), out, in);
  const int d = node.topology().dimensions();
  if (d == 0 || node.size() == 1) {
    node.local([&] { copy(out[0], in[0]); });
    return;
  }
  together(node, d, [&](int j, Node& own) {
    own.plan<BlockArray>("hypercube-all-port", {j},
                         [&] { return plan(own.topology(), own.rank(), j); })
        .run(own, out, in, j, d);
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
