// Why algorithms and their phases exist.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/explanations.hpp"

#include <array>

namespace wormcube {

namespace {

constexpr auto explained = std::to_array<Explanation>({
#include "wormcube/collectives/core/explanations.inc"
});

}  // namespace

std::span<const Explanation> explanations() { return explained; }

std::string_view explanation(const Algorithm& algorithm, std::string_view phase) {
  std::string_view operation = algorithm.operation->name;
  if (operation == "exscan") operation = "scan";
  if (operation.ends_with('v')) operation.remove_suffix(1);
  std::string_view found;
  for (const Explanation& row : explained) {
    if (row.operation != operation || row.algorithm != algorithm.name) continue;
    if (phase.empty() ? row.phase.empty() : !row.phase.empty() && phase.starts_with(row.phase)) {
      found = row.text;
    }
  }
  return found.empty() && phase.empty() ? algorithm.summary : found;
}

}  // namespace wormcube
