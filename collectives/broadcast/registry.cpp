// The broadcast algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/registry.hpp"

#include "wormcube/collectives/broadcast/halving.hpp"

#include <array>

namespace wormcube {

std::span<const Algorithm> broadcast_algorithms() {
  static const std::array table{
      Algorithm{
          .operation = Operation::broadcast,
          .name = "halving",
          .summary = "recursive doubling by interval halving, farthest first; every network",
          .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.1, Eq. 4.1, problem 4.1",
          .contention_free = false,
          .remark = "free of contention in one dimension, and where all sizes are powers of two",
          .require = require_broadcast_halving,
          .predict = predict_broadcast_halving,
          .program =
              [](Node& node, const Call& call) {
                broadcast_halving(node, call.output.all(), call.parameters.root);
              },
      },
  };
  return table;
}

}  // namespace wormcube
