// The laws of a trace file that its readers rely on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace wormcube::test {

struct TraceSlice {
  std::int64_t begin, end;  // nanoseconds
  nlohmann::json event;
};

struct TraceSeen {
  std::string broken;  // the first law that does not hold; empty: all do
  std::map<std::pair<int, int>, std::vector<TraceSlice>> rows;  // by process and thread
  std::size_t slices = 0, arrows = 0;
  std::map<std::string, std::size_t> of_category;
  std::uint64_t sent_bytes = 0;
};

inline std::int64_t trace_ns(const nlohmann::json& microseconds) {
  return static_cast<std::int64_t>(microseconds.get<double>() * 1000 + 0.5);
}

/// Times never fall; slices of a thread nest or follow each other; an arrow has one start and one end,
/// not before it, each inside a slice, the slice of its start begins first (Perfetto draws it from the slice
/// that begins first to the other); names of processes and threads are there, numbers of threads
/// are of one process.
inline TraceSeen trace_seen(const nlohmann::json& file) {
  TraceSeen seen;
  const auto broken = [&](std::string text) {
    if (seen.broken.empty()) seen.broken = std::move(text);
  };
  std::map<int, int> process_of;
  std::set<int> processes;
  std::map<std::uint64_t, std::int64_t> begun, ended, slice_begun;
  std::int64_t last = 0;
  std::map<std::pair<int, int>, std::vector<std::int64_t>> open;  // ends of slices
  const auto inside = [&](const nlohmann::json& event, std::int64_t at) {
    const auto row = seen.rows.find({event["pid"], event["tid"]});
    if (row == seen.rows.end()) return false;
    for (const TraceSlice& slice : row->second) {
      if (slice.begin <= at && at <= slice.end) return true;
    }
    return false;
  };
  for (const auto& event : file["traceEvents"]) {
    const std::string kind = event["ph"];
    if (kind == "M") {
      if (event["name"] == "process_name") processes.insert(event["pid"].get<int>());
      if (event["name"] == "thread_name") process_of[event["tid"]] = event["pid"];
      continue;
    }
    const std::int64_t at = trace_ns(event["ts"]);
    if (at < last) broken(fmt::format("time falls from {} to {}", last, at));
    last = at;
    if (!processes.contains(event["pid"])) broken("a process has no name");
    if (kind == "C") continue;
    const std::pair<int, int> row{event["pid"], event["tid"]};
    if (!process_of.contains(row.second) || process_of[row.second] != row.first) {
      broken(fmt::format("thread {} has no name in process {}", row.second, row.first));
    }
    if (kind == "X") {
      const std::int64_t end = at + trace_ns(event["dur"]);
      auto& ends = open[row];
      while (!ends.empty() && ends.back() <= at) ends.pop_back();
      if (!ends.empty() && end > ends.back()) {
        broken(fmt::format("slices of thread {} cross at {}", row.second, at));
      }
      ends.push_back(end);
      seen.rows[row].push_back({at, end, event});
      ++seen.slices;
      ++seen.of_category[event["cat"]];
      if (event["cat"] == "message" && event["name"].get<std::string>().starts_with("to ")) {
        seen.sent_bytes += event["args"]["bytes"].get<std::uint64_t>();
      }
    } else if (kind == "s" || kind == "f") {
      auto& ends = kind == "s" ? begun : ended;
      if (!ends.emplace(event["id"].get<std::uint64_t>(), at).second) {
        broken(fmt::format("arrow {} has two ends of one kind", event["id"].dump()));
      }
      if (!inside(event, at)) broken(fmt::format("arrow {} is in no slice", event["id"].dump()));
      // It is of the last slice of its thread that has begun.
      const auto slices = seen.rows.find(row);
      if (slices == seen.rows.end()) continue;
      const auto [first, is_new] =
          slice_begun.emplace(event["id"].get<std::uint64_t>(), slices->second.back().begin);
      if (!is_new && kind == "f" && slices->second.back().begin < first->second) {
        broken(fmt::format("arrow {} points backwards", event["id"].dump()));
      }
    } else if (kind == "i") {
      ++seen.of_category[event["cat"]];
    } else {
      broken("an event of kind " + kind);
    }
  }
  for (const auto& [id, at] : begun) {
    const auto end = ended.find(id);
    if (end == ended.end()) {
      broken(fmt::format("arrow {} has no end", id));
    } else if (end->second < at) {
      broken(fmt::format("arrow {} ends before it starts", id));
    }
  }
  if (ended.size() != begun.size()) broken("an arrow has no start");
  seen.arrows = begun.size();
  if (file["otherData"]["slices"] != seen.slices) broken("the number of slices is wrong");
  return seen;
}

}  // namespace wormcube::test
