// `wormcube prefix`: the prefix sums of a list of the host, computed by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/algorithms.hpp"
#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/apps/io/source.hpp"

#include <optional>
#include <vector>

namespace wormcube::apps {

/// The operations that prefix sums call.
std::vector<Operation> prefix_operations();

struct PrefixJob {
  Source numbers;  ///< one dimension, int64 or float64
  RunOptions options = {};
};

struct PrefixResult {
  RunFigures figures;
  Array sums;                        ///< those that this process's nodes have
  Part here;                         ///< which of the whole they are
  std::optional<std::size_t> wrong;  ///< sums, of all processes; empty if not verified

  bool verified() const { return wrong.has_value(); }
  bool passed() const { return wrong == std::size_t{0}; }
};

/// Sum k, counted from 0, is the sum of the first k + 1 numbers. Each of p nodes holds n/p
/// consecutive numbers and computes their prefix sums. An exclusive scan gives it the sum of all
/// numbers on lower nodes, which it adds to each of its own sums.
///
/// Each process reads, holds and verifies what its nodes have. Sums of int64 wrap around modulo
/// 2^64.
///
/// Cost    n/p additions twice, and an exclusive scan of one number.
/// Source  A. Grama, A. Gupta, G. Karypis, V. Kumar, Introduction to Parallel Computing, 2003, sec.
///         4.3, problem 4.10.
/// Throws UsageError before anything runs: other elements, a NaN with its place, not one dimension,
/// an algorithm that does not apply here, too little memory.
PrefixResult run_prefix(const Runner& runner, const Algorithms& algorithms, const PrefixJob& job);

/// The sums that differ from those of the numbers: in int64 at all, in float64 by more than the
/// rounding of their additions in any order.
std::size_t count_wrong_sums(const Array& numbers, const Array& sums);

}  // namespace wormcube::apps
