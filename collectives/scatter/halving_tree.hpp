// Which node sends which blocks to which when intervals are halved: the trees of scatters and
// gathers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"

#include <vector>

namespace wormcube {

/// In each interval of nodes one has all blocks of the interval. It sends those of the half that it
/// is not in, the smaller one if they differ, to a node there; then both halves continue on their
/// own.
enum class HalvingTree : std::uint8_t {
  first,       ///< of ranks; to the first node of the other half
  image,       ///< of 2^d ranks; to the node across: the hypercube's tree, highest bit first
  dimensions,  ///< of coordinates, first dimension first; to the first node of the other half
};

/// A node's part in one step of a scatter: the blocks of nodes first .. last-1 go to or come from
/// the peer. In a gather they travel in the other direction, in the opposite order of steps.
struct Handover {
  enum class Kind : std::uint8_t { none, gives, takes } kind = Kind::none;
  Rank peer = 0, first = 0, last = 0;
};
/// The transfers of a node, one for each step; all nodes but the root receive once.
std::vector<Handover> handovers(HalvingTree tree, const Topology& topology, Rank rank, Rank root);

/// The blocks that a node receives; the root has all.
Handover taken(std::span<const Handover> steps, Rank nodes);

/// Network  any, of any p; `image`: 2^d nodes; one-port.
/// Cost     ceil(log2 p) steps (`dimensions`: summed over their sizes), p - 1 blocks:
///          ts ceil(log2 p) + tw m (p - 1).
/// Links    free of contention if intervals of ranks use links of their own: see links.hpp.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.4, Fig. 4.15, Eq. 4.6; problems 4.1, 4.7, 4.24.
Prediction predict_halving(HalvingTree tree, const Topology& topology);
template <HalvingTree tree>
Prediction predict_halving(const Setting& setting) {
  return predict_halving(tree, setting.topology);
}

/// What a scatter and a gather along a tree have in common.
Algorithm halving_algorithm(HalvingTree tree, Operation operation);
/// The algorithm, and its variant for blocks of any sizes, for which only steps and links are
/// known.
template <HalvingTree tree, const OperationRow& operation, const OperationRow& uneven_operation>
Registration along_halving_tree(void (*program)(Node&, const Call&)) {
  Algorithm algorithm = halving_algorithm(tree, operation);
  algorithm.predict = predict_halving<tree>;
  algorithm.program = program;
  return with_variant(algorithm, [](Algorithm& uneven) {
    uneven.operation = uneven_operation;
    uneven.predict = [](const Setting& setting) {
      const Prediction even = predict_halving<tree>(setting);
      return Prediction{
          .startups = even.startups, .rearranged_blocks = 0, .link_load = even.link_load};
    };
  });
}

}  // namespace wormcube
