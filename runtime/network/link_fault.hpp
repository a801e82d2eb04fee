// Faults of links.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <cstdint>
#include <span>

namespace wormcube {

/// What a link does to what passes it.
enum class LinkFault : std::uint8_t {
  none,
  flip,   ///< inverts the lowest bit of the first byte of each flit with payload
  drop,   ///< loses the second flit of each message, or its only one; empty messages pass
  stall,  ///< passes nothing on
};

/// A fault of the link from one node to another, all its lanes.
struct FaultyLink {
  Rank from, to;
  LinkFault fault;
};

/// Throws UsageError, with the links that there are, unless each is a link of the network.
void require_links(const Topology& topology, std::span<const FaultyLink> faults);

}  // namespace wormcube
