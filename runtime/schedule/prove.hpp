// A proof run: the real program on real data, step by step, without a network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/schedule/schedule.hpp"

namespace wormcube {

/// Runs the program of every rank on one fiber each, bulk-synchronously: all ranks run to their next step, then the
/// messages of the step are matched and copied, then on. Nothing here is shared with the wormhole network, so what it
/// delivers is evidence about the program alone. The calling thread does all the work.
///
/// Throws UsageError naming step and ranks if a step's sends and receives do not match; what a program throws, with the
/// rank in front.
void prove(const Topology& topology, const Program& program);

}  // namespace wormcube
