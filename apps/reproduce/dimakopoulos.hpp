// Dimakopoulos and Dimopoulos: status, bounds and total exchanges of products, and what is wrong in
// print.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/reproduce/paper.hpp"
#include "wormcube/collectives/alltoall/product/optimality.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// One of the paper's exchanges on a network: checked, counted, and compared with the bound.
struct ProductExchange {
  std::string_view label;  ///< "A2"
  CheckResult check;
  Optimality optimality;
  /// It exchanges, keeps ports and links, takes the steps of its formula, and beats no bound.
  bool passed() const;
};

struct ProductRow {
  std::string network;
  Rank nodes = 0;
  Ratio average_status;    ///< AS; bound (3)
  Ratio average_distance;  ///< AS / (p - 1)
  Ratio cut_bound;         ///< bound (4)
  std::vector<ProductExchange> exchanges;
  std::vector<std::string> refused;
};

/// Throws UsageError for dimensions that the exchanges do not take.
ProductRow reproduce_product(const Topology& topology, const CheckOptions& options);

extern const std::string_view dimakopoulos_citation;
std::span<const char* const> dimakopoulos_networks();
std::span<const Erratum> dimakopoulos_errata();

}  // namespace wormcube::apps
