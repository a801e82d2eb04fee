// alltoallv two-phase: its counts for skewed and equal sizes, delivery, and what it refuses.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/schedule/prove.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

/// The size of node r's block for node q, in words of 8 bytes.
using SizeOf = std::function<Bytes(Rank r, Rank q)>;

/// An exchange of blocks of these sizes. Byte i of node r's block for q is known.
class SizedExchange {
 public:
  SizedExchange(std::string_view algorithm, std::string_view network, const SizeOf& words,
                Bytes word = 8)
      : topology_(Topology::parse(network)),
        collective_(parse_collective(operations::alltoallv, algorithm)) {
    const Rank p = topology_.nodes();
    for (Rank r = 0; r < p; ++r) {
      for (Rank q = 0; q < p; ++q) sizes_.push_back(words(r, q) * word);
    }
  }
  std::vector<Bytes> sizes_told;  ///< instead of the true ones, if any

  ScheduleReport counted() const {
    const Schedule schedule = record(topology_, [&](Node& node) { call(node, nullptr); });
    return check(schedule, Routing(topology_), false);
  }
  /// Bytes of the blocks that arrive wrong, in a run of the real program.
  long wrong() const {
    std::atomic<long> count{0};
    prove(
        topology_, [&](Node& node) { call(node, &count); }, [](const Delivery&) {});
    return count;
  }

 private:
  Bytes size(Rank r, Rank q) const {
    return sizes_[static_cast<std::size_t>(r * topology_.nodes() + q)];
  }
  static std::byte value(Rank r, Rank q, Bytes i) {
    return static_cast<std::byte>(31 * r + 7 * q + static_cast<Rank>(i));
  }

  void call(Node& node, std::atomic<long>* wrong) const {
    const Rank own = node.rank(), p = node.size();
    std::vector<Bytes> given{0}, got{0};
    for (Rank q = 0; q < p; ++q) {
      given.push_back(given.back() + size(own, q));
      got.push_back(got.back() + size(q, own));
    }
    const Memory in = node.memory(given.back()), out = node.memory(got.back());
    const auto each = [&](const std::vector<Bytes>& offsets, auto act) {
      for (Rank q = 0; q < p; ++q) {
        for (Bytes at = offsets[q]; at < offsets[q + 1]; ++at) act(q, at, at - offsets[q]);
      }
    };
    node.local(
        [&] { each(given, [&](Rank q, Bytes at, Bytes i) { in.span()[at] = value(own, q, i); }); });
    collective_(node, ConstBlocks(ConstSpan(in), given), Blocks(out.span(), got),
                sizes_told.empty() ? sizes_ : sizes_told);
    node.local([&] {
      each(got, [&](Rank q, Bytes at, Bytes i) {
        if (wrong != nullptr && out.span()[at] != value(q, own, i)) ++*wrong;
      });
    });
  }

  Topology topology_;
  Collective collective_;
  std::vector<Bytes> sizes_;
};

/// Each node has one large block, for the node with the complement of its rank.
Bytes skewed(Rank r, Rank q) { return r == q ? 0 : q == 15 - r ? 1000 : 3; }

Bytes words_transmitted(std::string_view algorithm, std::string_view network, const SizeOf& words) {
  return SizedExchange(algorithm, network, words).counted().transmission / 8;
}

}  // namespace

TEST_CASE("two-phase moves skewed blocks in a quarter of shift's time, equal ones in almost twice",
          "[collectives]") {
  CHECK(words_transmitted("shift", "hypercube:4", skewed) == 8021);
  CHECK(words_transmitted("two-phase", "hypercube:4", skewed) == 1980);
  const SizeOf equal = [](Rank, Rank) { return 60; };
  CHECK(words_transmitted("shift", "hypercube:4", equal) == 900);
  CHECK(words_transmitted("two-phase", "hypercube:4", equal) == 1710);
  const ScheduleReport report = SizedExchange("two-phase", "hypercube:4", equal).counted();
  CHECK(report.startups == 2 * 15);
  CHECK(report.link_load_max == 1);
  CHECK(report.port_violations == 0);
}

