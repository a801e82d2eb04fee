// Transposition: element by element, for every kind of shape, network and exchange.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/transpose/transpose.hpp"

#include "wormcube/apps/transpose/run.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/apps/damaging.hpp"
#include "wormcube/tests/apps/support.hpp"

#include <cstring>
#include <numeric>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::apps;
using namespace wormcube::apps::testing;
using Catch::Matchers::Contains;

namespace {

using Sides = std::pair<std::size_t, std::size_t>;

TransposeResult transposed(const Topology& topology, const Exchange& exchange,
                           const Array& matrix) {
  return run_transpose(proof(topology), exchange, {matrix, {}});
}

// Written for itself: the oracle of count_wrong() too.
void require_transposed(const Array& in, const Array& out) {
  const std::size_t rows = in.shape[0], columns = in.shape[1], element = bytes_of(in.type);
  REQUIRE(out.type == in.type);
  REQUIRE(out.shape == std::vector{columns, rows});
  bool same = true;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t b = 0; b < element; ++b) {
        same = same &&
               out.data[(j * rows + i) * element + b] == in.data[(i * columns + j) * element + b];
      }
    }
  }
  REQUIRE(same);
}

}  // namespace

TEST_CASE("a distribution gives every item to one node, in order and evenly", "[apps]") {
  for (const std::size_t items : {0, 1, 2, 5, 16, 17, 100}) {
    for (const Rank nodes : {1, 2, 3, 5, 8, 16, 31}) {
      const Distribution distribution{items, nodes};
      std::size_t next = 0;
      for (Rank r = 0; r < nodes; ++r) {
        CHECK(distribution.first(r) == next);
        CHECK(distribution.count(r) <= distribution.largest());
        CHECK(distribution.count(r) + 1 >= distribution.largest());
        next += distribution.count(r);
      }
      CHECK(next == items);
      CHECK(distribution.even() == (items % static_cast<std::size_t>(nodes) == 0));
    }
  }
}

TEST_CASE("transposition gives out[j][i] == in[i][j] on every network, shape and kind of exchange",
          "[apps][transpose]") {
  const auto topology =
      Topology::parse(GENERATE("complete:1", "ring:2", "line:3", "ring:5", "torus:4x2", "mesh:5x3",
                               "hypercube:4", "complete:31"));
  const auto [rows, columns] = GENERATE(Sides{1, 1}, Sides{1, 7}, Sides{7, 1}, Sides{5, 3},
                                        Sides{16, 16}, Sides{33, 17}, Sides{2, 100});
  CAPTURE(topology.name(), rows, columns);
  const Array matrix = generate_matrix(ElementType::float64, rows, columns, 1);
  for (const Exchange& exchange : plain_exchanges(topology)) {
    const TransposeResult result = transposed(topology, exchange, matrix);
    require_transposed(matrix, result.transposed);
    CHECK(result.passed());
    CHECK(result.figures.collectives.at(0).calls == 1);
    REQUIRE(result.figures.schedule);
    CHECK(result.figures.schedule->matched());
    CHECK(result.figures.schedule->port_violations == 0);
  }
}

TEST_CASE("transposition works with every registered exchange", "[apps][transpose]") {
  const auto topology = Topology::parse(GENERATE("ring:6", "mesh:4x3", "torus:4x4", "torus:8x8",
                                                 "hypercube:4", "complete:5", "tree:8", "ghc:4x3"));
  const Array matrix = generate_matrix(ElementType::complex64, 19, 23, 2);
  for (const Exchange& exchange : exchanges(topology)) {
    CAPTURE(topology.name(), exchange.collective.text());
    require_transposed(matrix, transposed(topology, exchange, matrix).transposed);
  }
  require_transposed(matrix, transposed(topology, find_exchange("auto"), matrix).transposed);
}

TEST_CASE("transposition moves elements of every size", "[apps][transpose]") {
  const ElementType type =
      GENERATE(ElementType::float32, ElementType::float64, ElementType::complex64,
               ElementType::complex128, ElementType::int8, ElementType::uint16);
  const Array matrix = generate_matrix(type, 37, 21, 3);
  const auto topology = Topology::parse("torus:4x2");
  for (const Exchange& exchange : plain_exchanges(topology)) {
    const Array there = transposed(topology, exchange, matrix).transposed;
    require_transposed(matrix, there);
    CHECK(transposed(topology, exchange, there).transposed.data == matrix.data);  // and back
  }
}

TEST_CASE("padding is counted, and only alltoall needs it", "[apps][transpose]") {
  const auto topology = Topology::parse("ring:4");
  const auto padding = [&](const Exchange& exchange, std::size_t rows, std::size_t columns) {
    return transposed(topology, exchange, generate_matrix(ElementType::float64, rows, columns, 1))
        .figures.padding;
  };
  const std::vector<Exchange> plain = plain_exchanges(topology);
  CHECK(padding(plain[0], 8, 12) == 0);
  // 4 x 4 blocks of 3 x 3 elements.
  CHECK(padding(plain[0], 9, 12) == (4 * 3 * 3 * 4 - 9 * 12) * 8);
  CHECK(padding(plain[0], 1, 1) == 15 * 8);
  CHECK(padding(plain[1], 9, 12) == 0);
}

