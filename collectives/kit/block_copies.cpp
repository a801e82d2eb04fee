// Own work on a block array as copies: tables of where each block is, before and after.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/block_array.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace wormcube {

namespace {

/// The array that a place is in, for queries in ascending order.
class Side {
 public:
  explicit Side(std::span<const Rank> seams) : next_(seams.begin()), end_(seams.end()) {}
  bool in_second(Rank place) {
    for (; next_ != end_ && *next_ <= place; ++next_) second_ = !second_;
    return second_;
  }

 private:
  std::span<const Rank>::iterator next_, end_;
  bool second_ = false;
};

/// The place of each block, by name: open addressing, at most half full. An entry is one word, so
/// that the table of a large machine's node still lies in a near cache.
class PlacesByName {
 public:
  explicit PlacesByName(Rank blocks) {
    const auto size = std::bit_ceil(2 * static_cast<std::size_t>(std::max(blocks, 1)));
    shift_ = 64 - std::countr_zero(size);
    entries_.resize(size, none);
  }

  void insert(BlockName block, Rank place) {
    const std::size_t at = find(key(block));
    WORMCUBE_ASSERT(entries_[at] == none);
    entries_[at] = key(block) << place_bits | static_cast<std::uint64_t>(place);
  }
  Rank at(BlockName block) const {
    const std::uint64_t entry = entries_[find(key(block))];
    WORMCUBE_ASSERT(entry != none);
    return static_cast<Rank>(entry & ((std::uint64_t{1} << place_bits) - 1));
  }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  static constexpr int rank_bits = 21, place_bits = 22;  // places are of two arrays
  static_assert(max_nodes < 1 << rank_bits && 2 * rank_bits + place_bits <= 64);

  static std::uint64_t key(BlockName block) {
    return static_cast<std::uint64_t>(block.source) << rank_bits |
           static_cast<std::uint64_t>(block.destination);
  }
  /// The entry with this key, or the free one where it belongs.
  std::size_t find(std::uint64_t key) const {
    // Names are sums of a few strides: a multiple of the golden ratio spreads them evenly.
    std::size_t i = key * 0x9E3779B97F4A7C15U >> shift_;
    while (entries_[i] != none && entries_[i] >> place_bits != key) {
      i = (i + 1) & (entries_.size() - 1);
    }
    return i;
  }

  std::vector<std::uint64_t> entries_;
  int shift_;
};

/// The place from which the block of each place comes, -1 for a gap; and a length that divides all,
/// so that whole pieces move.
struct Relocation {
  std::vector<Rank> from;
  Rank unit;
};

Relocation permutation(const Layout& from, const Layout& to, const std::vector<Rank>& seams,
                       Rank places) {
  WORMCUBE_ASSERT(from.count() == to.count());
  PlacesByName before(from.count());
  for (const Places& part : from.parts()) {
    Side side(seams);
    part.for_each([&](Rank place, BlockName block) {
      before.insert(block, place + (side.in_second(place) ? places : 0));
    });
  }
  Relocation result{std::vector<Rank>(static_cast<std::size_t>(places), -1), places};
  for (const Places& part : to.parts()) {
    part.for_each([&](Rank place, BlockName block) { result.from[place] = before.at(block); });
  }
  const auto divide = [&](Rank place) {  // mostly it is a multiple already
    if (place % result.unit != 0) result.unit = std::gcd(result.unit, place);
  };
  for (Rank to_place = 0, next = 0; to_place < places; ++to_place) {
    const Rank source = result.from[to_place];
    if (to_place == 0 || source != next) {
      divide(to_place);
      if (source >= 0) divide(source);
    }
    next = source < 0 ? -1 : source + 1;
  }
  return result;
}

}  // namespace

/// The copies of a piece of own work, in an order in which none overwrites what a later one reads.
BlockArray::Copies BlockArray::copies(const Layouts& work) const {
  std::vector<Copy> copies;
  const bool inside = work.from && work.to;
  const auto add = [&](Rank from, Rank to, Rank count) {
    if (!copies.empty()) {  // one longer copy, if that neither spans both arrays nor overlaps
      Copy& last = copies.back();
      if (last.from + last.count == from && last.to + last.count == to && from != places_ &&
          to != places_ && !(inside && std::abs(from - to) < last.count + count)) {
        last.count += count;
        return;
      }
    }
    copies.push_back({from, to, count});
  };

  if (!inside) {
    for (const Places& places : (work.from ? *work.from : *work.to).parts()) {
      Side side(work.seams);
      places.for_each([&](Rank place, BlockName block) {
        if (work.to) {
          add(block.destination, place, 1);
        } else {
          add(place + (side.in_second(place) ? places_ : 0), block.source, 1);
        }
      });
    }
  } else {
    auto permuted = permutation(*work.from, *work.to, work.seams, places_);
    auto& from = permuted.from;
    const Rank unit = permuted.unit;
    std::vector<bool> needed(2 * static_cast<std::size_t>(places_), false);
    for (Rank to = 0; to < places_; to += unit) {
      if (from[to] >= 0) needed[from[to]] = true;
    }
    // Fills a place that is not needed any more, then the one that this has freed, and so on.
    const auto fill = [&](Rank to) {
      while (to < places_ && from[to] >= 0 && !needed[to]) {
        const Rank source = std::exchange(from[to], -1);
        add(source, to, unit);
        needed[source] = false;
        to = source;
      }
    };
    for (Rank to = 0; to < places_; to += unit) fill(to);
    // The rest are cycles in the first array. The second one is free at their places.
    for (Rank to = 0; to < places_; to += unit) {
      if (from[to] < 0 || from[to] == to) continue;
      Rank last = from[to];
      while (from[last] != to) last = from[last];
      add(to, places_ + to, unit);
      from[last] = places_ + to;
      needed[to] = false;
      fill(to);
    }
  }
  const auto is_other = [&](const Copy& copy) { return copy.count != copies.front().count; };
  const bool differ = copies.empty() || std::ranges::any_of(copies, is_other);
  const Rank alike = differ ? 0 : copies.front().count;
  return {std::move(copies), alike};
}

}  // namespace wormcube
