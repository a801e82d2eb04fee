// `wormcube sort`: a list of the host, sorted by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/algorithms.hpp"
#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/apps/io/source.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// The operations that a sort calls: samples to all, counts, offsets, keys.
std::vector<Operation> sort_operations();

struct SortJob {
  Source keys;              ///< one dimension, real elements, none of them NaN
  std::size_t samples = 0;  ///< of each node; 0: one for each node
  bool rebalance = false;   ///< a second exchange: equal shares for all nodes
  RunOptions options = {};
};

struct SortCheck {
  bool measured = false;
  std::size_t descents = 0;  ///< neighbours in the result of which the second is smaller
  std::size_t missing = 0;   ///< keys of the input that are not in the result, bit for bit
  /// Whether they were counted; if several processes share the keys and none could hold them,
  /// fingerprints of all keys before and after are compared: `missing` is then 1 if they differ.
  bool counted = true;
  std::chrono::nanoseconds serial_wall{0};  ///< of the same sort on the host alone
  bool passed() const { return measured && descents == 0 && missing == 0; }
};

struct SortResult {
  RunFigures figures;
  Array sorted;             ///< the keys that this process's nodes have
  Part here;                ///< which keys of the whole they are
  std::size_t samples = 0;  ///< of each node, at most
  /// Keys of one node after the exchange by splitters: the most, the fewest; the mean.
  std::size_t largest_share = 0, smallest_share = 0;
  double average_share = 0;
  SortCheck check;
  bool verified() const { return check.measured; }
  bool passed() const { return check.passed(); }
};

/// A sample sort: local sort; regular sampling, an all-gather of the samples, splitters on every
/// node; an alltoall of counts, an alltoallv of the keys; merging; an exclusive scan of the shares
/// for the places in the whole.
///
/// Each process reads, holds and verifies what its nodes have.
///
/// Source: A. Grama, A. Gupta, G. Karypis, V. Kumar, Introduction to Parallel Computing, 2003, sec.
/// 9.5 (sample sort); Shi and Schaeffer 1992 (regular sampling).
/// Throws UsageError before anything runs: complex elements, a NaN with its place, not one
/// dimension, an algorithm that does not apply here, too little memory.
SortResult run_sort(const Runner& runner, const Algorithms& algorithms, const SortJob& job);

/// The keys to generate: uniform over the type's range (floating point: -1 to 1), all equal, few
/// (16 different ones), sorted, reverse.
enum class KeyKind : std::uint8_t { uniform, equal, few, sorted, reverse };
/// Throws UsageError that lists the available ones.
KeyKind parse_key_kind(std::string_view text);
/// Throws UsageError for complex elements.
Source made_keys(KeyKind kind, ElementType type, std::size_t count, std::uint64_t seed);
/// The same in memory.
Array generate_keys(KeyKind kind, ElementType type, std::size_t count, std::uint64_t seed);

/// Whether a result is the input, sorted: in order, and the same multiset of bit patterns.
SortCheck check_sorted(const Array& input, const Array& sorted);

}  // namespace wormcube::apps