TEST_CASE("two-phase leaves out empty messages", "[collectives]") {
  const SizeOf three = [](Rank r, Rank q) -> Bytes {
    return r == 0 && q == 1 ? 9 : r == 1 && q != 1 ? 3 : 0;
  };
  CHECK(words_transmitted("shift", "complete:3", three) == 9 + 3);
  CHECK(words_transmitted("two-phase", "complete:3", three) == 3 + 3 + 3 + 3);
  const SizeOf nothing = [](Rank, Rank) { return 0; };
  CHECK(SizedExchange("two-phase", "complete:3", nothing).counted().startups == 0);
}

TEST_CASE("two-phase keeps its bound, whatever the sizes", "[collectives]") {
  for (const char* const network : {"ring:2", "ring:5", "torus:3x4", "hypercube:4", "complete:7"}) {
    const Rank p = Topology::parse(network).nodes();
    for (const Rank seed : {1, 2, 3}) {
      const SizeOf words = [&](Rank r, Rank q) -> Bytes {
        const auto chance = static_cast<Bytes>((r * 37 + q * 101 + seed * 59) % 23);
        return chance < 12 ? 0 : chance == 22 ? 5000 : chance;
      };
      Bytes rows = 0, columns = 0;
      for (Rank a = 0; a < p; ++a) {
        Bytes row = 0, column = 0;
        for (Rank b = 0; b < p; ++b) {
          if (a == b) continue;
          row += words(a, b), column += words(b, a);
        }
        rows = std::max(rows, row), columns = std::max(columns, column);
      }
      INFO(network << ", seed " << seed);
      const auto others = static_cast<Bytes>(p - 1);
      CHECK(words_transmitted("two-phase", network, words) <=
            (rows + columns) * others / static_cast<Bytes>(p) + 2 * others * others);
      CHECK(SizedExchange("two-phase", network, words).wrong() == 0);
      CHECK(SizedExchange("two-phase", network, words, 1).wrong() == 0);  // no whole words
      CHECK(SizedExchange("two-phase:when=pays", network, words).wrong() == 0);
    }
  }
}

TEST_CASE("two-phase:when=pays falls back to shift for equal blocks", "[collectives]") {
  const SizeOf equal = [](Rank, Rank) { return 60; };
  CHECK(words_transmitted("two-phase:when=pays", "hypercube:4", equal) == 900);
  CHECK(words_transmitted("two-phase:when=pays", "hypercube:4", skewed) == 1980);
}

TEST_CASE("two-phase is proved with sizes from the seed, on every kind of network",
          "[collectives]") {
  const Collective collective = parse_collective(operations::alltoallv, "two-phase");
  for (const char* const network :
       {"ring:1", "ring:2", "ring:7", "line:6", "torus:4x4", "mesh:3x5", "hypercube:3",
        "complete:9", "tree:8", "torus:2x3x4", "petersen"}) {
    INFO(network);
    const CheckResult result = check_collective(collective, Topology::parse(network));
    CHECK(result.passed());
    CHECK(result.delivered == true);
    CHECK(result.exactly_once == true);
  }
}

TEST_CASE("two-phase refuses a call without the sizes of all pairs, or with wrong ones",
          "[collectives]") {
  const SizeOf equal = [](Rank, Rank) { return 2; };
  SizedExchange exchange("two-phase", "ring:3", equal);
  exchange.sizes_told = {16, 16};
  CHECK_THROWS_WITH(exchange.wrong(), Contains("2 sizes for 3 nodes") && Contains("9 pairs"));
  exchange.sizes_told = {16, 16, 16, 16, 16, 16, 24, 16, 16};
  CHECK_THROWS_WITH(exchange.wrong(), Contains("from node 2 to node 0, but the sizes say 24"));
  const Collective collective = parse_collective(operations::alltoallv, "two-phase");
  const std::vector<Bytes> offsets{0, 8, 16};
  CHECK_THROWS_WITH(record(Topology::parse("ring:2"),
                           [&](Node& node) {
                             const Memory in = node.memory(16), out = node.memory(16);
                             collective(node, ConstBlocks(ConstSpan(in), offsets),
                                        Blocks(out.span(), offsets));
                           }),
                    Contains("needs the sizes of all pairs' blocks; pass them, or use shift"));
  CHECK_FALSE(is_chosen_by_auto(*collective.algorithm));
}
