// The lemma and theorems of Wang and Tseng on given tori: printed, corrected, counted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/reproduce/paper.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

inline constexpr std::string_view wang_tseng_citation =
    "Wang, Tseng, Algebraic Foundations and Broadcasting Algorithms for Wormhole-Routed All-Port "
    "Tori";

/// One statement about one torus, in steps.
struct BroadcastClaim {
  std::string network;
  std::string_view place;      ///< "Lemma 1", "sec. 3, Theorem 2"
  std::string_view figure;     ///< "lower bound", "steps", "steps above the bound"
  std::string_view algorithm;  ///< empty: none, the figure is the network's
  std::string_view formula;    ///< as printed
  std::optional<double> printed, corrected, counted;
  bool at_most = false;           ///< printed and corrected are upper limits
  std::string_view erratum = {};  ///< of wang_tseng_errata(), where the printed value differs
  std::vector<std::string> failures = {};

  /// Whether the paper's value holds; nothing if it has none here, or nothing was counted.
  std::optional<bool> as_printed() const;
  bool passed() const;
};

/// Throws UsageError unless the network is a torus.
void require_torus(const Topology& topology);

/// Tori of one to six dimensions, among them those for which the errata differ.
std::vector<std::string> theorem_networks();

struct BroadcastClaims {
  std::vector<BroadcastClaim> claims;
  std::vector<std::string> refused;  ///< why wang-tseng does not apply here
};
/// \param count_up_to  nodes: on larger tori only formulas are shown
/// Throws UsageError unless the network is a torus.
BroadcastClaims reproduce_theorems(const Topology& topology, const CheckOptions& options,
                                   Rank count_up_to);

}  // namespace wormcube::apps
