// JSON and CSV.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/core/json.hpp"

#include "wormcube/apps/cli/core/print.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace wormcube::cli {

namespace {

/// The scalars of an object, those of objects inside it under "outer.inner".
void flatten(const Json& object, const std::string& prefix,
             std::vector<std::pair<std::string, std::string>>& cells) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      flatten(value, prefix + key + ".", cells);
    } else if (!value.is_array()) {
      std::string text = value.is_string() ? cleaned(value.get<std::string>())
                         : value.is_null()
                             ? std::string()
                             : value.dump(-1, ' ', false, Json::error_handler_t::replace);
      if (text.find_first_of(",\"\n") != text.npos) {
        std::string quoted = "\"";
        for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
        text = quoted + '"';
      }
      cells.emplace_back(prefix + key, std::move(text));
    }
  }
}

}  // namespace

std::string compact(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string indented(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::optional<std::string> CsvRows::add(const Json& row) {
  Cells& cells = rows_.emplace_back();
  flatten(row, "", cells);
  const std::size_t known = heads_.size();
  for (const auto& [head, value] : cells) {
    if (std::ranges::find(heads_, head) == heads_.end()) heads_.push_back(head);
  }
  if (heads_.size() > known) return std::nullopt;
  return line(cells);
}

std::string CsvRows::line(const Cells& cells) const {
  std::string text;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    const auto found = std::ranges::find(cells, heads_[i], [](const auto& c) { return c.first; });
    if (i > 0) text += ',';
    if (found != cells.end()) text += found->second;
  }
  return text + '\n';
}

std::string CsvRows::text() const {
  std::string text;
  for (const std::string& head : heads_) text += (text.empty() ? "" : ",") + head;
  text += '\n';
  for (const Cells& cells : rows_) text += line(cells);
  return text;
}

void put(Json& json, const std::string& key, Json value, std::string_view reason) {
  const bool missing = value.is_null();
  json[key] = std::move(value);
  if (missing) json[key + "_reason"] = reason;
}

Json json_value(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}
Json json_value(const std::optional<double>& value) {
  return value ? json_value(*value) : Json(nullptr);
}
Json json_value(const std::optional<bool>& value) { return value ? Json(*value) : Json(nullptr); }

}  // namespace wormcube::cli
