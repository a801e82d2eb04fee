// Choosing algorithms by replay on the modelled machine, or by the work of emulation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/model.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/choose.hpp"
#include "wormcube/collectives/harness/work.hpp"
#include "wormcube/runtime/replay/replay.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace wormcube::cli {

/// The schedule of a call with blocks of this size. Throws UsageError if its dry run needs more
/// memory or time than available.
Schedule record_call(const Collective& collective, const Topology& topology, Bytes block_bytes,
                     bool in_place = false);

/// Whether a call is replayed on an all-port machine: by request, or because it needs all ports.
bool takes_all_ports(const Algorithm& algorithm, Ports ports);

inline double microseconds_of(Ticks ticks) { return static_cast<double>(ticks) / 1e6; }

/// A figure for each call on one network, computed once; lower is better.
class CallFigures {
 public:
  struct Answer {
    std::optional<std::int64_t> figure;
    std::string reason;  // if there is no figure
  };
  virtual ~CallFigures() = default;
  /// Throws UsageError, with both numbers, if calls with this many messages in total would take
  /// minutes. \param what  "best of alltoall on torus:64x64"
  virtual void require_affordable(std::string_view /*what*/, double /*messages*/) const {}
  const Answer& operator()(const Collective& collective, Bytes block_bytes, bool all_port);
  /// Computes the figures of all these calls at once, if that is faster, for operator().
  /// \param needed  how many of the lowest figures are needed; the other calls may get none
  virtual void compute(std::span<const Priced> /*calls*/, Bytes /*block_bytes*/, Ports /*ports*/,
                       std::size_t /*needed*/) {}
  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

  struct Least {
    Collective collective;
    std::optional<std::int64_t> figure;  // empty: no call has a figure, and the formulas chose
  };
  /// The algorithm that `auto` picks: the lowest figure among its candidates, each with the options
  /// of lowest modelled time; the formula breaks ties. Throws UsageError if none runs.
  Least least(Operation operation, const CostModel& cost, Bytes block_bytes, Ports ports,
              const Arguments& arguments);
  /// The same among these, which are not empty.
  Least least(std::span<const Priced> ranked, Bytes block_bytes, Ports ports);

 protected:
  explicit CallFigures(const Topology& topology) : topology_(topology) {}
  const Topology& topology() const { return topology_; }

  static std::string key(const Collective& collective, Bytes block_bytes, bool all_port);
  bool is_known(const std::string& key) const { return answers_.contains(key); }
  void keep(std::string key, Answer answer) { answers_[std::move(key)] = std::move(answer); }

 private:
  /// Throws UsageError if there is no figure.
  virtual Answer figure_of(const Collective& collective, Bytes block_bytes,
                           bool all_port) const = 0;
  const Topology& topology_;
  std::map<std::string, Answer> answers_;
};

/// An upper bound on the messages of all these calls; those without a formula are not counted.
double messages_of(std::span<const Priced> ranked, Rank nodes);

/// Times in ticks on a machine. A call may have none: a deadlock.
class ReplayedTimes final : public CallFigures {
 public:
  /// \param model  all_port is as each call has it
  ReplayedTimes(const Topology& topology, const MachineModel& model, int virtual_channels = 2)
      : CallFigures(topology), model_(model), routing_(topology, virtual_channels) {}
  void require_affordable(std::string_view what, double messages) const override;
  /// Several at a time, unless they are large. Their schedules are kept until the next call, which
  /// may be for the other ports. Except the first one's, a replay that takes longer than the needed
  /// lowest figures found so far is stopped, even if a deadlock would end it.
  void compute(std::span<const Priced> calls, Bytes block_bytes, Ports ports,
               std::size_t needed) override;

 private:
  using Recorded = std::shared_ptr<const Schedule>;
  Answer figure_of(const Collective& collective, Bytes block_bytes, bool all_port) const override;
  Answer replayed(const Schedule& schedule, bool all_port, Ticks limit) const;
  MachineModel model_;
  Routing routing_;
  std::map<std::string, Recorded> recorded_;
};

/// work_of(), by one dry run for all sizes of a call.
class EmulationWork final : public CallFigures {
 public:
  explicit EmulationWork(const Topology& topology) : CallFigures(topology), routing_(topology) {}

 private:
  Answer figure_of(const Collective& collective, Bytes block_bytes, bool all_port) const override;
  Routing routing_;
  mutable std::map<std::string, std::optional<WorkLine>> lines_;  // by call
};

/// The figures that decide; nullptr: formulas, or measurements.
std::unique_ptr<CallFigures> call_figures(const ChoiceOptions& choice, const Topology& topology,
                                          int virtual_channels = 2);

/// \param model  to replay on
AutoChooser replaying_chooser(const Context& context, const MachineModel& model,
                              const OutputOptions& output, int virtual_channels);
AutoChooser chooser_by_work(const Context& context, const OutputOptions& output);
/// Shows the choice in progress. \param by  "formula"
AutoChooser chooser_by(const Context& context, const std::string& by, const OutputOptions& output,
                       const AutoChooser& choose);

}  // namespace wormcube::cli
