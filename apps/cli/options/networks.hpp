// Options that name networks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// --on: one topology or several.
void add_on_option(CLI::App& app, std::vector<std::string>& on, bool required);
/// Throws UsageError unless it is given. A misspelt operation is the first mistake to report.
/// \param operation  as it is given; empty: none is needed
void require_on(bool is_given, const std::string& operation);
/// Parses each. Throws UsageError.
std::vector<Topology> parse_topologies(const std::vector<std::string>& on);
/// The network of a command that accepts only one. Throws UsageError.
Topology parse_topology(const std::string& text);

/// "torus:8x8: ... (64 nodes, 256 links)"
std::string topology_text(const Topology& topology);

}  // namespace wormcube::cli
