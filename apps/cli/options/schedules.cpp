// Schedules from files.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/schedules.hpp"

#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/formats/chakra.hpp"
#include "wormcube/apps/formats/goal.hpp"
#include "wormcube/apps/formats/msccl.hpp"
#include "wormcube/apps/formats/mscclpp.hpp"
#include "wormcube/apps/io/read_once.hpp"
#include "wormcube/apps/io/text.hpp"
#include "wormcube/collectives/harness/schedule_algorithm.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/dataflow/builder.hpp"
#include "wormcube/runtime/schedule/text.hpp"
#include "wormcube/runtime/schedule/text_words.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

ScheduleFile from_verdict(const char* format, apps::MscclVerdict verdict, std::string operation,
                          int ranks) {
  ScheduleFile file{.format = format, .named = std::move(verdict.schedule)};
  file.no_schedule = std::move(verdict.no_schedule);
  if (!file.no_schedule.empty()) file.no_contents = file.no_schedule;
  file.findings = std::move(verdict.findings);
  file.notes = std::move(verdict.notes);
  file.operation = std::move(operation);
  file.nodes = ranks;
  file.messages = verdict.messages;
  return file;
}

struct ChakraTraces {
  std::string prefix;
  std::vector<std::string> of_ranks;
};

constexpr std::string_view too_long = "half of the memory that is available";

/// A trace as it is in its file, perhaps packed. Nothing of other files: only their beginning is
/// read.
std::optional<std::string> packed_trace(const std::string& file, double most_bytes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  std::string start(apps::chakra_start, '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(stream.gcount()));
  if (!apps::starts_as_chakra(start)) return std::nullopt;
  return apps::read_whole(file, static_cast<std::size_t>(most_bytes), too_long);
}

/// The traces of all ranks, PREFIX.0.et, PREFIX.1.et, ..: `file` is PREFIX or one of them. Nothing
/// if the file is none.
std::optional<ChakraTraces> chakra_traces(const std::string& file, double most_bytes) {
  std::string first = file;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) first = file + ".0.et";
  const auto content = packed_trace(first, most_bytes);
  if (!content || !apps::is_chakra(apps::unpacked(*content, first, most_bytes)))
    return std::nullopt;
  // PREFIX.RANK.et
  const std::size_t end = first.rfind(".et");
  const std::size_t dot = end == first.npos || end == 0 ? first.npos : first.rfind('.', end - 1);
  const std::string_view rank =
      dot == first.npos ? "" : std::string_view(first).substr(dot + 1, end - dot - 1);
  if (rank.empty() || !std::ranges::all_of(rank, [](char c) { return c >= '0' && c <= '9'; })) {
    throw UsageError(fmt::format(
        "{}: a Chakra trace of one rank; expected a file named PREFIX.RANK.et, next to those of "
        "the other ranks",
        first));
  }
  ChakraTraces traces{first.substr(0, dot), {}};
  const std::string ending = first.substr(end);
  double left = most_bytes;
  for (;;) {
    const std::string name = fmt::format("{}.{}{}", traces.prefix, traces.of_ranks.size(), ending);
    if (!std::filesystem::exists(name, error)) break;
    const auto next = packed_trace(name, left);
    if (!next) throw UsageError(fmt::format("{}: not a Chakra trace", name));
    traces.of_ranks.push_back(apps::unpacked(*next, name, left));
    left -= static_cast<double>(traces.of_ranks.back().size());
    if (!apps::is_chakra(traces.of_ranks.back()))
      throw UsageError(fmt::format("{}: not a Chakra trace", name));
  }
  if (traces.of_ranks.empty())
    throw UsageError(
        fmt::format("{}.0{}: cannot be opened; ranks start at 0", traces.prefix, ending));
  return traces;
}

}  // namespace

