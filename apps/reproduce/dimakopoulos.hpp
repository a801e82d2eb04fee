// Dimakopoulos and Dimopoulos: status, bounds and total exchanges of products, and the errors in
// print.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/reproduce/paper.hpp"
#include "wormcube/runtime/topology/theory.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// One of the paper's exchanges on a network: checked, counted, and compared with the bound.
struct ProductExchange {
  std::string_view label;  ///< "A2"
  /// Its bound and whether it is met are part of it.
  CheckResult check;
};

struct ProductRow {
  std::string network;
  Rank nodes = 0;
  Rational average_status;    ///< AS; bound (3)
  Rational average_distance;  ///< AS / (p - 1)
  Rational cut_bound;         ///< bound (4)
  std::vector<ProductExchange> exchanges;
  std::vector<std::string> refused;
};

/// The same as pieces_to_reproduce().
std::vector<double> pieces_of_products(std::span<const Topology> topologies,
                                       const CheckOptions& options);
/// Throws UsageError for dimensions that the exchanges do not admit.
/// \param each  called after each exchange; may be empty
ProductRow reproduce_product(const Topology& topology, const CheckOptions& options,
                             const std::function<void()>& each = {});

extern const std::string_view dimakopoulos_citation;
std::span<const char* const> dimakopoulos_networks();
std::span<const Erratum> dimakopoulos_errata();

}  // namespace wormcube::apps
