// The constants of the cost model, fitted to measured times.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/cost.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace wormcube {

/// One measured call: its predicted counts, and how long it took.
struct CostSample {
  double startups = 0;                  // steps
  double transferred = 0;               // bytes in time; shared links count multiply
  double rearranged = 0, combined = 0;  // bytes
  double us = 0;                        // more than 0
  std::array<double, 4> counts() const { return {startups, transferred, rearranged, combined}; }
};

struct CostFit {
  CostModel model;
  /// Whether the samples determine it; else it is 0 in the model.
  bool has_startup = false, has_transfer = false, has_rearrange = false, has_combine = false;
  /// (fitted - measured) / measured: root of the mean square, median and largest magnitude.
  double rms = 0, median = 0, largest = 0;
  double fitted_us(const CostSample& sample) const;
};

/// The constants, none below 0, with the least sum of squared relative errors: exactly, by trying
/// each set of nonzero constants. Empty if the samples determine none.
std::optional<CostFit> fit_costs(std::span<const CostSample> samples);

}  // namespace wormcube
