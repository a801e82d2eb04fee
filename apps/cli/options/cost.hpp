// The options of the cost model, and its figures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/output/json.hpp"
#include "wormcube/collectives/registry.hpp"

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

void add_cost_options(CLI::App& app, CostModel& model);
std::string cost_model_text(const CostModel& model);
Json cost_model_json(const CostModel& model);

/// The model's time; nothing where a formula is missing.
std::optional<double> model_time_us(const Prediction& prediction, const CostModel& model,
                                    Bytes block_bytes);
/// What the model's time is made of. Nothing where a formula is missing.
struct TimeParts {
  std::optional<double> startups_us, transfer_us, rearrange_us, combine_us;
};
TimeParts time_parts(const Prediction& prediction, const CostModel& model, Bytes block_bytes);
Json time_parts_json(const TimeParts& parts);
/// {"startups", "transmission_blocks", ..}
Json prediction_json(const Prediction& prediction);

}  // namespace wormcube::cli