ScheduleFile read_schedule_file(const std::string& file) {
  const double most_bytes = available_memory().bytes / 2;
  if (auto traces = chakra_traces(file, most_bytes)) {
    const std::string_view name = traces->prefix;
    return ScheduleFile{
        .format = "Chakra",
        .named = without_names(apps::parse_chakra(traces->of_ranks, name, most_bytes)),
        .no_contents = "a Chakra trace has sizes and no contents",
        .is_searched = true};
  }
  return apps::read_once(file, [=](const std::string& name) {
    if (apps::kind_of_file(name) != apps::FileKind::text)
      throw UsageError(fmt::format("{}: a .npy file; expected a schedule's text", name));
    const std::string text = apps::read_whole(name, static_cast<std::size_t>(most_bytes), too_long);
    if (apps::is_msccl(text)) {
      const apps::MscclAlgorithm algorithm = apps::parse_msccl(text, name, most_bytes);
      return from_verdict("MSCCL XML", judge_msccl(algorithm),
                          std::string(to_string(algorithm.collective)), algorithm.ranks());
    }
    if (apps::is_mscclpp(text)) {
      const apps::MscclppPlan plan = apps::parse_mscclpp(text, name, most_bytes);
      return from_verdict("MSCCL++ plan", judge_mscclpp(plan), plan.collective_name, plan.ranks());
    }
    if (apps::is_goal(text)) {
      return ScheduleFile{.format = "GOAL",
                          .named = without_names(apps::parse_goal(text, name, most_bytes)),
                          .no_contents = "GOAL has sizes and no contents",
                          .is_searched = true};
    }
    if (is_named_schedule(text)) {
      return ScheduleFile{.format = std::string(named_schedule_first_line),
                          .named = parse_named_schedule(text, name, operation_facts, most_bytes)};
    }
    return ScheduleFile{.format = std::string(schedule_first_line),
                        .named = without_names(parse_schedule(text, name, most_bytes)),
                        .no_contents = "a schedule has sizes and no contents"};
  });
}

void lay_over(ScheduleFile& file, const std::string& on) {
  Topology topology = Topology::parse(on);
  NamedSchedule& named = *file.named;
  const Rank nodes = named.schedule.topology.nodes();
  if (topology.nodes() != nodes) {
    throw UsageError(
        fmt::format("--on {}: {} nodes; the schedule has {}", on, topology.nodes(), nodes));
  }
  named.schedule.topology = std::move(topology);
  for (RankLog& log : named.schedule.ranks) {
    log.moves.clear();
    for (OpRecord& op : log.ops) op.first_move = 0, op.moves = 0;
  }
}

ScheduleFile read_steps(const std::string& file) {
  ScheduleFile read = read_schedule_file(file);
  if (read.named) return read;
  throw UsageError(
      fmt::format("{}: no steps: {}; see `wormcube check --schedule`", file, read.no_schedule));
}

void add_schedule_option(CLI::App& app, std::string& file, bool is_added) {
  app.add_option("--schedule", file,
                 is_added ? "Add the messages of a schedule file as the algorithm `schedule` "
                            "(docs/reference/schedules.md); the file supplies OPERATION and the "
                            "network unless you name them"
                          : "Use the messages of a schedule file that names the blocks in each "
                            "message (docs/reference/schedules.md); the file supplies OPERATION "
                            "and the network unless you name them")
      ->type_name("FILE")
      ->check(file_name())
      ->group("What");
}

void add_schedule_name(std::vector<std::string>& names) {
  const std::string name(schedule_algorithm_name);
  if (names == std::vector<std::string>{"auto"}) names.clear();
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

void require_no_algorithms(const std::vector<std::string>& names) {
  if (names == std::vector<std::string>{"auto"}) return;
  throw UsageError(
      "--algorithm has no effect with --schedule, which already gives the messages; `compare`, "
      "`list`, `best`, `run`, `replay` and `draw` accept both");
}

void use_schedule(const std::string& file, std::string& operation, std::string& on,
                  CallOptions& call) {
  std::vector<std::string> networks;
  if (!on.empty()) networks.push_back(on);
  use_schedule(file, operation, networks, call);
  on = networks.front();
}

void use_schedule(const std::string& file, std::string& operation, std::vector<std::string>& on,
                  CallOptions& call) {
  ScheduleFile read = read_steps(file);
  if (!read.no_contents.empty()) throw UsageError(fmt::format("{}: {}", file, read.no_contents));
  NamedSchedule& named = *read.named;
  if (operation.empty()) {
    if (!named.operation)
      throw UsageError(fmt::format("{} names no operation; pass OPERATION", file));
    const NamedOperation& of_file = *named.operation;
    operation = of_file.name;
    call.root = of_file.root.value_or(0);
    call.by = of_file.by.value_or(1);
    std::string sources;
    for (const Rank source : of_file.sources) sources += fmt::format("{},", source);
    if (!sources.empty()) call.sources = sources;
    if (!of_file.permutation.empty()) call.permutation = of_file.permutation;
  }
  const Operation performed = parse_operation(operation);
  const ScheduledCall scheduled{performed, call.resolve(performed)};
  require_arguments(performed, named.schedule.topology.nodes(), scheduled.arguments);
  if (on.empty()) on.emplace_back(named.schedule.topology.name());
  add_schedule_algorithm(std::move(named), scheduled, file);
}

}  // namespace wormcube::cli
