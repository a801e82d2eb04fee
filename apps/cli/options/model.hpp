// The modelled machine's options: replay's constants as text, from a profile, or both.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/common/machines.hpp"
#include "wormcube/collectives/core/cost.hpp"

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// --machine and the constants; the command line overrides the profile.
struct ModelOptions {
  std::string startup = "10", transfer = "0.001", rearrange = "0.0005", combine = "0.0005";
  std::string unit = "us", machine, flit_time, hop, credit, port_time, node_time, store_and_forward;
  std::int64_t flit_bytes = 1, slots = 4, port_slots = 4, packet_bytes = 0;
  bool lock_step = false;
  int virtual_channels = 2;
  const CLI::Option *startup_option = nullptr, *transfer_option = nullptr,
                    *rearrange_option = nullptr, *combine_option = nullptr, *flit_option = nullptr,
                    *slots_option = nullptr, *port_slots_option = nullptr, *packet_option = nullptr;

  struct Resolved {
    MachineModel model;  // all_port as the profile's; false without one
    CostModel cost;      // of the formulas
    std::optional<MachineProfile> profile;
  };
  /// Throws UsageError for a value that is not a number, or not whole.
  /// \param replays  false: only `cost` is used, in which a hop may take no time
  Resolved resolve(bool replays = true) const;
};
void add_model_options(CLI::App& app, ModelOptions& options);
/// "ts 10 us, F 0.001 us for 1 B, ..", and whether links run at the full rate.
std::string model_text(const MachineModel& model);
Json model_json(const ModelOptions::Resolved& resolved, int virtual_channels);

}  // namespace wormcube::cli
