// Ratios to the lower bound.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/best_bound.hpp"

#include "wormcube/apps/cli/output/table.hpp"

#include <fmt/core.h>

namespace wormcube::cli {

std::optional<double> BoundRatio::ratio() const {
  if (!blocks || bound.transmission_blocks.value_or(0) <= 0) return std::nullopt;
  return *blocks / *bound.transmission_blocks;
}

void BoundRatio::add_json(Json& json) const {
  put(json, "winner_link_blocks", json_value(blocks), reason);
  put(json, "bound_blocks", json_value(bound.transmission_blocks), reason);
  put(json, "bound_ratio", json_value(ratio()), reason);
  put(json, "startups_bound", json_value(bound.startups), reason);
  put(json, "bound_tight", bound.transmission_blocks ? Json(bound.tight) : Json(nullptr), reason);
}

BoundRatio BoundOfCell::of(const Contest& contest) {
  if (!wanted_) return {};
  if (!contest.has_winner()) return {{}, {}, "no algorithm with formulas runs here"};
  const Contestant& winner = contest.winner();
  if (!bound_) bound_ = lower_bound(operation_, topology_, ports_, winner.collective().arguments);
  return {winner.priced.weighed.prediction.link_blocks, *bound_, "no bound is known"};
}

void BoundRatios::add(const BoundRatio& ratio, const std::string& where) {
  const std::optional<double> times = ratio.ratio();
  if (!times) return;
  ++cells_;
  if (*times > 1.02) ++above_;
  if (*times > largest_) largest_ = *times, where_ = where;
}

std::string BoundRatios::text() const {
  if (cells_ == 0) return "no bound is known here";
  return fmt::format(
      "{} of {} cells {} more than 2 % above the bound; the largest ratio is {} ({})", above_,
      cells_, above_ == 1 ? "is" : "are", cell(largest_), where_);
}

}  // namespace wormcube::cli
