// Total exchanges on tori: delivery, one port, free links, and the costs of the corrected formulas.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/collectives/torus_exchange.hpp"

#include "wormcube/tests/sanitized.hpp"

#include <algorithm>
#include <vector>

using namespace torus_exchange;
using Catch::Matchers::Contains;

namespace {

std::string square(std::size_t n) { return "torus:" + std::to_string(n) + "x" + std::to_string(n); }

std::size_t log2(std::size_t x) {
  return static_cast<std::size_t>(log2_ceiling(static_cast<Rank>(x)));
}

/// A_k on N x N by the formulas of the specification, N / 2^k >= 4.
Counts a_k(std::size_t n, std::size_t k) {
  const std::size_t s = std::size_t{1} << k, v = n / s;
  return {3 * k + v / 2 + 2, n * n * n / 4 + n * n * (7 * s - 5) / 2,
          n * n * ((v >= 8 ? 7 : 5) * s - 4), s * n * n};
}

/// A_{n-1} on N x N.
Counts a_most(std::size_t n) {
  return {3 * log2(n) - 1, (7 * n * n * n - 10 * n * n) / 4, 2 * n * n * n - 4 * n * n,
          n * n * n / 2};
}

Counts diagonal(std::size_t n) {
  return {n / 2 + 2, (n * n * n + 4 * n * n) / 4, (n * n * n + 2 * n * n) / 2, n * n};
}

std::string refused(std::string_view text, const std::string& shape) {
  return refusal(alltoall(text), Topology::parse(shape)).value_or("");
}

}  // namespace

TEST_CASE("kim-a1 has the measured costs of the specification and delivers", "[torus]") {
  CHECK(proved("kim-a1", "torus:4x4") == Counts{5, 72, 64, 32});
  CHECK(proved("kim-a1", "torus:8x8") == Counts{7, 416, 384, 128});
  CHECK(proved("kim-a1", "torus:16x16") == Counts{9, 2176, 2560, 512});
  if (sanitized) return;
  CHECK(proved("kim-a1", "torus:24x24") == a_k(24, 1));
  CHECK(proved("kim-a1", "torus:32x32") == Counts{13, 12800, 10240, 2048});
}

TEST_CASE("kim-a1's costs on squares are (N/4 + 5), (N^3 + 18 N^2)/4, 10 N^2", "[torus]") {
  const std::size_t n = GENERATE(16, 24, 32, 40, 48, 64);
  if (sanitized && n > 24) return;
  CHECK(counted("kim-a1", square(n)) ==
        Counts{n / 4 + 5, (n * n * n + 18 * n * n) / 4, 10 * n * n, 2 * n * n});
}

TEST_CASE("kim-a1 with diagonals costs as much, but rearranges (N/2 + 6) N^2", "[torus]") {
  const std::size_t n = GENERATE(8, 16, 24, 32);
  if (sanitized && n > 16) return;
  CHECK(proved("kim-a1:core=diagonal", square(n)) ==
        Counts{n / 4 + 5, (n * n * n + 18 * n * n) / 4, (n / 2 + 6) * n * n, 2 * n * n});
}

TEST_CASE("kim-a1 with diagonals runs on 4x4 and on rectangles", "[torus]") {
  CHECK(proved("kim-a1:core=diagonal", "torus:4x4").startups == 5);
  const auto shape = GENERATE("torus:8x16", "torus:24x8");
  CHECK(proved("kim-a1:core=diagonal", shape).startups == proved("kim-a1", shape).startups);
}

TEST_CASE("on a rectangle kim-a1 costs RC for N^2 and max(R, C) for N", "[torus]") {
  const auto [r, c] = GENERATE(
      table<std::size_t, std::size_t>({{8, 16}, {16, 8}, {8, 24}, {24, 8}, {16, 32}, {40, 8}}));
  const std::size_t p = r * c, n = std::max(r, c);
  CHECK(proved("kim-a1", "torus:" + std::to_string(r) + "x" + std::to_string(c)) ==
        Counts{n / 4 + 5, n * p / 4 + p * 9 / 2, 10 * p, 2 * p});
}

TEST_CASE("kim-recursive is A_{n-1} and needs N^3/2 blocks of space", "[torus]") {
  CHECK(proved("kim-recursive", "torus:4x4") == Counts{5, 72, 64, 32});
  CHECK(proved("kim-recursive", "torus:8x8") == Counts{8, 736, 768, 256});
  if (sanitized) return;
  CHECK(proved("kim-recursive", "torus:16x16") == Counts{11, 6528, 7168, 2048});
  CHECK(proved("kim-recursive", "torus:32x32") == Counts{14, 54784, 61440, 16384});
}

TEST_CASE("divisions 0 is the most divisions, at A_{n-1}'s formulas", "[torus]") {
  const std::size_t n = GENERATE(4, 8, 16, 32, 64);
  if (sanitized && n > 16) return;
  CHECK(counted("kim-recursive", square(n)) == a_most(n));
  CHECK(counted(divided(static_cast<int>(log2(n)) - 1), square(n)) == a_most(n));
}

