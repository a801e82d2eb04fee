// A table of keys and values, distributed over nodes by key.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/lookup/rows.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace wormcube::apps {

struct Entry {
  Key key;
  Value value;
};

/// Which node has a key. `hash`: a mixed key modulo p. `block`: equal ranges between the least and
/// the greatest key, one for each node; keys outside belong to the first or the last range.
enum class TableBy : std::uint8_t { hash, block };
/// Throws UsageError that lists both.
TableBy parse_table_by(std::string_view text);

/// From the least key of a table to the greatest.
struct KeyRange {
  Key least = 0, greatest = 0;
};

class KeyOwner {
 public:
  /// \param keys  of the whole table; no effect on `hash`
  KeyOwner(TableBy by, Rank nodes, KeyRange keys);
  /// For a table, which `block` walks through once.
  KeyOwner(TableBy by, Rank nodes, const TableRows& rows);
  Rank operator()(Key key) const;

 private:
  TableBy by_;
  Rank nodes_;
  Key least_ = 0, greatest_ = 0;
  std::uint64_t width_ = 1;  // of a node's range
};

/// Consecutive nodes: those of a process.
struct NodeRange {
  Rank first = 0, end = 0;
  bool has(Rank r) const { return first <= r && r < end; }
};

/// The entries of some nodes, node by node, each node's in the order of keys.
class DistributedTable {
 public:
  /// Walks through the rows and keeps those of these nodes. \param entries  as many as they have
  /// Throws UsageError if one of their keys occurs twice, with both rows. Equal keys have one
  /// owner, so the process that has the owner detects it.
  DistributedTable(const KeyOwner& owner, NodeRange nodes, const TableRows& rows,
                   std::size_t entries);

  std::span<const Entry> of_node(Rank r) const {
    const std::size_t first = start(r);
    return std::span(entries_).subspan(first, start(r + 1) - first);
  }

 private:
  std::size_t start(Rank r) const { return starts_[static_cast<std::size_t>(r - nodes_.first)]; }

  NodeRange nodes_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> starts_;  // of each node's entries, and the end
};

/// How many entries some nodes have, found by a walk.
std::size_t count_entries(const KeyOwner& owner, NodeRange nodes, const TableRows& rows);

/// The entry of this key in a node's entries; nullptr if there is none.
const Entry* find_entry(std::span<const Entry> entries, Key key);

}  // namespace wormcube::apps
