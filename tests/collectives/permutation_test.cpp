// Permutations: names, images, refusals; Valiant's two phases.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/permutation.hpp"

#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/collectives/textbook.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

using namespace textbook;

namespace {

Arguments permuting(Permutation permutation) {
  Arguments arguments;
  arguments.permutation = std::move(permutation);
  return arguments;
}

std::string refusal_of(const std::string& text) {
  try {
    Permutation::parse(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::vector<Rank> images(const Permutation& permutation, Rank nodes) {
  std::vector<Rank> all;
  for (Rank r = 0; r < nodes; ++r) all.push_back(permutation.destination(r, nodes));
  return all;
}

}  // namespace

TEST_CASE("a named permutation moves bits of labels as its name says", "[permutation]") {
  CHECK(images(Permutation::complement, 5) == std::vector<Rank>{4, 3, 2, 1, 0});
  CHECK(images(Permutation::bit_reversal, 8) == std::vector<Rank>{0, 4, 2, 6, 1, 5, 3, 7});
  CHECK(images(Permutation::transpose, 9) == std::vector<Rank>{0, 3, 6, 1, 4, 7, 2, 5, 8});
  CHECK(images(Permutation::shuffle, 8) == std::vector<Rank>{0, 2, 4, 6, 1, 3, 5, 7});
  CHECK(images(Permutation::shuffle, 6) == std::vector<Rank>{0, 2, 4, 1, 3, 5});
  CHECK(images(Permutation::butterfly, 8) == std::vector<Rank>{0, 4, 2, 6, 1, 5, 3, 7});
  CHECK(images(Permutation::butterfly, 16) ==
        std::vector<Rank>{0, 8, 2, 10, 4, 12, 6, 14, 1, 9, 3, 11, 5, 13, 7, 15});
}

TEST_CASE("a permutation has each node once, and its origins are the inverse", "[permutation]") {
  for (const Permutation::Name name : Permutation::names) {
    for (const Rank p : {1, 2, 4, 6, 9, 16, 64, 1024}) {
      const Permutation permutation = name;
      try {
        permutation.require("permute", p);
      } catch (const UsageError&) {
        continue;
      }
      CAPTURE(permutation.text(), p);
      std::vector<Rank> sorted = images(permutation, p), all(sorted.size());
      std::ranges::sort(sorted);
      std::iota(all.begin(), all.end(), 0);
      CHECK(sorted == all);
      for (Rank r = 0; r < p; ++r) {
        REQUIRE(permutation.origin(permutation.destination(r, p), p) == r);
      }
    }
  }
}

TEST_CASE("images are read back as they are written", "[permutation]") {
  for (const char* text : {"2,0,1", "0,", "1,0", "shuffle", "bit-reversal"}) {
    CHECK(Permutation::parse(text).text() == text);
  }
  CHECK(Permutation({2, 0, 1}) == Permutation::parse("2,0,1"));
  CHECK_FALSE(Permutation({2, 0, 1}) == Permutation({1, 2, 0}));
  CHECK(Permutation({2, 0, 1}).origin(2, 3) == 0);
  std::vector<Rank> many(20);
  std::iota(many.begin(), many.end(), 0);
  CHECK(Permutation(many).short_text() == "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,.. (20 images)");
  CHECK(Permutation(many).is_identity(20));
}

TEST_CASE("what is no permutation is refused with the first repeated and the missing number",
          "[permutation]") {
  CHECK(refusal_of("0,2,2,1") ==
        "permutation: 2 is repeated, as the image of nodes 1 and 2; the first missing number is 3");
  CHECK(refusal_of("0,4,1,2") == "permutation: image 4 of node 1; 4 images are 0 to 3");
  CHECK(refusal_of("0,x") == "permutation: 'x' is not a node number");
  CHECK(refusal_of("shufle") ==
        "unknown permutation 'shufle' (did you mean 'shuffle'?); available: complement "
        "bit-reversal transpose shuffle butterfly, a file with one image for each node, or images "
        "such as 1,2,0");
  const auto refused = [](const Permutation& permutation, const char* network) {
    return refusal(parse_collective(operations::permute, "direct", permuting(permutation)),
                   Topology::parse(network))
        .value_or("");
  };
  CHECK(refused(Permutation::shuffle, "ring:7") ==
        "permute: shuffle needs an even number of nodes, not 7; use complement");
  CHECK(refused(Permutation::butterfly, "ring:6") ==
        "permute: butterfly needs a power-of-2 number of nodes, not 6; use complement");
  CHECK(refused(Permutation({1, 0}), "ring:4") ==
        "permute: the permutation has 2 images for 4 nodes; give one for each node");
}

TEST_CASE("one step delivers any permutation", "[permutation]") {
  for (const char* network : {"hypercube:4", "torus:4x4", "mesh:2x8", "tree:16", "complete:16"}) {
    for (const Permutation::Name name : Permutation::names) {
      checked(operations::permute, "direct", network, permuting(name));
    }
  }
  checked(operations::permute, "direct", "ring:6", permuting(Permutation::shuffle));
  checked(operations::permute, "direct", "line:5", permuting(Permutation({3, 4, 2, 0, 1})));
  checked(operations::permute, "direct", "ring:4", permuting(Permutation({1, 2, 3, 0})));
  // Shuffle on a hypercube by e-cube routes.
  for (int d = 1; d <= 8; ++d) {
    const CheckResult result = checked(operations::permute, "direct", sized("hypercube", d),
                                       permuting(Permutation::shuffle));
    CHECK(result.predicted.link_load == result.report.link_load_max);
  }
}

TEST_CASE("a schedule's header holds the images", "[permutation]") {
  const Arguments arguments = permuting(Permutation({1, 2, 0}));
  const NamedOperation named = named_operation(operations::permute, arguments);
  CHECK(named.permutation == "1,2,0");
  CHECK(scheduled_call(named, 3).arguments.permutation == arguments.permutation);
  CHECK_THROWS_AS(scheduled_call(named, 4), UsageError);
}

TEST_CASE("two phases deliver any permutation in two steps, whatever the seed", "[permutation]") {
  for (const char* network :
       {"hypercube:4", "torus:4x4", "mesh:2x8", "tree:16", "line:1", "ring:2", "complete:4"}) {
    for (const Permutation::Name name : {Permutation::complement, Permutation::transpose}) {
      for (const char* algorithm : {"valiant", "valiant:seed=7", "valiant:seed=12"}) {
        const Collective collective =
            parse_collective(operations::permute, algorithm, permuting(name));
        if (refusal(collective, Topology::parse(network))) continue;
        const CheckResult result =
            checked(operations::permute, algorithm, network, permuting(name));
        CHECK(result.report.startups <= 2);
        CHECK(result.report.port_violations == 0);
      }
    }
  }
  checked(operations::permute, "valiant", "line:5", permuting(Permutation({3, 4, 2, 0, 1})));
  checked(operations::permute, "valiant", "ring:3", permuting(Permutation({0, 1, 2})));
  every_step_matters(operations::permute, "valiant", "hypercube:4",
                     permuting(Permutation::transpose));
}

TEST_CASE("two phases keep the load low where one step has the square root of p / 2",
          "[permutation]") {
  const Arguments reversal = permuting(Permutation::bit_reversal);
  CHECK(checked(operations::permute, "direct", "hypercube:10", reversal).report.link_load_max ==
        16);
  for (const char* algorithm : {"valiant", "valiant:seed=2", "valiant:seed=3"}) {
    const CheckResult result = checked(operations::permute, algorithm, "hypercube:10", reversal);
    CHECK(result.report.link_load_max <= 10);
    CHECK(result.predicted.link_load == result.report.link_load_max);
  }
}
