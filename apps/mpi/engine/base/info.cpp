// Info objects.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/info.hpp"

#include "wormcube/apps/mpi/engine/base/error.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

}  // namespace

void InfoKeys::set(std::string_view key, std::string_view value) {
  key = without_blanks(key);
  value = without_blanks(value);
  if (key.empty() || key.size() >= MPI_MAX_INFO_KEY) {
    throw Failure(MPI_ERR_INFO_KEY, fmt::format("a key has {} characters, but must have 1 to {}",
                                                key.size(), MPI_MAX_INFO_KEY - 1));
  }
  if (value.size() >= MPI_MAX_INFO_VAL) {
    throw Failure(MPI_ERR_INFO_VALUE,
                  fmt::format("a value has {} characters, but must have at most {}", value.size(),
                              MPI_MAX_INFO_VAL - 1));
  }
  const auto place = std::ranges::find(entries_, key, &std::pair<std::string, std::string>::first);
  if (place == entries_.end()) {
    entries_.emplace_back(key, value);
  } else {
    place->second = value;
  }
}

const std::string* InfoKeys::find(std::string_view key) const {
  key = without_blanks(key);
  const auto place = std::ranges::find(entries_, key, &std::pair<std::string, std::string>::first);
  return place == entries_.end() ? nullptr : &place->second;
}

void InfoKeys::remove(std::string_view key) {
  key = without_blanks(key);
  const auto place = std::ranges::find(entries_, key, &std::pair<std::string, std::string>::first);
  if (place == entries_.end()) throw Failure(MPI_ERR_INFO_NOKEY, fmt::format("no key {}", key));
  entries_.erase(place);
}

}  // namespace wormcube::mpi
