// k-to-all broadcast and personalized communication: formulas, and where sources must lie.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/sources.hpp"
#include "wormcube/tests/collectives/textbook.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <bit>

using namespace textbook;

namespace {

constexpr Operation k_broadcast = operations::k_broadcast, k_alltoall = operations::k_alltoall,
                    k_reduce = operations::k_reduce, k_gather = operations::k_gather;

/// All sets of k of p nodes.
std::vector<std::vector<Rank>> sets(Rank p, int k) {
  std::vector<std::vector<Rank>> all;
  for (unsigned mask = 0; mask < 1U << p; ++mask) {
    if (std::popcount(mask) != k) continue;
    all.emplace_back();
    for (Rank r = 0; r < p; ++r) {
      if ((mask >> r & 1) != 0) all.back().push_back(r);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("E6: k-to-all broadcast from a subcube: descending dimensions beat the book's",
          "[collectives][k_broadcast][errata]") {  // rows 6.1, 6.2
  for (const int d : {0, 1, 3, 4, 6, 10}) {
    if (d > most_dimensions) continue;
    for (int j = 0; j <= d; ++j) {
      const double k = 1 << j;
      const Arguments sources = from_first(1 << j);
      const std::string cube = sized("hypercube", d);
      const CheckResult book = checked(k_broadcast, "hypercube:order=ascending", cube, sources),
                        better = checked(k_broadcast, "hypercube:order=descending", cube, sources);
      CHECK(book.report.startups == static_cast<std::size_t>(d));
      CHECK(better.report.startups == static_cast<std::size_t>(d));
      CHECK(book.transmission_blocks == k * (d - j) + k - 1);
      CHECK(better.transmission_blocks == d - j + k - 1);
    }
  }
  CHECK(time(k_broadcast, "hypercube:order=ascending", "hypercube:6", 9, from_first(4)) ==
        600 + 9 * (4 * 4 + 3));
}

TEST_CASE("k-to-all broadcast of messages in parts, from any sources that split the cube",
          "[collectives][k_broadcast]") {  // row 6.3
  for (const int d : {0, 1, 3, 5, 8}) {
    for (int j = 0; j <= d; ++j) {
      const double k = 1 << j, p = 1 << d;
      const CheckResult result =
          checked(k_broadcast, "split", sized("hypercube", d), from_first(1 << j));
      CHECK(result.report.startups == static_cast<std::size_t>(2 * d - j));
      CHECK(result.transmission_blocks == Approx(k + 1 - 2 * k / p));
      CHECK(result.report.link_load_max == (d > 0 ? 1 : 0));
    }
  }
  checked(k_broadcast, "split", "hypercube:4", from({1, 6, 8, 15}));
}

TEST_CASE("k-to-all broadcast from any set of sources", "[collectives][k_broadcast]") {
  for (const auto& set : sets(8, 4)) {
    double best = 100;
    for (const char* order : {"ascending", "descending"}) {
      best = std::min(best, checked(k_broadcast, std::string("hypercube:order=") + order,
                                    "hypercube:3", from(set))
                                .transmission_blocks);
    }
    CHECK(best <= 6);  // the book's formula: 7
  }
  for (const char* network : {"complete:7", "ring:7", "line:7", "mesh:1x7", "tree:7", "star:7"}) {
    for (const auto& sources :
         {from({}), from({3}), from({0, 6}), from({1, 2, 5}), from_first(7)}) {
      checked(k_broadcast, "bruck", network, sources);
    }
  }
}

TEST_CASE("k broadcasts follow one another round a ring in p - 1 steps",
          "[collectives][k_broadcast]") {
  for (const char* network : {"ring:9", "line:9", "ring:2", "ring:1"}) {  // row 2.10, erratum E10
    const Rank p = Topology::parse(network).nodes();
    for (Rank k = 1; k <= p; ++k) {
      const CheckResult result = checked(k_broadcast, "pipelined", network, from_first(k));
      CHECK(result.report.startups == static_cast<std::size_t>(p - 1));
      CHECK(result.transmission_blocks == p - 1);
    }
  }
  // Worth it from more than (p - 1)/log p broadcasts on: 3 of 8, 11 of 64, 103 of 1024.
  for (const auto& [p, k] : {std::pair{8, 3}, {64, 11}, {1024, 103}}) {
    const double one = 107.0 * log2_ceiling(p);
    const double all = time(k_broadcast, "pipelined", sized("ring", p), 7, from_first(k));
    CHECK(all < k * one);
    CHECK(all >= (k - 1) * one);
  }
}

TEST_CASE("k-to-all personalized: log(p/k) + k - 1 steps, p - 1 blocks",
          "[collectives][k_alltoall]") {
  for (const int d : {0, 1, 3, 4, 6, 8}) {  // row 6.4
    for (int j = 0; j <= d; ++j) {
      const CheckResult result =
          checked(k_alltoall, "hypercube", sized("hypercube", d), from_first(1 << j));
      CHECK(result.report.startups == static_cast<std::size_t>(d - j + (1 << j) - 1));
      CHECK(result.transmission_blocks == (1 << d) - 1);
      CHECK(result.report.link_load_max == (d > 0 ? 1 : 0));
    }
  }
}

TEST_CASE("E7: where sources lie decides: of 70 sets of 4 in a 3-cube 38 split it",
          "[collectives][k_alltoall][errata]") {
  int splitting = 0;
  for (const auto& set : sets(8, 4)) {
    const Collective scatter = parse_collective(k_alltoall, "hypercube", from(set));
    const Topology cube = Topology::parse("hypercube:3");
    if (refusal(scatter, cube)) {
      CHECK_THAT(*refusal(scatter, cube), Catch::Matchers::Contains("use direct"));
      CHECK(refusal(parse_collective(k_broadcast, "split", from(set)), cube));
    } else {
      ++splitting;
      checked(k_alltoall, "hypercube", "hypercube:3", from(set));
      checked(k_broadcast, "split", "hypercube:3", from(set));
    }
    checked(k_alltoall, "direct", "hypercube:3", from(set));
  }
  CHECK(splitting == 38);
  for (const auto& pair : sets(16, 2)) CHECK(placement(pair, 16));  // two always do
  CHECK(refusal(parse_collective(k_alltoall, "hypercube", from({0, 1, 2})),
                Topology::parse("hypercube:3")) ==
        "hypercube: the number of sources must be a power of 2, not 3; use direct");
}

TEST_CASE("k-to-all personalized from any sources on any network", "[collectives][k_alltoall]") {
  for (const char* network :
       {"ring:7", "line:7", "complete:7", "mesh:1x7", "tree:7", "star:7", "ring:1"}) {
    const bool one = Topology::parse(network).nodes() == 1;
    for (const auto& sources : {from({}), from({0}), one ? from({}) : from({2, 3, 6})}) {
      checked(k_alltoall, "direct", network, sources);
    }
  }
}

TEST_CASE("the duals, backwards, take as many steps and blocks: row 6.5",
          "[collectives][k_from_all]") {
  for (const int d : {0, 1, 3, 4, 6, 8}) {
    const std::string cube = sized("hypercube", d);
    const double p = 1 << d;
    for (int j = 0; j <= d; ++j) {
      const double k = 1 << j;
      const Arguments first = from_first(1 << j);
      std::vector<Rank> apart;  // the multiples of p/k
      for (Rank i = 0; i < 1 << j; ++i) apart.push_back(i << (d - j));
      const CheckResult near = checked(k_reduce, "hypercube", cube, first),
                        far = checked(k_reduce, "hypercube", cube, from(apart)),
                        split = checked(k_reduce, "split", cube, first),
                        gather = checked(k_gather, "hypercube", cube, first);
      CHECK(near.transmission_blocks == d - j + k - 1);       // 6.2
      CHECK(far.transmission_blocks == k * (d - j) + k - 1);  // 6.1
      for (const CheckResult* result : {&near, &far}) {
        CHECK(result->report.startups == static_cast<std::size_t>(d));
        CHECK(result->combined_blocks == result->transmission_blocks);
      }
      CHECK(split.report.startups == static_cast<std::size_t>(2 * d - j));  // 6.3
      CHECK(split.transmission_blocks == Approx(k + 1 - 2 * k / p));
      CHECK(gather.report.startups == static_cast<std::size_t>(d - j + (1 << j) - 1));  // 6.4
      CHECK(gather.transmission_blocks == p - 1);
      for (const CheckResult* result : {&near, &far, &split, &gather}) {
        CHECK(result->report.link_load_max == (d > 0 ? 1 : 0));
      }
    }
  }
  Arguments summing = from_first(4);
  summing.reduction = find_reduction("sum", "uint8");
  CHECK(time(k_reduce, "hypercube", "hypercube:6", 9, summing) == 600 + 9 * (4 + 3));
}

TEST_CASE("the duals run to any targets, split and exchange where these split the cube",
          "[collectives][k_from_all]") {
  for (const auto& set : sets(8, 4)) {
    checked(k_reduce, "hypercube", "hypercube:3", from(set));
    checked(k_reduce, "direct", "hypercube:3", from(set));
    checked(k_gather, "direct", "hypercube:3", from(set));
    const bool splits = placement(set, 8).has_value();
    const Collective gather = parse_collective(k_gather, "hypercube", from(set));
    CHECK(refusal(gather, Topology::parse("hypercube:3")).has_value() != splits);
    if (!splits) continue;
    checked(k_gather, "hypercube", "hypercube:3", from(set));
    checked(k_reduce, "split", "hypercube:3", from(set));
  }
  for (const char* network :
       {"ring:7", "line:7", "complete:7", "mesh:1x7", "tree:7", "star:7", "ring:1"}) {
    const bool one = Topology::parse(network).nodes() == 1;
    for (const auto& targets : {from({}), from({0}), one ? from({}) : from({2, 3, 6})}) {
      checked(k_reduce, "direct", network, targets);
      checked(k_gather, "direct", network, targets);
    }
  }
}

TEST_CASE("no step of a k-to-all operation can be left out", "[collectives][k_broadcast]") {
  every_step_matters(k_broadcast, "hypercube:order=ascending", "hypercube:3", from({1, 4, 6}));
  every_step_matters(k_broadcast, "hypercube:order=descending", "hypercube:3", from_first(2));
  every_step_matters(k_broadcast, "split", "hypercube:3", from({1, 6}));
  every_step_matters(k_broadcast, "bruck", "mesh:2x3", from({1, 4}));
  every_step_matters(k_broadcast, "pipelined", "line:6", from({1, 4}));
  every_step_matters(k_alltoall, "hypercube", "hypercube:3", from({1, 6}));
  every_step_matters(k_alltoall, "direct", "tree:6", from({0, 5}));
  every_step_matters(k_reduce, "hypercube", "hypercube:3", from({1, 4, 6}));
  every_step_matters(k_reduce, "split", "hypercube:3", from({1, 6}));
  every_step_matters(k_reduce, "direct", "tree:6", from({0, 5}));
  every_step_matters(k_gather, "hypercube", "hypercube:3", from({1, 6}));
  every_step_matters(k_gather, "direct", "tree:6", from({0, 5}));
}
