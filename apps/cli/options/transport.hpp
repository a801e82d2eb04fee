// How messages travel: in one copy, or flit by flit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/runtime/machine/options.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// --transport and its options as text.
struct TransportFlags {
  std::string transport = "copy";
  std::size_t capacity = 4;
  int routers = 1;
  std::vector<std::string> faults;
  std::vector<const CLI::Option*> of_flits = {};  // options that apply to flits only
  const CLI::Option* routers_option = nullptr;

  bool in_flits() const { return transport == "flits"; }
  /// Throws UsageError if an option has no effect, or a faulty link is none.
  /// \param executor  of MachineFlags
  void require(const std::string& executor, const Topology& topology) const;
  void resolve(MachineOptions& options) const;
};
void add_transport_options(CLI::App& app, TransportFlags& flags);

/// "each message copied once", or "each message in flits, 4 in a lane", with the faults.
std::string transport_text(const MachineOptions& options);
/// `transport`, `channel_capacity`, `routers`, `faults`.
void add_transport_json(Json& json, const MachineOptions& options, Rank nodes);

}  // namespace wormcube::cli
