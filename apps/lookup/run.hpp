// `wormcube lookup`: keys of the host looked up in a table that a machine's nodes share, verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/algorithms.hpp"
#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/apps/lookup/table.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace wormcube::apps {

/// The operations that a lookup calls: counts, then keys and answers.
std::vector<Operation> lookup_operations();

struct LookupJob {
  TableRows table;
  Source keys;  ///< to look up, int64; any values, repetitions allowed
  TableBy by = TableBy::hash;
  RunOptions options = {};
};

struct LookupResult {
  RunFigures figures;
  Part here;                         ///< the keys that this process's nodes have
  std::vector<Value> values;         ///< the value of each of them; 0 if it is not in the table
  std::vector<unsigned char> found;  ///< 1 if it is
  std::size_t absent = 0;            ///< of all keys
  /// For one node: the most table entries, the most queries; the means.
  std::size_t largest_table = 0, largest_requests = 0;
  double average_table = 0, average_requests = 0;
  std::optional<std::size_t> wrong;  ///< answers; empty if not verified

  bool verified() const { return wrong.has_value(); }
  bool passed() const { return wrong == std::size_t{0}; }
};

/// Each node has a share of the table, by key, and a share of the keys to look up. It sorts its
/// keys by the node that owns them and asks: an alltoall of counts, an alltoallv of keys. It
/// answers the queries that it receives: an alltoallv of values, in the other direction.
///
/// Each process walks through the whole table and holds its nodes' part of it and of the keys.
///
/// Source: Kim et al., on complete exchange, name distributed table lookup as an application of it.
/// Throws UsageError before anything runs: a duplicate key in the table, an algorithm that does not
/// apply here, too little memory.
LookupResult run_lookup(const Runner& runner, const Algorithms& algorithms, const LookupJob& job);

/// Answers of this process that differ from the table's, through which it walks.
std::size_t count_wrong_answers(const LookupJob& job, const LookupResult& result);
/// Its memory for this many keys.
double answer_check_bytes(std::size_t keys);

}  // namespace wormcube::apps
