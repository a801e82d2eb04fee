// What other libraries call the algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/aliases.hpp"

#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/collectives/core/aliases.hpp"
#include "wormcube/collectives/core/registry.hpp"

#include <string_view>

#include <fmt/core.h>

namespace wormcube::cli {

std::vector<Json> list_aliases(const std::string& operation, const OutputOptions& output) {
  Table table({{.head = "operation", .text = true},
               {.head = "name", .text = true},
               {.head = "algorithm", .text = true}});
  const std::string_view wanted =
      operation.empty() ? std::string_view() : to_string(parse_operation(operation));
  std::vector<Json> results;
  for (const Alias& alias : aliases()) {
    if (!wanted.empty() && alias.operation != wanted) continue;
    const std::string name = fmt::format("{}.{}", alias.library, alias.name);
    table.add({std::string(alias.operation), name, std::string(alias.algorithm)});
    results.push_back(
        {{"operation", alias.operation}, {"name", name}, {"algorithm", alias.algorithm}});
  }
  print_table(output, table);
  return results;
}

std::vector<std::string> alias_notes(Operation operation, std::span<const std::string> names) {
  std::vector<std::string> notes;
  for (const std::string& name : names) {
    const std::string_view word = std::string_view(name).substr(0, name.find(':'));
    if (const Alias* const alias = find_alias(to_string(operation), word)) {
      notes.push_back(fmt::format("{} is {}", word, alias->algorithm));
    }
  }
  return notes;
}

}  // namespace wormcube::cli
