// Results as they come.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output/results.hpp"

#include "wormcube/apps/cli/output/provenance.hpp"
#include "wormcube/apps/cli/progress.hpp"
#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

void write_json_and_csv(const OutputOptions& options, const std::vector<Json>& results,
                        bool single) {
  if (!options.json.empty()) {
    const auto write = [&](const Json& all) { write_text(options.json, indented(all)); };
    if (single && results.size() == 1) {
      write(results.front());
    } else {
      write(Json(results));
    }
  }
  if (!options.csv.empty()) write_text(options.csv, csv_text(results));
}

/// JSON or CSV by the file's name; every line of CSV says how it was made, in short.
void write_links(const std::string& file, std::vector<Json> channels) {
  Json made = made_json();
  if (file.ends_with(".json")) {
    const Json all{{"channels", std::move(channels)}, {"made", std::move(made)}};
    write_text(file, indented(all));
  } else if (!file.empty()) {
    made.erase("settings");
    for (Json& channel : channels) channel["made"] = made;
    write_text(file, csv_text(channels));
  }
}

std::string current_doing;  // guarded by results_mutex

// The signal thread and the one that works both finish results.
std::mutex results_mutex;
Results* current_results = nullptr;

}  // namespace

Results::Results(const OutputOptions& options, const std::vector<Table::Column>& columns)
    : options_(options), table_(columns), has_table_(!columns.empty()) {
  const std::scoped_lock lock(results_mutex);
  // Not what an earlier run left there, if this one ends before its first row.
  if (!options_.jsonl.empty() && options_.jsonl != "-") append_text(options_.jsonl, "", true);
  current_results = this;
}

Results::~Results() {
  finish_now();
  const std::scoped_lock lock(results_mutex);
  current_results = nullptr;
}

void Results::add(const std::vector<std::string>& cells, Json json) {
  const std::scoped_lock lock(results_mutex);
  if (finished_) return;  // by a signal: what is printed now would not be in the files
  if (has_table_ && options_.text()) {
    const auto alone = Progress::pause();
    if (!std::exchange(heads_printed_, true)) {
      fmt::print("{}", table_.heads_text(options_.wide));
    }
    fmt::print("{}", table_.row_text(cells, options_.wide));
    std::fflush(stdout);
  }
  keep(std::move(json));
}

void Results::keep(Json json) {
  begun_ = nullptr;
  json["made"] = made_json();
  if (!options_.jsonl.empty()) append_text(options_.jsonl, compact(json), false);
  kept_.push_back(std::move(json));
}

void Results::keep_whole(Json json) {
  const std::scoped_lock lock(results_mutex);
  whole_ = true;
  kept_.clear();
  kept_.push_back(std::move(json));
}

void Results::begin(Json settings) {
  const std::scoped_lock lock(results_mutex);
  begun_ = std::move(settings);
}

void Results::begin_whole(Json settings) {
  const std::scoped_lock lock(results_mutex);
  whole_ = true;
  begun_ = settings;
  keep_without_result(stopped_before, "stopped before the end");
  begun_ = std::move(settings);
}

void Results::keep_without_result(std::string_view status, std::string_view reason) {
  if (finished_ || begun_.is_null()) return;
  Json json = std::exchange(begun_, nullptr);
  json["status"] = status;
  put(json, "passed", nullptr, reason);
  if (whole_) {
    kept_.clear();
    kept_.push_back(std::move(json));
  } else {
    keep(std::move(json));
  }
}

void Results::no_result(std::string_view status, std::string_view reason) {
  const std::scoped_lock lock(results_mutex);
  keep_without_result(status, reason);
}

void Results::drop() {
  const std::scoped_lock lock(results_mutex);
  finished_ = true;
}

void Results::no_result_now(std::string_view status, std::string_view reason) noexcept {
  try {
    const std::scoped_lock lock(results_mutex);
    if (current_results != nullptr) current_results->keep_without_result(status, reason);
  } catch (const std::exception& error) {
    fmt::print(stderr, "wormcube: {}\n", error.what());
  }
  finish_now();
}

void Results::note(std::string text) {
  const std::scoped_lock lock(results_mutex);
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(std::move(text));
}

void Results::add_links(std::vector<Json> channels) {
  const std::scoped_lock lock(results_mutex);
  std::ranges::move(channels, std::back_inserter(channels_));
}

void Results::set_doing(std::string text) {
  const std::scoped_lock lock(results_mutex);
  current_doing = std::move(text);
}

std::string Results::doing() {
  const std::scoped_lock lock(results_mutex);
  return current_doing.empty() ? "" : current_doing + ": ";
}

void Results::write(bool single) {
  if (std::exchange(finished_, true)) return;
  if (options_.text()) {
    const auto alone = Progress::pause();
    for (const std::string& text : notes_) fmt::print("{}", filled(text, "# ", "#   "));
    std::fflush(stdout);
  }
  write_links(options_.links, channels_);
  if (whole_) {
    kept_.front()["made"] = made_json();
    if (!options_.jsonl.empty()) append_text(options_.jsonl, compact(kept_.front()), false);
  }
  write_json_and_csv(options_, kept_, single || whole_);
}

void Results::finish(bool single) {
  const std::scoped_lock lock(results_mutex);
  write(single);
}

void Results::finish_now() noexcept {
  const std::scoped_lock lock(results_mutex);
  if (current_results == nullptr) return;
  try {
    current_results->write(false);
  } catch (const std::exception& error) {
    fmt::print(stderr, "wormcube: {}\n", error.what());
  }
}

void write_results(const OutputOptions& options, std::vector<Json> results, bool single) {
  for (Json& result : results) result["made"] = made_json();
  for (std::size_t i = 0; i < results.size() && !options.jsonl.empty(); ++i) {
    append_text(options.jsonl, compact(results[i]), i == 0);
  }
  write_json_and_csv(options, results, single);
}

}  // namespace wormcube::cli
