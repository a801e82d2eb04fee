// Info objects: keys with values, in the order in which they were set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wormcube::mpi {

/// Blanks around keys and values are removed.
class InfoKeys {
 public:
  /// Throws Failure: MPI_ERR_INFO_KEY, MPI_ERR_INFO_VALUE for an empty or too long one.
  void set(std::string_view key, std::string_view value);
  /// Null if there is none.
  const std::string* find(std::string_view key) const;
  /// Throws Failure: MPI_ERR_INFO_NOKEY.
  void remove(std::string_view key);
  std::size_t size() const { return entries_.size(); }
  const std::string& key(std::size_t n) const { return entries_[n].first; }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace wormcube::mpi
