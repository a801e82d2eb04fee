// The algorithms of total exchange with uneven blocks: the programs of alltoall that never bundle.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/registry.hpp"

#include "wormcube/collectives/alltoall/hypercube_pairwise.hpp"
#include "wormcube/collectives/alltoall/shift.hpp"

#include <array>

namespace wormcube {

namespace {

/// A step lasts as long as its largest message, which depends on all sizes: only start-ups have a
/// formula.
template <Prediction (*predict)(const Topology&, const Parameters&)>
Prediction startups_only(const Topology& topology, const Parameters& parameters) {
  Prediction prediction = predict(topology, parameters);
  prediction.transmission_blocks.reset();
  prediction.contended_blocks.reset();
  return prediction;
}

}  // namespace

std::span<const Algorithm> alltoallv_algorithms() {
  constexpr auto operation = Operation::alltoallv;
  static const std::array table{
      Algorithm{
          .operation = operation,
          .name = "hypercube-pairwise",
          .summary = "every pair of nodes meets once; hypercubes",
          .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3, Algorithm 4.10",
          .require = require_alltoall_hypercube_pairwise,
          .predict = startups_only<predict_alltoall_hypercube_pairwise>,
          .program = call<alltoall_hypercube_pairwise>,
      },
      Algorithm{
          .operation = operation,
          .name = "shift",
          .summary = "step i sends to the node i ranks on; every network",
          .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3 and 4.6",
          .contention_free = false,
          .remark = "free of contention on hypercubes and complete networks",
          .require = require_alltoall_shift,
          .predict = startups_only<predict_alltoall_shift>,
          .program = call<alltoall_shift>,
      },
  };
  return table;
}

}  // namespace wormcube
