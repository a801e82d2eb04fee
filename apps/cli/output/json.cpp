// JSON and CSV.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output/json.hpp"

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
      std::string text = value.is_string() ? value.get<std::string>()
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

std::string csv_text(const std::vector<Json>& results) {
  std::vector<std::vector<std::pair<std::string, std::string>>> rows;
  std::vector<std::string> heads;
  for (const Json& result : results) {
    flatten(result, "", rows.emplace_back());
    for (const auto& [head, value] : rows.back()) {
      if (std::ranges::find(heads, head) == heads.end()) heads.push_back(head);
    }
  }
  std::string text;
  for (const std::string& head : heads) text += (text.empty() ? "" : ",") + head;
  text += '\n';
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const auto found = std::ranges::find(row, heads[i], [](const auto& c) { return c.first; });
      if (i > 0) text += ',';
      if (found != row.end()) text += found->second;
    }
    text += '\n';
  }
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
