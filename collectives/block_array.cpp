// Blocks in two arrays: steps and copies as plans, tables, one run.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/block_array.hpp"

#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

namespace wormcube {

Digit multiples(Rank radix, BlockName step) {
  Digit digit;
  digit.reserve(static_cast<std::size_t>(radix));
  for (Rank i = 0; i < radix; ++i) digit.push_back(i * step);
  return digit;
}

Digit in_gray_order(std::span<const Digit> bits) {
  Digit digit(std::size_t{1} << bits.size());
  for (std::size_t i = 0; i < digit.size(); ++i) {
    const auto code = static_cast<unsigned>(gray_code(static_cast<Rank>(i)));
    for (std::size_t k = 0; k < bits.size(); ++k) {
      WORMCUBE_ASSERT(bits[k].size() == 2);
      digit[i] = digit[i] + bits[k][code >> (bits.size() - 1 - k) & 1];
    }
  }
  return digit;
}

Rank Places::count() const {
  Rank count = 1;
  for (const Digit& digit : digits) count *= static_cast<Rank>(digit.size());
  return count;
}

Rank Layout::count() const {
  Rank count = 0;
  for (const Places& places : parts_) count += places.count();
  return count;
}

// Planning.

void BlockArray::lay_out(Layout to, Charge charge) {
  actions_.emplace_back(OwnWork{charge, {}, std::move(to), {}});
  seams_.clear();
}

void BlockArray::rearrange(Layout from, Layout to, Charge charge) {
  actions_.emplace_back(OwnWork{charge, std::move(from), std::move(to), std::exchange(seams_, {})});
}

void BlockArray::deliver(Layout from) {
  actions_.emplace_back(OwnWork{Charge::none, std::move(from), {}, seams_});
}

/// The slices cut where the array changes, neighbours joined; in the numbering of both arrays.
Slices BlockArray::where(const Slices& slices) const {
  Slices pieces;
  for (auto [first, count] : slices) {
    WORMCUBE_ASSERT(first >= 0 && count >= 0 && first + count <= places_);
    while (count > 0) {
      const auto seam = std::ranges::upper_bound(seams_, first);
      const Rank here = seam == seams_.end() ? count : std::min(count, *seam - first);
      const Rank at = first + ((seam - seams_.begin()) % 2 != 0 ? places_ : 0);
      if (!pieces.empty() && pieces.back().first + pieces.back().count == at && at != places_) {
        pieces.back().count += here;
      } else {
        pieces.push_back({at, here});
      }
      first += here, count -= here;
    }
  }
  return pieces;
}

/// From now on the places are in the other array: a seam more or less at both ends of each slice.
void BlockArray::arrive(const Slices& slices) {
  for (const auto& [first, count] : slices) {
    if (count == 0) continue;
    for (const Rank end : {first, first + count}) {
      const auto seam = std::ranges::lower_bound(seams_, end);
      if (seam != seams_.end() && *seam == end) {
        seams_.erase(seam);
      } else {
        seams_.insert(seam, end);
      }
    }
  }
}

void BlockArray::add(std::vector<Message> messages) {
  std::size_t pieces = 0;
  for (const Message& message : messages) pieces += message.pieces.size();
  most_pieces_ = std::max(most_pieces_, pieces);
  actions_.emplace_back(Step{std::move(messages)});
}

void BlockArray::exchange(Move to, Move from, const Slices& going, const Slices& coming) {
  Slices leaving = where(going);
  arrive(coming);
  add({{wormcube::send(to, {}), std::move(leaving)}, {wormcube::receive(from, {}), where(coming)}});
}

void BlockArray::exchange(Rank partner, const Slices& both) {
  Slices leaving = where(both);
  arrive(both);
  add({{wormcube::send(partner, {}), std::move(leaving)},
       {wormcube::receive(partner, {}), where(both)}});
}

void BlockArray::send(Move to, const Slices& going) {
  add({{wormcube::send(to, {}), where(going)}});
}

void BlockArray::receive(Move from, const Slices& coming) {
  arrive(coming);
  add({{wormcube::receive(from, {}), where(coming)}});
}

void BlockArray::idle(Rank steps) {
  if (steps > 0) actions_.emplace_back(Step{{}, steps});
}

// Tables.

namespace {

/// Whether a block is in the second array.
bool in_second(const std::vector<Rank>& seams, Rank place) {
  return (std::ranges::upper_bound(seams, place) - seams.begin()) % 2 != 0;
}

struct Named {
  std::uint64_t name;
  Rank place;
};

std::vector<Named> by_name(const Layout& layout) {
  std::vector<Named> result;
  result.reserve(static_cast<std::size_t>(layout.count()));
  for (const Places& places : layout.parts()) {
    places.for_each([&](Rank place, BlockName block) {
      const auto source = static_cast<std::uint64_t>(block.source);
      result.push_back({source << 32 | static_cast<std::uint32_t>(block.destination), place});
    });
  }
  std::ranges::sort(result, {}, &Named::name);
  return result;
}

/// The place from which the block of each place comes, -1 for a gap; and a length into which all
/// can be cut so that whole pieces move.
struct Permutation {
  std::vector<Rank> from;
  Rank unit;
};

Permutation permutation(const Layout& from, const Layout& to, const std::vector<Rank>& seams,
                        Rank places) {
  const std::vector<Named> before = by_name(from), after = by_name(to);
  WORMCUBE_ASSERT(before.size() == after.size());
  Permutation result{std::vector<Rank>(static_cast<std::size_t>(places), -1), places};
  for (std::size_t i = 0; i < before.size(); ++i) {
    WORMCUBE_ASSERT(before[i].name == after[i].name);
    const Rank place = before[i].place;
    result.from[after[i].place] = place + (in_second(seams, place) ? places : 0);
  }
  for (Rank to_place = 0, next = 0; to_place < places; ++to_place) {
    const Rank source = result.from[to_place];
    if (to_place == 0 || source != next) {
      result.unit = std::gcd(result.unit, to_place);
      if (source >= 0) result.unit = std::gcd(result.unit, source);
    }
    next = source < 0 ? -1 : source + 1;
  }
  return result;
}

}  // namespace

/// Copies in an order in which none overwrites what a later one reads.
const std::vector<BlockArray::Copy>& BlockArray::table(const OwnWork& work) const {
  if (work.table) return *work.table;
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
      places.for_each([&](Rank place, BlockName block) {
        if (work.to) {
          add(block.destination, place, 1);
        } else {
          add(place + (in_second(work.seams, place) ? places_ : 0), block.source, 1);
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
    // Fills a place that nobody needs any more, then the one that this has freed, and so on.
    const auto fill = [&](Rank to) {
      while (to < places_ && from[to] >= 0 && !needed[to]) {
        const Rank source = std::exchange(from[to], -1);
        add(source, to, unit);
        needed[source] = false;
        to = source;
      }
    };
    for (Rank to = 0; to < places_; to += unit) fill(to);
    // What is left are cycles in the first array. Where they lie the second one is free.
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
  work.table = std::move(copies);
  return *work.table;
}

// A call.

void BlockArray::run(Node& node, ConstBlocks out, Blocks in, Rank part, Rank parts) const {
  const Bytes bytes = wormcube::part(out[0], part, parts).size();
  const Bytes size = static_cast<Bytes>(places_) * bytes;
  const Memory first = node.memory(size, Purpose::blocks), second = node.memory(size);
  const auto at = [&](Rank place) {
    return place < places_ ? first.data() + place * bytes
                           : second.data() + (place - places_) * bytes;
  };
  const auto move = [&](const std::byte* from, std::byte* to, Bytes count) {
    if (count > 0) std::memcpy(to, from, count);
  };

  const auto do_work = [&](const OwnWork& work) {
    if (work.from && work.to) {
      for (const auto& [from, to, count] : table(work)) move(at(from), at(to), count * bytes);
      return;
    }
    for (const auto& [from, to, count] : table(work)) {
      if (parts == 1) {
        if (work.to) {
          move(out[from].data(), at(to), count * bytes);
        } else {
          move(at(from), in[to].data(), count * bytes);
        }
        continue;
      }
      for (Rank i = 0; i < count; ++i) {
        if (work.to) {
          move(wormcube::part(out[from + i], part, parts).data(), at(to + i), bytes);
        } else {
          move(at(from + i), wormcube::part(in[to + i], part, parts).data(), bytes);
        }
      }
    }
  };

  std::vector<Span> pieces;
  pieces.reserve(most_pieces_);
  std::vector<Op> ops;
  for (const auto& action : actions_) {
    if (const auto* work = std::get_if<OwnWork>(&action)) {
      if (work->charge == Charge::rearrange) {
        node.rearrange(work->to->count() * bytes, [&] { do_work(*work); });
      } else {
        node.local([&] { do_work(*work); });
      }
      continue;
    }
    const auto& step = std::get<Step>(action);
    pieces.clear();
    ops.clear();
    for (const auto& [op, slices] : step.messages) {
      const std::size_t begin = pieces.size();
      for (const auto& [place, count] : slices) pieces.emplace_back(at(place), count * bytes);
      ops.push_back(op.with_pieces(std::span(pieces).subspan(begin)));
    }
    for (Rank i = 0; i < step.times; ++i) node.step(std::span<const Op>(ops));
  }
}

}  // namespace wormcube
