// Shared options: declaration, parsing, echo.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options.hpp"

#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/core.h>

namespace wormcube::cli {

CLI::Validator at_least(double least) {
  const auto complaint = [least](std::string& text) -> std::string {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value)) return fmt::format("'{}' is not a number", text);
    return value >= least ? "" : fmt::format("{} is less than {}", text, least);
  };
  return {complaint, ""};
}

Bytes parse_bytes(std::string_view text) {
  const auto fail = [&](std::string_view problem) -> Bytes {
    throw UsageError(
        fmt::format("'{}' is not a number of bytes: {}; expected a whole number, with K, M or G "
                    "for 1024, 1024^2 or 1024^3",
                    text, problem));
  };
  Bytes number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) return fail("too large");
  if (error != std::errc{}) return fail("no number");
  std::string_view suffix = text.substr(end - text.data());
  int shift = 0;
  if (!suffix.empty()) {
    switch (suffix.front()) {
      case 'k':
      case 'K':
        shift = 10;
        break;
      case 'm':
      case 'M':
        shift = 20;
        break;
      case 'g':
      case 'G':
        shift = 30;
        break;
      case 'b':
      case 'B':
        break;
      default:
        return fail("unknown suffix");
    }
    suffix.remove_prefix(1);
    if (!suffix.empty() && suffix != "B" && suffix != "iB") return fail("unknown suffix");
  }
  if (number > (Bytes{1} << 44) >> shift) return fail("too large");
  return number << shift;
}

void add_on_option(CLI::App& app, std::vector<std::string>& on, bool required) {
  app.add_option("--on", on,
                 "The network, for instance ring:7 line:5 torus:8x8 mesh:6x4 hypercube:6 "
                 "complete:8 tree:8 ghc:4x3 star:8 petersen ccc:3 butterfly:3 circulant:12+1+3 "
                 "star-graph:4 bubble-sort:4 cayley:2134+2341 "
                 "graph:FILE, or a product such as ring:4*line:3. Several: separate with commas")
      ->type_name("TOPOLOGY")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required(required)
      ->group("What");
}

std::vector<Topology> parse_topologies(const std::vector<std::string>& on) {
  std::vector<Topology> topologies;
  topologies.reserve(on.size());
  for (const std::string& text : on) topologies.push_back(Topology::parse(text));
  return topologies;
}

