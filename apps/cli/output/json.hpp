// Results as JSON, and as CSV with JSON's keys.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace wormcube::cli {

/// Keeps the order in which keys are added: the order of the documentation.
using Json = nlohmann::ordered_json;

/// Sets json[key]; of null also json[key + "_reason"], which says why there is no figure.
void put(Json& json, const std::string& key, Json value, std::string_view reason);

/// null where there is no figure; a whole number where the figure is one.
Json json_value(double value);
Json json_value(const std::optional<double>& value);
Json json_value(const std::optional<bool>& value);

/// One line.
std::string compact(const Json& json);
/// Lines, indented.
std::string indented(const Json& json);
/// One line per result, JSON's keys as column heads, those of objects inside as "outer.inner"; lists are
/// left out.
std::string csv_text(const std::vector<Json>& results);

}  // namespace wormcube::cli
