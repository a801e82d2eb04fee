// Total exchange on any network: in step i everybody sends i ranks on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/cost.hpp"

#include <optional>

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r.
///
/// \param out  p blocks; block q is for node q. They may be uneven (alltoallv)
/// \param in   p blocks; block q comes from node q and has the size that node q sends
///
/// Network  any, of any p; one-port.
/// Cost     p - 1 steps of one block: (ts + tw m)(p - 1) where links are not shared; nothing is
///          rearranged.
/// Links    free of contention on hypercubes and complete networks. Elsewhere shift_link_load(i)
///          messages share a link in step i: min(i, p - i) on a ring or line, which makes
///          floor(p^2/4) blocks of time.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.5.3 (pairs may
///          be chosen in any congestion-free way) and 4.6 (circular shifts; problem 4.22: free on
///          hypercubes).
/// Throws   UsageError, before any message, unless the blocks are as above.
void alltoall_shift(Node& node, ConstBlocks out, Blocks in);

/// The messages on the busiest link when every node r sends one to r + offset (mod p); empty for
/// arbitrary graphs.
///
/// In each dimension the messages that cross one line are a shift there, by the offset's digit, or
/// by one more where the lower digits carry. A shift by o among n loads the busiest link of a line,
/// ring or tree with min(o, n - o) messages.
std::optional<Rank> shift_link_load(const Topology& topology, Rank offset);
/// Fills in what links are shared by steps of one block, a shift by each of 1 .. p - 1; nothing for
/// arbitrary graphs.
void predict_shifts(Prediction& prediction, const Topology& topology);

}  // namespace wormcube
