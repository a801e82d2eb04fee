// Places of blocks in a node's array, from coordinates alone.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/mesh_array.hpp"

#include <numeric>
#include <utility>

namespace wormcube {

namespace {

Rank product(std::span<const Rank> factors) {
  return std::accumulate(factors.begin(), factors.end(), Rank{1}, std::multiplies{});
}

Rank dot(std::span<const Rank> index, std::span<const Rank> strides) {
  return std::inner_product(index.begin(), index.end(), strides.begin(), Rank{0});
}

/// The i-th mask of the reflected Gray code: each differs from the one before in one bit.
std::uint32_t gray(std::uint32_t i) { return i ^ i >> 1; }

int half(std::uint32_t mask, int d) { return static_cast<int>(mask >> d & 1); }

/// Adds a piece to a message; neighbours in memory become one.
void append(std::vector<Span>& pieces, Span piece) {
  if (piece.empty()) return;
  if (!pieces.empty() && pieces.back().data() + pieces.back().size() == piece.data()) {
    pieces.back() = {pieces.back().data(), pieces.back().size() + piece.size()};
  } else {
    pieces.push_back(piece);
  }
}

/// The sides of two or more coordinates; the others have no links and take no part.
std::vector<MeshSide> mesh_sides(const Topology& topology, Rank rank, MeshRing ring) {
  std::vector<MeshSide> sides;
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.size(d) < 2) continue;
    sides.push_back({d, MeshLine(topology.size(d), ring), topology.coordinate(rank, d)});
  }
  return sides;
}

Rank capacity(std::span<const MeshSide> sides) {
  Rank blocks = 1;
  for (const MeshSide& side : sides) blocks *= 2 * side.line.members(0);
  return blocks;
}

}  // namespace

MeshArray::MeshArray(Node& node, ConstBlocks out, Blocks in, MeshRing ring)
    : node_(node),
      out_(out),
      in_(in),
      sides_(mesh_sides(node.topology(), node.rank(), ring)),
      capacity_(capacity(sides_)),
      memory_(node.memory(capacity_ * bytes(), Purpose::blocks)),
      second_(node.memory(capacity_ * bytes(), Purpose::staging)),
      now_(memory_),
      other_(second_) {}

Rank MeshArray::with(int d, Rank x) const {
  return node_.topology().with(node_.rank(), sides_[d].dimension, x);
}

Span MeshArray::block(Span array, Rank position) const {
  return array.subspan(position * bytes(), bytes());
}

Span MeshArray::opposite(Span place) const {
  return other_.subspan(place.data() - now_.data(), place.size());
}

/// How many pairs of ends on side e the blocks have that are handed over in dimension d: one for
/// each slot if e had its turn before, one for each destination if not.
Rank MeshArray::ends_on(int e, int d) const {
  const auto& [unused, line, x] = sides_[e];
  return e == d ? 1 : e < d ? line.slots(x) : line.size();
}

Span MeshArray::guests(int d) const {
  Rank first = 0, count = 0;
  for (int k = 0; k <= d; ++k) {
    const auto& [unused, line, x] = sides_[k];
    first += count;
    count = x % 2 == 0 && line.has_odd_size() && !line.is_lonely(x) ? 1 : 0;
    for (int e = 0; e < dimensions(); ++e) count *= ends_on(e, k);
  }
  return other_.subspan(first * bytes(), count * bytes());
}

/// Where a block lies before the first ring: with the caller, or among the guests that came last on
/// its way here.
ConstSpan MeshArray::home(std::span<const MeshLine::Ends> ends) const {
  Rank destination = node_.rank();
  int last = -1;
  for (int d = 0; d < dimensions(); ++d) {
    const auto& [dimension, line, x] = sides_[d];
    destination = node_.topology().with(destination, dimension, ends[d].destination);
    if (ends[d].source != x) last = d;
  }
  if (last < 0) return out_[destination];
  Rank position = 0;
  for (int d = 0; d < dimensions(); ++d) {
    if (d == last) continue;
    const bool guest = ends[d].source != sides_[d].x;
    position = position * ends_on(d, last) + (guest ? sides_[d].line.size() : ends[d].destination);
  }
  return block(guests(last), position);
}

std::vector<Span> MeshArray::leaving(int d) const {
  std::vector<Rank> radices;
  radices.reserve(sides_.size());
  for (int e = 0; e < dimensions(); ++e) radices.push_back(ends_on(e, d));
  std::vector<MeshLine::Ends> ends(sides_.size());
  std::vector<Span> pieces;
  for_each_index(radices, [&](std::span<const Rank> index) {
    for (int e = 0; e < dimensions(); ++e) {
      const auto& [unused, line, x] = sides_[e];
      const bool guest = index[e] == line.size();
      ends[e] = {guest ? x + 1 : x, guest || e == d ? line.size() - 1 : index[e]};
    }
    const ConstSpan piece = home(ends);
    append(pieces, {const_cast<std::byte*>(piece.data()), piece.size()});  // NOLINT: only read
  });
  return pieces;
}

