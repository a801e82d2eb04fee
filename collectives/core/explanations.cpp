// Why algorithms and their phases exist.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/explanations.hpp"

#include <array>

namespace wormcube {

namespace {

constexpr auto explained = std::to_array<Explanation>({
#include "wormcube/collectives/core/explanations.inc"
});

/// The name without the number that a paper gives it: "two hops" of "stage 2, phase 3: two hops".
std::string_view without_number(std::string_view phase) {
  if (!phase.starts_with("phase ") && !phase.starts_with("stage ")) return phase;
  const std::size_t colon = phase.find(": ");
  return colon == std::string_view::npos ? phase : phase.substr(colon + 2);
}

}  // namespace

std::span<const Explanation> explanations() { return explained; }

std::string_view explanation(const Algorithm& algorithm, std::string_view phase) {
  std::string_view operation = algorithm.operation->name;
  if (operation == "exscan") operation = "scan";
  if (operation.ends_with('v')) operation.remove_suffix(1);
  phase = without_number(phase);
  std::string_view found;
  for (const Explanation& row : explained) {
    if (row.operation != operation && row.operation != algorithm.operation->name) continue;
    if (row.algorithm != algorithm.name) continue;
    if (phase.empty() ? row.phase.empty() : !row.phase.empty() && phase.starts_with(row.phase)) {
      found = row.text;
    }
  }
  return found.empty() && phase.empty() ? algorithm.summary : found;
}

}  // namespace wormcube
