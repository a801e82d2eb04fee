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

Results::Results(Context& context, const OutputOptions& options,
                 const std::vector<Table::Column>& columns, std::vector<std::string> csv_keys)
    : context_(context),
      options_(options),
      table_(columns),
      has_table_(!columns.empty()),
      files_(context, options, std::move(csv_keys)) {
  context.begin_work(*this);
}

Results::~Results() {
  {
    // The error is reported elsewhere; a refused whole object has no result.
    const std::scoped_lock lock(mutex_);
    if (whole_ && std::uncaught_exceptions() > exceptions_) begun_ = nullptr;
  }
  end(stopped_before, "stopped before the end");
  context_.forget_work(*this);
}

void Results::add(const std::vector<std::string>& cells, Json json) {
  const std::scoped_lock lock(mutex_);
  if (finished_) return;  // by a signal: the files would not have what is printed now
  show(cells);
  keep(std::move(json));
  if (output_error() == EPIPE && !options_.has_files()) throw NobodyReads();
}

void Results::add_without_result(const std::vector<std::string>& cells, std::string_view status,
                                 std::string_view reason) {
  const std::scoped_lock lock(mutex_);
  if (finished_) return;
  show(cells);
  keep_without_result(status, reason);
}

void Results::show(const std::vector<std::string>& cells) {
  if (!has_table_ || !options_.text()) return;
  const Table::Style style = Table::style(options_);
  std::string text;
  if (!std::exchange(heads_printed_, true)) {
    text = table_.heads_text(style);
    left_out_ = table_.left_out(style);
  }
  print_data(text + table_.row_text(cells, style));  // its cells are clean
  flush_output();
}

void Results::keep(Json json) {
  begun_ = nullptr;
  json["provenance"] = provenance_json(context_);
  files_.add(json);
}

void Results::keep_whole(Json json) {
  const std::scoped_lock lock(mutex_);
  if (finished_) return;
  begun_ = nullptr;
  json["provenance"] = provenance_json(context_);
  files_.whole(json);
}

void Results::begin(Json settings) {
  const std::scoped_lock lock(mutex_);
  whole_ = false;
  begun_ = std::move(settings);
}

void Results::begin_whole(Json settings) {
  const std::scoped_lock lock(mutex_);
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
  json["provenance"] = provenance_json(context_);
  if (whole_) {
    files_.whole(json);
  } else {
    files_.add(json);
  }
}

void Results::no_result(std::string_view status, std::string_view reason) {
  const std::scoped_lock lock(mutex_);
  keep_without_result(status, reason);
}

void Results::end(std::string_view status, std::string_view reason) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto attempt = [](const auto& act) {
    try {
      act();
    } catch (const std::exception& error) {
      complain(error.what());
    }
  };
  // A stopped command leaves its unfinished row out; a whole object says that it was stopped.
  if (status != stopped_before || whole_) attempt([&] { keep_without_result(status, reason); });
  attempt([&] { write(false, false); });
}

void Results::note(std::string text) {
  const std::scoped_lock lock(mutex_);
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(std::move(text));
}

void Results::add_links(std::vector<Json> channels) {
  const std::scoped_lock lock(mutex_);
  if (!finished_) files_.add_links(std::move(channels));
}

void Results::finish(bool single) {
  const std::scoped_lock lock(mutex_);
  write(single, true);
}

void Results::write(bool single, bool complete) {
  if (std::exchange(finished_, true)) return;
  if (options_.text()) {
    if (!left_out_.empty()) print_note(options_, left_out_);
    for (const std::string& text : notes_) print(filled(text, "# ", "#   "));
    flush_output();
  }
  files_.finish(single, complete);
}

void write_results(const Context& context, const OutputOptions& options, std::vector<Json> results,
                   bool single) {
  RowFiles files(context, options);
  const bool alone = single && results.size() == 1;
  for (Json& result : results) {
    result["provenance"] = provenance_json(context);
    if (alone) {
      files.whole(result);
    } else {
      files.add(result);
    }
  }
  files.finish(single, true);
}

}  // namespace wormcube::cli