void add_algorithm_options(CLI::App& app, AlgorithmOptions& options) {
  app.add_option(
         "--algorithm", options.names,
         "Names from `wormcube list`, separated with commas; `auto`: the cheapest by "
         "formula (one-port, unless --ports all); `all`: every one that this network admits")
      ->type_name("NAME[,NAME..]|auto|all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str()
      ->group("What");
  app.add_option("--ports", options.ports,
                 "How many messages a node sends and receives at a time: `one` of each, `all`: one "
                 "of each per link, `auto`: "
                 "what the algorithm was made for")
      ->type_name("auto|one|all")
      ->check(CLI::IsMember({"auto", "one", "all"}))
      ->capture_default_str()
      ->group("What");
}

namespace {

/// Why an algorithm cannot run here; nothing if it can.
std::optional<std::string> obstacle(const AlgorithmOptions& options, const Algorithm& algorithm,
                                    const Topology& topology, const Parameters& parameters) {
  if (options.ports == "one" && algorithm.ports == Ports::all) {
    return fmt::format(
        "{}: sends through all ports of a node at once, but --ports one allows one message each "
        "way; use --ports all "
        "(or auto)",
        algorithm.name);
  }
  auto reason = refusal(algorithm, topology, parameters);
  if (reason) reason = named(algorithm.name, *reason);
  return reason;
}

}  // namespace

Selection select(const AlgorithmOptions& options, Operation operation, const Topology& topology,
                 const Parameters& parameters) {
  if (operation == Operation::broadcast && parameters.root >= topology.nodes()) {
    throw UsageError(fmt::format("root {} is not a node of {}; nodes are 0 to {}", parameters.root,
                                 topology.name(), topology.nodes() - 1));
  }
  Selection selection;
  const auto add = [&](const Algorithm& algorithm) {
    if (std::ranges::find(selection.algorithms, &algorithm) == selection.algorithms.end()) {
      selection.algorithms.push_back(&algorithm);
    }
  };
  for (const std::string& name : options.names) {
    if (name == "all") {
      for (const Algorithm& algorithm : registry()) {
        if (algorithm.operation != operation) continue;
        if (auto reason = obstacle(options, algorithm, topology, parameters)) {
          selection.refused.push_back(*std::move(reason));
        } else {
          add(algorithm);
        }
      }
    } else if (name == "auto") {
      add(cheapest(operation, topology, parameters,
                   options.ports == "all" ? Ports::all : Ports::one));
    } else {
      const Algorithm& algorithm = find_algorithm(operation, name);
      if (const auto reason = obstacle(options, algorithm, topology, parameters))
        throw UsageError(*reason);
      add(algorithm);
    }
  }
  if (selection.algorithms.empty()) {
    std::string text =
        fmt::format("no {} algorithm runs on {}", to_string(operation), topology.name());
    for (const std::string& reason : selection.refused) text += "\n  " + reason;
    throw UsageError(text);
  }
  return selection;
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

std::string_view to_string(MeshOrder order) {
  switch (order) {
    case MeshOrder::best:
      return "best";
    case MeshOrder::paper:
      return "paper";
    case MeshOrder::parity:
      return "parity";
    case MeshOrder::overlap:
      return "overlap";
  }
  return "";
}

std::string_view to_string(MeshRing ring) { return ring == MeshRing::plus ? "plus" : "folded"; }

void add_parameter_options(CLI::App& app, ParameterOptions& options) {
  Parameters& parameters = options.parameters;
  app.add_option("--root", parameters.root, "The node that a broadcast starts from")
      ->type_name("NODE")
      ->check(at_least(0))
      ->capture_default_str()
      ->group("Algorithm variants");
  app.add_option(
         "--divisions", parameters.divisions,
         "kim-recursive: how often the torus is divided (the k of A_k); 0: as often as it can be")
      ->type_name("K")
      ->check(at_least(0))
      ->capture_default_str()
      ->group("Algorithm variants");
  app.add_option("--order", options.order,
                 "suh-mesh: the order of its ring phases; best: the cheapest by formula")
      ->type_name("best|paper|parity|overlap")
      ->check(CLI::IsMember({"best", "paper", "parity", "overlap"}))
      ->capture_default_str()
      ->group("Algorithm variants");
  app.add_option("--ring", options.ring,
                 "suh-mesh: the ring over a line of the mesh, 0 1 2 .. and back, or 0 2 4 .. 5 3 1")
      ->type_name("plus|folded")
      ->check(CLI::IsMember({"plus", "folded"}))
      ->capture_default_str()
      ->group("Algorithm variants");
  app.add_option("--ts", parameters.startup_us, "Start-up time of a message, microseconds")
      ->type_name("US")
      ->check(at_least(0))
      ->capture_default_str()
      ->group("Cost model (chooses `auto`, and gives the model's times)");
  app.add_option("--tw", parameters.transfer_us, "Transfer time, microseconds per byte")
      ->type_name("US")
      ->check(at_least(0))
      ->capture_default_str()
      ->group("Cost model (chooses `auto`, and gives the model's times)");
  app.add_option("--tr", parameters.rearrange_us, "Rearrangement time, microseconds per byte")
      ->type_name("US")
      ->check(at_least(0))
      ->capture_default_str()
      ->group("Cost model (chooses `auto`, and gives the model's times)");
}

Parameters ParameterOptions::resolve() const {
  Parameters resolved = parameters;
  resolved.order = order == "paper"     ? MeshOrder::paper
                   : order == "parity"  ? MeshOrder::parity
                   : order == "overlap" ? MeshOrder::overlap
                                        : MeshOrder::best;
  resolved.ring = ring == "folded" ? MeshRing::folded : MeshRing::plus;
  return resolved;
}

std::string parameters_text(const Parameters& parameters) {
  return fmt::format("root {}, divisions {}, order {}, ring {}", parameters.root,
                     parameters.divisions, to_string(parameters.order), to_string(parameters.ring));
}

std::string cost_model_text(const Parameters& parameters) {
  return fmt::format("ts {} us per message, tw {} us per byte, tr {} us per byte",
                     parameters.startup_us, parameters.transfer_us, parameters.rearrange_us);
}

std::optional<double> model_time_us(const Prediction& prediction, const Parameters& parameters) {
  if (!prediction.startups || (!prediction.transmission_blocks && !prediction.contended_blocks))
    return std::nullopt;
  return predicted_us(prediction, parameters);
}

Json prediction_json(const Prediction& prediction) {
  return {{"startups", json_value(prediction.startups)},
          {"transmission_blocks", json_value(prediction.transmission_blocks)},
          {"rearranged_blocks", json_value(prediction.rearranged_blocks)},
          {"working_blocks", json_value(prediction.peak_blocks)},
          {"link_load", json_value(prediction.link_load)},
          {"contended_blocks", json_value(prediction.contended_blocks)}};
}

void add_virtual_channels_option(CLI::App& app, int& virtual_channels) {
  app.add_option(
         "--virtual-channels", virtual_channels,
         "Virtual channels per ring link: 2 (the dateline keeps rings free of deadlock) or 1")
      ->type_name("1|2")
      ->check(CLI::IsMember({1, 2}))
      ->capture_default_str()
      ->group("Machine");
}

void add_machine_options(CLI::App& app, MachineFlags& flags) {
  app.add_option("--nodes-as", flags.nodes_as,
                 "What a node is on this computer: an OS thread or a fiber")
      ->type_name("threads|fibers")
      ->check(CLI::IsMember({"threads", "fibers"}))
      ->capture_default_str()
      ->group("Machine");
  app.add_option("--capacity", flags.capacity, "Flits that a channel holds, 1 or more")
      ->type_name("FLITS")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20))
      ->capture_default_str()
      ->group("Machine");
  app.add_option("--eager-limit", flags.eager_limit,
                 "Messages up to this size travel in flits; longer ones are copied once, from "
                 "memory to memory")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("Machine");
  add_virtual_channels_option(app, flags.virtual_channels);
  app.add_flag("--lockstep", flags.lock_step, "A barrier after each step")->group("Machine");
  app.add_option("--time-limit", flags.time_limit,
                 "Give up after so many seconds (exit code 4); 0: never")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str()
      ->group("Machine");
}

