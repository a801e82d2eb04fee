// The names of the phases in which cells of a torus exchange.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/kit/numbered.hpp"

namespace wormcube {

struct ExchangePhases {
  /// \param before  "phase ", or what Kim et al. add: "stage 2, phase "
  explicit ExchangePhases(std::string_view before)
      : rings(before, "rings of every fourth node"),
        two_hops(before, "two hops"),
        one_hop(before, "one hop") {}
  NumberedPhases rings, two_hops, one_hop;
};

inline const ExchangePhases& exchange_phases() {
  static const ExchangePhases phases("phase ");
  return phases;
}
inline const ExchangePhases& exchange_phases_of_kim() {
  static const ExchangePhases phases("stage 2, phase ");
  return phases;
}

}  // namespace wormcube
