// A table of keys and values, distributed over nodes by key.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/lookup/table.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/hash.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::apps {

namespace {

// From a key up to a greater or equal one; the distance may exceed the largest key.
std::uint64_t distance(Key from, Key to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

}  // namespace

TableBy parse_table_by(std::string_view text) {
  if (text == "hash") return TableBy::hash;
  if (text == "block") return TableBy::block;
  throw UsageError(fmt::format("unknown distribution '{}'; available: hash, block", text));
}

KeyOwner::KeyOwner(TableBy by, Rank nodes, KeyRange keys)
    : by_(by),
      nodes_(nodes),
      least_(keys.least),
      greatest_(keys.greatest),
      width_(distance(least_, greatest_) / static_cast<std::uint64_t>(nodes) + 1) {}

namespace {

KeyRange range_of(const TableRows& rows) {
  if (rows.count() == 0) return {};
  KeyRange range{std::numeric_limits<Key>::max(), std::numeric_limits<Key>::min()};
  rows.walk_keys([&](std::size_t /*row*/, std::span<const Key> keys) {
    const auto [least, greatest] = std::ranges::minmax(keys);
    range = {std::min(range.least, least), std::max(range.greatest, greatest)};
  });
  return range;
}

}  // namespace

KeyOwner::KeyOwner(TableBy by, Rank nodes, const TableRows& rows)
    : KeyOwner(by, nodes, by == TableBy::block ? range_of(rows) : KeyRange{}) {}

Rank KeyOwner::operator()(Key key) const {
  if (by_ == TableBy::hash) {
    return static_cast<Rank>(mixed(static_cast<std::uint64_t>(key)) %
                             static_cast<std::uint64_t>(nodes_));
  }
  return static_cast<Rank>(distance(least_, std::clamp(key, least_, greatest_)) / width_);
}

namespace {

[[noreturn]] void tell_twice(Key key, const TableRows& rows) {
  std::vector<std::size_t> found;
  rows.walk_keys([&](std::size_t row, std::span<const Key> keys) {
    for (std::size_t k = 0; k < keys.size() && found.size() < 2; ++k) {
      if (keys[k] == key) found.push_back(row + k);
    }
  });
  throw UsageError(fmt::format(
      "lookup: key {} occurs in rows {} of the table (from 0); each key may occur only once", key,
      fmt::join(found, " and ")));
}

}  // namespace

DistributedTable::DistributedTable(const KeyOwner& owner, NodeRange nodes, const TableRows& rows,
                                   std::size_t entries)
    : nodes_(nodes), starts_(static_cast<std::size_t>(nodes.end - nodes.first) + 1) {
  entries_.reserve(entries);
  rows.walk([&](std::size_t /*row*/, std::span<const Key> keys, std::span<const Value> values) {
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (nodes.has(owner(keys[k]))) entries_.push_back({keys[k], values[k]});
    }
  });
  std::ranges::sort(entries_, {},
                    [&](const Entry& entry) { return std::pair(owner(entry.key), entry.key); });
  const auto twice = std::ranges::adjacent_find(entries_, {}, &Entry::key);
  if (twice != entries_.end()) tell_twice(twice->key, rows);
  for (const Entry& entry : entries_) {
    ++starts_[static_cast<std::size_t>(owner(entry.key) - nodes.first) + 1];
  }
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
}

std::size_t count_entries(const KeyOwner& owner, NodeRange nodes, const TableRows& rows) {
  std::size_t entries = 0;
  rows.walk_keys([&](std::size_t /*row*/, std::span<const Key> keys) {
    entries += static_cast<std::size_t>(
        std::ranges::count_if(keys, [&](Key key) { return nodes.has(owner(key)); }));
  });
  return entries;
}

const Entry* find_entry(std::span<const Entry> entries, Key key) {
  const auto found = std::ranges::lower_bound(entries, key, {}, &Entry::key);
  return found != entries.end() && found->key == key ? &*found : nullptr;
}

}  // namespace wormcube::apps