std::vector<Rank> MeshArray::extents_of_ring() const {
  std::vector<Rank> extents;
  for (const auto& [unused, line, x] : sides_) extents.push_back(line.slots(x));
  return extents;
}

std::vector<Rank> MeshArray::strides_for(int d) const {
  const std::vector<Rank> extents = extents_of_ring();
  std::vector<Rank> strides(extents.size());
  Rank stride = 1;
  for (int e = dimensions() - 1; e >= 0; --e) {
    if (e == d) continue;
    strides[e] = stride;
    stride *= extents[e];
  }
  strides[d] = stride;
  return strides;
}

void MeshArray::lay_out(int d) {
  strides_ = strides_for(d);
  node_.local([&] {
    std::vector<MeshLine::Ends> ends(sides_.size());
    for_each_index(extents_of_ring(), [&](std::span<const Rank> slots) {
      for (int e = 0; e < dimensions(); ++e) ends[e] = sides_[e].line.ends(sides_[e].x, slots[e]);
      copy(home(ends), block(now_, dot(slots, strides_)));
    });
  });
}

void MeshArray::rearrange(int d) {
  const std::vector<Rank> extents = extents_of_ring(), strides = strides_for(d);
  node_.rearrange(product(extents) * bytes(), [&] {
    for_each_index(extents, [&](std::span<const Rank> slots) {
      copy(block(now_, dot(slots, strides_)), block(other_, dot(slots, strides)));
    });
  });
  std::swap(now_, other_);
  strides_ = strides;
}

Span MeshArray::last_pairs(int d, Rank pairs) const {
  return now_.first(product(extents_of_ring()) * bytes()).last(2 * pairs * strides_[d] * bytes());
}

/// Calls f(position, mask, index) for each block of each segment, with its index in the halves.
template <class F>
void MeshArray::for_each_in_segments(bool exchanged, F&& f) const {
  const std::uint32_t segments = 1U << sides_.size();
  const Rank room = capacity_ / static_cast<Rank>(segments);
  std::vector<Rank> extents(sides_.size());
  for (std::uint32_t i = 0; i < segments; ++i) {
    const std::uint32_t mask = gray(i);
    for (int d = 0; d < dimensions(); ++d) {
      extents[d] = sides_[d].line.in_half(sides_[d].x, half(mask, d), exchanged);
    }
    Rank position = static_cast<Rank>(i) * room;
    for_each_index(extents, [&](std::span<const Rank> index) { f(position++, mask, index); });
  }
}

void MeshArray::rearrange_by_halves() {
  node_.rearrange(product(extents_of_ring()) * bytes(), [&] {
    for_each_in_segments(false, [&](Rank to, std::uint32_t mask, std::span<const Rank> index) {
      Rank from = 0;
      for (int d = 0; d < dimensions(); ++d) {
        const auto& [unused, line, x] = sides_[d];
        from += line.slot(x, half(mask, d), index[d]) * strides_[d];
      }
      copy(block(now_, from), block(other_, to));
    });
  });
  std::swap(now_, other_);
}

/// The blocks of each segment, by mask; the exchanges run from the last dimension to the first.
std::vector<Rank> MeshArray::segments(int first_exchanged) const {
  std::vector<Rank> blocks{1};
  for (int d = 0; d < dimensions(); ++d) {
    const auto& [unused, line, x] = sides_[d];
    const std::size_t masks = blocks.size();
    for (std::size_t mask = 0; mask < masks; ++mask) {
      blocks.push_back(blocks[mask] * line.in_half(x, 1, d >= first_exchanged));
      blocks[mask] *= line.in_half(x, 0, d >= first_exchanged);
    }
  }
  return blocks;
}

std::vector<Span> MeshArray::second_half(int d, bool exchanged) const {
  const std::vector<Rank> blocks = segments(exchanged ? d : d + 1);
  const Bytes room = now_.size() / blocks.size();
  std::vector<Span> pieces;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    const std::uint32_t mask = gray(i);
    if (half(mask, d) != 0) append(pieces, now_.subspan(i * room, blocks[mask] * bytes()));
  }
  return pieces;
}

void MeshArray::deliver() {
  node_.local([&] {
    for_each_in_segments(true, [&](Rank from, std::uint32_t mask, std::span<const Rank> index) {
      Rank source = node_.rank();
      for (int d = 0; d < dimensions(); ++d) {
        const auto& [dimension, line, x] = sides_[d];
        source = node_.topology().with(source, dimension, line.source(x, half(mask, d), index[d]));
      }
      copy(block(now_, from), in_[source]);
    });
  });
}

}  // namespace wormcube
