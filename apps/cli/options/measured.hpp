// Times of calls on this computer, for rankings and comparisons.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/machine/machine.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace wormcube::cli {

/// Times on this computer, on one network: the minimum of several calls.
class MeasuredTimes {
 public:
  MeasuredTimes(Context& context, const Topology& topology, const MachineFlags& machine,
                int iterations)
      : context_(context), topology_(topology), machine_(machine), iterations_(iterations) {}
  struct Answer {
    std::optional<double> us;
    std::string reason;  // if there is no figure
  };
  Answer operator()(const Collective& collective, Bytes bytes, bool all_port);

 private:
  Context& context_;
  const Topology& topology_;
  const MachineFlags& machine_;
  int iterations_;
  std::map<bool, std::unique_ptr<Machine>> machines_;  // indexed by whether it has all ports
};

}  // namespace wormcube::cli
