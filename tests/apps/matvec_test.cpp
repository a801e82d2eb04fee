// Matrix-vector product on a grid of nodes: every shape of matrix and network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/made.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/matvec/run.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/tests/apps/damaging.hpp"
#include "wormcube/tests/apps/support.hpp"

#include <limits>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::apps;
using namespace wormcube::apps::testing;
using Catch::Matchers::Contains;

namespace {

using Sides = std::pair<std::size_t, std::size_t>;

Algorithms automatic_matvec() { return {"auto", matvec_operations()}; }

Source source(std::vector<std::size_t> shape, const std::vector<double>& values) {
  return to_array<double>(ElementType::float64, values, std::move(shape));
}

std::vector<double> values(const Source& source) { return to_doubles(read_all(source), "a test"); }

MatvecJob job(std::size_t rows, std::size_t columns, VectorsOn vectors_on = VectorsOn::edge) {
  return {made_array(ElementType::float64, {rows, columns}, 1),
          made_array(ElementType::float64, {columns}, 2), vectors_on};
}

// Whole numbers: every order of the sum is exact.
MatvecJob exact_job(std::size_t rows, std::size_t columns, VectorsOn vectors_on) {
  std::vector<double> matrix, x;
  for (std::size_t at = 0; at < rows * columns; ++at) {
    matrix.push_back(static_cast<double>(at * 7 % 13) - 6);
  }
  for (std::size_t j = 0; j < columns; ++j) x.push_back(static_cast<double>(j % 5) + 1);
  return {source({rows, columns}, matrix), source({columns}, x), vectors_on};
}

std::vector<double> product(const MatvecJob& job) {
  const std::vector<double> matrix = values(job.matrix), x = values(job.x);
  std::vector<double> y(job.matrix.shape()[0]);
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += matrix[i * x.size() + j] * x[j];
  }
  return y;
}

}  // namespace

TEST_CASE("a network is cut into a grid as square as possible", "[apps][matvec]") {
  const auto grid = [](const char* name) {
    const NodeGrid nodes(Topology::parse(name));
    return std::pair(nodes.rows(), nodes.columns());
  };
  using Grid = std::pair<Rank, Rank>;
  CHECK(grid("torus:8x8") == Grid{8, 8});
  CHECK(grid("mesh:5x3") == Grid{5, 3});
  CHECK(grid("mesh:3x5") == Grid{3, 5});
  CHECK(grid("hypercube:6") == Grid{8, 8});
  CHECK(grid("hypercube:5") == Grid{8, 4});
  CHECK(grid("torus:4x4x4") == Grid{16, 4});
  CHECK(grid("mesh:2x3x6") == Grid{6, 6});
  CHECK(grid("ring:7") == Grid{7, 1});
  CHECK(grid("mesh:1x8") == Grid{8, 1});
  CHECK(grid("complete:1") == Grid{1, 1});
}

TEST_CASE("a product is right on every network, for every shape and place of vectors",
          "[apps][matvec]") {
  const auto topology =
      Topology::parse(GENERATE("complete:1", "ring:2", "line:3", "ring:7", "torus:4x2", "mesh:5x3",
                               "mesh:3x5", "hypercube:4", "torus:3x2x4", "tree:8", "ghc:4x3"));
  const auto vectors_on = GENERATE(VectorsOn::edge, VectorsOn::diagonal);
  for (const auto& [rows, columns] :
       {Sides{1, 1}, Sides{1, 40}, Sides{40, 1}, Sides{2, 3}, Sides{16, 16}, Sides{33, 17}}) {
    CAPTURE(topology.name(), rows, columns, static_cast<int>(vectors_on));
    const MatvecJob exact = exact_job(rows, columns, vectors_on);
    const MatvecResult result = run_matvec(proof(topology), automatic_matvec(), exact);
    CHECK(result.y == product(exact));
    CHECK(result.check.elements == rows);
    CHECK(result.passed());
    CHECK(run_matvec(proof(topology), automatic_matvec(), job(rows, columns, vectors_on)).passed());
    REQUIRE(result.figures.schedule);
    CHECK(result.figures.schedule->matched());
    CHECK(result.figures.schedule->port_violations == 0);
  }
}

