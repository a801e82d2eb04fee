// A modelled clock for each rank, advanced by messages, in place of this computer's clock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/observers/observer.hpp"
#include "wormcube/runtime/replay/machine_model.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

namespace wormcube::mpi {

/// When a message arrives, its receiver's clock is at least its sender's plus the message's own
/// time. This ignores contention; replay the run's schedule to see it.
///
/// Threads  the ranks', each for its own clock.
class ModelClock final : public Observer {
 public:
  enum class Kind : std::uint8_t {
    model,  ///< the machine model's time of a message alone; own work as long as it takes here,
            ///< times `own_work`
    steps   ///< a message counts 1, everything else 0: the longest chain of messages
  };
  /// \param own_work  0: ignore own work
  ModelClock(const Topology& topology, Rank ranks, Kind kind, const MachineModel& model,
             double own_work);
  ~ModelClock() override;
  ModelClock(const ModelClock&) = delete;
  ModelClock& operator=(const ModelClock&) = delete;

  void enter(Rank rank, Function function) override;
  void leave(Rank rank) override;
  /// The rank yields its core to other ranks, whose work does not count, until leave(). False: it
  /// is in a call.
  bool rest(Rank rank);
  void sent(const SentMessage& message, std::uint64_t started, bool waits) override;
  void received(const SentMessage& message, std::uint64_t started, std::uint64_t ended) override;
  /// A message that its sender waits for.
  void accessed(const Access& access) override;

  /// In seconds, or messages. Reading the model's clock takes a microsecond, so that loops that
  /// wait for a time end.
  double look(Rank rank);
  /// The rank has slept for this time.
  void pass(Rank rank, std::chrono::nanoseconds time);
  Kind kind() const { return kind_; }
  /// The latest of all clocks, in microseconds or messages. Call it when all ranks have ended.
  double latest() const;

 private:
  struct OfRank;
  void count_own_work(OfRank& rank) const;
  /// From its start to its end.
  Ticks time_of(const SentMessage& message) const;
  OfRank& of(Rank rank) const { return *ranks_[static_cast<std::size_t>(rank)]; }

  const Routing routing_;
  const Kind kind_;
  const MachineModel model_;
  const double own_work_;
  std::vector<std::unique_ptr<OfRank>> ranks_;
};

}  // namespace wormcube::mpi