TEST_CASE("A_k has the costs of the specification's formulas and delivers", "[torus]") {
  CHECK(proved(divided(1), "torus:16x16") == a_k(16, 1));
  CHECK(proved(divided(2), "torus:16x16") == a_k(16, 2));
  if (sanitized) return;
  CHECK(proved(divided(2), "torus:32x32") == a_k(32, 2));
  CHECK(proved(divided(3), "torus:32x32") == a_k(32, 3));
  // 16 x 32: RC for N^2, 32 for N; the core's longer ring has two cells of 4.
  CHECK(proved(divided(2), "torus:16x32") ==
        Counts{12, 32 * 512 / 4 + 512 * 23 / 2, 512 * 24, 2048});
  CHECK(proved(divided(2), "torus:32x16") ==
        Counts{12, 32 * 512 / 4 + 512 * 23 / 2, 512 * 24, 2048});
}

TEST_CASE("at N = 64 the start-ups of A_1 .. A_5 are 21, 16, 15, 16, 17", "[torus]") {
  if (sanitized) return;
  const std::vector<std::size_t> startups{21, 16, 15, 16, 17};
  for (std::size_t k = 1; k <= 5; ++k) {
    const Counts found = counted(divided(static_cast<int>(k)), "torus:64x64");
    CHECK(found == (k < 5 ? a_k(64, k) : a_most(64)));
    CHECK(found.startups == startups[k - 1]);
  }
}

TEST_CASE("in more than two dimensions A_k delivers, at the formulas' costs", "[torus]") {
  // k(n+1) + core steps; core 2^k T + (n+3) T (2^k - 1)/2 blocks; 4 T (2^k - 1) + core rearranged.
  CHECK(proved(divided(1), "torus:4x4x4") == Counts{7, 384, 256, 128});
  CHECK(proved(divided(1), "torus:8x8x8") == Counts{10, 4608, 3072, 1024});
  if (sanitized) return;
  CHECK(proved(divided(1), "torus:8x8x16") == Counts{12, 11264, 10240, 2048});
  CHECK(proved(divided(1), "torus:4x4x4x4") == Counts{9, 1920, 1024, 512});
  CHECK(proved(divided(2), "torus:8x8x8") == Counts{11, 7680, 6144, 2048});
  CHECK(proved("kim-recursive", "torus:8x8x8") == Counts{11, 7680, 6144, 2048});
  CHECK(proved("kim-a1", "torus:4x4x4") == Counts{7, 384, 256, 128});
  CHECK(counted(divided(1), "torus:16x8x16").startups == 13);
  CHECK(counted(divided(1), "torus:4x4x4x4x4").startups == 11);
}

TEST_CASE("in two dimensions every message is one slice, of two arrays", "[torus]") {
  struct Inspector : Node {
    explicit Inspector(const Topology& topology, Rank rank) : topology_(topology), rank_(rank) {}
    Rank rank() const override { return rank_; }
    const Topology& topology() const override { return topology_; }
    using Node::step;
    void step(std::span<const Op> ops) override {
      for (const Op& op : ops) most_pieces = std::max(most_pieces, op.pieces().size());
    }
    std::size_t most_pieces = 0;

   private:
    void work(Charge /*charge*/, Bytes /*bytes*/, FunctionRef /*work*/) override {}
    PlanCache& plans() override { return plans_; }
    Span acquire(Bytes bytes, Purpose /*purpose*/) override {
      return {new std::byte[bytes], bytes};
    }
    void release(Span data, Purpose /*purpose*/) noexcept override { delete[] data.data(); }
    const Topology& topology_;
    Rank rank_;
    PlanCache plans_;
  };
  const auto most_pieces = [](const std::string& name, const std::string& shape) {
    const Topology topology = Topology::parse(shape);
    std::size_t most = 0;
    for (Rank rank = 0; rank < topology.nodes(); ++rank) {
      Inspector node(topology, rank);
      call(name, topology).dry()(node);
      most = std::max(most, node.most_pieces);
    }
    return most;
  };
  CHECK(most_pieces("kim-a1", "torus:16x16") <= 2);
  CHECK(most_pieces("kim-a1", "torus:8x24") <= 2);
  CHECK(most_pieces("kim-recursive", "torus:16x16") <= 2);
  CHECK(most_pieces("tseng-diagonal", "torus:16x16") <= 2);
  CHECK(most_pieces("tseng-diagonal", "torus:8x12") <= 2);
}

TEST_CASE("tseng-diagonal has the cited costs and delivers", "[torus]") {
  CHECK(proved("tseng-diagonal", "torus:4x4") == Counts{4, 32, 48, 16});
  CHECK(proved("tseng-diagonal", "torus:8x8") == Counts{6, 192, 320, 64});
  CHECK(proved("tseng-diagonal", "torus:12x12") == diagonal(12));
  CHECK(proved("tseng-diagonal", "torus:16x16") == Counts{10, 1280, 2304, 256});
  if (sanitized) return;
  CHECK(proved("tseng-diagonal", "torus:20x20") == diagonal(20));
  CHECK(proved("tseng-diagonal", "torus:32x32") == Counts{18, 9216, 17408, 1024});
  CHECK(counted("tseng-diagonal", "torus:64x64") == diagonal(64));
}

