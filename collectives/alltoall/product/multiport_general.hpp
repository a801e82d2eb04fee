// Total exchange on a product of any graphs, all ports: all dimensions at once. Our extension.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/alltoall/product/plan.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

Prediction predict_alltoall_product_multiport_general(const Topology& topology);

Rounds product_multiport_general_rounds(const Topology& topology);

/// How many exchanges run at once in each dimension, and their cost.
struct Copies {
  std::vector<Rank> copies;  ///< m_i
  std::int64_t rounds = 0;   ///< R
  std::int64_t steps = 0;    ///< L, of each round
  /// The last round's, if it is a shorter one (last_steps > 0); zeros otherwise.
  std::vector<Rank> last;
  std::int64_t last_steps = 0;
  std::int64_t total() const {
    return last_steps > 0 ? (rounds - 1) * steps + last_steps : rounds * steps;
  }
};

Copies choose_copies(const Topology& topology);

}  // namespace wormcube
