// Suh, Shin, Yalamanchili: total exchange on a mesh of any size.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/suh_mesh.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/mesh_array.hpp"
#include "wormcube/collectives/require.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_suh_mesh;
}

namespace {

std::vector<Rank> sizes_above_1(const Topology& topology) {
  std::vector<Rank> sizes = topology.sizes();
  std::erase(sizes, 1);
  return sizes;
}

/// Odd sizes: odd nodes hand what is for the lonely last coordinate to their even partners.
void hand_over(Node& node, MeshArray& array) {
  for (int d = 0; d < array.dimensions(); ++d) {
    const auto& [dimension, line, x] = array.side(d);
    if (!line.has_odd_size()) continue;
    if (x % 2 != 0) {
      const std::vector<Span> leaving = array.leaving(d);
      node.step({send_pieces(Move{dimension, -1}, leaving)});
    } else if (!line.is_lonely(x)) {
      node.step({receive(array.with(d, x + 1), array.guests(d))});
    } else {
      node.step();
    }
  }
}

/// The ring phases: all blocks reach their cell.
void go_round(Node& node, MeshArray& array, std::span<const RingTurn> turns, Rank steps) {
  array.lay_out(turns[0].dimension);
  std::size_t k = 0;
  for (Rank t = 0; t < steps; ++t) {
    while (k + 1 < turns.size() && turns[k + 1].start == t) array.rearrange(turns[++k].dimension);
    const int d = turns[k].dimension;
    const auto& [dimension, line, x] = array.side(d);
    // Step s of a turn: the blocks of the first s pairs of slots have arrived, the others go on.
    const Rank s = t - turns[k].start + 1, pairs = line.members(x) - s;
    if (s < 1 || pairs < 1) {
      node.step();
      continue;
    }
    const Span going = array.last_pairs(d, pairs), coming = array.opposite(going);
    node.step({send(Move{dimension, line.ahead(x, 1) - x}, going),
               receive(array.with(d, line.ahead(x, -1)), coming)});
    node.local([&] { copy(coming, going); });
  }
  while (k + 1 < turns.size()) array.rearrange(turns[++k].dimension);
}

/// The last phase: the members of each cell exchange, one dimension after the other.
void exchange_in_cells(Node& node, MeshArray& array) {
  array.rearrange_by_halves();
  for (int d = array.dimensions() - 1; d >= 0; --d) {
    const auto& [dimension, line, x] = array.side(d);
    if (line.is_lonely(x)) {
      node.step();
      continue;
    }
    const Rank partner = x ^ 1;
    const std::vector<Span> going = array.second_half(d, false),
                            arrived = array.second_half(d, true);
    std::vector<Span> coming;
    coming.reserve(arrived.size());
    for (const Span piece : arrived) coming.push_back(array.opposite(piece));
    node.step({send_pieces(Move{dimension, partner - x}, going),
               receive_pieces(array.with(d, partner), coming)});
    node.local([&] {
      for (std::size_t i = 0; i < coming.size(); ++i) copy(coming[i], arrived[i]);
    });
  }
}

}  // namespace

void alltoall_suh_mesh(Node& node, ConstBlocks out, Blocks in, MeshOrder order, MeshRing ring) {
  require_network(algorithms::alltoall_suh_mesh, node.topology());
  require_exchange("suh-mesh", node.size(), out, in);
  const std::vector<Rank> sizes = sizes_above_1(node.topology());
  MeshArray array(node, out, in, ring);
  if (sizes.empty()) {  // one node
    node.local([&] { copy(out[0], in[0]); });
    return;
  }
  std::uint32_t parities = 0;
  for (int d = 0; d < array.dimensions(); ++d) {
    parities |= static_cast<std::uint32_t>(array.side(d).x % 2) << d;
  }

  hand_over(node, array);
  go_round(node, array, ring_turns(sizes, order, parities), ring_steps(sizes, order));
  exchange_in_cells(node, array);
  array.deliver();
}

namespace {

Prediction predict(const Setting& setting) {
  const Topology& topology = setting.topology;
  const std::vector<Rank> sizes = sizes_above_1(topology);
  const auto order = setting.options.choice<MeshOrder>("order");
  return {.startups = static_cast<double>(mesh_startups(sizes, order)),
          .transmission_blocks = static_cast<double>(mesh_transmission(sizes, order)),
          .rearranged_blocks = static_cast<double>(mesh_rearranged(sizes, order)),
          .working_blocks = static_cast<double>(mesh_peak(sizes))};
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_suh_mesh){
    .operation = operations::alltoall,
    .name = "suh-mesh",
    .summary = "rings of every second node, then 2x2 cells; meshes of any dimensions and sizes",
    .source = "Suh, Shin, Yalamanchili, sec. 3 and 4, Table 1",
    .remark = "odd sizes, parity and overlap orders and folded rings are ours",
    .options = {{.name = "order",
                 .choices = {"paper", "parity", "overlap"},
                 .help = "order of the ring phases in 3 dimensions or more"},
                {.name = "ring",
                 .choices = {"plus", "folded"},
                 .help = "ring over the cells of a line: 0,1,2,.. and back, or 0,2,4,..,5,3,1"}},
    .needs = {needs::lines()},
    .instead = "use shift, or mesh where all are lines or rings",
    .predict = predict,
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_suh_mesh(node, call.input, call.output,
                                      call.options.choice<MeshOrder>("order"),
                                      call.options.choice<MeshRing>("ring"));
        },
};

}  // namespace algorithms

}  // namespace wormcube
