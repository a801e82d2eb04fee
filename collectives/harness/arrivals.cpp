// Which blocks have arrived at which node, and whether for the first time.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/tags.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/schedule/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

using namespace tags;

Arrivals::Arrivals(const Contract& contract, double elements)
    : contract_(contract),
      counted_(contract.pattern == Pattern::tags),
      salt_(salt(contract)),
      blocks_per_node_(0),
      elements_per_block_(contract.block_bytes / contract.element_bytes() *
                          (contract.uneven() ? 2 : 1)) {
  for (Rank rank = 0; rank < contract.nodes; ++rank) {
    blocks_per_node_ = std::max<std::uint64_t>(blocks_per_node_, contract.gives(rank));
  }
  counted_ = counted_ && blocks_per_node_ > 0;
  if (!counted_) return;
  const auto nodes = static_cast<std::size_t>(contract.nodes);
  if (expected_bytes() <= most_bytes) {
    contract.operation->reduces ? combinations_.resize(nodes) : seen_.resize(nodes);
  } else if (!contract.operation->reduces && elements > 0 && elements <= most_bytes) {
    streams_.resize(nodes);  // a byte or more for each
  } else {
    counted_ = false;
  }
}

double Arrivals::expected_bytes() const {
  const auto p = static_cast<double>(contract_.nodes);
  const auto elements = static_cast<double>(blocks_per_node_ * elements_per_block_);
  constexpr double bits = 8;
  if (!contract_.operation->reduces) return p * p * elements / bits;
  // For each block a node receives partial results, about log p of them, and the whole one.
  return p * elements * (std::log2(p) + 1) * bytes_per_combination;
}

double Arrivals::bytes(const Contract& contract, double elements) {
  const Arrivals arrivals(contract, elements);
  if (!arrivals.streams_.empty()) {
    const double looked_at =
        arrivals.by_bits() ? static_cast<double>(arrivals.all_places()) / 8 : 0;
    return elements + static_cast<double>(NumberStream::chunk_bytes) * contract.nodes +
           looked_at * loop_threads();
  }
  return arrivals.counted_ ? arrivals.expected_bytes() : 0;
}

void Arrivals::add(Rank to, std::span<const Span> pieces) {
  const Bytes bytes = contract_.element_bytes();
  for (const Span piece : pieces) {
    if (!counted_) return;
    if (!contract_.operation->reduces) {
      add_tags(to, piece);
      continue;
    }
    for (Bytes at = 0; at + bytes <= piece.size() && counted_; at += bytes) {
      add_combination(to, piece.subspan(at, bytes));
    }
  }
}

void Arrivals::add_combination(Rank to, ConstSpan element) {
  Combination combination;
  static_assert(sizeof(combination) == sizeof(Interval));
  std::memcpy(combination.data(), element.data(), sizeof(combination));
  Interval interval;
  std::memcpy(&interval, element.data(), sizeof(interval));
  const std::uint32_t block = interval.block ^ block_salt(contract_);
  if (block >= blocks_per_node_ || interval.index >= elements_per_block_) return;  // no witness
  const bool ranks =
      interval.first >= 0 && interval.first < interval.last && interval.last <= contract_.nodes;
  if (!contract_.commutes && !ranks) return;
  if (!combinations_[static_cast<std::size_t>(to)].insert(combination).second) {
    ++repeated_;
    if (first_.empty()) {
      first_ =
          contract_.commutes
              ? fmt::format("node {} receives the same combination of block {} twice", to, block)
              : fmt::format(
                    "node {} receives the combination of nodes {} to {}, block {}, "
                    "twice",
                    to, interval.first, interval.last - 1, block);
    }
  }
  constexpr auto most = static_cast<std::size_t>(most_bytes / bytes_per_combination);
  counted_ = ++combinations_kept_ < most;
}

