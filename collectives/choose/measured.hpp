// Times of calls on this computer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/choose/figures.hpp"
#include "wormcube/runtime/machine/machine.hpp"

#include <map>
#include <memory>

namespace wormcube {

/// Times on this computer: the minimum of several calls. Errors of a run are not kept: they end the
/// choice.
class MeasuredTimes final : public CallFigures {
 public:
  /// \param topology  lives as long as this
  /// \param options   of the machines; all_port is as each call has it
  explicit MeasuredTimes(const Topology& topology, MachineOptions options = {}, int iterations = 11)
      : CallFigures(topology), options_(std::move(options)), iterations_(iterations) {}

 private:
  Answer figure_of(const Collective& collective, Bytes block_bytes, bool all_port) override;
  MachineOptions options_;
  int iterations_;
  std::map<bool, std::unique_ptr<Machine>> machines_;  // indexed by whether it has all ports
};

}  // namespace wormcube
