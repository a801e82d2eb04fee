// Networks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/networks.hpp"

#include "wormcube/collectives/core/operations.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/families.hpp"

#include <memory>

#include <fmt/core.h>

namespace wormcube::cli {

void add_on_option(CLI::App& app, std::vector<std::string>& on, bool required) {
  app.add_option("--on", on,
                 "The network, for instance " + network_examples() +
                     ", or a product such as ring:4*line:3. Separate networks with commas")
      ->type_name("TOPOLOGY")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required(required)
      ->group("What");
  auto failed = std::make_shared<std::vector<std::string>>();
  app.add_option("--without", *failed,
                 "Remove failed cables (A-B) and nodes from each network. For example, `--on "
                 "torus:8x8 --without 3-4,17` is the same as `--on torus:8x8~3-4~17`. The "
                 "remaining nodes are renumbered in order")
      ->type_name("A-B|NODE")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("What");
  app.final_callback([&on, failed] {
    for (std::string& network : on) {
      for (const std::string& failure : *failed) network += "~" + failure;
    }
  });
}

void require_on(bool is_given, const std::string& operation) {
  if (is_given) return;
  if (!operation.empty()) static_cast<void>(parse_operation(operation));
  throw UsageError("--on is required");
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
    throw UsageError(fmt::format("'{}': expected one network, got several", text));
  }
  return Topology::parse(text);
}

std::string topology_text(const Topology& topology) {
  return fmt::format("{} ({} node{}, {} links)", topology.describe(), topology.nodes(),
                     topology.nodes() == 1 ? "" : "s", topology.links());
}

}  // namespace wormcube::cli
