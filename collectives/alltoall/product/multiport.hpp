// Total exchange on H x H, all ports: both dimensions at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/alltoall/product/plan.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

Prediction predict_alltoall_product_multiport(const Topology& topology);

Rounds product_multiport_rounds(const Topology& topology);

/// One level: H x H from H's exchange.
Rounds square_rounds(std::shared_ptr<const ExchangeTemplate> exchange);

}  // namespace wormcube
