// Shared options: declaration, parsing, echo.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/options.hpp"

#include "wormcube/apps/cli/program.hpp"
#include "wormcube/apps/cli/progress.hpp"
#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <fmt/core.h>

namespace wormcube::cli {

CLI::Validator at_least(double least) {
  const auto complaint = [least](std::string& text) -> std::string {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value)) return fmt::format("'{}' is not a number", text);
    if (!std::isfinite(value)) return fmt::format("{} is not finite", text);
    return value >= least ? "" : fmt::format("{} is less than {}", text, least);
  };
  return {complaint, ""};
}

CLI::Validator between(double least, double most) {
  const auto complaint = [least, most](std::string& text) -> std::string {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value)) return fmt::format("'{}' is not a number", text);
    return value >= least && value <= most
               ? ""
               : fmt::format("{} is not from {} to {}", text, least, most);
  };
  return {complaint, ""};
}

CLI::Validator whole_number() {
  const auto complaint = [](std::string& text) -> std::string {
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
    return digits ? "" : fmt::format("'{}' is not a whole number of 0 or more", text);
  };
  return {complaint, ""};
}

Bytes parse_bytes(std::string_view text) {
  if (text.find(',') != text.npos || text.find("..") != text.npos) {
    throw UsageError(
        fmt::format("'{}': one size here; `run` and `list` take several, and ranges", text));
  }
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

std::vector<Bytes> parse_byte_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return {parse_bytes(text)};
  const Bytes first = parse_bytes(text.substr(0, dots)), last = parse_bytes(text.substr(dots + 2));
  if (first == 0 || first > last) {
    throw UsageError(
        fmt::format("'{}': a range doubles from a size of 1 or more to a larger one", text));
  }
  std::vector<Bytes> sizes;
  for (Bytes bytes = first; bytes <= last; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

std::vector<Bytes> parse_sizes(const std::vector<std::string>& texts) {
  std::vector<Bytes> sizes;
  for (const std::string& text : texts) {
    const std::vector<Bytes> range = parse_byte_range(text);
    sizes.insert(sizes.end(), range.begin(), range.end());
  }
  return sizes;
}

CLI::Option* add_sizes_option(CLI::App& app, std::vector<std::string>& sizes, const char* what) {
  return app
      .add_option("--bytes", sizes,
                  fmt::format("{}; several: separate with commas; a range doubles: 8..64K. A "
                              "broadcast's block is the message",
                              what))
      ->type_name("N[K|M|G][..N][,N..]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str()
      ->group("What");
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
  for (const std::string& text : on) {
    const bool is_size = !text.empty() && text.find_first_not_of("0123456789x") == text.npos;
    if (is_size && !topologies.empty()) {
      throw UsageError(fmt::format(
          "--on: '{}' is not a network; a comma separates networks, and x separates sizes: {}x{}",
          text, topologies.back().name(), text));
    }
    topologies.push_back(Topology::parse(text));
  }
  return topologies;
}

Topology parse_topology(const std::string& text) {
  if (text.find(',') != text.npos && text.find("graph:") == text.npos) {
    throw UsageError(fmt::format("'{}': one network here, not several", text));
  }
  return Topology::parse(text);
}

void add_algorithm_options(CLI::App& app, AlgorithmOptions& options) {
  app.add_option(
         "--algorithm", options.names,
         "Names from `wormcube list`, separated with commas, options with them: "
         "suh-mesh:order=parity:ring=folded; `auto`: the cheapest by formula (one-port, unless "
         "--ports all) but for those that `list` says it leaves out; `all`: every one that this "
         "network admits")
      ->type_name("NAME[:OPTION=VALUE..][,NAME..]|auto|all")
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

/// Why a collective cannot run here; nothing if it can.
std::optional<std::string> obstacle(const AlgorithmOptions& options, const Collective& collective,
                                    const Topology& topology) {
  if (options.ports == "one" && collective.algorithm->ports == Ports::all) {
    return fmt::format(
        "{}: sends through all ports of a node at once, but --ports one allows one message each "
        "way; use --ports all (or auto)",
        collective.name());
  }
  auto reason = refusal(collective, topology);
  if (reason) reason = named(collective.name(), *reason);
  return reason;
}

}  // namespace

Selection select(const AlgorithmOptions& options, Operation operation, const Topology& topology,
                 const Arguments& arguments, const CostModel& model, Bytes block_bytes,
                 bool skip_unfit) {
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
      add(cheapest(operation, topology, model, block_bytes,
                   options.ports == "all" ? Ports::all : Ports::one, arguments),
          false);
    } else {
      add(parse_collective(operation, name, arguments), skip_unfit);
    }
  }
  if (!skip_unfit) require_some(operation, {&selection, 1});
  return selection;
}

void require_some(Operation operation, std::span<const Selection> selections) {
  std::string text =
      fmt::format("none of the {} algorithms asked for runs here", to_string(operation));
  for (const Selection& selection : selections) {
    if (!selection.collectives.empty()) return;
    for (const std::string& reason : selection.refused) text += "\n  " + reason;
  }
  throw UsageError(text);
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

void add_call_options(CLI::App& app, CallOptions& options) {
  const std::string group = "Arguments of the call";
  options.root_option =
      app.add_option("--root", options.root, "broadcast, reduce, scatter, gather: the root node")
          ->type_name("NODE")
          ->check(at_least(0))
          ->capture_default_str()
          ->group(group);
  options.by_option =
      app.add_option("--by", options.by, "shift: node r sends to node r + Q modulo p; Q may be < 0")
          ->type_name("Q")
          ->capture_default_str()
          ->group(group);
  options.sources_option =
      app.add_option("--sources", options.sources,
                     "k_broadcast, k_alltoall, and the targets of k_reduce, k_gather: K for the "
                     "nodes 0 to K-1, or a list such as 0,3,5 (of one node: 7,)")
          ->type_name("K|NODE,NODE..")
          ->capture_default_str()
          ->group(group);
  options.permutation_option =
      app.add_option("--permutation", options.permutation,
                     "permute: complement, node r to p - 1 - r; bit-reversal of labels; transpose "
                     "of s x s nodes")
          ->type_name("complement|bit-reversal|transpose")
          ->capture_default_str()
          ->group(group);
  options.operator_option = app.add_option("--operator", options.reduction,
                                           "reductions and scans: what they combine with")
                                ->type_name("sum|product|min|max|and|or|xor|compose")
                                ->capture_default_str()
                                ->group(group);
  options.type_option = app.add_option("--type", options.type, "reductions and scans: the elements")
                            ->type_name("int32|int64|uint8|float|double|complex|affine")
                            ->capture_default_str()
                            ->group(group);
  options.in_place_option =
      app.add_option("--in-place", options.in_place, "The input lies where the output will be")
          ->type_name("on|off")
          ->check(CLI::IsMember({"on", "off"}))
          ->capture_default_str()
          ->group(group);
}

namespace {

std::vector<Rank> parse_sources(const std::string& text) {
  const auto number = [&](std::string_view word) {
    Rank value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) {
      throw UsageError(fmt::format("--sources '{}': '{}' is not a node's number", text, word));
    }
    return value;
  };
  std::vector<Rank> sources;
  if (text.find(',') == std::string::npos) {
    const Rank k = number(text);
    if (k < 1) throw UsageError(fmt::format("--sources {}: need 1 or more", k));
    for (Rank source = 0; source < k; ++source) sources.push_back(source);
    return sources;
  }
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    sources.push_back(number(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return sources;
}

Permutation parse_permutation(const std::string& text) {
  std::string known;
  for (const Permutation permutation :
       {Permutation::complement, Permutation::bit_reversal, Permutation::transpose}) {
    if (to_string(permutation) == text) return permutation;
    known += fmt::format(" {}", to_string(permutation));
  }
  throw UsageError(fmt::format("unknown permutation '{}'; known are:{}", text, known));
}

}  // namespace

void require_effect(const CLI::Option* option, bool takes, Operation operation,
                    std::string_view why) {
  if (option == nullptr || option->count() == 0 || takes) return;
  throw UsageError(fmt::format("{} has no effect on {}{}{}", option->get_name(), operation->name,
                               why.empty() ? "" : ": ", why));
}

void require_data(const CLI::Option* bytes_option, Operation operation) {
  require_effect(bytes_option, operation != operations::barrier, operation, "it moves no data");
}

Arguments CallOptions::resolve(Operation operation) const {
  const auto refuse = [&](const CLI::Option* option, bool takes) {
    require_effect(option, takes, operation, {});
  };
  refuse(root_option, operation->rooted);
  refuse(by_option, operation->shifts);
  refuse(sources_option, operation->has_sources);
  refuse(permutation_option, operation->permutes);
  refuse(operator_option, operation->reduces);
  refuse(type_option, operation->reduces);
  refuse(in_place_option, operation->place_of_input != nullptr);
  Arguments arguments;
  arguments.root = root;
  arguments.by = by;
  if (operation->has_sources) arguments.sources = parse_sources(sources);
  if (operation->permutes) arguments.permutation = parse_permutation(permutation);
  if (operation->reduces) {
    const bool only_type =
        reduction == "compose" && (type_option == nullptr || type_option->count() == 0);
    arguments.reduction = find_reduction(reduction, only_type ? "affine" : type);
  }
  return arguments;
}

std::string arguments_text(Operation operation, const Arguments& arguments) {
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (operation->rooted) add(fmt::format("root {}", arguments.root));
  if (operation->shifts) add(fmt::format("by {}", arguments.by));
  if (operation->permutes) add(std::string(to_string(arguments.permutation)));
  if (operation->reduces) {
    add(fmt::format("{} on {}", arguments.reduction.name, arguments.reduction.type));
  }
  if (operation->has_sources) {
    const bool gives = operation->gives == operations::detail::per_source;
    const std::size_t count = arguments.sources.size();
    std::string ends =
        fmt::format("{} {}{}:", count, gives ? "target" : "source", count == 1 ? "" : "s");
    for (const Rank source : arguments.sources) ends += fmt::format(" {}", source);
    add(ends);
  }
  return text;
}

Json arguments_json(Operation operation, const Arguments& arguments) {
  Json json = Json::object();
  if (operation->rooted) json["root"] = arguments.root;
  if (operation->shifts) json["by"] = arguments.by;
  if (operation->permutes) json["permutation"] = to_string(arguments.permutation);
  if (operation->has_sources) json["sources"] = arguments.sources;
  if (operation->reduces) {
    json["operator"] = arguments.reduction.name;
    json["type"] = arguments.reduction.type;
  }
  return json;
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

void add_cost_options(CLI::App& app, CostModel& model) {
  const auto add = [&](const char* name, double& value, const char* what, const char* unit) {
    app.add_option(name, value, what)
        ->type_name(unit)
        ->check(at_least(0))
        ->capture_default_str()
        ->group("Cost model (chooses `auto`, and gives the model's times)");
  };
  add("--ts", model.startup_us, "Start-up time of a message, microseconds", "US");
  add("--tw", model.transfer_us, "Transfer time, microseconds per byte", "US");
  add("--tr", model.rearrange_us, "Rearrangement time, microseconds per byte", "US");
  add("--tc", model.combine_us, "Combining time of a reduction, microseconds per byte", "US");
}

std::string cost_model_text(const CostModel& model) {
  return fmt::format(
      "ts {} us per message, tw {} us per byte, tr {} us per byte, tc {} us per byte",
      model.startup_us, model.transfer_us, model.rearrange_us, model.combine_us);
}

Json cost_model_json(const CostModel& model) {
  return {{"ts_us", model.startup_us},
          {"tw_us_per_byte", model.transfer_us},
          {"tr_us_per_byte", model.rearrange_us},
          {"tc_us_per_byte", model.combine_us}};
}

void add_remark(Json& json, const Algorithm& algorithm) {
  put(json, "remark", algorithm.remark.empty() ? Json(nullptr) : Json(algorithm.remark),
      "nothing to remark");
}

bool is_of_results(std::string_view remark) {
  return !remark.empty() && !remark.starts_with("free of contention");
}

void note_remark(Results& results, const Algorithm& algorithm) {
  if (!is_of_results(algorithm.remark)) return;
  results.note(fmt::format("{}: {}", algorithm.name, algorithm.remark));
}

std::optional<double> model_time_us(const Prediction& prediction, const CostModel& model,
                                    Bytes block_bytes) {
  if (!prediction.startups || (!prediction.transmission_blocks && !prediction.contended_blocks))
    return std::nullopt;
  return predicted_us(prediction, model, block_bytes);
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
  add("contended_blocks", prediction.contended_blocks);
  return json;
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
                 "What a node is: an OS thread or a fiber of this process; under mpirun an MPI "
                 "process, or several fibers in each")
      ->type_name("threads|fibers|mpi|mpi+fibers")
      ->check(CLI::IsMember({"threads", "fibers", "mpi", "mpi+fibers"}))
      ->capture_default_str()
      ->group("Machine");
  app.add_option("--capacity", flags.capacity, "Flits that a channel holds, 1 or more")
      ->type_name("FLITS")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 20))
      ->capture_default_str()
      ->group("Machine");
  flags.eager_limit_option =
      app.add_option(
             "--eager-limit", flags.eager_limit,
             "Messages up to this size travel in flits; longer ones are copied once, from "
             "memory to memory. With --nodes-as mpi: those that are sent at once, preset 4064")
          ->type_name("N[K|M|G]")
          ->capture_default_str()
          ->group("Machine");
  add_virtual_channels_option(app, flags.virtual_channels);
  app.add_flag("--lockstep", flags.lock_step, "A barrier after each step")->group("Machine");
  app.add_option("--time-limit", flags.time_limit,
                 "Give up after so many seconds (exit code 4); 0: never")
      ->type_name("SECONDS")
      ->check(between(0, 1e6))
      ->capture_default_str()
      ->group("Machine");
}

std::chrono::milliseconds MachineFlags::time_limit_ms() const {
  return std::chrono::milliseconds(static_cast<long>(std::ceil(time_limit * 1000)));
}

MachineOptions MachineFlags::resolve(bool all_port) const {
  MachineOptions options;
  options.nodes_as = nodes_as == "fibers" ? NodesAs::fibers : NodesAs::threads;
  options.all_port = all_port;
  options.virtual_channels = virtual_channels;
  options.channel_capacity = capacity;
  options.eager_limit = parse_bytes(eager_limit);
  options.lock_step = lock_step;
  options.time_limit = time_limit_ms();
  options.on_overrun = [](const std::string& text) {
    Results::no_result_now(over_time_limit, text);  // what was measured before is kept
    std::fflush(stdout);
    const std::string doing = Results::doing();
    const auto alone = Progress::pause();
    fmt::print(stderr, "wormcube: {}{}\n", doing, text);
    std::_Exit(cli::time_limit);
  };
  return options;
}

std::string machine_text(const MachineOptions& options) {
  return fmt::format(
      "nodes as {}, channel capacity {} flit{}, eager limit {}, {} virtual channels per ring link, "
      "{}, {}",
      options.nodes_as == NodesAs::fibers ? "fibers" : "threads", options.channel_capacity,
      options.channel_capacity == 1 ? "" : "s",
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
