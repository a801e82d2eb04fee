// What emulating a call costs this computer's cores: the choice where nodes outnumber them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <optional>

namespace wormcube {

/// What a message, each link on its way, a step of a node, a piece of memory, and a byte that is
/// combined are in the work of emulating a call: bytes that could be copied meanwhile. A piece is
/// one that a message is put together from or cut into, or a block that is rearranged. Fitted to
/// all algorithms of nine operations on four networks of 64 nodes as fibers, and to exchanges of
/// 1024, at 8 B to 4 KiB on one core, called again and again: 235, 18, 18, 6, 0.03 ns, and 0.24 a
/// byte combined. A message takes as long as 8.5 KiB with nodes as fibers, 13 as threads.
inline constexpr Bytes work_of_message = 8192, work_of_link = 128, work_of_step = 512,
                       work_of_piece = 192, work_of_combined_byte = 3;

/// What emulating a call costs the cores, in bytes that could be copied meanwhile: those that all
/// nodes send, rearrange and combine, and so many for each message, link on its way, step and
/// piece. With more nodes than cores it decides, not the longest chain of steps.
/// \param schedule     as recorded, with its pieces
/// \param unit_bytes   the schedule's blocks
/// \param block_bytes  the call's
double work_of(const Schedule& schedule, const Routing& routing, Bytes unit_bytes,
               Bytes block_bytes);

/// The same of a call: counted in a dry run of up to 2^17 messages; of longer ones each node's
/// formulas times the nodes. Nothing where neither is there.
std::optional<double> work_of(const Collective& collective, const Routing& routing,
                              Bytes block_bytes);

/// Of ranking()'s algorithms that `auto` weighs the one with the least work, of equals the cheapest
/// by formula. Throws UsageError when the network admits none.
Collective least_work(Operation operation, const Topology& topology, Bytes block_bytes, Ports ports,
                      const Arguments& arguments = {});

}  // namespace wormcube
