// Values by key: the array and the hash table against a map.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/keyed_values.hpp"

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace wormcube {

TEST_CASE("values by key are those of a map, in an array and in a hash table", "[schedule]") {
  // With so few keys in use, 10^10 keys are in a hash table, which grows several times.
  for (const std::int64_t keys : {std::int64_t{1000}, std::int64_t{10'000'000'000}}) {
    KeyedValues<int> values(keys, 1000, -1);
    std::map<std::int64_t, int> expected;
    std::vector<std::int64_t> used;
    std::mt19937_64 random(1);
    std::uniform_int_distribution<std::int64_t> key_of(0, keys - 1);
    for (const int count : {20'000, 10, 5000}) {  // discards many values, then few
      for (int i = 0; i < count; ++i) {
        const std::int64_t key = i % 3 == 0 && !used.empty() ? used.back() : key_of(random);
        if (expected.try_emplace(key, -1).second) used.push_back(key);
        REQUIRE(std::as_const(values)[key] == expected[key]);
        REQUIRE(values[key] == expected[key]);
        values[key] = expected[key] = i;
      }
      for (const auto& [key, value] : expected) REQUIRE(std::as_const(values)[key] == value);
      values.clear(used);
      for (const auto& [key, value] : expected) REQUIRE(std::as_const(values)[key] == -1);
      used.clear();
      expected.clear();
    }
  }
}

}  // namespace wormcube
