// A table of keys and values, distributed over nodes by key.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/lookup/table.hpp"

#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

// SplitMix64's finaliser: neighbouring keys go to unrelated nodes. As in random.hpp.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// From a key up to a greater or equal one; it may be more than the largest key.
std::uint64_t distance(Key from, Key to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

}  // namespace

TableBy parse_table_by(std::string_view text) {
  if (text == "hash") return TableBy::hash;
  if (text == "block") return TableBy::block;
  throw UsageError(fmt::format("no distribution '{}'; there are hash, block", text));
}

KeyOwner::KeyOwner(TableBy by, Rank nodes, std::span<const Key> keys) : by_(by), nodes_(nodes) {
  if (keys.empty()) return;
  const auto [least, greatest] = std::ranges::minmax(keys);
  least_ = least;
  greatest_ = greatest;
  width_ = distance(least, greatest) / static_cast<std::uint64_t>(nodes) + 1;
}

Rank KeyOwner::operator()(Key key) const {
  if (by_ == TableBy::hash) {
    return static_cast<Rank>(mix(static_cast<std::uint64_t>(key)) %
                             static_cast<std::uint64_t>(nodes_));
  }
  return static_cast<Rank>(distance(least_, std::clamp(key, least_, greatest_)) / width_);
}

DistributedTable::DistributedTable(TableBy by, Rank nodes, std::span<const Key> keys,
                                   std::span<const Value> values)
    : owner_(by, nodes, keys), starts_(static_cast<std::size_t>(nodes) + 1) {
  if (keys.size() != values.size()) {
    throw UsageError(
        fmt::format("lookup: {} keys and {} values in the table", keys.size(), values.size()));
  }
  std::vector<std::size_t> rows(keys.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::ranges::sort(rows, {},
                    [&](std::size_t row) { return std::tuple(owner_(keys[row]), keys[row], row); });
  const auto twice =
      std::ranges::adjacent_find(rows, {}, [&](std::size_t row) { return keys[row]; });
  if (twice != rows.end()) {
    throw UsageError(
        fmt::format("lookup: key {} stands in rows {} and {} of the table (from 0); "
                    "each key may be there once",
                    keys[*twice], *twice, *(twice + 1)));
  }
  entries_.reserve(rows.size());
  for (const std::size_t row : rows) {
    entries_.push_back({keys[row], values[row]});
    ++starts_[static_cast<std::size_t>(owner_(keys[row])) + 1];
  }
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
}

std::size_t DistributedTable::largest() const {
  std::size_t most = 0;
  for (std::size_t r = 0; r + 1 < starts_.size(); ++r) {
    most = std::max(most, starts_[r + 1] - starts_[r]);
  }
  return most;
}

const Entry* find_entry(std::span<const Entry> entries, Key key) {
  const auto found = std::ranges::lower_bound(entries, key, {}, &Entry::key);
  return found != entries.end() && found->key == key ? &*found : nullptr;
}

}  // namespace wormcube::apps
