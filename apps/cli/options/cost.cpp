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
      add("--ts", model.startup_us, "Start-up time per message, in microseconds", "US"),
      add("--tw", model.transfer_us, "Transfer time, in microseconds per byte", "US"),
      add("--tr", model.rearrange_us, "Rearrangement time, in microseconds per byte", "US"),
      add("--tc", model.combine_us, "Combining time in reductions, in microseconds per byte", "US"),
      app.add_option(
             "--hop", model.hop_us,
             "Time per link on a message's route, in microseconds (default: the transfer time of "
             "one flit)")
          ->type_name("US")
          ->check(at_least(0))
          ->group("Cost model (for `auto` and modelled times)")};
}

std::string cost_model_text(const CostModel& model) {
  return fmt::format(
      "ts {:.8g} us per message, tw {:.8g} us per byte, tr {:.8g} us per byte, tc {:.8g} us per "
      "byte, th {:.8g} us per link",
      model.startup_us, model.transfer_us, model.rearrange_us, model.combine_us,
      model.link_hop_us());
}

Json cost_model_json(const CostModel& model) {
  Json json{{"ts_us", model.startup_us},
            {"tw_us_per_byte", model.transfer_us},
            {"tr_us_per_byte", model.rearrange_us},
            {"tc_us_per_byte", model.combine_us},
            {"th_us", model.link_hop_us()},
            {"tw_link_us_per_byte", model.link_byte_us()},
            {"flit_bytes", model.flit_bytes}};
  put(json, "tw_bus_us_per_byte", json_value(model.bus_us), "no bus");
  return json;
}

std::string count_cell(const std::optional<double>& count, CountedBy by) {
  return cell(count) + (count && by == CountedBy::counted ? "c" : "");
}

std::string link_blocks_cell(const Weighed& weighed) {
  if (!weighed.prediction.link_blocks) return "?";
  return count_cell(weighed.prediction.link_blocks, weighed.link);
}

std::string model_cell(const std::optional<double>& model_us, bool at_least) {
  return (model_us && at_least ? ">= " : "") + cell_rate(model_us);
}

Json contention_json(const Weighed& weighed) {
  const bool has_time = weighed.us({}, 1).has_value();
  return has_time ? Json(to_string(weighed.contention)) : Json(nullptr);
}

Json time_parts_json(const std::optional<ModelTime>& parts) {
  Json json;
  for (const auto& [name, member] :
       {std::pair("startups", &ModelTime::startups_us), std::pair("hops", &ModelTime::hops_us),
        std::pair("transfer", &ModelTime::transfer_us),
        std::pair("rearrangement", &ModelTime::rearrange_us),
        std::pair("combining", &ModelTime::combine_us)}) {
    put(json, name, parts ? json_value((*parts).*member) : Json(nullptr), no_counts);
  }
  return json;
}

void add_model_json(Json& json, const Weighed& weighed, const CostModel& model, Bytes block_bytes) {
  json["predicted"] = prediction_json(weighed.prediction, no_counts);
  json["counted_by"] = {{"startups", to_string(weighed.startups)},
                        {"transmission_blocks", to_string(weighed.transmission)},
                        {"rearranged_blocks", to_string(weighed.rearranged)},
                        {"combined_blocks", to_string(weighed.combined)},
                        {"link_blocks", to_string(weighed.link)},
                        {"hops", to_string(weighed.hops)},
                        {"injected_blocks", to_string(weighed.injected)}};
  const auto parts = weighed.parts(model, block_bytes);
  put(json, "model_contention", contention_json(weighed), no_counts);
  put(json, "model_time_us", parts ? json_value(parts->total_us) : Json(nullptr), no_counts);
  json["model_time_parts_us"] = time_parts_json(parts);
  put(json, "model_limited_by", parts ? Json(to_string(parts->limit)) : Json(nullptr), no_counts);
}

Json prediction_json(const Prediction& prediction, const char* reason) {
  Json json;
  const auto add = [&](const char* name, const std::optional<double>& value) {
    put(json, name, json_value(value), reason);
  };
  add("startups", prediction.startups);
  add("transmission_blocks", prediction.transmission_blocks);
  add("rearranged_blocks", prediction.rearranged_blocks);
  add("combined_blocks", prediction.combined_blocks);
  add("working_blocks", prediction.working_blocks);
  add("link_load", prediction.link_load);
  add("link_blocks", prediction.link_blocks);
  add("hops", prediction.hops);
  put(json, "injected_blocks", json_value(prediction.injected_blocks), no_bus);
  return json;
}

namespace {
constexpr const char* no_bound = "no bound is known";
}  // namespace

const char* not_exact_reason(const LowerBound& bound) {
  return bound.startups || bound.transmission_blocks
             ? "start-ups and transmission have separate bounds"
             : no_bound;
}

Json lower_bound_json(const LowerBound& bound) {
  Json json;
  const bool known = bound.transmission_blocks && !bound.transmission_source.empty();
  put(json, "startups", json_value(bound.startups), no_bound);
  put(json, "transmission_blocks", json_value(bound.transmission_blocks), no_bound);
  put(json, "port_blocks", json_value(bound.port_blocks), no_bound);
  put(json, "transmission_source", known ? Json(bound.transmission_source) : Json(nullptr),
      bound.transmission_blocks ? "the operation does not name the kind of bound" : no_bound);
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
