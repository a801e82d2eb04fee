// The rows of a table and the keys to look up, visited without holding them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/io/source.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace wormcube::apps {

using Key = std::int64_t;
/// Eight bytes of any type.
using Value = std::uint64_t;

/// How many rows a walk holds in memory.
inline constexpr std::size_t rows_at_a_time = std::size_t{1} << 16;

/// Two lists of one length, with elements of eight bytes.
struct TableRows {
  Source keys;    ///< each once
  Source values;  ///< of each key
  std::size_t at_a_time = rows_at_a_time;

  std::size_t count() const { return keys.elements(); }

  /// Calls take(row, keys) from the first row to the last, several rows at a time.
  template <class Take>
  void walk_keys(const Take& take) const {
    std::vector<Key> some;
    for (std::size_t row = 0; row < count(); row += some.size()) {
      some.resize(std::min(at_a_time, count() - row));
      keys.reader().read(row, std::as_writable_bytes(std::span(some)));
      take(row, std::span<const Key>(some));
    }
  }
  /// Calls take(row, keys, values).
  template <class Take>
  void walk(const Take& take) const {
    std::vector<Value> some;
    walk_keys([&](std::size_t row, std::span<const Key> of_keys) {
      some.resize(of_keys.size());
      values.reader().read(row, std::as_writable_bytes(std::span(some)));
      take(row, of_keys, std::span<const Value>(some));
    });
  }
};

}  // namespace wormcube::apps
