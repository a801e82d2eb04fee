// Profiles of machines: the constants of replay, their sources, and how reliable they are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/replay/machine_model.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

struct MachineProfile {
  std::string name, network;
  int year = 0;
  std::string unit;                           // the unit of transfer: worm, circuit or packet
  MachineModel model;                         // in packets if its unit is; without lock step
  std::optional<Ticks> hop;                   // none: no figure was found, the default is used
  std::optional<Ticks> startup;               // none: the user must give one
  bool rearranges = false;                    // there are figures for rearranging and combining
  std::string sure;                           // of start-up, flit and hop: see certainty_text()
  std::optional<std::int64_t> port_mb_per_s;  // if a node is slower than its link: model.port
  std::vector<std::string> notes;
  std::string source;
  bool draft = false;  // a profile of docs/machines: its figures are not checked yet

  /// What a user of the profile must know, as sentences.
  std::vector<std::string> cautions() const;
};

/// "t3d (torus:8x8x8), one port", "mine, all ports".
std::string machine_text(const MachineProfile& profile);

/// "v": read in the cited source; "d": derived from such figures; "r": recalled from it; "a":
/// assumed; "-": none.
std::string_view certainty_text();

/// The built-in profiles, then the drafts.
std::span<const MachineProfile> machine_profiles();
/// One of these profiles, or one in a JSON file (a name with a '.' or a '/'). Throws UsageError
/// with the available names, or the key that is wrong.
MachineProfile find_machine(const std::string& name);
/// The file's text; reading it gives an equal profile.
std::string machine_json(const MachineProfile& profile);

}  // namespace wormcube
