// A table of keys and values, distributed over nodes by key.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace wormcube::apps {

using Key = std::int64_t;
/// Eight bytes of any type.
using Value = std::uint64_t;

struct Entry {
  Key key;
  Value value;
};

/// Which node has a key. `hash`: a mixed key modulo p. `block`: equal ranges between the least and
/// the greatest key, one for each node; keys outside belong to the first or the last.
enum class TableBy : std::uint8_t { hash, block };
/// Throws UsageError that lists the two.
TableBy parse_table_by(std::string_view text);

class KeyOwner {
 public:
  /// \param keys  of the whole table
  KeyOwner(TableBy by, Rank nodes, std::span<const Key> keys);
  Rank operator()(Key key) const;

 private:
  TableBy by_;
  Rank nodes_;
  Key least_ = 0, greatest_ = 0;
  std::uint64_t width_ = 1;  // of a node's range
};

/// The entries, node by node, each node's in the order of keys.
class DistributedTable {
 public:
  /// Throws UsageError if a key is there twice, with both rows.
  DistributedTable(TableBy by, Rank nodes, std::span<const Key> keys,
                   std::span<const Value> values);

  const KeyOwner& owner() const { return owner_; }
  std::span<const Entry> of_node(Rank r) const {
    const auto first = starts_[static_cast<std::size_t>(r)];
    return std::span(entries_).subspan(first, starts_[static_cast<std::size_t>(r) + 1] - first);
  }
  /// The most entries of any node.
  std::size_t largest() const;

 private:
  KeyOwner owner_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> starts_;  // of each node's entries, and the end
};

/// The entry of this key in a node's entries; nullptr if there is none.
const Entry* find_entry(std::span<const Entry> entries, Key key);

}  // namespace wormcube::apps
