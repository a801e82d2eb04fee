// What `list` and `best` rank.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/ranked.hpp"

#include "wormcube/apps/cli/options/aliases.hpp"
#include "wormcube/apps/cli/options/schedules.hpp"
#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/collectives/harness/schedule_algorithm.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace wormcube::cli {

namespace {

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

std::vector<Priced> RankedOptions::rank(const Choice& choice, Weights& weights) const {
  return names.empty() ? ranking(choice, weights) : ranking(names, choice, weights);
}

Choice RankedOptions::choice(Operation operation, const Topology& topology, const CostModel& model,
                             Bytes block_bytes, Ports ports) const {
  return {operation,
          topology,
          block_bytes,
          ports,
          model,
          arguments(operation),
          any_bits ? Bits::any : Bits::same};
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
