// `wormcube lookup`: keys of the host looked up in a table that a machine's nodes share, verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/algorithms.hpp"
#include "wormcube/apps/exchange.hpp"
#include "wormcube/apps/lookup/table.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace wormcube::apps {

/// The operations that a lookup calls: counts, then keys and answers.
std::vector<Operation> lookup_operations();

struct LookupJob {
  std::vector<Key> table_keys;      ///< distinct
  std::vector<Value> table_values;  ///< of each table key
  std::vector<Key> keys;            ///< to look up; any, also several times
  TableBy by = TableBy::hash;
  RunOptions options = {};
};

struct LookupResult {
  RunFigures figures;
  std::vector<Value> values;         ///< of each key; 0 where it is not in the table
  std::vector<unsigned char> found;  ///< 1 where it is
  std::size_t absent = 0;
  /// Of one node: the most table entries, the most keys that it was asked for; the means.
  std::size_t largest_table = 0, largest_requests = 0;
  double average_table = 0, average_requests = 0;
  std::optional<std::size_t> wrong;  ///< answers; empty if not verified

  bool verified() const { return wrong.has_value(); }
  bool passed() const { return wrong == std::size_t{0}; }
};

/// Each node has a share of the table, by key, and a share of the keys to look up. It sorts its keys
/// by the node that must know them and asks: an alltoall of counts, an alltoallv of keys; what it is
/// asked for it answers: an alltoallv of values, the other way.
///
/// Source: Kim et al., on complete exchange, name distributed table lookup as a use of it.
/// Throws UsageError before anything runs: a key twice in the table, an algorithm that does not run
/// here, too little memory.
LookupResult run_lookup(const Runner& runner, const Algorithms& algorithms, const LookupJob& job);

/// A table of random distinct keys whose values are their rows, and keys to look up, so many of which
/// (a share from 0 to 1) are surely not in the table.
LookupJob generate_lookup(std::size_t entries, std::size_t lookups, double absent,
                          std::uint64_t seed);

/// Answers that differ from those of one table on the host.
std::size_t count_wrong_answers(const LookupJob& job, const LookupResult& result);

}  // namespace wormcube::apps
