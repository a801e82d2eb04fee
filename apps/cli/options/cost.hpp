// The options of the cost model, and its figures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/collectives/harness/choose.hpp"

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// The cost model's options: which of them were given.
struct CostFlags {
  const CLI::Option *startup = nullptr, *transfer = nullptr, *rearrange = nullptr,
                    *combine = nullptr;
};
CostFlags add_cost_options(CLI::App& app, CostModel& model);
std::string cost_model_text(const CostModel& model);
Json cost_model_json(const CostModel& model);

/// The model's time; empty if a formula is missing.
std::optional<double> model_time_us(const Prediction& prediction, const CostModel& model,
                                    Bytes block_bytes);
/// Transmission in blocks with contention: "?" if contention is unknown, "-" if the source gives no
/// formula. And the modelled time: ">= 70.50" leaves out unknown contention.
std::string link_blocks_cell(const Prediction& prediction, Contention contention);
std::string model_cell(const std::optional<double>& model_us, Contention contention);
/// "none", "formula", "counted", "unknown"; null where the source gives no formula.
Json contention_json(const Prediction& prediction, Contention contention);
/// The parts of the modelled time. Empty if a formula is missing.
struct TimeParts {
  std::optional<double> startups_us, transfer_us, rearrange_us, combine_us;
};
TimeParts time_parts(const Prediction& prediction, const CostModel& model, Bytes block_bytes);
Json time_parts_json(const TimeParts& parts);
/// {"startups", "transmission_blocks", ..}
Json prediction_json(const Prediction& prediction);
/// {"startups", "transmission_blocks", "transmission_source", "tight", "exact", "source"}
Json lower_bound_json(const LowerBound& bound);
/// Why there is no exact bound on start-ups that is also one on transmission.
const char* not_exact_reason(const LowerBound& bound);
/// The kind of the transmission's bound, "max-flow"; with a "+" if the network may need more.
std::string bound_source_cell(const LowerBound& bound);

}  // namespace wormcube::cli
