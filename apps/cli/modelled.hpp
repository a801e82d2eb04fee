// Collectives on the modelled machine: recorded dry, then replayed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/model.hpp"
#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/replay/replay.hpp"

#include <map>
#include <optional>
#include <string>

namespace wormcube::cli {

/// The schedule of a call with blocks of so many bytes. Throws UsageError if its dry run needs more
/// memory or time than there is.
Schedule record_call(const Collective& collective, const Topology& topology, Bytes block_bytes,
                     bool in_place = false);

inline double microseconds_of(Ticks ticks) { return static_cast<double>(ticks) / 1e6; }

/// Replayed times of calls on one network, each asked for once.
class ReplayedTimes {
 public:
  /// \param model  all_port is as each call has it
  ReplayedTimes(const Topology& topology, const MachineModel& model, int virtual_channels = 2)
      : topology_(topology), model_(model), virtual_channels_(virtual_channels) {}
  struct Answer {
    std::optional<Ticks> time;
    std::string reason;  // where there is none: a deadlock, or too much to record
  };
  const Answer& operator()(const Collective& collective, Bytes block_bytes, bool all_port);

  struct Quickest {
    Collective collective;
    std::optional<Ticks> time;  // none: no call came to an end, and the formulas chose
  };
  /// What `auto` takes by replay: of the algorithms that it weighs, each with the options that are the
  /// cheapest by formula, the first one to end. Throws UsageError where none runs.
  Quickest quickest(Operation operation, const CostModel& cost, Bytes block_bytes, Ports ports,
                    const Arguments& arguments);

 private:
  const Topology& topology_;
  MachineModel model_;
  int virtual_channels_;
  std::map<std::string, Answer> answers_;
};

/// For select(): by replays on the machine where the choice says so, else nothing, and formulas choose.
AutoChooser auto_chooser(const ChoiceOptions& choice, const OutputOptions& output,
                         int virtual_channels = 2);
/// \param model  to replay on
AutoChooser replaying_chooser(const MachineModel& model, const OutputOptions& output,
                              int virtual_channels);

}  // namespace wormcube::cli
