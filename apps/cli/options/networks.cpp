// Networks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/networks.hpp"

#include "wormcube/runtime/error.hpp"

#include <fmt/core.h>

namespace wormcube::cli {

void add_on_option(CLI::App& app, std::vector<std::string>& on, bool required) {
  app.add_option("--on", on,
                 "The network, for instance ring:7 line:5 torus:8x8 mesh:6x4 hypercube:6 "
                 "complete:8 tree:8 ghc:4x3 star:8 petersen ccc:3 butterfly:3 circulant:12+1+3 "
                 "star-graph:4 bubble-sort:4 cayley:2134+2341 "
                 "graph:FILE, or a product such as ring:4*line:3. Several: separate with commas")
      ->type_name("TOPOLOGY")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required(required)
      ->group("What");
}

std::vector<Topology> parse_topologies(const std::vector<std::string>& on) {
  std::vector<Topology> topologies;
  topologies.reserve(on.size());
  for (const std::string& text : on) {
    const bool is_size = !text.empty() && text.find_first_not_of("0123456789x") == text.npos;
    if (is_size && !topologies.empty()) {
      throw UsageError(fmt::format(
          "--on: '{}' is not a network; a comma separates networks, and x separates sizes: {}x{}",
          text, topologies.back().name(), text));
    }
    topologies.push_back(Topology::parse(text));
  }
  return topologies;
}

Topology parse_topology(const std::string& text) {
  if (text.find(',') != text.npos && text.find("graph:") == text.npos) {
    throw UsageError(fmt::format("'{}': one network here, not several", text));
  }
  return Topology::parse(text);
}

std::string topology_text(const Topology& topology) {
  return fmt::format("{} ({} node{}, {} links)", topology.describe(), topology.nodes(),
                     topology.nodes() == 1 ? "" : "s", topology.links());
}

}  // namespace wormcube::cli
