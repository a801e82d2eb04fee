// The cables of a network in JSON.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/cables.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

/// An end of a cable: a node's number, or a switch's name.
Json cable_end(Rank node, std::string_view name) { return node >= 0 ? Json(node) : Json(name); }

/// A row [a, b, dimension, hops] per cable. On lines, rings and complete graphs hops is the move
/// from a to b; elsewhere it is 1.
Json cables_json(const Topology& topology) {
  Json cables = Json::array();
  for (Link link = 0; link < topology.links(); ++link) {
    const Topology::Place place = topology.place(link);
    const Graph& graph = topology.factor(place.dimension);
    const Graph::Ends at = graph.ends(place.link);
    const int hops = graph.has_direction()              ? graph.hops(at.from, at.to)
                     : graph.shape() == Shape::complete ? at.to - at.from
                                                        : 1;
    // Of a cable's two links, the one that goes up; round a ring, the one that goes on.
    if (graph.wraps() ? hops < 0 : at.from > at.to) continue;
    const Graph::Ends ends = topology.link_ends(link);
    const std::string name = topology.link_name(link);
    const std::size_t arrow = name.find("->");
    cables.push_back({cable_end(ends.from, name.substr(0, arrow)),
                      cable_end(ends.to, name.substr(arrow + 2)), place.dimension, hops});
  }
  return cables;
}

}  // namespace

void put_cables(Json& result, const Topology& topology) {
  constexpr std::int64_t most = 100'000;
  const std::int64_t cables = topology.links() / 2;
  put(result, "cables", cables <= most ? cables_json(topology) : Json(nullptr),
      fmt::format("{} cables; up to {} are listed", cables, most));
}

}  // namespace wormcube::cli
