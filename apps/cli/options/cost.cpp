// The cost model.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/cost.hpp"

#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/table.hpp"

#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

CostFlags add_cost_options(CLI::App& app, CostModel& model) {
  const auto add = [&](const char* name, double& value, const char* what, const char* unit) {
    return app.add_option(name, value, what)
        ->type_name(unit)
        ->check(at_least(0))
        ->capture_default_str()
        ->group("Cost model (for `auto` and modelled times)");
  };
  return {
      add("--ts", model.startup_us, "Start-up time of a message, microseconds", "US"),
      add("--tw", model.transfer_us, "Transfer time, microseconds per byte", "US"),
      add("--tr", model.rearrange_us, "Rearrangement time, microseconds per byte", "US"),
      add("--tc", model.combine_us, "Combining time of a reduction, microseconds per byte", "US")};
}

std::string cost_model_text(const CostModel& model) {
  return fmt::format(
      "ts {:.8g} us per message, tw {:.8g} us per byte, tr {:.8g} us per byte, tc {:.8g} us per "
      "byte",
      model.startup_us, model.transfer_us, model.rearrange_us, model.combine_us);
}

Json cost_model_json(const CostModel& model) {
  return {{"ts_us", model.startup_us},
          {"tw_us_per_byte", model.transfer_us},
          {"tr_us_per_byte", model.rearrange_us},
          {"tc_us_per_byte", model.combine_us}};
}

namespace {

/// Contention needs formulas for start-ups and transmission.
bool has_transmission(const Prediction& prediction) {
  return prediction.startups && (prediction.transmission_blocks || prediction.link_blocks);
}

}  // namespace

std::optional<double> model_time_us(const Prediction& prediction, const CostModel& model,
                                    Bytes block_bytes) {
  if (!has_transmission(prediction)) return std::nullopt;
  return predicted_us(prediction, model, block_bytes);
}

std::string link_blocks_cell(const Prediction& prediction, Contention contention) {
  if (!has_transmission(prediction)) return "-";
  return contention == Contention::unknown ? "?" : cell(prediction.link_blocks);
}

std::string model_cell(const std::optional<double>& model_us, Contention contention) {
  const bool least = model_us && contention == Contention::unknown;
  return (least ? ">= " : "") + cell_rate(model_us);
}

Json contention_json(const Prediction& prediction, Contention contention) {
  return has_transmission(prediction) ? Json(to_string(contention)) : Json(nullptr);
}

TimeParts time_parts(const Prediction& prediction, const CostModel& model, Bytes block_bytes) {
  const auto bytes = static_cast<double>(block_bytes);
  const auto times = [](double unit_us, const std::optional<double>& count) {
    return count ? std::optional(unit_us * *count) : std::nullopt;
  };
  const auto& transmission =
      prediction.link_blocks ? prediction.link_blocks : prediction.transmission_blocks;
  return {times(model.startup_us, prediction.startups),
          times(model.transfer_us * bytes, transmission),
          times(model.rearrange_us * bytes, prediction.rearranged_blocks),
          times(model.combine_us * bytes, prediction.combined_blocks)};
}

Json time_parts_json(const TimeParts& parts) {
  Json json;
  for (const auto& [name, value] :
       {std::pair("startups", parts.startups_us), std::pair("transfer", parts.transfer_us),
        std::pair("rearrangement", parts.rearrange_us), std::pair("combining", parts.combine_us)}) {
    put(json, name, json_value(value), "the source gives no formula");
  }
  return json;
}

Json prediction_json(const Prediction& prediction) {
  Json json;
  const auto add = [&](const char* name, const std::optional<double>& value) {
    put(json, name, json_value(value), "the source gives no formula");
  };
  add("startups", prediction.startups);
  add("transmission_blocks", prediction.transmission_blocks);
  add("rearranged_blocks", prediction.rearranged_blocks);
  add("combined_blocks", prediction.combined_blocks);
  add("working_blocks", prediction.working_blocks);
  add("link_load", prediction.link_load);
  add("link_blocks", prediction.link_blocks);
  return json;
}

namespace {
constexpr const char* no_bound = "no bound is known";
}  // namespace

const char* not_exact_reason(const LowerBound& bound) {
  return bound.startups || bound.transmission_blocks
             ? "the bound is on start-ups and transmission separately"
             : no_bound;
}

Json lower_bound_json(const LowerBound& bound) {
  Json json;
  const bool known = bound.transmission_blocks && !bound.transmission_source.empty();
  put(json, "startups", json_value(bound.startups), no_bound);
  put(json, "transmission_blocks", json_value(bound.transmission_blocks), no_bound);
  put(json, "transmission_source", known ? Json(bound.transmission_source) : Json(nullptr),
      bound.transmission_blocks ? "the operation's row does not say" : no_bound);
  put(json, "tight", bound.transmission_blocks ? Json(bound.tight) : Json(nullptr), no_bound);
  put(json, "exact", bound.exact ? Json(bound.exact->text()) : Json(nullptr),
      not_exact_reason(bound));
  put(json, "source", bound.exact ? Json(bound.source) : Json(nullptr), not_exact_reason(bound));
  return json;
}

std::string bound_source_cell(const LowerBound& bound) {
  if (!bound.transmission_blocks || bound.transmission_source.empty()) return "-";
  return std::string(bound.transmission_source) + (bound.tight ? "" : " +");
}

}  // namespace wormcube::cli
