// Places of blocks in a node's array, from coordinates alone.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/kim_array.hpp"

#include "wormcube/collectives/alltoall/torus_core.hpp"

#include <utility>

namespace wormcube {

namespace {

/// The coordinates first, first + stride, ..; `count` of them.
struct Side {
  Rank first, stride, count;
};

/// The ranks of a box, ascending.
template <class SideOf>
std::vector<Rank> box(const Topology& topology, SideOf side_of) {
  std::vector<Rank> ranks{0}, inner;
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Side side = side_of(d);
    inner.clear();
    for (const Rank rank : ranks) {
      for (Rank i = 0; i < side.count; ++i) {
        inner.push_back(rank + (side.first + i * side.stride) * topology.stride(d));
      }
    }
    ranks.swap(inner);
  }
  return ranks;
}

struct Digit {
  Rank value, radix;
};

/// The number with these digits, the first one most significant.
template <class DigitOf>
Rank number(int digits, DigitOf digit_of) {
  Rank number = 0;
  for (int d = 0; d < digits; ++d) {
    const Digit digit = digit_of(d);
    number = number * digit.radix + digit.value;
  }
  return number;
}

/// The last coordinate modulo 2^bits: it is fastest, and 2^bits divides its size.
Rank low_bits(Rank rank, int bits) { return rank % (1 << bits); }

/// The most levels, up to k, of which a node is a master.
int level_of(const Topology& topology, Rank rank, int divisions) {
  Rank sum = 0;
  for (int d = 0; d < topology.dimensions(); ++d) sum ^= topology.coordinate(rank, d);
  int level = 0;
  while (level < divisions && (sum >> level & 1) == 0) ++level;
  return level;
}

unsigned gray_code(unsigned position) { return position ^ position >> 1; }
unsigned gray_position(unsigned code) {
  unsigned position = 0;
  for (; code != 0; code >>= 1) position ^= code;
  return position;
}

}  // namespace

KimArray::KimArray(Node& node, Bytes block_bytes, int divisions)
    : node_(node),
      block_bytes_(block_bytes),
      divisions_(divisions),
      level_(level_of(node.topology(), node.rank(), divisions)),
      memory_(node.memory(blocks(level_) * block_bytes, Purpose::blocks)),
      second_(node.memory(blocks(level_) * block_bytes)),
      held_(memory_),
      spare_(second_) {}

std::size_t KimArray::blocks(int level) const {
  return static_cast<std::size_t>(node_.size()) << level;
}

Move KimArray::towards_partner(int i, int dimension) const {
  const Rank distance = 1 << (i - 1);
  const bool even = coordinate(node_.rank(), dimension) / distance % 2 == 0;
  return {dimension, even ? distance : -distance};
}

Rank KimArray::partner(int i, int dimension) const {
  return node_.topology().neighbour(node_.rank(), dimension, towards_partner(i, dimension).hops);
}

// Sources and destinations.

KimArray::Ranks KimArray::cell(int level) const {
  const Rank side = 1 << level;
  return box(node_.topology(), [&](int d) {
    return Side{coordinate(node_.rank(), d) / side * side, 1, side};
  });
}

KimArray::Ranks KimArray::delegators(int level) const {
  const Topology& topology = node_.topology();
  const Rank side = 1 << level;
  return box(topology, [&](int d) {
    return d + 1 < dimensions()
               ? Side{coordinate(node_.rank(), d) % side, side, topology.size(d) / side}
               : Side{0, 1, topology.size(d)};
  });
}

KimArray::Ranks KimArray::row(int level) const {
  const Rank side = 1 << level;
  return box(node_.topology(), [&](int d) {
    const Rank x = coordinate(node_.rank(), d);
    return d + 1 < dimensions() ? Side{x, 1, 1} : Side{x / side * side, 1, side};
  });
}

KimArray::Ranks KimArray::everyone() const {
  return box(node_.topology(), [&](int d) { return Side{0, 1, node_.topology().size(d)}; });
}

// Their numbers, row-major.

/// In its cell.
Rank KimArray::in_cell(int level, Rank rank) const {
  return number(dimensions(), [&](int d) {
    return Digit{coordinate(rank, d) % (1 << level), 1 << level};
  });
}

/// The cell's.
Rank KimArray::cell_number(int level, Rank rank) const {
  return number(dimensions(), [&](int d) {
    return Digit{coordinate(rank, d) >> level, node_.topology().size(d) >> level};
  });
}

/// Among delegators(level).
Rank KimArray::delegator_number(int level, Rank rank) const {
  return number(dimensions(), [&](int d) {
    const int cut = d + 1 < dimensions() ? level : 0;
    return Digit{coordinate(rank, d) >> cut, node_.topology().size(d) >> cut};
  });
}

// Layouts. In split phase i the blocks of a group make the same moves; a group has a part for each
// source in the cell of level i-1, and each part one block for each delegator of level i.

/// Where a group starts.
/// \param differing  bit d: the group moves in dimension d; bit 0: the move that doubles the array
Rank KimArray::group_place(int i, unsigned differing) const {
  const Rank before = static_cast<Rank>(blocks(i - 1));
  const Rank group = before >> (dimensions() - 1);
  return static_cast<Rank>(differing & 1) * before +
         static_cast<Rank>(gray_position(differing >> 1)) * group;
}