void Arrivals::add_tags(Rank to, ConstSpan piece) {
  const auto nodes = static_cast<std::uint64_t>(contract_.nodes);
  const std::uint64_t salt = salt_, blocks = blocks_per_node_, elements = elements_per_block_;
  places_.resize(piece.size() / word_bytes);
  std::size_t count = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    std::uint64_t tag = 0;
    std::memcpy(&tag, piece.data() + i * word_bytes, word_bytes);
    tag ^= salt;
    // By block first: a node that receives only its own block from every node stays within a few
    // cache lines.
    places_[count] = (block_of(tag) * nodes + origin_of(tag)) * elements + index_of(tag);
    // Otherwise it is no tag, but other data of the program.
    count += origin_of(tag) < nodes && block_of(tag) < blocks && index_of(tag) < elements ? 1 : 0;
  }
  places_.resize(count);
  if (!streams_.empty()) {
    const std::size_t chunks = streams_[static_cast<std::size_t>(to)].append(places_);
    stream_bytes_ += static_cast<double>(chunks * NumberStream::chunk_bytes);
    if (stream_bytes_ > most_bytes) counted_ = false, streams_.clear();
    return;
  }
  auto& seen = seen_[static_cast<std::size_t>(to)];
  if (seen.empty()) seen.resize(all_places());
  for (const std::uint64_t place : places_) {
    if (seen[place]) add_repeated(to, 1, place);
    seen[place] = true;
  }
}

namespace {

struct Repeated {
  std::uint64_t times = 0, first_place = 0;
};

/// By a bit for each place; the bits are 0 before and after.
Repeated repeated_by_bits(const NumberStream& places, std::vector<std::uint64_t>& bits) {
  constexpr std::uint64_t word_bits = 64;
  Repeated repeated;
  places.each([&](std::uint64_t place) {
    std::uint64_t& word = bits[place / word_bits];
    const std::uint64_t bit = std::uint64_t{1} << place % word_bits;
    if ((word & bit) != 0 && repeated.times++ == 0) repeated.first_place = place;
    word |= bit;
  });
  places.each([&](std::uint64_t place) { bits[place / word_bits] = 0; });
  return repeated;
}

Repeated repeated_by_order(const NumberStream& places, std::vector<std::uint64_t>& sorted) {
  sorted.clear();
  places.each([&](std::uint64_t place) { sorted.push_back(place); });
  std::ranges::sort(sorted);
  Repeated repeated;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] == sorted[i - 1] && repeated.times++ == 0) repeated.first_place = sorted[i];
  }
  return repeated;
}

}  // namespace

// Bits take the less time, but each thread needs all of them.
bool Arrivals::by_bits() const {
  constexpr std::uint64_t most_places = std::uint64_t{1} << 27;  // 16 MiB
  return all_places() <= most_places;
}

void Arrivals::finish() {
  constexpr std::uint64_t word_bits = 64;
  std::vector<Repeated> repeated(streams_.size());
  EachThread<std::vector<std::uint64_t>> words(
      [&] { return std::vector<std::uint64_t>(by_bits() ? all_places() / word_bits + 1 : 0); });
  parallel_for_each_index(streams_.size(), [&](std::size_t to) {
    repeated[to] = by_bits() ? repeated_by_bits(streams_[to], words.local())
                             : repeated_by_order(streams_[to], words.local());
  });
  streams_.clear();
  for (std::size_t to = 0; to < repeated.size(); ++to) {
    if (repeated[to].times == 0) continue;
    add_repeated(static_cast<Rank>(to), repeated[to].times, repeated[to].first_place);
  }
}

void Arrivals::add_repeated(Rank to, std::uint64_t times, std::uint64_t first_place) {
  repeated_ += times;
  if (!first_.empty()) return;
  const std::uint64_t block_and_origin = first_place / elements_per_block_;
  const auto nodes = static_cast<std::uint64_t>(contract_.nodes);
  first_ = fmt::format("node {} receives block {} of node {} twice", to, block_and_origin / nodes,
                       block_and_origin % nodes);
}

}  // namespace wormcube
