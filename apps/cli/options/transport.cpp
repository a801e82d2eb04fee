// How messages travel: options, their checks, and what results say of them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/transport.hpp"

#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {
namespace {

constexpr std::array<std::pair<std::string_view, LinkFault>, 3> faults_by_name{
    {{"flip", LinkFault::flip}, {"drop", LinkFault::drop}, {"stall", LinkFault::stall}}};

std::optional<Rank> rank_of(std::string_view text) {
  Rank rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  return error == std::errc() && end == text.data() + text.size() && rank >= 0 ? std::optional(rank)
                                                                               : std::nullopt;
}

// "1-2:flip"
FaultyLink parse_fault(std::string_view text) {
  const std::size_t dash = text.find('-'), colon = text.find(':');
  if (dash < colon && colon != text.npos) {
    const auto from = rank_of(text.substr(0, dash));
    const auto to = rank_of(text.substr(dash + 1, colon - dash - 1));
    const auto* const kind = std::ranges::find(faults_by_name, text.substr(colon + 1),
                                               &decltype(faults_by_name)::value_type::first);
    if (kind == faults_by_name.end()) {
      throw UsageError(fmt::format("--fault {}: unknown fault '{}'; one of flip, drop, stall", text,
                                   text.substr(colon + 1)));
    }
    if (from && to) return {*from, *to, kind->second};
  }
  throw UsageError(fmt::format(
      "--fault {}: write FROM-TO:KIND, such as 1-2:flip, for the link from node 1 to node 2",
      text));
}

std::string fault_text(const FaultyLink& fault) {
  const auto* const kind =
      std::ranges::find(faults_by_name, fault.fault, &decltype(faults_by_name)::value_type::second);
  return fmt::format("{}-{}:{}", fault.from, fault.to, kind->first);
}

}  // namespace

void add_transport_options(CLI::App& app, TransportFlags& flags) {
  app.add_option("--transport", flags.transport,
                 "How a message's bytes travel when its path is reserved: in one copy, or flit by "
                 "flit through the bounded queue of every link")
      ->type_name("copy|flits")
      ->check(one_of({"copy", "flits"}))
      ->capture_default_str()
      ->group("Machine");
  const auto add = [&](const char* name, auto& value, const char* help, const char* type) {
    CLI::Option* const option = app.add_option(name, value, help)->type_name(type);
    flags.of_flits.push_back(option);
    return option->group("Machine");
  };
  add("--capacity", flags.capacity, "With --transport flits: flits that a lane of a link can hold",
      "FLITS")
      ->check(between(1, MachineOptions::most_channel_capacity))
      ->capture_default_str();
  flags.routers_option =
      add("--routers", flags.routers,
          "With --transport flits and --executor threads: number of threads that move flits (0: "
          "one per usable core); with fibers each worker moves its nodes' flits",
          "N")
          ->check(between(0, 1024))
          ->capture_default_str();
  add("--fault", flags.faults,
      "With --transport flits: break the link from node A to node B (repeatable). A-B:flip inverts "
      "a bit of each flit, A-B:drop loses the second flit of each message or its only one, "
      "A-B:stall passes nothing on",
      "FAULT")
      ->allow_extra_args(false);
}

void TransportFlags::require(const std::string& executor, const Topology& topology) const {
  if (!in_flits()) {
    for (const CLI::Option* const option : of_flits) {
      if (option->count() > 0)
        throw UsageError(fmt::format("{} applies to --transport flits", option->get_name()));
    }
    return;
  }
  if (executor.starts_with("mpi")) {
    throw UsageError(fmt::format(
        "--transport flits has no effect with --executor {}: the network between processes is "
        "MPI's; use --executor threads or fibers",
        executor));
  }
  if (executor == "fibers" && routers_option->count() > 0) {
    throw UsageError(fmt::format(
        "--routers {} has no effect with --executor fibers: each worker moves its nodes' flits; "
        "use --workers",
        routers));
  }
  MachineOptions options;
  resolve(options);
  require_links(topology, options.faults);
}

void TransportFlags::resolve(MachineOptions& options) const {
  options.transport = in_flits() ? Transport::flits : Transport::copy;
  options.channel_capacity = capacity;
  options.routers = routers;
  for (const std::string& fault : faults) options.faults.push_back(parse_fault(fault));
}

std::string transport_text(const MachineOptions& options) {
  if (options.transport == Transport::copy) return "each message copied once";
  std::string text = fmt::format("each message in flits, {} in a lane", options.channel_capacity);
  for (const FaultyLink& fault : options.faults) text += ", --fault " + fault_text(fault);
  return text;
}

void add_transport_json(Json& json, const MachineOptions& options, Rank nodes) {
  const bool flits = options.transport == Transport::flits;
  json["transport"] = flits ? "flits" : "copy";
  constexpr const char* no_flits = "only --transport flits has flit queues";
  put(json, "channel_capacity", flits ? Json(options.channel_capacity) : Json(nullptr), no_flits);
  const bool threads = options.executor == ExecutorKind::threads;
  const int routers = std::min(options.routers > 0 ? options.routers : usable_cores(), nodes);
  put(json, "routers", flits && threads ? Json(routers) : Json(nullptr),
      flits ? "each worker moves its nodes' flits" : no_flits);
  Json faults = Json::array();
  for (const FaultyLink& fault : options.faults) faults.push_back(fault_text(fault));
  put(json, "faults", flits ? faults : Json(nullptr), no_flits);
}

}  // namespace wormcube::cli
