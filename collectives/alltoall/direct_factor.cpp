// Permutations: of small rings and lines as tables, of even rings in closed form.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/direct_factor.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

namespace {

using DirectHop = DirectFactor::Hop;

/// A table's row as destinations: entry s is that of node s.
constexpr std::array<std::string_view, 8> ring_rows{
    "",
    "0",
    "01 10",
    "012 120 201",
    "0123 1032 2301 3210",
    "01234 10342 24103 32410 43021",
    "012345 103254 245130 351402 430521 524013",
    "0123456 1364025 2536140 3615204 4051362 5240631 6402513"};
constexpr std::array<std::string_view, 5> line_rows{"", "0", "01 10", "012 120 201",
                                                    "0213 1302 2031 3120"};
/// Odd rings: signed hops with their classes; permutation i gives node s the entry (s - i) mod n.
/// Found by search.
constexpr std::array<std::string_view, 9> odd_rows{
    "0a 4a -3b -1b 2b -2b 1b 3b -4a",
    "0a 5a 2b -4b -1b -3a 3a 1b 4b -2b -5a",
    "0a 6a -4b 2b -5a -1a -3b 3b 1a 5a -2b 4b -6a",
    "0a 7a -5b -4a 6b -3b -2a -1a 1a 2a 3b -6b 4a 5b -7a",
    "0a 8a 3c -5b 7b -6c -2b -4a -1c 1c 4a 2b 6c -7b 5b -3c -8a",
    "0a 9a 2c 5b -1a -7b 6c -8c -3a 4b -4b 3a 8c -6c 7b 1a -5b -2c -9a",
    "0a 10a 2c 5b 1c -6c -9b 7c 4b -3b -8a 8a 3b -4b -7c 9b 6c -1c -5b -2c -10a",
    "0a 11a -8b -4a 6c -9c 10b -5b -3c -1c -7a -2c 2c 7a 1c 3c 5b -10b 9c -6c 4a 8b -11a",
    "0a 12a 4c -1a -7b 10d -11d -6c 9b 5c -3d -2c -8a 8a 2c 3d -5c -9b 6c 11d -10d 7b 1a -4c -12a"};
constexpr Rank first_odd = 9, last_odd = 25;
constexpr std::size_t most_classes = 4;  // a to d

}  // namespace

/// Permutations by source and, the same moves, by destination.
struct DirectTable {
  std::vector<std::vector<DirectHop>> out, in;
  std::vector<std::array<DirectFactor::Used, most_classes>> used;
  int classes = 1;
  bool has_identity = false;

  void add(std::vector<DirectHop> row) {
    const auto n = static_cast<Rank>(row.size());
    std::vector<DirectHop> back(row.size());
    auto& used_here = used.emplace_back();
    for (Rank s = 0; s < n; ++s) {
      const DirectHop hop = row[static_cast<std::size_t>(s)];
      back[static_cast<std::size_t>(mod(s + hop.hops, n))] = hop;
      classes = std::max(classes, hop.move_class + 1);
      DirectFactor::Used& of_class = used_here[static_cast<std::size_t>(hop.move_class)];
      (hop.hops == 0 ? of_class.stays : of_class.moves) = true;
    }
    has_identity =
        has_identity || std::ranges::none_of(row, [](DirectHop hop) { return hop.hops; });
    out.push_back(std::move(row)), in.push_back(std::move(back));
  }
};

namespace {

/// Whether moves of one class share no link of the ring.
bool arcs_are_disjoint(const std::vector<DirectHop>& row) {
  const auto n = static_cast<Rank>(row.size());
  std::vector<bool> used(2 * row.size());
  for (Rank s = 0; s < n; ++s) {
    const int hops = row[static_cast<std::size_t>(s)].hops;
    for (int i = 0; i < std::abs(hops); ++i) {
      const bool up = hops > 0 || n == 2;
      const Rank from = mod(hops > 0 ? s + i : s - i, n);
      const auto link = static_cast<std::size_t>(up ? from : n + from);
      if (used[link]) return false;
      used[link] = true;
    }
  }
  return true;
}

/// The shorter directions; half way round, the signs that keep arcs disjoint, found by search.
std::vector<DirectHop> ring_row(std::string_view destinations) {
  const auto n = static_cast<Rank>(destinations.size());
  std::vector<DirectHop> row(destinations.size());
  std::vector<std::size_t> ties;
  for (Rank s = 0; s < n; ++s) {
    const Rank x = mod(destinations[static_cast<std::size_t>(s)] - '0' - s, n);
    row[static_cast<std::size_t>(s)].hops = 2 * x <= n ? x : x - n;
    if (x > 0 && 2 * x == n) ties.push_back(static_cast<std::size_t>(s));
  }
  for (unsigned signs = 0; signs < 1U << ties.size(); ++signs) {
    for (std::size_t i = 0; i < ties.size(); ++i) {
      row[ties[i]].hops = (signs >> i & 1U) == 0 ? n / 2 : -(n / 2);
    }
    if (arcs_are_disjoint(row)) return row;
  }
  WORMCUBE_ASSERT(false);
  return row;
}

DirectTable direct_table(Rank n, bool line) {
  DirectTable table;
  if (n >= first_odd) {
    std::istringstream words{std::string(odd_rows[static_cast<std::size_t>((n - first_odd) / 2)])};
    std::vector<DirectHop> entries;
    for (std::string word; words >> word;) {
      entries.push_back({std::stoi(word.substr(0, word.size() - 1)), word.back() - 'a'});
    }
    for (Rank i = 0; i < n; ++i) {
      std::vector<DirectHop> row;
      for (Rank s = 0; s < n; ++s) row.push_back(entries[static_cast<std::size_t>(mod(s - i, n))]);
      table.add(std::move(row));
    }
    return table;
  }
  const auto size = static_cast<std::size_t>(n);
  std::istringstream words{std::string(line ? line_rows[size] : ring_rows[size])};
  for (std::string word; words >> word;) {
    if (!line) {
      table.add(ring_row(word));
      continue;
    }
    std::vector<DirectHop> row;
    for (Rank s = 0; s < n; ++s) row.push_back({word[static_cast<std::size_t>(s)] - '0' - s, 0});
    table.add(std::move(row));
  }
  return table;
}

/// Created on first use, all together: they are small.
const DirectTable& table_of(Rank n, bool line) {
  static const std::map<std::pair<Rank, bool>, DirectTable> tables = [] {
    std::map<std::pair<Rank, bool>, DirectTable> all;
    for (Rank size = 1; size < 8; ++size)
      all.emplace(std::pair(size, false), direct_table(size, false));
    for (Rank size = 1; size < 5; ++size)
      all.emplace(std::pair(size, true), direct_table(size, true));
    for (Rank size = first_odd; size <= last_odd; size += 2) {
      all.emplace(std::pair(size, false), direct_table(size, false));
    }
    return all;
  }();
  return tables.at({n, line});
}

}  // namespace