MachineOptions MachineFlags::resolve(bool all_port) const {
  MachineOptions options;
  options.nodes_as = nodes_as == "fibers" ? NodesAs::fibers : NodesAs::threads;
  options.all_port = all_port;
  options.virtual_channels = virtual_channels;
  options.channel_capacity = capacity;
  options.eager_limit = parse_bytes(eager_limit);
  options.lock_step = lock_step;
  options.time_limit = std::chrono::milliseconds(static_cast<long>(std::ceil(time_limit * 1000)));
  return options;
}

std::string machine_text(const MachineOptions& options) {
  return fmt::format(
      "nodes as {}, channel capacity {} flits, eager limit {}, {} virtual channels per ring link, "
      "{}, {}",
      options.nodes_as == NodesAs::fibers ? "fibers" : "threads", options.channel_capacity,
      bytes_text(static_cast<double>(options.eager_limit)), options.virtual_channels,
      options.lock_step ? "lock step" : "free running",
      options.time_limit.count() > 0
          ? fmt::format("time limit {} s", static_cast<double>(options.time_limit.count()) / 1000)
          : "no time limit");
}

std::string topology_text(const Topology& topology) {
  return fmt::format("{} ({} node{}, {} links)", topology.describe(), topology.nodes(),
                     topology.nodes() == 1 ? "" : "s", topology.links());
}

std::string_view ports_text(bool all_port) { return all_port ? "all" : "one"; }

}  // namespace wormcube::cli
