// Whether nodes that end with the same combination of blocks combine it in the same order: if not,
// rounded results differ in their last bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/harness/contract.hpp"

#include <optional>

namespace wormcube {

/// An operator whose results are different numbers for different brackets (but for a chance of
/// 2^-64), and for different orders of two operands only if it does not commute.
Reduction bracketing_reduction(bool commutes);

/// Runs the call without a network, and compares what nodes end with bit by bit. Nothing if no two
/// nodes end with the same block. Throws as prove() does.
/// \param contract  of the call; its operator is the one that is judged
std::optional<bool> ends_alike(const Collective& collective, const Topology& topology,
                               const Contract& contract);

}  // namespace wormcube
