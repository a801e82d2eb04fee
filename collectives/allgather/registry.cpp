// The all-gather algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/registry.hpp"

#include "wormcube/collectives/allgather/ring.hpp"

#include <array>

namespace wormcube {

std::span<const Algorithm> allgather_algorithms() {
  static const std::array table{
      Algorithm{
          .operation = Operation::allgather,
          .name = "ring",
          .summary = "each block travels once round; one line or ring",
          .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.4, Eq. 4.2",
          .require = require_allgather_ring,
          .predict = predict_allgather_ring,
          .program = call<allgather_ring>,
      },
  };
  return table;
}

}  // namespace wormcube