TEST_CASE("tseng-diagonal on rectangles", "[torus]") {
  const auto [r, c] = GENERATE(
      table<std::size_t, std::size_t>({{4, 8}, {8, 4}, {8, 12}, {20, 8}, {4, 20}, {16, 12}}));
  const std::size_t p = r * c, a = std::max(r, c);
  CHECK(proved("tseng-diagonal", "torus:" + std::to_string(r) + "x" + std::to_string(c)) ==
        Counts{a / 2 + 2, (a / 4 + 1) * p, (a / 2 + 1) * p, p});
}

TEST_CASE("half a ring is crossed both ways at once: kim-a1 at N = 16, A_2 at N = 32", "[torus]") {
  // Ring phases hop 4 * 2^k in rings of 8 * 2^k; counted() requires one message per link.
  CHECK(counted("kim-a1", "torus:16x16").startups == 9);
  CHECK(counted(divided(2), "torus:32x32").startups == 12);
  CHECK(counted("tseng-diagonal", "torus:8x8").startups == 6);
}

TEST_CASE("blocks of other sizes, none and odd ones, arrive too", "[torus]") {
  const Bytes bytes = GENERATE(0, 1, 3, 40);
  const auto name = GENERATE("kim-a1", "kim-recursive", "tseng-diagonal");
  const Topology topology = Topology::parse("torus:8x8");
  const cases::Outcome outcome =
      cases::outcome({alltoall(name), topology, bytes, Pattern::words}, topology);
  CAPTURE(name, bytes, outcome.first);
  CHECK(outcome.delivered);
}

TEST_CASE("tori outside the domain are refused with alternatives", "[torus]") {
  CHECK(refused("kim-a1", "torus:12x12") ==
        "kim-a1: dimensions must be multiples of 8, or 4x4; torus:12x12 is not; use suh-torus");
  CHECK_THAT(refused("kim-a1", "torus:4x8"), Contains("torus:4x8 is not; use suh-torus"));
  CHECK_THAT(refused("kim-a1", "torus:6x6"), Contains("torus:6x6 is not; use mesh or shift"));
  CHECK_THAT(refused("kim-a1", "torus:2x2"), Contains("use mesh or shift"));
  CHECK_THAT(refused("kim-a1", "mesh:8x8"), Contains("must be a ring; mesh:8x8 has line:8"));
  CHECK_THAT(refused("kim-a1", "ring:8"), Contains("2 dimensions or more; ring:8 has 1"));
  CHECK_THAT(refused("kim-a1", "hypercube:4"), Contains("use"));
  CHECK_THAT(refused("kim-a1:core=diagonal", "torus:4x4x4"), Contains("are for two dimensions"));
  CHECK_THAT(refused("kim-a1:core=diagonal:phases=printed", "torus:8x8"),
             Contains("phases=printed concerns the phases of core=rings"));

  CHECK_THAT(refused("kim-recursive", "torus:8x16"),
             Contains("torus:8x16") && Contains("kim-recursive:divisions=1"));
  CHECK_THAT(refused("kim-recursive", "torus:24x24"), Contains("kim-recursive:divisions=1"));
  CHECK_THAT(refused("kim-recursive", "torus:32x16"), Contains("kim-recursive:divisions=1 to 2"));
  CHECK_THAT(refused(divided(1), "torus:12x12"),
             Contains("torus:12x12") && Contains("use suh-torus"));
  CHECK_THAT(refused(divided(4), "torus:16x16"),
             Contains("4 divisions of torus:16x16") && Contains("kim-recursive:divisions=1 to 3"));
  CHECK_THROWS_WITH(refused(divided(-1), "torus:16x16"), Contains("divisions is '-1'; need 0..28"));
  CHECK_THROWS_WITH(refused(divided(1000), "torus:16x16"), Contains("'1000'; need 0..28"));
  CHECK_THAT(refused(divided(3), "torus:16x32"), Contains("kim-recursive:divisions=1 to 2"));
  CHECK_THAT(refused("kim-recursive", "torus:3x3"), Contains("use mesh or shift"));

  CHECK_THAT(refused("tseng-diagonal", "torus:6x8"), Contains("multiple of 4; torus:6x8 has 6"));
  CHECK_THAT(refused("tseng-diagonal", "torus:4x4x4"),
             Contains("torus:4x4x4 has 3; use suh-torus"));
  CHECK_THAT(refused("tseng-diagonal", "ring:8"), Contains("ring:8 has 1; use mesh or shift"));
  CHECK_THAT(refused("tseng-diagonal", "mesh:8x8"), Contains("mesh:8x8 has line:8"));
}
