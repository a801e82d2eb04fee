// Division without the processor's, against the processor's.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/divisor.hpp"

#include <vector>

#include <catch2/catch.hpp>

namespace wormcube {
namespace {

TEST_CASE("a divisor divides every rank as the processor does", "[topology]") {
  std::vector<Rank> values;
  for (Rank value = 1; value <= 40; ++value) values.push_back(value);
  for (Rank power = 64; power <= max_nodes; power *= 2) {
    for (const Rank value : {power - 1, power, power + 1}) {
      if (value <= max_nodes) values.push_back(value);
    }
  }
  for (Rank value = 1009; value <= max_nodes; value = value * 3 / 2 + 1) values.push_back(value);
  for (const Rank value : values) {
    const Divisor divisor(value);
    std::int64_t wrong = 0;
    for (Rank x = 0; x <= max_nodes; ++x) {
      wrong += divisor.quotient(x) != x / value || divisor.rest(x) != x % value ? 1 : 0;
    }
    INFO("divisor " << value);
    CHECK(wrong == 0);
    CHECK(divisor.value() == value);
  }
}

}  // namespace
}  // namespace wormcube