TEST_CASE("a product on a square mesh takes the book's steps, free of contention",
          "[apps][matvec]") {
  // 2 (ts + tw m) log n for n x n nodes: one broadcast and one reduction of log n steps each.
  const auto [name, log_n] = GENERATE(std::pair("mesh:2x2", 1), std::pair("mesh:4x4", 2),
                                      std::pair("torus:8x8", 3), std::pair("hypercube:6", 3));
  const Algorithms algorithms("halving", matvec_operations());
  const MatvecResult result =
      run_matvec(proof(Topology::parse(name)), algorithms, exact_job(16, 16, VectorsOn::edge));
  REQUIRE(result.figures.schedule);
  CHECK(result.figures.schedule->startups == static_cast<std::size_t>(2 * log_n));
  CHECK(result.figures.schedule->link_load_max == 1);
  const Bytes block = (std::size_t{16} >> log_n) * sizeof(double);
  CHECK(result.figures.schedule->transmission == 2 * static_cast<Bytes>(log_n) * block);
}

TEST_CASE("a product works with every registered algorithm", "[apps][matvec]") {
  const auto topology =
      Topology::parse(GENERATE("mesh:4x4", "torus:3x5", "hypercube:4", "ghc:4x3"));
  const auto vectors_on = GENERATE(VectorsOn::edge, VectorsOn::diagonal);
  const MatvecJob exact = exact_job(19, 23, vectors_on);
  const NodeGrid grid(topology);
  Arguments arguments;
  arguments.reduction = find_reduction("sum", "double");
  arguments.root = vectors_on == VectorsOn::edge ? 0 : 1;
  for (const Operation operation : matvec_operations()) {
    const Topology& network =
        operation == operations::broadcast ? grid.column_network() : grid.row_network();
    for (const Collective& collective : admitted(operation, network, arguments)) {
      if (collective.algorithm->selection == Selection::any_order) continue;
      CAPTURE(topology.name(), operation->name, collective.text());
      Algorithms algorithms = automatic_matvec();
      algorithms.use(collective);
      const bool goes_by_distance = collective.name() == "neighbours" ||
                                    collective.name() == "rotated-trees" ||
                                    collective.name() == "tree-packing";
      if (goes_by_distance && vectors_on == VectorsOn::diagonal) {
        // On a line it takes as many steps as the root is far from the end.
        if (topology.name() == "mesh:4x4") {
          CHECK_THROWS_WITH(run_matvec(proof(topology), algorithms, exact),
                            Contains(" start-ups from root "));
        }
        continue;
      }
      CHECK(run_matvec(proof(topology), algorithms, exact).y == product(exact));
    }
  }
}

TEST_CASE("a real product does what its dry run says", "[apps][matvec]") {
  const auto topology = Topology::parse(GENERATE("torus:4x2", "mesh:3x2", "ring:1", "line:5"));
  CHECK_NOTHROW(require_repeated(
      topology, [&](const Runner& runner) { run_matvec(runner, automatic_matvec(), job(7, 30)); }));
}

TEST_CASE("a machine multiplies, as threads and as fibers", "[apps][matvec][machine]") {
  const auto executor = GENERATE(ExecutorKind::threads, ExecutorKind::fibers);
  for (const char* const name : {"torus:4x4", "ring:7", "mesh:3x5"}) {
    Machine machine(Topology::parse(name), {.executor = executor, .timing = true});
    const MatvecResult result =
        run_matvec(on(machine), automatic_matvec(), job(130, 70, VectorsOn::diagonal));
    CHECK(result.passed());
    REQUIRE(result.figures.schedule);
    CHECK(result.figures.schedule->messages == result.figures.messages);
    CHECK(result.figures.schedule->total_bytes == result.figures.bytes_moved);
  }
  Machine locked(Topology::parse("mesh:4x3"), {.executor = executor, .lock_step = true});
  CHECK(run_matvec(on(locked), automatic_matvec(), job(10, 10)).passed());
}

