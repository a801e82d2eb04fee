// The local parts of a sample sort: samples, splitters, cuts, merging.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/distribution.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace wormcube::apps {

/// Regular sampling: each node gives `per_node` of its sorted keys, at equal distances, or all if
/// it has fewer. Every node knows how many each gives, so a sample's place in the all-gather's
/// result determines its node and its key.
///
/// Equal keys are distinguished by their node and their place there. So no key can be too frequent:
/// a node ends with at most (1 + p / per_node) n / p keys, and a few for rounding. Node r starts r
/// / p of a distance later than node 0: samples of nodes with similar keys do not coincide, and
/// random keys are shared evenly.
///
/// Source: H. Shi, J. Schaeffer, Parallel Sorting by Regular Sampling, J. Parallel Distrib. Comput.
/// 14 (1992), 361-372; equal keys, any counts, and the different starts are ours.
struct RegularSampling {
  Distribution keys;     ///< over the nodes, before the sort
  std::size_t per_node;  ///< at most; 1 or more

  std::size_t samples(Rank r) const { return std::min(keys.count(r), per_node); }
  /// The place among node r's sorted keys of its k-th sample: (k + (r + 1/2) / p) distances.
  std::size_t index(Rank r, std::size_t k) const {
    const auto p = static_cast<std::size_t>(keys.nodes);
    return (2 * (k * p + static_cast<std::size_t>(r)) + 1) * keys.count(r) / (2 * p * samples(r));
  }
};

/// A key with the order of equal keys: by their node, then by their place there.
template <class T>
struct Splitter {
  T key;
  Rank node;
  std::size_t index;
};

/// The p - 1 keys that start the parts of nodes 1 .. p-1; none if there are no samples.
///
/// \param samples  of all nodes, node by node
template <class T>
std::vector<Splitter<T>> choose_splitters(const RegularSampling& sampling,
                                          std::span<const T> samples) {
  if (samples.empty()) return {};
  std::vector<Splitter<T>> all;
  all.reserve(samples.size());
  for (Rank r = 0; r < sampling.keys.nodes; ++r) {
    for (std::size_t k = 0; k < sampling.samples(r); ++k) {
      all.push_back({samples[all.size()], r, sampling.index(r, k)});
    }
  }
  // Node by node, equal keys are in order already.
  std::ranges::stable_sort(all, {}, &Splitter<T>::key);
  std::vector<Splitter<T>> splitters;
  const auto p = static_cast<std::size_t>(sampling.keys.nodes);
  for (std::size_t part = 1; part < p; ++part) {
    splitters.push_back(all[part * all.size() / p]);
  }
  return splitters;
}

/// How many of node r's sorted keys go to each node: those before the first splitter to node 0, ..
template <class T>
void count_parts(std::span<const T> keys, Rank r, const std::vector<Splitter<T>>& splitters,
                 std::span<std::size_t> counts) {
  std::ranges::fill(counts, std::size_t{0});
  std::size_t begin = 0;
  for (std::size_t part = 0; part < splitters.size(); ++part) {
    const auto& [key, node, index] = splitters[part];
    // Equal keys of lower nodes come before the splitter, those of higher nodes after it.
    const auto bound =
        r < node ? std::ranges::upper_bound(keys, key) : std::ranges::lower_bound(keys, key);
    const std::size_t end =
        node == r ? index : static_cast<std::size_t>(std::to_address(bound) - keys.data());
    // They ascend, unless the all-gather returned other samples than were sent.
    counts[part] = std::max(begin, end) - begin;
    begin = std::max(begin, end);
  }
  counts[splitters.size()] = keys.size() - begin;
}

/// Merges consecutive sorted runs: neighbours two at a time, in log2(runs) passes; of equal keys
/// those of the earlier run come first.
///
/// \param counts  keys of each run
/// \param room    as long as `runs`
/// Returns the one of the two that holds the result.
template <class T>
std::span<T> merge_runs(std::span<T> runs, std::span<const std::size_t> counts, std::span<T> room) {
  std::vector<std::size_t> ends;
  std::size_t end = 0;
  for (const std::size_t count : counts) {
    if (count > 0) ends.push_back(end += count);
  }
  while (ends.size() > 1) {
    std::vector<std::size_t> merged;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const std::size_t middle = ends[i], last = i + 1 < ends.size() ? ends[i + 1] : middle;
      std::ranges::merge(runs.subspan(begin, middle - begin), runs.subspan(middle, last - middle),
                         room.begin() + static_cast<std::ptrdiff_t>(begin));
      merged.push_back(last);
      begin = last;
    }
    ends = std::move(merged);
    std::swap(runs, room);
  }
  return runs;
}

}  // namespace wormcube::apps
