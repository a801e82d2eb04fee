// Permutations from names, lists and files.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/permutation.hpp"

#include "wormcube/apps/io/text.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/numbers.hpp"
#include "wormcube/runtime/base/text.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

Permutation read_permutation(const std::string& file) {
  constexpr std::size_t most = std::size_t{16} * max_nodes;  // of blanks and comments, too
  std::istringstream in(apps::read_whole(file, most, "the limit of a permutation"));
  std::vector<Rank> images;
  std::string buffer;
  for (int line = 1; std::getline(in, buffer); ++line) {
    constexpr std::string_view blanks = " \t\r,";
    std::string_view rest = std::string_view(buffer).substr(0, buffer.find('#'));
    while (rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size())),
           !rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find_first_of(blanks));
      const auto image = number_of<Rank>(word);
      if (!image || *image < 0) {
        throw UsageError(fmt::format("{}, line {}: '{}' is not a node number", file, line,
                                     printable(word.substr(0, 24))));
      }
      if (std::ssize(images) == max_nodes) {
        throw UsageError(fmt::format("{}, line {}: more than {} images", file, line, max_nodes));
      }
      images.push_back(*image);
      rest.remove_prefix(word.size());
    }
  }
  try {
    return Permutation(std::move(images));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace

Permutation permutation_of(const std::string& text) {
  const bool is_name = std::ranges::any_of(
      Permutation::names, [&](Permutation::Name name) { return to_string(name) == text; });
  const bool is_list =
      text.find(',') != text.npos && text.find_first_not_of("0123456789,") == text.npos;
  std::error_code none;
  if (!is_name && !is_list && std::filesystem::exists(text, none)) return read_permutation(text);
  return Permutation::parse(text);
}

}  // namespace wormcube::cli
