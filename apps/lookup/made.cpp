// Generated tables and keys: every element from its place alone.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/lookup/made.hpp"

#include "wormcube/apps/common/random.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <cstring>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

template <class Rule>
Source made_list(ElementType type, std::size_t count, Rule rule) {
  return made(type, {count}, [rule](std::size_t first, Span to) {
    for (std::size_t at = 0; at < to.size(); at += sizeof(Key), ++first) {
      const auto element = rule(first);
      static_assert(sizeof element == sizeof(Key));
      std::memcpy(&to[at], &element, sizeof element);
    }
  });
}

/// SplitMix64 repeats no number before all 2^64 have occurred.
Key distinct(std::uint64_t seed, std::size_t number) {
  SplitMix all(seed);
  all.skip(number);
  return static_cast<Key>(all.next());
}

}  // namespace

Source row_numbers(std::size_t count) {
  return made_list(ElementType::int64, count, [](std::size_t row) { return Value{row}; });
}

LookupJob generate_lookup(std::size_t entries, std::size_t lookups, double absent,
                          std::uint64_t seed) {
  if (!(absent >= 0 && absent <= 1)) {
    throw UsageError(fmt::format("lookup: a share {} of absent keys; need 0 to 1", absent));
  }
  return {
      {made_list(ElementType::int64, entries, [=](std::size_t row) { return distinct(seed, row); }),
       row_numbers(entries)},
      made_list(ElementType::int64, lookups, [=](std::size_t k) {
        SplitMix random(seed, SplitMix::second);
        random.skip(2 * k);
        const bool is_absent = entries == 0 || (random.symmetric() + 1) / 2 < absent;
        return distinct(seed, is_absent ? entries + k : random.next() % entries);
      })};
}

}  // namespace wormcube::apps