KimArray::Layout KimArray::before_split(int i) const {
  const Rank part = node_.size() >> i * (dimensions() - 1);
  const auto groups = [=, this](Rank destination) {
    // To the delegate: the destination's bit in all dimensions but the last, where their sum is 0.
    unsigned differing = 0, sum = 0;
    for (int d = 0; d < dimensions(); ++d) {
      const unsigned own = static_cast<unsigned>(coordinate(node_.rank(), d)) >> (i - 1) & 1;
      const unsigned its = static_cast<unsigned>(coordinate(destination, d)) >> (i - 1) & 1;
      const unsigned target = d + 1 < dimensions() ? its : sum;
      sum ^= target;
      differing |= (own ^ target) << d;
    }
    return group_place(i, differing & ~1U) + delegator_number(i, destination);
  };
  return {[=, this](Rank source) { return in_cell(i - 1, source) * part; }, groups};
}

KimArray::Layout KimArray::after_split(int i) const {
  const Rank part = node_.size() >> i * (dimensions() - 1);
  const auto groups = [=, this](Rank source) {
    unsigned differing = 0;
    for (int d = 0; d < dimensions(); ++d) {
      const Rank difference = coordinate(node_.rank(), d) ^ coordinate(source, d);
      differing |= (static_cast<unsigned>(difference) >> (i - 1) & 1) << d;
    }
    return group_place(i, differing) + in_cell(i - 1, source) * part;
  };
  return {groups, [=, this](Rank destination) { return delegator_number(i, destination); }};
}

/// A bundle of TorusCore has all blocks from one cell for one delegate.
KimArray::Layout KimArray::before_exchange() const {
  const int k = divisions_;
  const auto slots = TorusCore(node_.topology(), node_.rank(), k).first_slots();
  const Rank bundle = 1 << k * (dimensions() + 1);
  const auto bundles = [=, this](Rank destination) {
    return slots[cell_number(k, destination)] * bundle + low_bits(destination, k);
  };
  return {[=, this](Rank source) { return in_cell(k, source) << k; }, bundles};
}

KimArray::Layout KimArray::after_exchange() const {
  const int k = divisions_;
  const auto slots = TorusCore(node_.topology(), node_.rank(), k).last_slots();
  const Rank bundle = 1 << k * (dimensions() + 1);
  const auto bundles = [=, this](Rank source) {
    return slots[cell_number(k, source)] * bundle + (in_cell(k, source) << k);
  };
  return {bundles, [=](Rank destination) { return low_bits(destination, k); }};
}

KimArray::Layout KimArray::before_merge(int i) const {
  const Rank half = static_cast<Rank>(blocks(i - 1)), own = node_.rank();
  Layout layout = after_merge(i);
  layout.destination = [=](Rank destination) {
    const bool goes = ((destination ^ own) >> (i - 1) & 1) != 0;
    return (goes ? half : 0) + low_bits(destination, i - 1);
  };
  return layout;
}

KimArray::Layout KimArray::after_merge(int i) const {
  return {[=](Rank source) { return source << (i - 1); },
          [=](Rank destination) { return low_bits(destination, i - 1); }};
}

// Moving blocks.

void KimArray::lay_out(ConstBlocks out) {
  node_.local([&] {
    const Layout layout = before_split(1);
    for (Rank q = 0; q < node_.size(); ++q) copy(out[q], block(held_, layout.destination(q)));
  });
}

std::vector<Span> KimArray::leaving(int i, int d) const {
  const unsigned groups = 1U << (dimensions() - 1);
  const Blocks group(all(i - 1), static_cast<Rank>(groups));
  const auto goes = [&](unsigned g) { return (gray_code(g) >> (d - 1) & 1) != 0; };
  std::vector<Span> pieces;
  for (unsigned first = 0; first < groups; ++first) {
    unsigned last = first;
    while (last < groups && goes(last)) ++last;
    if (last == first) continue;
    pieces.push_back(group.range(static_cast<Rank>(first), static_cast<Rank>(last - first)));
    first = last;
  }
  return pieces;
}

std::vector<Span> KimArray::opposite(std::vector<Span> pieces) const {
  for (Span& piece : pieces) piece = spare_.subspan(piece.data() - held_.data(), piece.size());
  return pieces;
}

/// From this array to the second, which is this one afterwards.
void KimArray::permute(const Ranks& sources, const Ranks& destinations, const Layout& from,
                       const Layout& to) {
  const auto places = [](const Ranks& ranks, const std::function<Rank(Rank)>& place) {
    Ranks result;
    for (const Rank rank : ranks) result.push_back(place(rank));
    return result;
  };
  const Ranks old_sources = places(sources, from.source), new_sources = places(sources, to.source),
              old_parts = places(destinations, from.destination),
              new_parts = places(destinations, to.destination);
  for (std::size_t s = 0; s < sources.size(); ++s) {
    for (std::size_t d = 0; d < destinations.size(); ++d) {
      copy(block(held_, old_sources[s] + old_parts[d]),
           block(spare_, new_sources[s] + new_parts[d]));
    }
  }
}

void KimArray::rearrange_after_split(int i) {
  node_.rearrange(all(i).size(), [&] {
    permute(cell(i), delegators(i), after_split(i),
            i < divisions_ ? before_split(i + 1) : before_exchange());
  });
  std::swap(held_, spare_);
}

void KimArray::rearrange_for_merge(int i) {
  node_.rearrange(all(i).size(), [&] {
    permute(everyone(), row(i), i < divisions_ ? after_merge(i + 1) : after_exchange(),
            before_merge(i));
  });
  std::swap(held_, spare_);
}

void KimArray::deliver(Blocks in) {
  node_.local([&] { copy(all(0), in.all()); });
}

}  // namespace wormcube
