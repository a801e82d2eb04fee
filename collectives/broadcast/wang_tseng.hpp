// Broadcast by Wang and Tseng: by the algebra of the torus, on all ports.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/broadcast/itinerary.hpp"

namespace wormcube {

struct WangTseng {
  /// Leave out what goes to nodes that have the message: every node receives exactly once.
  bool once = false;
  /// For routers that choose the shortest way themselves, '+' when both are equal: no hop of half a
  /// ring goes '-'.
  bool mirror = false;
  Packets packets = {};
};

/// Broadcast: the root's message ends on every node.
///
/// k stages. In stage i every holder sends along the 2k rows of a routing matrix R_i, scaled, and
/// the holders' set grows by one dimension; an alignment step moves it to where the next stage
/// wants it. Each node works its part out from its own coordinates.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  tori n x .. x n, n >= 2, and cn x n x .. x n, n >= 3, in our order of dimensions, the
///          first one long; all ports; any root.
/// Cost     k ceil(log_{2k+1} n) + (k-1) steps of the whole message, one less for n = 2 and 3 with
///          k >= 2; the first logarithm is that of cn where c > 1.
/// Links    free of contention, if the signs of the hops are honoured (or with `mirror`).
/// Source   S.-Y. Wang, Y.-C. Tseng, Algebraic Foundations and Broadcasting Algorithms for
///          Wormhole-Routed All-Port Tori. Rounding for any n, the rows for k > 3, cn, `once` and
///          `mirror` are ours.
/// Throws   UsageError, before any message, for another network, or a root that is no node.
void broadcast_wang_tseng(Node& node, Span message, Rank root, const WangTseng& options = {});

void require_broadcast_wang_tseng(const Topology& topology, Rank root,
                                  const WangTseng& options = {});
Prediction predict_broadcast_wang_tseng(const Topology& topology, const WangTseng& options = {});

}  // namespace wormcube
