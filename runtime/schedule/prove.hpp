// A proof run: the real program on real data, step by step, without a network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"

namespace wormcube {

/// Runs the program of every rank on one fiber each, bulk-synchronously: all ranks run to their
/// next step, then the messages of the step are matched and copied, then on. Nothing here is shared
/// with the wormhole network, so what it delivers is evidence about the program alone. The calling
/// thread does all the work.
///
/// memory() is filled with a pattern, so that nothing in it is right before a message brings it.
///
/// Throws UsageError naming step and ranks if a step's sends and receives do not match. A program's
/// UsageError leaves as it is, anything else as NodeFailure with the rank in front and the original
/// nested: the first step's, of these the lowest rank's. All other programs are unwound by Stopped
/// first.
///
/// \param delivered  told of each message when it has been copied; may be empty
using Delivered =
    std::function<void(Rank from, Rank to, std::size_t step, std::span<const Span> received)>;
void prove(const Topology& topology, const Program& program, const Delivered& delivered = {});

}  // namespace wormcube
