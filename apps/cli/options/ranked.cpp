// What `list` and `best` rank.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/ranked.hpp"

#include "wormcube/apps/cli/options/aliases.hpp"
#include "wormcube/apps/cli/options/schedules.hpp"
#include "wormcube/collectives/core/aliases.hpp"
#include "wormcube/collectives/harness/schedule_algorithm.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace wormcube::cli {

namespace {

std::string_view without_options(std::string_view name) { return name.substr(0, name.find(':')); }

/// "ring:order=rank" for "openmpi.ring:segments=2"; a name of our own as it is.
std::string_view resolved(Operation operation, std::string_view name) {
  const Alias* const alias = find_alias(operation->name, without_options(name));
  return alias != nullptr ? alias->algorithm : name;
}

bool is_named(const Algorithm& algorithm, std::string_view name) {
  return algorithm.name == without_options(resolved(algorithm.operation, name));
}

bool has_algorithm(Operation operation, std::string_view name) {
  return std::ranges::any_of(registry(), [&](const Algorithm* algorithm) {
    return algorithm->operation == operation && is_named(*algorithm, name);
  });
}

}  // namespace

void RankedOptions::use(std::string& operation, std::vector<std::string>& on) {
  if (schedule.empty()) return;
  CallOptions of_file = call;
  use_schedule(schedule, operation, on, of_file);
  if (!names.empty()) add_schedule_name(names);
}

void RankedOptions::require(std::span<const Operation> operations) const {
  for (const std::string& name : names) {
    if (operations.size() == 1) {
      parse_collective(operations.front(), name);  // throws, with the names that it has
    } else if (std::ranges::none_of(operations, [&](Operation operation) {
                 return has_algorithm(operation, name);
               })) {
      throw UsageError(
          fmt::format("--algorithm: no operation has an algorithm '{}'; `wormcube list` shows all "
                      "names",
                      name));
    }
  }
  if (operations.size() == 1) call.resolve(operations.front());
}

Arguments RankedOptions::arguments(Operation operation) const {
  return operation->reduces ? call.resolve(operation) : Arguments{};
}

bool RankedOptions::names_algorithm(const Algorithm& algorithm) const {
  return names.empty() || std::ranges::any_of(names, [&](const std::string& name) {
           return is_named(algorithm, name);
         });
}

std::vector<Priced> RankedOptions::rank(Operation operation, Weights& weights,
                                        const CostModel& model, Bytes block_bytes,
                                        Ports ports) const {
  const Topology& topology = weights.topology();
  const Arguments of_call = arguments(operation);
  const Bits bits = any_bits ? Bits::any : Bits::same;
  if (names.empty()) {
    return ranking(operation, weights, model, block_bytes, ports, of_call, bits);
  }
  std::vector<Priced> named;
  for (const std::string& name : names) {
    if (!has_algorithm(operation, name)) continue;
    const Collective collective = parse_collective(operation, name, of_call);
    if (refusal(collective, topology)) continue;
    if (ports == Ports::one && collective.algorithm->ports == Ports::all) continue;
    named.push_back(form_of(name, collective, weights, model, block_bytes, bits));
  }
  std::ranges::stable_sort(named, {}, [&](const Priced& each) {
    return standing(each.weighed.ranked_us(model, block_bytes), each.weighed.contention);
  });
  return named;
}

Priced form_of(std::string_view name, Collective collective, Weights& weights,
               const CostModel& model, Bytes block_bytes, Bits bits) {
  const Algorithm& algorithm = *collective.algorithm;
  const auto is_open = [](std::string_view text) { return without_options(text) == text; };
  if (is_open(name) && is_open(resolved(algorithm.operation, name)) &&
      is_chosen_by_auto(algorithm)) {
    auto form = cheapest_form(algorithm, weights, model, block_bytes, collective.arguments, bits);
    if (form) return *std::move(form);
  }
  collective.settle(weights.topology(), model, block_bytes);
  const Weighed& weighed = weights(collective, block_bytes);
  return {collective, weighed, weighed.us(model, block_bytes)};
}

void add_ranked_options(CLI::App& app, RankedOptions& options) {
  app.add_option(
         "--algorithm", options.names,
         "Consider only these algorithms, for instance bruck,swing or suh-mesh:order=parity "
         "(default: all). An algorithm named without options gets its cheapest options")
      ->type_name("NAME[:OPTION=VALUE..][,NAME..]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("What");
  add_schedule_option(app, options.schedule, true);
  add_reduction_options(app, options.call, "What");
  app.add_flag("--any-bits", options.any_bits,
               "Also rank algorithms whose rounded sums may differ from node to node in their last "
               "bits")
      ->group("What");
}

void print_operator(const OutputOptions& output, const RankedOptions& options,
                    std::span<const Operation> operations) {
  std::set<std::string> notes;  // operations share most of them
  for (const Operation operation : operations) {
    for (std::string& note : alias_notes(operation, options.names)) notes.insert(std::move(note));
  }
  for (const std::string& note : notes) print_setting(output, "name", note);
  const auto reducing =
      std::ranges::find_if(operations, [](Operation operation) { return operation->reduces; });
  if (reducing == operations.end()) return;
  const Arguments arguments = options.arguments(*reducing);
  print_setting(output, "operator",
                fmt::format("{} on {}", arguments.reduction.name, arguments.reduction.type));
}

std::vector<Ports> ports_of(const std::string& text) {
  if (text == "both") return {Ports::one, Ports::all};
  return {text == "one" ? Ports::one : Ports::all};
}

std::string_view ports_name(Ports ports) { return ports == Ports::one ? "one port" : "all ports"; }

std::string same_bits_cell(const Collective& collective, const Topology& topology) {
  if (!collective.operation()->reduces) return "-";
  return std::string(to_string(same_bits(collective, topology)));
}

void note_bits(Results& results, const Collective& collective, const Topology& topology) {
  if (same_bits(collective, topology) != SameBits::no) return;
  results.note(fmt::format(
      "{} on {}: nodes add in different orders, so rounded sums may differ from node to node in "
      "their last bits",
      collective.text(), topology.name()));
}

}  // namespace wormcube::cli
