// JSON, JSON lines and CSV as rows arrive.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output/row_files.hpp"

#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/core/provenance.hpp"

#include <exception>
#include <functional>
#include <initializer_list>
#include <utility>

namespace wormcube::cli {

namespace {

/// Runs each, even if others fail; then throws the first failure.
void try_all(std::initializer_list<std::function<void()>> acts) {
  std::exception_ptr first;
  for (const auto& act : acts) {
    try {
      act();
    } catch (const apps::CannotWrite&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

bool is_file(const std::string& target) { return !target.empty() && target != "-"; }

}  // namespace

void JsonArrayFile::add(std::span<const Json> elements, const std::string& after) {
  const std::string blanks = '\n' + std::string(indent_, ' ');
  std::string text;
  for (const Json& element : elements) {
    text += std::exchange(any_, true) ? "," : before_;
    const std::string lines = indented(element);
    for (std::size_t begin = 0, end = 0; begin < lines.size(); begin = end + 1) {
      end = lines.find('\n', begin);
      text += blanks;
      text.append(lines, begin, end - begin);
    }
  }
  if (text.empty()) return;
  text += after;
  if (after_ > 0) {
    file_.append(text, after_);
  } else {
    file_.write(text);
  }
  after_ = after.size();
}

RowFiles::RowFiles(const Context& context, const OutputOptions& options,
                   std::vector<std::string> csv_keys)
    : context_(context),
      options_(options),
      csv_keys_(std::move(csv_keys)),
      first_(context.is_first_process()),
      json_(options.json, "[", 2),
      links_json_(options.links, "{\n  \"channels\": [", 4),
      csv_(options.csv),
      links_csv_(options.links),
      lines_(options.jsonl) {}

Json RowFiles::csv_cells(const Json& row) const {
  if (options_.wide || !options_.has_wide) return row;
  Json cells = Json::object();
  for (const std::string& key : csv_keys_) cells[key] = row.value(key, Json(nullptr));
  if (row.contains("status")) cells["status"] = row["status"];
  if (csv_keys_.empty()) {
    cells = row;
    cells.erase("provenance");
  }
  return cells;
}

void RowFiles::csv_row(const Json& row) {
  const auto line = csv_rows_.add(csv_cells(row));
  if (options_.csv == "-") return;
  if (line) {
    csv_.append(*line);
  } else {
    csv_.write(csv_rows_.text());
  }
}

void RowFiles::add(const Json& row) {
  if (!first_) return;
  if (options_.jsonl == "-") {
    print_data(compact(row));
    flush_output();
  }
  if (options_.json == "-" || rows_.empty()) rows_.push_back(row);
  try_all({[&] {
             if (is_file(options_.jsonl)) lines_.add(compact(row));
           },
           [&] {
             if (is_file(options_.json)) json_.add({&row, 1}, "\n]\n");
           },
           [&] {
             if (!options_.csv.empty()) csv_row(row);
           }});
  ++count_;
}

void RowFiles::whole(const Json& object) {
  if (!first_) return;
  whole_ = true;
  rows_ = {object};
  csv_rows_ = {};
  csv_rows_.add(csv_cells(object));
  try_all({[&] {
             if (is_file(options_.json)) json_.replace(object);
           },
           [&] {
             if (is_file(options_.csv)) csv_.write(csv_rows_.text());
           }});
}

void RowFiles::add_links(std::vector<Json> channels) {
  if (!first_ || options_.links.empty()) return;
  Json made = provenance_json(context_);
  if (options_.links.ends_with(".json")) {
    std::string text = indented(Json{{"provenance", std::move(made)}});
    text.replace(0, 1, "\n  ],");  // its opening brace
    links_json_.add(channels, text);
    has_links_ = has_links_ || !channels.empty();
    return;
  }
  made.erase("settings");
  bool anew = !std::exchange(has_links_, true);
  std::string lines;
  for (Json& channel : channels) {
    channel["provenance"] = made;
    const auto line = links_rows_.add(channel);
    anew = anew || !line;
    lines += line.value_or("");
  }
  if (anew) {
    links_csv_.write(links_rows_.text());
  } else {
    links_csv_.append(lines);
  }
}

void RowFiles::finish(bool single, bool complete) {
  if (!first_) return;
  const bool nothing = complete && count_ == 0 && !whole_,
             alone = whole_ || (single && count_ == 1);
  if (options_.jsonl == "-" && whole_) print_data(compact(rows_.front()));
  if (options_.json == "-") print_data(indented(alone ? rows_.front() : Json(rows_)));
  if (options_.csv == "-") print_data(csv_rows_.text());
  try_all({[&] {
             if (!is_file(options_.jsonl)) return;
             if (whole_) lines_.add(compact(rows_.front()));
             if (nothing) lines_.add("");
           },
           [&] {
             if (!is_file(options_.json)) return;
             if (alone && !whole_) json_.replace(rows_.front());
             if (nothing) json_.replace(Json::array());
             json_.close();
           },
           [&] {
             if (!is_file(options_.csv)) return;
             if (nothing) csv_.write(csv_rows_.text());
             csv_.close();
           },
           [&] {
             if (options_.links.empty()) return;
             const bool none = complete && !has_links_;
             if (none && options_.links.ends_with(".json"))
               links_json_.replace(
                   {{"channels", Json::array()}, {"provenance", provenance_json(context_)}});
             if (none && options_.links.ends_with(".csv")) links_csv_.write("\n");
             links_json_.close();
             links_csv_.close();
           }});
}

}  // namespace wormcube::cli
