// Who hands which blocks to whom when intervals are halved: the trees of scatters and gathers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/algorithm.hpp"

#include <vector>

namespace wormcube {

/// In each interval of nodes one has all blocks of the interval. It hands those of the half that it
/// is not in, the smaller one if they differ, to a node there; then both halves go on by themselves.
enum class HalvingTree : std::uint8_t {
  first,       ///< of ranks; to the first node of the other half
  image,       ///< of 2^d ranks; to the node across: the hypercube's tree, highest bit first
  dimensions,  ///< of coordinates, first dimension first; to the first node of the other half
};

/// A node's part in one step of a scatter: the blocks of nodes first .. last-1 go to or come from
/// the peer. In a gather they go the other way, in the opposite order of steps.
struct Handover {
  enum class Kind : std::uint8_t { none, gives, takes } kind = Kind::none;
  Rank peer = 0, first = 0, last = 0;
};
/// The handovers of a node, one for each step; all but the root take once.
std::vector<Handover> handovers(HalvingTree tree, const Topology& topology, Rank rank, Rank root);

/// Scatter: block q of the root's input ends as node q's own.
///
/// \param out    the root's p blocks; not used on other nodes
/// \param own    room for this node's block
/// \param sizes  of all nodes' blocks; empty: all as `own`
///
/// Network  any, of any p; `image`: 2^d nodes; one-port.
/// Cost     ceil(log2 p) steps (`dimensions`: summed over their sizes), p - 1 blocks:
///          ts ceil(log2 p) + tw m (p - 1).
/// Links    free of contention where intervals of ranks use links of their own: see links.hpp.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.4, Fig. 4.15, Eq. 4.6; problems 4.1, 4.7, 4.24.
/// Throws   UsageError, before any message, unless nodes and blocks are as above.
void scatter_by_halving(Node& node, HalvingTree tree, ConstBlocks out, Span own, Rank root,
                        std::span<const Bytes> sizes = {});
/// Gather, the same backwards: node q's own block ends as block q of the root's `in`, where the
/// root's own may lie from the start.
void gather_by_halving(Node& node, HalvingTree tree, ConstSpan own, Blocks in, Rank root,
                       std::span<const Bytes> sizes = {});

Prediction predict_halving(HalvingTree tree, const Topology& topology);
/// With blocks of any sizes only steps and links are known.
Prediction predict_uneven(Prediction even);

// For entries of the registry.
template <HalvingTree tree>
void scatter_program(Node& node, const Call& call) {
  scatter_by_halving(node, tree, call.input, call.output.all(), call.arguments.root, call.sizes);
}
template <HalvingTree tree>
void gather_program(Node& node, const Call& call) {
  gather_by_halving(node, tree, call.input.all(), call.output, call.arguments.root, call.sizes);
}
template <HalvingTree tree>
Prediction predict_halving(const Setting& setting) {
  return predict_halving(tree, setting.topology);
}
template <HalvingTree tree>
Prediction predict_halving_uneven(const Setting& setting) {
  return predict_uneven(predict_halving(tree, setting.topology));
}

}  // namespace wormcube
