// Total exchange on a product of any graphs, one port: one dimension after another.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/alltoall/product/plan.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

Prediction predict_alltoall_product(const Topology& topology);

/// The exchange itself.
Rounds product_rounds(const Topology& topology);

Prediction predict_alltoall_product_naive(const Topology& topology);

Rounds product_naive_rounds(const Topology& topology);

/// One copy of a graph after another.
Prediction predict_alltoall_product_serial(const Topology& topology);

Rounds product_serial_rounds(const Topology& topology);

}  // namespace wormcube