bool DirectFactor::admits(const Graph& graph) {
  const Rank n = graph.nodes();
  if (n == 1 || graph.is(Shape::complete)) return true;
  if (graph.is(Shape::ring)) return n % 2 == 0 || n <= last_odd;
  return graph.is(Shape::line) && n < static_cast<Rank>(line_rows.size());
}

DirectFactor::DirectFactor(const Graph& graph) : kind_(Kind::table), n_(graph.nodes()) {
  WORMCUBE_ASSERT(admits(graph));
  const bool ring = n_ == 1 || graph.is(Shape::ring);
  if (n_ > 1 && graph.is(Shape::complete)) {
    kind_ = Kind::complete;
  } else if (ring && n_ % 2 == 0 && n_ >= 8) {
    kind_ = Kind::even_ring;
  } else {
    table_ = &table_of(n_, !ring);
  }
}

int DirectFactor::classes() const {
  if (kind_ == Kind::complete) return 1;
  return kind_ == Kind::even_ring ? (n_ + 7) / 8 : table_->classes;
}

bool DirectFactor::has_identity() const {
  return kind_ == Kind::complete || (kind_ == Kind::table && table_->has_identity);
}

DirectFactor::Used DirectFactor::used(Rank permutation, int move_class) const {
  if (kind_ == Kind::even_ring) return even_ring_uses(permutation, move_class);
  if (kind_ == Kind::complete) return {permutation > 0, permutation == 0};
  return table_->used[static_cast<std::size_t>(permutation)][static_cast<std::size_t>(move_class)];
}

DirectFactor::Hop DirectFactor::out(Rank permutation, Rank c) const {
  if (kind_ == Kind::even_ring) return even_ring(permutation, c, false);
  if (kind_ == Kind::complete) return {mod(c + permutation, n_) - c, 0};
  return table_->out[static_cast<std::size_t>(permutation)][static_cast<std::size_t>(c)];
}

DirectFactor::Hop DirectFactor::in(Rank permutation, Rank c) const {
  if (kind_ == Kind::even_ring) return even_ring(permutation, c, true);
  if (kind_ == Kind::complete) return {c - mod(c - permutation, n_), 0};
  return table_->in[static_cast<std::size_t>(permutation)][static_cast<std::size_t>(c)];
}

/// Residues modulo h = n/2 in pairs, by the circle method; each pair's four nodes send once round
/// the ring, alternating between the residues.
DirectFactor::Hop DirectFactor::even_ring(Rank permutation, Rank c, bool incoming) const {
  const Rank h = n_ / 2, o = h % 2 == 0 ? h - 1 : h, a = c % h;
  const int u = permutation < 2 * o ? permutation % 2 : permutation - 2 * o;
  const auto sign = [&](Rank number) { return (number + u) % 2 == 0 ? +1 : -1; };
  if (permutation >= 2 * o) {  // h is even
    const Rank number = a % (h / 2);
    const bool changes = (a < h / 2) == (u == 0);
    return {changes ? sign(number) * h : 0, number / 2};
  }
  const Rank i = permutation / 2, last = (o - 1) / 2;
  Rank number = last;
  std::optional<Rank> partner;
  if (h % 2 == 0 && a == h - 1) {
    partner = i;
  } else if (const Rank ahead = mod(a - i, o); ahead == 0) {
    if (h % 2 == 0) partner = h - 1;
  } else if (ahead <= last) {
    number = ahead - 1, partner = mod(i - ahead, o);
  } else {
    number = o - ahead - 1, partner = mod(i + number + 1, o);
  }
  const int g = sign(number);
  if (!partner) return {u == 0 ? g * h : 0, number / 2};
  // From the sender's residue to the receiver's.
  const Rank from = incoming ? *partner : a, to = incoming ? a : *partner;
  return {g > 0 ? mod(to - from, h) : -mod(from - to, h), number / 2};
}

/// By the numbers of that class, which are 2 move_class and the next.
DirectFactor::Used DirectFactor::even_ring_uses(Rank permutation, int move_class) const {
  const Rank h = n_ / 2, o = h % 2 == 0 ? h - 1 : h, number = 2 * move_class;
  if (permutation >= 2 * o) {
    const bool there = number < h / 2;
    return {there, there};
  }
  const Rank last = (o - 1) / 2;  // if h is odd, that of the residue without a partner
  if (h % 2 == 0) return {number <= last, false};
  const bool lone = move_class == last / 2, changes = permutation % 2 == 0;
  return {number < last || (lone && changes), lone && !changes};
}

}  // namespace wormcube
