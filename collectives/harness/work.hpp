// What emulating a call costs this computer's cores: the choice where nodes outnumber them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/routing/routing.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

namespace wormcube {

/// What a message, each link on its way, and a byte that is combined are in the work of emulating a
/// call: bytes that could be copied meanwhile. Fitted to all algorithms of five operations on three
/// networks, two cores: a message takes as long as 8.5 KiB with nodes as fibers, 13 as threads.
inline constexpr Bytes work_of_message = 8192, work_of_link = 128, work_of_combined_byte = 3;

/// What emulating a call costs the cores, in bytes that could be copied meanwhile: those that all
/// nodes send, rearrange and combine, and so many for each message and each link on its way. With
/// more nodes than cores it decides, not the longest chain of steps.
/// \param byte_scale  bytes of the call for each one of the schedule
double work_of(const Schedule& schedule, const Routing& routing, double byte_scale = 1);

/// Of ranking()'s algorithms that `auto` weighs the one with the least work: counted in dry runs of
/// up to 2^17 messages, of longer ones each node's formulas times the nodes. Of equals the cheapest
/// by formula. Throws UsageError when the network admits none.
Collective least_work(Operation operation, const Topology& topology, Bytes block_bytes, Ports ports,
                      const Arguments& arguments = {});

}  // namespace wormcube
