// The options of trace files.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/trace.hpp"

#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/io/new_file.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

/// "0..3", "2,5,9", "4".
std::vector<Rank> parse_nodes(const std::string& text, Rank nodes) {
  std::vector<Rank> list;
  std::size_t at = 0;
  const auto number = [&]() {
    Rank value = -1;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (error != std::errc{} || value < 0 || value >= nodes) {
      throw UsageError(
          fmt::format("--trace-nodes: '{}' is out of range; nodes are 0 to {}, as in 0..7,12", text,
                      nodes - 1));
    }
    at = static_cast<std::size_t>(end - text.data());
    return value;
  };
  while (!text.empty()) {
    const Rank first = number();
    Rank last = first;
    if (text.compare(at, 2, "..") == 0) at += 2, last = number();
    for (Rank rank = first; rank <= last; ++rank) list.push_back(rank);
    if (at == text.size()) break;
    if (text[at++] != ',') {
      throw UsageError(
          fmt::format("--trace-nodes: '{}' is not a list of nodes such as 0..7,12", text));
    }
  }
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace

void TraceOptions::validate() const {
  if (!wanted()) {
    if (!nodes.empty() || !steps.empty()) {
      throw UsageError("--trace-nodes and --trace-steps have no effect without --trace FILE");
    }
    return;
  }
  if (file == "-")
    throw UsageError(
        "--trace -: expected a file name, because a trace cannot go to standard output");
  require_writable(file);
}

TraceCut TraceOptions::cut(Rank count) const {
  TraceCut cut;
  cut.nodes = parse_nodes(nodes, count);
  if (!steps.empty()) {
    const std::string& text = steps;
    const std::size_t dots = text.find("..");
    const auto number = [&](std::string_view part) {
      std::size_t value = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
      if (error != std::errc{} || end != part.data() + part.size()) {
        throw UsageError(
            fmt::format("--trace-steps: '{}' is not a range of steps such as 0..9", text));
      }
      return value;
    };
    const std::string_view all = text;
    cut.first_step = number(all.substr(0, dots));
    cut.last_step = dots == std::string::npos ? cut.first_step : number(all.substr(dots + 2));
    if (cut.last_step < cut.first_step) {
      throw UsageError(fmt::format("--trace-steps: '{}': the first step is after the last", text));
    }
  }
  return cut;
}

void add_trace_options(CLI::App& app, TraceOptions& options, const std::string& what) {
  app.add_option("--trace", options.file, what + " (Chrome trace event JSON)")
      ->type_name("FILE.json")
      ->check(file_name())
      ->group("Output");
  app.add_option("--trace-nodes", options.nodes, "Trace only these nodes, as in 0..7,12")
      ->type_name("LIST")
      ->group("Output");
  app.add_option("--trace-steps", options.steps, "Trace only these steps, as in 0..9")
      ->type_name("A..B")
      ->group("Output");
}

TraceCounts write_trace_file(
    const TraceOptions& options,
    const std::function<TraceCounts(const std::function<void(std::string_view)>&)>& write) {
  apps::NewFile file(options.file);
  // Lines are short, so several are written at a time.
  constexpr std::size_t most = std::size_t{1} << 16;
  std::string lines;
  const TraceCounts counts = write([&](std::string_view text) {
    lines += text;
    if (lines.size() < most) return;
    file.write(lines);
    lines.clear();
  });
  file.write(lines);
  file.finish();
  return counts;
}

std::string trace_text(const TraceOptions& options, const TraceCounts& counts) {
  return fmt::format(
      "trace {}: {} slices{}", options.file, counts.events,
      counts.left_out > 0
          ? fmt::format(", {} left out by --trace-nodes and --trace-steps", counts.left_out)
          : "");
}

}  // namespace wormcube::cli
