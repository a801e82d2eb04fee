// Total exchange by shifts, for algorithms that fall back to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

void alltoall_shift(Node& node, const Call& call);

}  // namespace wormcube
