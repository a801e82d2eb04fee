// A proof run: the real program on real data, step by step, without a network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace wormcube {

/// A message of a proof run that has just arrived.
struct Delivery {
  Rank from, to;
  std::size_t step;
  Tag tag;
  std::span<const Span> pieces;  // the receiver's, filled
};

/// Which threads run the programs and copy the messages of a proof.
enum class ProofThreads : std::uint8_t {
  calling,  ///< a program may write to what all nodes share
  all,      ///< on networks of hundreds of nodes, several programs run at the same time
};

/// Runs the program of every rank on one fiber each. The messages of step 0 of all ranks are
/// matched and copied, then those of step 1, and so on. Nothing here is shared with the wormhole
/// network, so the result depends on the program alone, not on the threads.
///
/// As on a machine with a window (MachineOptions::window), a program may be some steps ahead of
/// what is delivered, if their data lies in memory(). All its steps are delivered before local(),
/// rearrange() and combine(), so a program that touches its data there only cannot tell.
///
/// \param listener  called for each message of a step by the calling thread, between the nodes'
///                  programs, once all are copied; an exception from it ends the proof and is
///                  passed on unchanged
///
/// memory() is filled with a pattern, so that nothing in it is right before a message delivers it.
///
/// Throws UsageError naming step and ranks if a step's sends and receives do not match; NoRoom if
/// the system has not enough stacks for the nodes. A program's UsageError is passed on unchanged,
/// any other exception as NodeFailure with the rank in front and the original nested. The first
/// step's exception is thrown, and of these the lowest rank's. All other programs are unwound by
/// Stopped first.
void prove(const Topology& topology, const Program& program,
           const std::function<void(const Delivery&)>& listener = {},
           ProofThreads threads = ProofThreads::calling);

}  // namespace wormcube
