// The barrier algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/registry.hpp"

#include "wormcube/collectives/barrier/dissemination.hpp"

#include <array>

namespace wormcube {

std::span<const Algorithm> barrier_algorithms() {
  static const std::array table{
      Algorithm{
          .operation = Operation::barrier,
          .name = "dissemination",
          .summary = "in step i everybody tells the node 2^i ranks on; every network",
          .source = "Hensgen, Finkel, Manber 1988; Grama, Gupta, Karypis, Kumar, sec. 4.3",
          .contention_free = false,
          .remark = "free of contention on hypercubes and complete networks",
          .require = require_barrier_dissemination,
          .predict = predict_barrier_dissemination,
          .program = [](Node& node, const Call& /*call*/) { barrier_dissemination(node); },
      },
  };
  return table;
}

}  // namespace wormcube