TEST_CASE("a real transposition does what its dry run says", "[apps][transpose]") {
  const auto topology = Topology::parse(GENERATE("torus:4x2", "mesh:3x2", "ring:1"));
  const Array matrix = generate_matrix(ElementType::float32, 7, 30, 5);
  for (const Exchange& exchange : plain_exchanges(topology)) {
    std::vector<Schedule> traces;
    Runner runner = tracing_proof(topology, traces);
    const auto trace = runner.run;
    Schedule dry{topology, {}};
    runner.run = [&](const Program& program) {
      dry = record(topology, program);
      return trace(program);
    };
    run_transpose(runner, exchange, {matrix, {}});
    REQUIRE(traces.size() == 1);
    CHECK(traces[0] == dry);
  }
}

TEST_CASE("count_wrong counts every element that differs", "[apps][transpose]") {
  const Array matrix = generate_matrix(ElementType::float32, 5, 7, 9);
  const Array good =
      transposed(Topology::parse("ring:3"), find_exchange("shift"), matrix).transposed;
  CHECK(count_wrong(matrix, good) == 0);
  for (std::size_t byte = 0; byte < good.data.size(); ++byte) {
    Array bad = good;
    bad.data[byte] ^= std::byte{0x10};
    CHECK(count_wrong(matrix, bad) == 1);
  }
  Array swapped = good;
  std::swap_ranges(swapped.data.begin(), swapped.data.begin() + 4, swapped.data.begin() + 8);
  CHECK(count_wrong(matrix, swapped) == 2);
  Array reshaped = good;
  reshaped.shape = {5, 7};
  CHECK(count_wrong(matrix, reshaped) == 35);
}

TEST_CASE("a transposition over a damaging exchange does not pass", "[apps][transpose]") {
  const Array matrix = generate_matrix(ElementType::float64, 6, 4, 1);
  const TransposeResult result = transposed(Topology::parse("ring:2"), damaging_exchange(), matrix);
  CHECK(result.wrong == std::size_t{1});
  CHECK_FALSE(result.passed());
}

TEST_CASE("a transposition that is not verified has not passed", "[apps][transpose]") {
  const TransposeJob job{generate_matrix(ElementType::float64, 6, 4, 1), {.verify = false}};
  const TransposeResult result =
      run_transpose(proof(Topology::parse("ring:2")), find_exchange("shift"), job);
  CHECK_FALSE(result.verified());
  CHECK_FALSE(result.passed());
}

TEST_CASE("a transposition that cannot be is refused", "[apps][transpose]") {
  const auto topology = Topology::parse("ring:3");
  const auto refused = [&](const Array& matrix, const Exchange& exchange = find_exchange("auto"),
                           const RunOptions& options = {}) {
    run_transpose(proof(topology), exchange, {matrix, options});
  };
  CHECK_THROWS_WITH(refused({ElementType::int8, {3}, std::vector<std::byte>(3)}),
                    Contains("1 dimension;") && Contains("need 2"));
  CHECK_THROWS_WITH(refused({ElementType::int8, {3, 0}, {}}), Contains("3 x 0"));
  CHECK_THROWS_WITH(refused({ElementType::int16, {3, 2}, std::vector<std::byte>(3)}),
                    Contains("3 bytes"));
  const Array matrix = generate_matrix(ElementType::int8, 2, 2, 1);
  CHECK_THROWS_AS(refused(matrix, find_exchange("hypercube-pairwise")), UsageError);
  CHECK_THROWS_WITH(refused(matrix, find_exchange("shift"), {.iterations = 0}),
                    Contains("0 iterations"));
}

TEST_CASE("transpose_local transposes every element size over tile borders", "[apps][transpose]") {
  const std::size_t element = GENERATE(1, 2, 4, 8, 16);
  const auto [rows, columns] =
      GENERATE(Sides{1, 1}, Sides{3, 40}, Sides{16, 16}, Sides{17, 33}, Sides{0, 5});
  // A piece of a larger matrix, into a piece of a larger one.
  const std::size_t from_stride = (columns + 3) * element, to_stride = (rows + 2) * element;
  std::vector<std::byte> from(rows * from_stride), to(columns * to_stride, std::byte{0xee}),
      wanted = to;
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 % 251);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      std::copy_n(&from[i * from_stride + j * element], element,
                  &wanted[j * to_stride + i * element]);
    }
  }
  transpose_local(from.data(), from_stride, to.data(), to_stride, rows, columns, element);
  CHECK(to == wanted);
  CHECK_THROWS_AS(transpose_local(from.data(), 1, to.data(), 1, 1, 1, 3), UsageError);
}
