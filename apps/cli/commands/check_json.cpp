// One result of `wormcube check` as JSON.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/check_json.hpp"

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/core/provenance.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"

namespace wormcube::cli {

void add_steps(Json& json, const ScheduleReport& report, const ModelTime& time) {
  Json bytes = Json::array(), load = Json::array(), cost = Json::array();
  for (std::size_t step = 0; step < report.steps; ++step) {
    bytes.push_back(report.per_step[step].largest);
    load.push_back(report.per_step[step].link_load);
    cost.push_back(report.per_step[step].cost);
  }
  json["step_bytes"] = std::move(bytes);
  json["step_load"] = std::move(load);
  json["step_cost_bytes"] = std::move(cost);
  json["time_lockstep"] = time.startups_us + time.hops_us + time.transfer_us;
  json["time_lockstep_us"] = {{"total", time.total_us},
                              {"startups", time.startups_us},
                              {"hops", time.hops_us},
                              {"transfer", time.transfer_us},
                              {"rearrangement", time.rearrange_us},
                              {"combining", time.combine_us}};
}

Json check_json(const CheckResult& result, const Weighed& of_call, const CheckOptions& options,
                const CostModel& model, Bytes block_bytes) {
  const Algorithm& algorithm = *result.collective.algorithm;
  const ScheduleReport& report = result.report;
  Json json{{"operation", to_string(algorithm.operation)},
            {"algorithm", algorithm.name},
            {"options", options_json(result.collective.options)},
            {"arguments", arguments_json(algorithm.operation, result.collective.arguments)},
            {"topology", result.topology},
            {"nodes", result.nodes},
            {"ports", ports_text(result.all_port)},
            {"startups", report.startups},
            {"transmission_blocks", json_value(result.transmission_blocks)},
            {"rearranged_blocks", json_value(result.rearranged_blocks)},
            {"combined_blocks", json_value(result.combined_blocks)},
            {"link_blocks", json_value(result.link_blocks)},
            {"injected_blocks", json_value(result.injected_blocks)},
            {"messages", report.messages},
            {"total_blocks", json_value(result.total_blocks)},
            {"block_hops", json_value(result.block_hops)},
            {"steps", report.steps},
            {"sum_max_hops", report.sum_max_hops},
            {"max_hops", report.max_hops},
            {"link_load_max", report.link_load_max},
            {"contention_free_claimed", algorithm.contention_free},
            {"port_violations", report.port_violations},
            {"matched", report.matched()}};
  put(json, "delivered", json_value(result.delivered), result.proof);
  put(json, "exactly_once", json_value(result.exactly_once), result.arrivals);
  put(json, "keeps_order", json_value(result.keeps_order), result.order);
  put(json, "same_bits", result.same_bits ? Json(to_string(*result.same_bits)) : Json(),
      result.bits);
  json["exactly_once_claimed"] = algorithm.exactly_once;
  json["proof"] = result.proof;
  json["arrivals"] = result.arrivals;
  json["peak_blocks"] = json_value(result.peak_blocks);
  json["working_blocks"] = json_value(result.working_blocks);
  json["deadlock_free"] = report.deadlock_free;
  json["virtual_channels"] = options.virtual_channels;
  json["seed"] = options.seed;
  json["has_formulas"] = result.has_formulas();
  const LowerBound& bound = result.lower_bound;
  const char* const not_exact = not_exact_reason(bound);
  json["lower_bound"] = lower_bound_json(bound);
  put(json, "bound_met", json_value(result.bound_met()), not_exact);
  put(json, "optimal", json_value(result.optimal()), not_exact);
  json["block_bytes"] = block_bytes;
  json["cost_model"] = cost_model_json(model);
  add_model_json(json, of_call, model, block_bytes);
  json["formulas"] = prediction_json(result.predicted);
  json["source"] = algorithm.source;
  json["origin"] = origin(algorithm).empty() ? "built in" : origin(algorithm);
  add_remark(json, algorithm);
  put(json, "passed", json_value(result.verdict()), result.proof);
  json["failures"] = result.failures;
  return json;
}

}  // namespace wormcube::cli