TEST_CASE("a check of a product allows rounding and nothing else", "[apps][matvec]") {
  const MatvecJob of = job(20, 300);
  const std::vector<double> y = product(of);
  const MatvecCheck good = check_product(of.matrix, of.x, 0, y);
  CHECK(good.passed());
  CHECK(good.error <= good.tolerance);
  CHECK(good.tolerance < 1e-13);
  for (std::size_t i = 0; i < y.size(); ++i) {
    std::vector<double> bad = y;
    bad[i] += 1e-9;
    CHECK(check_product(of.matrix, of.x, 0, bad).wrong == 1);
    bad[i] = std::numeric_limits<double>::quiet_NaN();
    CHECK(check_product(of.matrix, of.x, 0, bad).wrong == 1);
  }
  // An element that cancels is judged by what it is the sum of.
  const Source cancels = source({1, 3}, {1e16, 1, -1e16}), ones = source({3}, {1, 1, 1});
  CHECK(check_product(cancels, ones, 0, std::vector<double>{0}).passed());
  CHECK_FALSE(check_product(cancels, ones, 0, std::vector<double>{100}).passed());
}

TEST_CASE("a check of a product reads matrix and vector by pieces", "[apps][matvec]") {
  // More than a piece: of rows, of columns, of both, and of whole numbers that are converted.
  for (const auto& [rows, columns] :
       {Sides{70000, 1}, Sides{1, 150000}, Sides{20, 70000}, Sides{3000, 301}}) {
    CAPTURE(rows, columns);
    const Source matrix = made_array(ElementType::int16, {rows, columns}, 1),
                 x = made_array(ElementType::int8, {columns}, 2);
    const std::size_t first = rows / 3;
    std::vector<double> y = product({matrix, x});
    y.erase(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(first));
    const MatvecCheck good = check_product(matrix, x, first, y);
    CHECK(good.elements == rows - first);
    CHECK(good.passed());
    CHECK(good.error == 0);
    y.front() += 1000;
    y.back() += 1000;
    CHECK(check_product(matrix, x, first, y).wrong == (y.size() > 1 ? 2 : 1));
  }
}

TEST_CASE("a product over damaging collectives does not pass", "[apps][matvec]") {
  for (const bool of_broadcast : {true, false}) {
    Algorithms algorithms = automatic_matvec();
    algorithms.use(of_broadcast ? damaging<operations::broadcast>()
                                : damaging<operations::reduce>());
    const MatvecResult result =
        run_matvec(proof(Topology::parse("mesh:2x3")), algorithms, job(6, 6));
    CHECK(result.verified());
    CHECK(result.check.wrong > 0);
    CHECK_FALSE(result.passed());
  }
}

TEST_CASE("a product that cannot be is refused before it runs", "[apps][matvec]") {
  const Runner unused{Topology::parse("mesh:3x3"), [](const Program&) -> Statistics {
                        FAIL("it ran");
                        return {};
                      }};
  const auto refused = [&](const MatvecJob& job,
                           const Algorithms& algorithms = automatic_matvec()) {
    run_matvec(unused, algorithms, job);
  };
  const auto of = [](std::size_t rows, std::size_t columns, const std::vector<double>& matrix,
                     const std::vector<double>& x) {
    return MatvecJob{source({rows, columns}, matrix), source({x.size()}, x)};
  };
  CHECK_THROWS_WITH(refused(of(0, 3, {}, {1, 2, 3})), Contains("0 x 3"));
  CHECK_THROWS_WITH(refused({source({2}, {1, 2}), source({2}, {1, 2})}),
                    Contains("arrays of 1 and 1 dimensions"));
  CHECK_THROWS_WITH(refused(of(1, 2, {1, 2}, {1, 2, 3})),
                    Contains("vector of 3") && Contains("need a vector of 2"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(refused(of(2, 2, {1, 2, nan, 4}, {1, 2})),
                    Contains("matrix element 2 (row 1, column 0; from 0)") && Contains("NaN"));
  CHECK_THROWS_WITH(refused(of(1, 2, {1, 2}, {1, HUGE_VAL})),
                    Contains("vector element 1") && Contains("infinite"));
  CHECK_THROWS_WITH(refused(of(1, 2, {1e200, 2}, {1, 1e200})), Contains("scale"));
  CHECK_THROWS_WITH(
      refused(job(4, 4, VectorsOn::diagonal), Algorithms("reduce=hypercube", matvec_operations())),
      Contains("hypercube") && Contains("root"));
}
