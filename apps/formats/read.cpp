// Reads a schedule from a file of any format.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/read.hpp"

#include "wormcube/apps/formats/chakra.hpp"
#include "wormcube/apps/formats/goal.hpp"
#include "wormcube/apps/formats/msccl.hpp"
#include "wormcube/apps/formats/mscclpp.hpp"
#include "wormcube/apps/io/read_once.hpp"
#include "wormcube/apps/io/text.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/dataflow/builder.hpp"
#include "wormcube/runtime/schedule/text.hpp"
#include "wormcube/runtime/schedule/text_words.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

ScheduleFile from_verdict(const char* format, MscclVerdict verdict, std::string operation,
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
  std::string start(chakra_start, '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(stream.gcount()));
  if (!starts_as_chakra(start)) return std::nullopt;
  return read_whole(file, static_cast<std::size_t>(most_bytes), too_long);
}

/// The traces of all ranks, PREFIX.0.et, PREFIX.1.et, ..: `file` is PREFIX or one of them. Nothing
/// if the file is none.
std::optional<ChakraTraces> chakra_traces(const std::string& file, double most_bytes) {
  std::string first = file;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) first = file + ".0.et";
  const auto content = packed_trace(first, most_bytes);
  if (!content || !is_chakra(unpacked(*content, first, most_bytes))) return std::nullopt;
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
    traces.of_ranks.push_back(unpacked(*next, name, left));
    left -= static_cast<double>(traces.of_ranks.back().size());
    if (!is_chakra(traces.of_ranks.back()))
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
    return ScheduleFile{.format = "Chakra",
                        .named = without_names(parse_chakra(traces->of_ranks, name, most_bytes)),
                        .no_contents = "a Chakra trace has sizes and no contents",
                        .is_searched = true};
  }
  return read_once(file, [=](const std::string& name) {
    if (kind_of_file(name) != FileKind::text)
      throw UsageError(fmt::format("{}: a .npy file; expected a schedule's text", name));
    const std::string text = read_whole(name, static_cast<std::size_t>(most_bytes), too_long);
    if (is_msccl(text)) {
      const MscclAlgorithm algorithm = parse_msccl(text, name, most_bytes);
      return from_verdict("MSCCL XML", judge_msccl(algorithm),
                          std::string(to_string(algorithm.collective)), algorithm.ranks());
    }
    if (is_mscclpp(text)) {
      const MscclppPlan plan = parse_mscclpp(text, name, most_bytes);
      return from_verdict("MSCCL++ plan", judge_mscclpp(plan), plan.collective_name, plan.ranks());
    }
    if (is_goal(text)) {
      return ScheduleFile{.format = "GOAL",
                          .named = without_names(parse_goal(text, name, most_bytes)),
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

ScheduleFile read_steps(const std::string& file) {
  ScheduleFile read = read_schedule_file(file);
  if (read.named) return read;
  throw UsageError(
      fmt::format("{}: no steps: {}; see `wormcube check --schedule`", file, read.no_schedule));
}

}  // namespace wormcube::apps
