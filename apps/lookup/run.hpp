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
  Source keys;  ///< to look up, int64; any, also several times
  TableBy by = TableBy::hash;
  RunOptions options = {};
};

struct LookupResult {
  RunFigures figures;
  Part here;                         ///< the keys that the nodes of this process have
  std::vector<Value> values;         ///< of each of them; 0 where it is not in the table
  std::vector<unsigned char> found;  ///< 1 where it is
  std::size_t absent = 0;            ///< of all keys
  /// Of one node: the most table entries, the most keys that it was asked for; the means.
  std::size_t largest_table = 0, largest_requests = 0;
  double average_table = 0, average_requests = 0;
  std::optional<std::size_t> wrong;  ///< answers; empty if not verified

  bool verified() const { return wrong.has_value(); }
  bool passed() const { return wrong == std::size_t{0}; }
};

/// Each node has a share of the table, by key, and a share of the keys to look up. It sorts its
/// keys by the node that must know them and asks: an alltoall of counts, an alltoallv of keys; what
/// it is asked for it answers: an alltoallv of values, the other way.
///
/// Each process walks through the whole table and holds what its nodes have of it and of the keys.
///
/// Source: Kim et al., on complete exchange, name distributed table lookup as a use of it.
/// Throws UsageError before anything runs: a key twice in the table, an algorithm that does not run
/// here, too little memory.
LookupResult run_lookup(const Runner& runner, const Algorithms& algorithms, const LookupJob& job);

/// Answers of this process that differ from the table's, through which it walks.
std::size_t count_wrong_answers(const LookupJob& job, const LookupResult& result);
/// What that takes for so many keys.
double answer_check_bytes(std::size_t keys);

}  // namespace wormcube::apps
