// Total exchange on a mesh of any size: rings of every second node, then exchanges in small cells.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/mesh_order.hpp"
#include "wormcube/collectives/alltoall/mesh_places.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/numbered.hpp"

namespace wormcube {

namespace {

std::vector<Rank> sizes_above_1(const Topology& topology) {
  std::vector<Rank> sizes = topology.sizes();
  std::erase(sizes, 1);
  return sizes;
}

/// The ring phases: all blocks reach their cell. Returns where they lie afterwards.
/// \param overlap  nodes take their turns at different times: one phase for all
Layout go_round(const MeshPlaces& places, std::span<const RingTurn> turns, Rank steps, bool overlap,
                BlockArray& array) {
  static const NumberedPhases rings("phase ", "rings of every second node");
  array.phase(overlap ? "rings of every second node" : rings(1));
  std::size_t k = 0;
  std::uint32_t done = 0;
  const auto next_turn = [&] {
    const int d = turns[k].dimension;
    done |= 1U << d;
    array.rearrange(places.in_ring(d, done), places.in_ring(turns[k + 1].dimension, done));
    ++k;
  };
  for (Rank t = 0; t < steps; ++t) {
    while (k + 1 < turns.size() && turns[k + 1].start == t) {
      next_turn();
      if (!overlap) array.phase(rings(static_cast<int>(k) + 1));
    }
    const auto [d, start] = turns[k];
    const MeshSide& side = places.side(d);
    const MeshLine& line = side.line;
    // Step s of a turn: the blocks of the first s pairs of slots have arrived, the others continue.
    const Rank s = t - start + 1, pairs = line.members(side.x) - s;
    if (s < 1 || pairs < 1) {
      array.idle();
    } else {
      array.exchange(side.to(line.ahead(side.x, 1)), side.to(line.ahead(side.x, -1)),
                     places.last_pairs(d, pairs));
    }
  }
  while (k + 1 < turns.size()) next_turn();
  return places.in_ring(turns[k].dimension, done | 1U << turns[k].dimension);
}

/// The last phase: the members of each cell exchange, one dimension after another.
void exchange_in_cells(const MeshPlaces& places, BlockArray& array) {
  for (int d = places.sides() - 1; d >= 0; --d) {
    const MeshSide& side = places.side(d);
    if (side.line.is_unpaired(side.x)) {
      array.idle();
    } else {
      const Move partner = side.to(side.x ^ 1);
      array.exchange(partner, partner, places.second_half(d, false), places.second_half(d, true));
    }
  }
}

BlockArray plan(const Topology& topology, Rank rank, MeshOrder order, MeshRing ring) {
  const MeshPlaces places(topology, rank, ring);
  BlockArray array(places.capacity());
  if (places.sides() == 0) {  // one node
    array.lay_out(Places{});
    array.deliver(Places{});
    return array;
  }
  const std::vector<Rank> sizes = places.sizes();
  const std::vector<RingTurn> turns = ring_turns(sizes, order, places.parities());

  const Layout first = places.in_ring(turns[0].dimension, 0);
  if (has_odd_size(places)) {
    array.phase("odd sizes: guests move in");
    array.rearrange(hand_over_guests(places, array), first, Charge::none);
  } else {
    array.lay_out(first);
  }
  const Layout in_cells =
      go_round(places, turns, ring_steps(sizes, order), order == MeshOrder::overlap, array);
  array.rearrange(in_cells, places.in_halves(false));
  static const NumberedPhases cells("phase ", "cells of 2x2");
  array.phase(cells(places.sides() + 1));
  exchange_in_cells(places, array);
  array.deliver(places.in_halves(true));
  return array;
}

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// Cells are 2 x .. x 2 nodes. Nodes whose coordinates have the same parities form a group, one
/// node of each cell. In the ring phases blocks travel along the rings of their group, one
/// dimension after the other; each node on the way keeps those for its own column of cells. The
/// groups take the dimensions in orders that keep the two rings of a line apart (see ring_turns).
/// Then all blocks are in their cell, and its members exchange, one dimension after the other.
///
/// Odd sizes (ours): the last coordinate is a cell of its own, which only even nodes reach. Odd
/// nodes first send the blocks for it to their even partners, in one more step per odd size.
///
/// Network   mesh of any dimensions and sizes (a line, a hypercube); one-port, full duplex.
/// Cost      all sizes even, a_1 the longest of n >= 2 and N nodes: n a_1 / 2 start-ups, n a_1 N /
///           4 blocks, n N blocks rearranged; R x C: max(R,C), RC max(R,C) / 2, 2RC. A line of a:
///           a - 1 start-ups. The orders `parity` and `overlap` (ours) need fewer steps if sizes
///           differ. All cases: mesh_startups, mesh_transmission, mesh_rearranged.
/// Space     N blocks, sizes rounded up to even, beside input and output.
/// Links     each message stays in one line, where one ring is active: each link once, the closing
///           message on the links of the other direction. In folded rings (ours) no message goes
///           further than 4 links.
/// Source    Y.-J. Suh, K. G. Shin, S. Yalamanchili, Complete Exchange in General Multidimensional
///           Mesh Networks, sections 3 and 4; corrected: phase 3 step 2, the index of section 3.3.
void alltoall_suh_mesh(Node& node, const Call& call) {
  const MeshOrder order = call.options.choice<MeshOrder>("order");
  const MeshRing ring = call.options.choice<MeshRing>("ring");
  const auto& planned = node.plan<BlockArray>(
      "suh-mesh", {static_cast<std::int64_t>(order), static_cast<std::int64_t>(ring)},
      [&] { return plan(node.topology(), node.rank(), order, ring); });
  planned.run(node, call.input, call.output);
}

/// Groups of nodes whose coordinates have the same parities, and the cells of 2 x .. x 2.
NodeSets groups(const Setting& setting) {
  const Topology& topology = setting.topology;
  NodeSets sets;
  for (Rank group = 0; group < 1 << topology.dimensions(); ++group) {
    std::string name = "group";
    for (int d = topology.dimensions() - 1; d >= 0; --d) {
      name += (group >> d & 1) != 0 ? " odd" : " even";
    }
    sets.names.push_back(std::move(name));
  }
  for (Rank r = 0; r < topology.nodes(); ++r) {
    int group = 0;
    Rank cell = 0;
    for (int d = 0; d < topology.dimensions(); ++d) {
      const Rank x = topology.coordinate(r, d);
      group = 2 * group + x % 2;
      cell += (x - x % 2) * topology.stride(d);
    }
    sets.set_of.push_back(group);
    sets.cell_of.push_back(cell);
  }
  return sets;
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_suh_mesh){
    .operation = operations::alltoall,
    .name = "suh-mesh",
    .summary =
        "exchanges in rings of every second node, then in 2x2 cells; meshes of any dimensions and "
        "sizes",
    .source = "Suh, Shin, Yalamanchili, sec. 3 and 4, Table 1",
    .contention_free = true,
    .exactly_once = true,
    .remark = "odd sizes, parity and overlap orders and folded rings are ours",
    .options = {{.name = "order",
                 .choices = {"paper", "parity", "overlap"},
                 .help = "order of the ring phases in 3 dimensions or more"},
                {.name = "ring",
                 .choices = {"plus", "folded"},
                 .help = "ring over the cells of a line: 0,1,2,.. and back, or 0,2,4,..,5,3,1"}},
    .needs = {needs::lines()},
    .instead = {"shift", "mesh"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const std::vector<Rank> sizes = sizes_above_1(topology);
      const auto order = setting.options.choice<MeshOrder>("order");
      return {.startups = static_cast<double>(mesh_startups(sizes, order)),
              .transmission_blocks = static_cast<double>(mesh_transmission(sizes, order)),
              .rearranged_blocks = static_cast<double>(mesh_rearranged(sizes, order)),
              .working_blocks = static_cast<double>(mesh_peak(sizes))};
    },
    .program = alltoall_suh_mesh,
    .node_sets = groups,
};

}  // namespace wormcube
