// The cost of emulating a call on this computer: the criterion if nodes outnumber cores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/choose/figures.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace wormcube {

/// The cost of emulation of a message, each link on its path, a step of a node, a piece of memory,
/// and a combined byte, as bytes that could be copied meanwhile. A piece is one that a message
/// gathers or scatters, or a block that is rearranged. Fitted to all algorithms of nine operations
/// on four networks of 64 nodes as fibers, and to exchanges of 1024, at 8 B to 4 KiB on one core,
/// called repeatedly: 235, 18, 18, 6, 0.03 ns, and 0.24 a byte combined. A message takes as long as
/// 8.5 KiB with nodes as fibers, 13 as threads.
inline constexpr Bytes work_of_message = 8192, work_of_link = 128, work_of_step = 512,
                       work_of_piece = 192, work_of_combined_byte = 3;

/// The cost of emulating a call, in bytes that could be copied meanwhile: those that all nodes
/// send, rearrange and combine, plus a constant for each message, link on its path, step and piece.
/// With more nodes than cores this sum decides, not the longest chain of steps.
/// \param schedule     as recorded, with its pieces
/// \param unit_bytes   the schedule's blocks
/// \param block_bytes  the call's
double work_of(const Schedule& schedule, const Routing& routing, Bytes unit_bytes,
               Bytes block_bytes);

/// The work of a call as a function of its block size.
struct WorkLine {
  double fixed, per_byte;
  double of(Bytes block_bytes) const { return fixed + per_byte * static_cast<double>(block_bytes); }
};
/// Counted in one dry run of up to 2^17 messages; for longer calls each node's prediction times the
/// nodes. Nothing if neither exists.
/// \param block_bytes  has an effect if blocks differ in size
std::optional<WorkLine> work_line(const Collective& collective, const Routing& routing,
                                  Bytes block_bytes);
std::optional<double> work_of(const Collective& collective, const Routing& routing,
                              Bytes block_bytes);

/// work_of(), by one dry run for all sizes of a call.
class EmulationWork final : public CallFigures {
 public:
  explicit EmulationWork(const Topology& topology) : CallFigures(topology), routing_(topology) {}
  double shown(std::int64_t figure) const override {  // KiB
    return static_cast<double>(figure) / 1024;
  }

 private:
  Answer figure_of(const Collective& collective, Bytes block_bytes, bool all_port) override;
  Routing routing_;
  std::map<std::string, std::optional<WorkLine>> lines_;  // by call
};

/// The algorithm in ranking() that `auto` may pick and that takes the least work; among equal ones
/// the cheapest by prediction. Throws UsageError if none applies to the network.
Collective least_work(const Choice& choice);

}  // namespace wormcube
