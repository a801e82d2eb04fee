// The options of the cost model, and its figures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/collectives/harness/weigh.hpp"

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// The cost model's options: which of them were given.
struct CostFlags {
  const CLI::Option *startup = nullptr, *transfer = nullptr, *rearrange = nullptr,
                    *combine = nullptr, *hop = nullptr;
};
CostFlags add_cost_options(CLI::App& app, CostModel& model);
std::string cost_model_text(const CostModel& model);
Json cost_model_json(const CostModel& model);

/// A count, with a "c" if a dry run counted it: "14c".
std::string count_cell(const std::optional<double>& count, CountedBy by);
/// The note below tables with such cells.
inline constexpr const char* counted_note = "c: counted in a dry run, because no formula gives it";
/// Blocks on the busiest link: "?" if unknown. And the modelled time: ">= 70.50" leaves out
/// unknown contention or hops.
std::string link_blocks_cell(const Weighed& weighed);
std::string model_cell(const std::optional<double>& model_us, bool at_least);
/// "none", "formula", "counted", "unknown"; null without a time.
Json contention_json(const Weighed& weighed);
Json time_parts_json(const std::optional<ModelTime>& parts);
/// Sets "predicted", "counted_by", "model_contention", "model_time_us", "model_time_parts_us" and
/// "model_limited_by".
void add_model_json(Json& json, const Weighed& weighed, const CostModel& model, Bytes block_bytes);
inline constexpr const char* no_bus =
    "only counted for algorithms on all ports, on a machine whose ports share a bus";
/// {"startups", "transmission_blocks", ..}
Json prediction_json(const Prediction& prediction,
                     const char* reason = "the source gives no formula");
/// {"startups", "transmission_blocks", "transmission_source", "tight", "exact", "source"}
Json lower_bound_json(const LowerBound& bound);
/// Why there is no exact bound on start-ups that is also one on transmission.
const char* not_exact_reason(const LowerBound& bound);
/// The kind of the transmission's bound, "max-flow"; with a "+" if the network may need more.
std::string bound_source_cell(const LowerBound& bound);

}  // namespace wormcube::cli
