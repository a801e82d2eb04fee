// The other node of an op, and a description of overlaps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/node/op.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <string>

#include <fmt/core.h>

namespace wormcube {

Rank peer_of(const Topology& topology, Rank rank, const Op& op) {
  if (op.to() == Op::To::rank) {
    if (op.peer() < 0 || op.peer() >= topology.nodes()) {
      throw UsageError(fmt::format("{}: peer {} out of range [0, {})", topology.name(), op.peer(),
                                   topology.nodes()));
    }
    return op.peer();
  }
  for (const Move move : op.moves()) rank = topology.neighbour(rank, move.dimension, move.hops);
  return rank;
}

std::string overlap_text(const Topology& topology, Rank rank, const Op& one, const Op& other) {
  const auto words = [&](const Op& op) {
    return op.is_send() ? fmt::format("a send of {} bytes", op.bytes())
                        : fmt::format("the receive from {} of {} bytes",
                                      peer_of(topology, rank, op), op.bytes());
  };
  if (&one == &other) return fmt::format("two pieces of {} overlap in memory", words(one));
  return fmt::format("{} and {} overlap in memory", words(one), words(other));
}

}  // namespace wormcube
