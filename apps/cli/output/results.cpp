// Results as they come.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output/results.hpp"

#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/core/provenance.hpp"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <mutex>
#include <utility>

namespace wormcube::cli {

namespace {

std::string current_doing;  // guarded by results_mutex

// The signal thread and the one that works both finish results.
std::mutex results_mutex;
Results* current_results = nullptr;

}  // namespace

Results::Results(const OutputOptions& options, const std::vector<Table::Column>& columns)
    : options_(options), table_(columns), has_table_(!columns.empty()), files_(options) {
  const std::scoped_lock lock(results_mutex);
  current_results = this;
}

Results::~Results() {
  {
    // An error has its own words; of a whole object that is refused there is no result.
    const std::scoped_lock lock(results_mutex);
    if (whole_ && std::uncaught_exceptions() > exceptions_) begun_ = nullptr;
  }
  finish_now();
  const std::scoped_lock lock(results_mutex);
  current_results = nullptr;
}

void Results::add(const std::vector<std::string>& cells, Json json) {
  const std::scoped_lock lock(results_mutex);
  if (finished_) return;  // by a signal: what is printed now would not be in the files
  show(cells);
  keep(std::move(json));
  if (output_error() == EPIPE && !options_.has_files()) throw NobodyReads();
}

void Results::add_without_result(const std::vector<std::string>& cells, std::string_view status,
                                 std::string_view reason) {
  const std::scoped_lock lock(results_mutex);
  if (finished_) return;
  show(cells);
  keep_without_result(status, reason);
}

void Results::show(const std::vector<std::string>& cells) {
  if (!has_table_ || !options_.text()) return;
  std::string text;
  if (!std::exchange(heads_printed_, true)) text = table_.heads_text(options_.wide);
  print(text + table_.row_text(cells, options_.wide));
  flush_output();
}

void Results::keep(Json json) {
  begun_ = nullptr;
  json["made"] = made_json();
  files_.add(json);
}

void Results::keep_whole(Json json) {
  const std::scoped_lock lock(results_mutex);
  if (finished_) return;
  begun_ = nullptr;
  json["made"] = made_json();
  files_.whole(json);
}

void Results::begin(Json settings) {
  const std::scoped_lock lock(results_mutex);
  whole_ = false;
  begun_ = std::move(settings);
}

void Results::begin_whole(Json settings) {
  const std::scoped_lock lock(results_mutex);
  whole_ = true;
  begun_ = std::move(settings);
}

void Results::keep_without_result(std::string_view status, std::string_view reason) {
  if (finished_ || begun_.is_null()) return;
  Json json = std::exchange(begun_, nullptr);
  json["status"] = status;
  if (status == has_failed || status == crashed) {
    json["failures"] = Json::array({reason});
    json["passed"] = false;
  } else {
    put(json, "passed", nullptr, reason);
  }
  json["made"] = made_json();
  if (whole_) {
    files_.whole(json);
  } else {
    files_.add(json);
  }
}

void Results::no_result(std::string_view status, std::string_view reason) {
  const std::scoped_lock lock(results_mutex);
  keep_without_result(status, reason);
}

void Results::no_result_now(std::string_view status, std::string_view reason) noexcept {
  try {
    const std::scoped_lock lock(results_mutex);
    if (current_results != nullptr) current_results->keep_without_result(status, reason);
  } catch (const std::exception& error) {
    complain(error.what());
  }
  finish_now();
}

void Results::note(std::string text) {
  const std::scoped_lock lock(results_mutex);
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(std::move(text));
}

void Results::add_links(std::vector<Json> channels) {
  const std::scoped_lock lock(results_mutex);
  if (!finished_) files_.add_links(std::move(channels));
}

void Results::set_doing(std::string text) {
  const std::scoped_lock lock(results_mutex);
  current_doing = std::move(text);
}

std::string Results::doing() {
  const std::scoped_lock lock(results_mutex);
  return current_doing.empty() ? "" : current_doing + ": ";
}

void Results::finish(bool single) {
  const std::scoped_lock lock(results_mutex);
  write(single, true);
}

void Results::write(bool single, bool complete) {
  if (std::exchange(finished_, true)) return;
  if (options_.text()) {
    for (const std::string& text : notes_) print(filled(text, "# ", "#   "));
    flush_output();
  }
  files_.finish(single, complete);
}

void Results::finish_now() noexcept {
  const std::scoped_lock lock(results_mutex);
  if (current_results == nullptr) return;
  try {
    Results& results = *current_results;
    if (results.whole_) results.keep_without_result(stopped_before, "stopped before the end");
    results.write(false, false);
  } catch (const std::exception& error) {
    complain(error.what());
  }
}

void write_results(const OutputOptions& options, std::vector<Json> results, bool single) {
  RowFiles files(options);
  const bool alone = single && results.size() == 1;
  for (Json& result : results) {
    result["made"] = made_json();
    if (alone) {
      files.whole(result);
    } else {
      files.add(result);
    }
  }
  files.finish(single, true);
}

}  // namespace wormcube::cli
