// Results as JSON, and as CSV with JSON's keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace wormcube::cli {

/// Keeps keys in insertion order, as documented.
using Json = nlohmann::ordered_json;

/// Sets json[key]; for null also json[key + "_reason"], which says why there is no figure.
void put(Json& json, const std::string& key, Json value, std::string_view reason);

/// null if there is no figure; an integer if the figure is whole.
Json json_value(double value);
Json json_value(const std::optional<double>& value);
Json json_value(const std::optional<bool>& value);

/// One line.
std::string compact(const Json& json);
/// Lines, indented.
std::string indented(const Json& json);
/// Rows as CSV: JSON's keys as column heads, those of objects inside as "outer.inner"; lists are
/// left out.
class CsvRows {
 public:
  /// The line of one more row; empty if the row adds a column, which changes text() from its first
  /// line on.
  std::optional<std::string> add(const Json& row);
  /// Heads and all lines.
  std::string text() const;

 private:
  using Cells = std::vector<std::pair<std::string, std::string>>;
  std::string line(const Cells& cells) const;

  std::vector<std::string> heads_;
  std::vector<Cells> rows_;
};

}  // namespace wormcube::cli
