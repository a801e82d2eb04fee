// Groups: integers modulo n, rotated bit strings, permutations.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/cayley.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <memory>
#include <unordered_set>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Adds the inverses, and sorts the generators.
CayleyStructure closed(CayleyStructure group) {
  std::vector<Rank>& generators = group.generators;
  for (std::size_t i = generators.size(); i-- > 0;) {
    generators.push_back(group.inverse(generators[i]));
  }
  std::ranges::sort(generators);
  generators.erase(std::unique(generators.begin(), generators.end()), generators.end());
  return group;
}

/// A permutation of up to 9 places in 4 bits each, the first place highest: the order of these
/// numbers is the lexicographic one.
class Word {
 public:
  explicit Word(int places) : places_(places) {}
  int places() const { return places_; }
  int at(std::uint64_t word, int place) const {
    return static_cast<int>(word >> shift(place) & 0xf);
  }
  std::uint64_t with(std::uint64_t word, int place, int value) const {
    return word | static_cast<std::uint64_t>(value) << shift(place);
  }
  std::uint64_t identity() const {
    std::uint64_t word = 0;
    for (int k = 0; k < places_; ++k) word = with(word, k, k);
    return word;
  }
  std::uint64_t product(std::uint64_t g, std::uint64_t s) const {
    std::uint64_t word = 0;
    for (int k = 0; k < places_; ++k) word = with(word, k, at(g, at(s, k)));
    return word;
  }
  std::uint64_t inverse(std::uint64_t g) const {
    std::uint64_t word = 0;
    for (int k = 0; k < places_; ++k) word = with(word, at(g, k), k);
    return word;
  }

 private:
  int shift(int place) const { return 4 * (places_ - 1 - place); }
  int places_;
};

std::uint64_t parse(const Word& words, const std::string& text) {
  std::uint64_t word = 0;
  unsigned seen = 0;
  for (const char c : text) seen |= c >= '1' && c <= '9' ? 1U << (c - '1') : 1U << 9;
  if (static_cast<int>(text.size()) != words.places() || seen != (1U << words.places()) - 1) {
    throw UsageError(
        fmt::format("'{}' is not a permutation of 1 to {}; expected each digit once, as in 2134",
                    text, words.places()));
  }
  for (int k = 0; k < words.places(); ++k) word = words.with(word, k, text[k] - '1');
  return word;
}

}  // namespace

CayleyStructure CayleyStructure::cyclic(Rank order, const std::vector<Rank>& generators) {
  CayleyStructure group{order, {}, {}, {}};
  group.product = [order](Rank a, Rank b) {
    return static_cast<Rank>((std::int64_t{a} + b) % order);
  };
  group.inverse = [order](Rank a) { return a == 0 ? 0 : order - a; };
  for (const Rank s : generators) group.generators.push_back((s % order + order) % order);
  return closed(std::move(group));
}

CayleyStructure CayleyStructure::turning_bits(int bits, const std::vector<Rank>& generators) {
  CayleyStructure group{static_cast<Rank>(bits) << bits, generators, {}, {}};
  const auto turned = [bits](Rank word, int by) {
    return ((word << by) | (word >> (bits - by))) & ((Rank{1} << bits) - 1);
  };
  group.product = [bits, turned](Rank a, Rank b) {
    const int i = a % bits, j = b % bits;
    return (a / bits ^ turned(b / bits, i)) * bits + (i + j) % bits;
  };
  group.inverse = [bits, turned](Rank a) {
    const int back = (bits - a % bits) % bits;
    return turned(a / bits, back) * bits + back;
  };
  return closed(std::move(group));
}

CayleyStructure CayleyStructure::permutations(const std::vector<std::string>& generators) {
  const std::size_t places = generators.empty() ? 1 : generators.front().size();
  if (places < 1 || places > 9) {
    throw UsageError(fmt::format("a permutation of {} places; expected 1 to 9", places));
  }
  const Word words(static_cast<int>(places));
  std::vector<std::uint64_t> by;
  for (const std::string& text : generators) {
    by.push_back(parse(words, text));
    if (by.back() == words.identity()) {
      throw UsageError(fmt::format("permutation {} is the identity: a loop", text));
    }
  }
  // All products: the elements of a finite group need no inverses for that.
  const auto elements = std::make_shared<std::vector<std::uint64_t>>();
  elements->push_back(words.identity());
  std::unordered_set<std::uint64_t> known{words.identity()};
  for (std::size_t i = 0; i < elements->size(); ++i) {
    for (const std::uint64_t s : by) {
      const std::uint64_t next = words.product((*elements)[i], s);
      if (known.insert(next).second) elements->push_back(next);
    }
  }
  std::ranges::sort(*elements);
  const auto number = [elements](std::uint64_t word) {
    return static_cast<Rank>(std::ranges::lower_bound(*elements, word) - elements->begin());
  };
  CayleyStructure group{static_cast<Rank>(elements->size()), {}, {}, {}};
  group.product = [=](Rank a, Rank b) {
    return number(words.product((*elements)[a], (*elements)[b]));
  };
  group.inverse = [=](Rank a) { return number(words.inverse((*elements)[a])); };
  for (const std::uint64_t s : by) group.generators.push_back(number(s));
  return closed(std::move(group));
}

}  // namespace wormcube
