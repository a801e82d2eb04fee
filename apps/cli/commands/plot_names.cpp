// The names of a plot's lines.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/plot_names.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace wormcube::cli {

namespace {

std::string_view head(std::string_view name) { return name.substr(0, name.find(':')); }

/// The keys of "ring:order=rank:segments=2".
std::vector<std::string> keys_of(std::string_view name) {
  std::vector<std::string> keys;
  for (std::size_t at = name.find(':'); at != std::string_view::npos; at = name.find(':', at + 1)) {
    const std::string_view rest = name.substr(at + 1);
    const std::size_t equals = rest.find('=');
    if (equals != std::string_view::npos) keys.emplace_back(rest.substr(0, equals));
  }
  return keys;
}

std::string without(std::string_view name, std::string_view key) {
  std::string text;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find(':', at + 1), name.size());
    const std::string_view piece = name.substr(at, end - at);
    const bool is_option = at > 0 && piece.find('=') != std::string_view::npos;
    if (!is_option || piece.substr(1, piece.find('=') - 1) != key) text += piece;
    at = end;
  }
  return text;
}

using Place = std::tuple<std::size_t, PlotRow::Kind, std::string, std::string, double, double,
                         std::string, std::string>;

}  // namespace

void shorten_names(std::vector<PlotFile>& files) {
  struct Row {
    std::size_t file;
    PlotRow* row;
  };
  std::map<std::pair<std::string, std::string>, std::vector<Row>> families;
  for (std::size_t file = 0; file < files.size(); ++file) {
    for (PlotRow& row : files[file].rows) {
      families[{row.what, std::string(head(row.algorithm))}].push_back({file, &row});
    }
  }
  for (const auto& family : families) {
    const std::vector<Row>& rows = family.second;
    std::set<std::string> keys;
    for (const Row& row : rows) {
      for (std::string& key : keys_of(row.row->algorithm)) keys.insert(std::move(key));
    }
    const auto places = [&](std::string_view key) {
      std::set<Place> all;
      for (const auto& [file, row] : rows) {
        all.emplace(file, row->kind, row->what, row->network, row->nodes, row->bytes, row->ports,
                    without(row->algorithm, key));
      }
      return all.size();
    };
    for (const std::string& key : keys) {
      if (places(key) < places({})) continue;
      for (const Row& row : rows) row.row->algorithm = without(row.row->algorithm, key);
    }
  }
}

}  // namespace wormcube::cli
