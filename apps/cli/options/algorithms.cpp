// Algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/algorithms.hpp"

#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/numbers.hpp"

#include <optional>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

Arguments plain_arguments(Operation operation) {
  Arguments arguments;
  if (operation->reduces) arguments.reduction = find_reduction("sum", "double");
  return arguments;
}

void AlgorithmOptions::choose_for(std::string_view name, bool all_port) {
  if (ports != "auto") return;
  machine = name;
  machine_all_port = all_port;
}

void AlgorithmOptions::use_ports_of(std::string_view name, bool all_port) {
  if (ports != "auto") return;
  choose_for(name, all_port);
  ports = all_port ? "all" : "one";
}

CLI::Validator no_number_of_ports() {
  const auto complaint = [](const std::string& text) -> std::string {
    const auto count = number_of<int>(text);
    if (!count) return {};
    if (*count == 1) return "write `one` for one port";
    return fmt::format(
        "{} ports: a node has one port or one per link, nothing between is modelled. Use a network "
        "whose nodes have {} links with --ports all, or bracket the time: --ports one is not "
        "faster, --ports all not slower",
        *count, *count);
  };
  return {complaint, ""};
}

void add_algorithm_options(CLI::App& app, AlgorithmOptions& options) {
  app.add_option("--algorithm", options.names,
                 "Names from `wormcube list`, separated by commas, each optionally with options: "
                 "suh-mesh:order=parity:ring=folded. `auto`: the algorithm with the lowest "
                 "modelled time, for one port unless --ports all is given; never one that `list` "
                 "marks `no`. `all`: every algorithm that can run on this network")
      ->type_name("NAME[:OPTION=VALUE..][,NAME..]|auto|all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str()
      ->group("What");
  app.add_option("--ports", options.ports,
                 "How many messages a node sends and receives at a time. `one`: one of each; "
                 "`all`: one of each per link; `auto`: as many as the algorithm was designed for")
      ->type_name("auto|one|all")
      ->check(no_number_of_ports())
      ->check(one_of({"auto", "one", "all"}))
      ->capture_default_str()
      ->group("What");
}

namespace {

/// Why a collective cannot run here; nothing if it can.
std::optional<std::string> obstacle(const AlgorithmOptions& options, const Collective& collective,
                                    const Topology& topology) {
  if (options.ports == "one" && collective.algorithm->ports == Ports::all) {
    return fmt::format(
        "{}: sends through all ports of a node at once, but {} allows one message in each "
        "direction; use --ports all{}",
        collective.name(),
        options.machine.empty() ? "--ports one"
                                : fmt::format("{}, a one-port machine,", options.machine),
        options.machine.empty() ? " (or auto)" : "");
  }
  auto reason = refusal(collective, topology);
  if (reason) reason = named(collective.name(), *reason);
  return reason;
}

}  // namespace

Selection select(const AlgorithmOptions& options, Operation operation, const Topology& topology,
                 const Arguments& arguments, const CostModel& model, Bytes block_bytes,
                 bool skip_unfit, const AutoChooser& choose) {
  require_arguments(operation, topology.nodes(), arguments);
  Selection selection;
  const auto add = [&](Collective collective, bool skip) {
    if (auto reason = obstacle(options, collective, topology)) {
      if (!skip) throw UsageError(*reason);
      selection.refused.push_back(*std::move(reason));
      return;
    }
    collective.settle(topology, model, block_bytes);
    const bool known = std::ranges::any_of(selection.collectives, [&](const Collective& other) {
      return other.text() == collective.text();
    });
    if (!known) selection.collectives.push_back(std::move(collective));
  };
  for (const std::string& name : options.names) {
    if (name == "all") {
      for (const Algorithm* algorithm : registry()) {
        if (algorithm->operation == operation) add(Collective(*algorithm, arguments), true);
      }
    } else if (name == "auto") {
      const bool all =
          options.ports == "all" || (options.ports == "auto" && options.machine_all_port);
      const Ports ports = all ? Ports::all : Ports::one;
      const Choice choice{operation, topology, block_bytes, ports, model, arguments};
      add(choose ? choose(choice) : cheapest(choice), false);
    } else {
      add(parse_collective(operation, name, arguments), skip_unfit);
    }
  }
  if (!skip_unfit) require_some(operation, {&selection, 1});
  return selection;
}

void require_some(Operation operation, std::span<const Selection> selections) {
  std::string text =
      fmt::format("none of the requested {} algorithms runs here", to_string(operation));
  for (const Selection& selection : selections) {
    if (!selection.collectives.empty()) return;
    for (const std::string& reason : selection.refused) text += "\n  " + reason;
  }
  throw UsageError(text);
}

void RowNames::add(const Topology& topology, const Selection& selection) {
  if (selection.collectives.empty()) return;
  topologies.push_back(topology.name());
  for (const Collective& collective : selection.collectives)
    algorithms.push_back(collective.text());
}

std::string named(std::string_view algorithm, std::string_view reason) {
  const std::string start = fmt::format("{}: ", algorithm);
  return reason.starts_with(start) ? std::string(reason) : start + std::string(reason);
}

std::string names_text(const AlgorithmOptions& options) {
  std::string text;
  for (const std::string& name : options.names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool all_port(const AlgorithmOptions& options, const Algorithm& algorithm) {
  return options.ports == "all" || (options.ports == "auto" && algorithm.ports == Ports::all);
}

Json options_json(const Options& options) {
  Json json = Json::object();
  for (std::size_t i = 0; i < options.declared().size(); ++i) {
    const Option& option = options.declared()[i];
    const std::int64_t value = options.values()[i];
    if (option.choices.empty()) {
      json[std::string(option.name)] = value;
    } else {
      json[std::string(option.name)] = option.text(value);
    }
  }
  return json;
}

void add_remark(Json& json, const Algorithm& algorithm) {
  put(json, "remark", algorithm.remark.empty() ? Json(nullptr) : Json(algorithm.remark),
      "nothing to remark");
}

bool is_of_results(std::string_view remark, int dimensions) {
  return !remark.empty() && !remark.starts_with("free of contention") &&
         (dimensions > 2 || !remark.starts_with("n > 2 dimensions"));
}

void note_remark(Results& results, const Algorithm& algorithm, const Topology& topology) {
  if (!is_of_results(algorithm.remark, topology.dimensions())) return;
  results.note(fmt::format("{}: {}", algorithm.name, algorithm.remark));
}

void note_refused(Results& results, const AlgorithmOptions& options, const OutputOptions& output,
                  std::span<const std::string> refused) {
  if (refused.empty()) return;
  if (output.wide || std::ranges::find(options.names, "all") == options.names.end()) {
    for (const std::string& reason : refused) results.note("not applicable: " + reason);
  } else if (output.notes()) {
    std::string names;
    for (const std::string& reason : refused) {
      names.append(names.empty() ? "" : ", ").append(reason, 0, reason.find(':'));
    }
    results.note(fmt::format("not applicable: {}; --wide gives the reasons", names));
  }
}

std::string_view ports_text(bool all_port) { return all_port ? "all" : "one"; }

}  // namespace wormcube::cli
