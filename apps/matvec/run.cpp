// `wormcube matvec`: a matrix and a vector of the host, multiplied by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/matvec/run.hpp"

#include "wormcube/apps/parts.hpp"
#include "wormcube/apps/random.hpp"
#include "wormcube/collectives/blocks.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/host/memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

using Clock = std::chrono::steady_clock;

// Throws UsageError for a value that is not finite. Returns the largest magnitude.
double largest(std::span<const double> values, std::size_t columns, std::string_view what) {
  double most = 0;
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (!std::isfinite(values[at])) {
      throw UsageError(fmt::format(
          "matvec: {} {}{} is {}; need finite values", what, at,
          columns > 0 ? fmt::format(" (row {}, column {}; from 0)", at / columns, at % columns)
                      : " (from 0)",
          std::isnan(values[at]) ? "not a number (NaN)" : "infinite"));
    }
    most = std::max(most, std::abs(values[at]));
  }
  return most;
}

void require_product(const MatvecJob& job) {
  const Matrix& matrix = job.matrix;
  if (matrix.rows == 0 || matrix.columns == 0) {
    throw UsageError(
        fmt::format("matvec: a {} x {} matrix has no elements", matrix.rows, matrix.columns));
  }
  if (!job.source && matrix.values.size() != matrix.rows * matrix.columns) {
    throw UsageError(fmt::format("matvec: {} values for a {} x {} matrix", matrix.values.size(),
                                 matrix.rows, matrix.columns));
  }
  if (job.x.size() != matrix.columns) {
    throw UsageError(fmt::format("matvec: a {} x {} matrix and a vector of {}; it needs one of {}",
                                 matrix.rows, matrix.columns, job.x.size(), matrix.columns));
  }
}

// Throws UsageError if a sum may overflow.
void require_finite_sums(double of_matrix, double of_x, std::size_t columns) {
  const long double most =
      static_cast<long double>(of_matrix) * of_x * static_cast<long double>(columns);
  // A quarter: rounding on the way must not cross the limit either.
  if (most > std::numeric_limits<double>::max() / 4) {
    throw UsageError(fmt::format(
        "matvec: elements up to {:.3g} times up to {:.3g}, {} of them: sums may be larger than the "
        "largest double; scale the matrix or the vector down",
        of_matrix, of_x, columns));
  }
}

/// A block of a source of real elements, row by row.
std::vector<double> read_doubles(const Source& source, std::size_t row, std::size_t column,
                                 std::size_t rows, std::size_t columns) {
  const std::size_t width = source.shape()[1], element = bytes_of(source.type());
  std::vector<double> values;
  values.reserve(rows * columns);
  constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  const std::size_t most =
      std::max<std::size_t>(1, piece_bytes / std::max<std::size_t>(1, columns * element));
  for (std::size_t done = 0; done < rows && columns > 0; done += most) {
    const std::size_t count = std::min(most, rows - done);
    Array piece{source.type(), {count, columns}, std::vector<std::byte>(count * columns * element)};
    source.reader().read_block((row + done) * width + column, width, count, piece.data);
    const std::vector<double> converted = to_doubles(piece, "matvec");
    values.insert(values.end(), converted.begin(), converted.end());
  }
  return values;
}

/// The block of a node's, of the matrix.
struct BlockPlace {
  std::size_t row, column, rows, columns;
};
BlockPlace block_place(const MatvecPlan& plan, Rank rank) {
  const Rank i = rank / plan.grid.columns(), j = rank % plan.grid.columns();
  return {plan.rows.first(i), plan.columns.first(j), plan.rows.count(i), plan.columns.count(j)};
}

/// What the nodes of this process have of a matrix that no process has whole.
class OwnBlocks {
 public:
  /// Reads them. To be called in_all_processes().
  OwnBlocks(const Runner& runner, const MatvecPlan& plan, const Source& source) {
    const auto [first, last] = nodes_here(runner);
    first_ = first;
    for (Rank r = first; r < last; ++r) {
      const auto [row, column, rows, columns] = block_place(plan, r);
      blocks_.push_back(read_doubles(source, row, column, rows, columns));
      for (std::size_t at = 0; at < blocks_.back().size(); ++at) {
        const double value = blocks_.back()[at];
        if (!std::isfinite(value)) {
          throw UsageError(fmt::format(
              "matvec: matrix element (row {}, column {}; from 0) is {}; need finite values",
              row + at / columns, column + at % columns,
              std::isnan(value) ? "not a number (NaN)" : "infinite"));
        }
        largest_ = std::max(largest_, std::abs(value));
      }
    }
  }
  /// Bytes that they take.
  static double bytes(const Runner& runner, const MatvecPlan& plan) {
    double bytes = 0;
    const auto [first, last] = nodes_here(runner);
    for (Rank r = first; r < last; ++r) {
      const BlockPlace place = block_place(plan, r);
      bytes += static_cast<double>(place.rows * place.columns) * sizeof(double);
    }
    return bytes;
  }
  std::span<const double> of_node(Rank r) const {
    return blocks_[static_cast<std::size_t>(r - first_)];
  }
  double largest() const { return largest_; }

 private:
  Rank first_ = 0;
  std::vector<std::vector<double>> blocks_;
  double largest_ = 0;
};

// The lines of the grid with these roots run side by side, step by step.
void require_alike(const Collective& collective, const Topology& network, Rank other_root) {
  Collective other = collective;
  other.arguments.root = other_root;
  other.require(network);
  if (other_root == collective.arguments.root) return;
  const auto steps = collective.predict(network).startups, others = other.predict(network).startups;
  if (steps == others || !steps || !others) return;
  throw UsageError(fmt::format(
      "{}: {} start-ups from root {} but {} from root {}; lines of the grid need as many; use "
      "another, or vectors on the edge (--vectors-on edge)",
      collective.name(), *steps, collective.arguments.root, *others, other_root));
}

MatvecPlan make_plan(const Runner& runner, const Algorithms& algorithms, const MatvecJob& job) {
  MatvecPlan plan{NodeGrid(runner.topology), {}, {}, job.vectors_on, {}, {}};
  const NodeGrid& grid = plan.grid;
  plan.rows = {job.matrix.rows, grid.rows()};
  plan.columns = {job.matrix.columns, grid.columns()};
  Arguments arguments;
  // One algorithm for all roots: chosen for the highest, as some admit root 0 alone.
  const auto choose = [&](Operation operation, const Topology& network, Rank calls, Bytes bytes,
                          auto root) {
    arguments.root = root(std::min(calls, network.nodes()) - 1);
    Collective chosen = algorithms.choose(operation, network, bytes, arguments);
    const Rank roots = arguments.root + 1;
    for (Rank other = 0; other < roots; ++other) require_alike(chosen, network, other);
    return chosen;
  };
  if (grid.rows() > 1) {
    plan.broadcast = choose(operations::broadcast, grid.column_network(), grid.columns(),
                            plan.x_block_bytes(), [&](Rank j) { return plan.source(j); });
  }
  if (grid.columns() > 1) {
    arguments.reduction = find_reduction("sum", "double");
    plan.reduce = choose(operations::reduce, grid.row_network(), grid.rows(), plan.y_block_bytes(),
                         [&](Rank i) { return plan.sink(i); });
  }
  return plan;
}

// Bytes of zeros behind the blocks that lie at sources and sinks.
Bytes padding(const MatvecPlan& plan) {
  const auto of = [](const Distribution& distribution) {
    return distribution.largest() * static_cast<std::size_t>(distribution.nodes) -
           distribution.items;
  };
  return (of(plan.rows) + of(plan.columns)) * sizeof(double);
}

class Product {
 public:
  /// \param blocks  nullptr: the matrix is the job's
  Product(const MatvecPlan& plan, const MatvecJob& job, const OwnBlocks* blocks,
          std::span<double> y)
      : plan_(plan), job_(job), blocks_(blocks), y_(y), host_(static_cast<std::size_t>(nodes())) {}

  void operator()(Node& node) {
    const Rank i = node.rank() / plan_.grid.columns(), j = node.rank() % plan_.grid.columns();
    const std::size_t rows = plan_.rows.count(i), columns = plan_.columns.count(j);
    const Memory matrix = node.memory(rows * columns * sizeof(double), Purpose::blocks);
    const Memory x = node.memory(plan_.x_block_bytes(), Purpose::blocks);
    const Memory y = node.memory(plan_.y_block_bytes(), Purpose::blocks);
    Clock::duration& host = host_[static_cast<std::size_t>(node.rank())];
    node.local([&] {
      const auto start = Clock::now();
      const auto block = as<double>(matrix);
      if (blocks_ != nullptr) std::ranges::copy(blocks_->of_node(node.rank()), block.begin());
      for (std::size_t row = 0; row < rows && blocks_ == nullptr; ++row) {
        std::copy_n(job_.matrix.values.data() + (plan_.rows.first(i) + row) * job_.matrix.columns +
                        plan_.columns.first(j),
                    columns, block.data() + row * columns);
      }
      if (i == plan_.source(j)) {
        std::ranges::fill(as<double>(x), 0.0);
        std::copy_n(job_.x.begin() + static_cast<std::ptrdiff_t>(plan_.columns.first(j)), columns,
                    as<double>(x).begin());
      }
      host = Clock::now() - start;
    });
    matvec(node, plan_, matrix, x, y);
    node.local([&] {
      if (j != plan_.sink(i)) return;
      const auto start = Clock::now();
      std::copy_n(as<double>(y).begin(), rows,
                  y_.begin() + static_cast<std::ptrdiff_t>(plan_.rows.first(i)));
      host += Clock::now() - start;
    });
  }

  std::chrono::nanoseconds host_time(const Runner& runner) { return sum(runner, host_) / nodes(); }

  /// What a node has written of y: the sink of each row its block.
  std::pair<std::size_t, std::size_t> place(Rank rank) const {
    const Rank i = rank / plan_.grid.columns(), j = rank % plan_.grid.columns();
    const std::size_t first = plan_.rows.first(i), last = plan_.rows.first(i + 1);
    const Rank sink = plan_.sink(i);
    return {(j <= sink ? first : last) * sizeof(double),
            (j < sink ? first : last) * sizeof(double)};
  }

 private:
  Rank nodes() const { return plan_.grid.rows() * plan_.grid.columns(); }

  const MatvecPlan& plan_;
  const MatvecJob& job_;
  const OwnBlocks* blocks_;
  std::span<double> y_;
  std::vector<Clock::duration> host_;  // entry r: written by node r
};

std::vector<double> multiply_serially(const Matrix& matrix, std::span<const double> x) {
  std::vector<double> y(matrix.rows);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const auto first = matrix.values.begin() + static_cast<std::ptrdiff_t>(row * matrix.columns);
    y[row] = std::transform_reduce(x.begin(), x.end(), first, 0.0);
  }
  return y;
}

}  // namespace

namespace {

/// check_product where no process has the whole matrix: each reads some rows again.
MatvecCheck check_rows(const Runner& runner, const MatvecJob& job, std::span<const double> y) {
  const Distribution shares{job.matrix.rows, runner.processes->processes()};
  const Rank process = runner.processes->process();
  const std::size_t end = shares.first(process + 1);
  constexpr std::size_t piece_bytes = std::size_t{1} << 22;
  const std::size_t most =
      std::max<std::size_t>(1, piece_bytes / (job.matrix.columns * sizeof(double)));
  struct Found {
    double ratio = -1, error = 0, tolerance = 0;
  } worst;
  std::uint64_t wrong = 0;
  in_all_processes(runner, [&] {
    for (std::size_t row = shares.first(process); row < end; row += most) {
      const std::size_t rows = std::min(most, end - row);
      const Matrix piece{rows, job.matrix.columns,
                         read_doubles(*job.source, row, 0, rows, job.matrix.columns)};
      const MatvecCheck found = check_product(piece, job.x, y.subspan(row, rows));
      wrong += found.wrong;
      const double ratio = std::isfinite(found.error) ? found.error / found.tolerance
                                                      : std::numeric_limits<double>::infinity();
      if (ratio > worst.ratio) worst = {ratio, found.error, found.tolerance};
    }
  });
  for (const Found& found : of_all_processes(runner, worst)) {
    if (found.ratio > worst.ratio) worst = found;
  }
  return {true, worst.error, worst.tolerance, sum(runner, wrong)};
}

}  // namespace

std::vector<Operation> matvec_operations() { return {operations::broadcast, operations::reduce}; }

MatvecResult run_matvec(const Runner& runner, const Algorithms& algorithms, const MatvecJob& job) {
  if (job.source && holds_all(runner)) {
    MatvecJob whole = job;
    in_all_processes(runner, [&] {
      const std::size_t rows = job.matrix.rows, columns = job.matrix.columns;
      require_memory_here(fmt::format("a {} x {} matrix of float64", rows, columns), runner,
                          static_cast<double>(rows) * static_cast<double>(columns) * sizeof(double),
                          "use a smaller one");
      whole.matrix.values = read_doubles(*job.source, 0, 0, rows, columns);
    });
    whole.source.reset();
    return run_matvec(runner, algorithms, whole);
  }
  require_product(job);
  const MatvecPlan plan = make_plan(runner, algorithms, job);
  const auto what = fmt::format("matvec of {} x {} on {} nodes", job.matrix.rows,
                                job.matrix.columns, runner.topology.nodes());
  MatvecResult result;
  result.grid_rows = plan.grid.rows();
  result.grid_columns = plan.grid.columns();
  result.y.resize(job.matrix.rows);
  std::optional<OwnBlocks> blocks;
  double of_matrix = 0;
  if (job.source) {
    job.options.tell("input");
    in_all_processes(runner, [&] {
      require_memory_here(what, runner, OwnBlocks::bytes(runner, plan), "use more processes");
      blocks.emplace(runner, plan, *job.source);
    });
    of_matrix = maximum(runner, blocks->largest());
  } else {
    of_matrix = largest(job.matrix.values, job.matrix.columns, "matrix element");
  }
  require_finite_sums(of_matrix, largest(job.x, 0, "vector element"), job.matrix.columns);
  Product product(plan, job, blocks ? &*blocks : nullptr, result.y);
  const Program program = [&](Node& node) { product(node); };
  job.options.tell("memory");
  in_all_processes(runner, [&] {
    require_memory_to_run(what, runner, static_cast<double>(job.matrix.rows) * sizeof(double),
                          program, "use a smaller matrix");
  });
  RunFigures known;
  for (const Collective* collective : {&plan.broadcast, &plan.reduce}) {
    if (collective->algorithm != nullptr) known.collectives.emplace_back(*collective, 1);
  }
  known.block_bytes = std::max(plan.x_block_bytes(), plan.y_block_bytes());
  known.padding = padding(plan);
  result.figures = measure(runner, job.options, program, std::move(known),
                           [&] { return product.host_time(runner); });
  join(runner, std::as_writable_bytes(std::span(result.y)),
       [&](Rank rank) { return product.place(rank); });
  if (!job.options.verify) return result;
  if (job.source) {
    job.options.tell("comparison");
    blocks.reset();
    result.check = check_rows(runner, job, result.y);
    return result;
  }
  job.options.tell("one serial product");
  const auto start = Clock::now();
  const std::vector<double> serial = multiply_serially(job.matrix, job.x);
  result.serial_wall = Clock::now() - start;
  job.options.tell("comparison");
  result.check = check_product(job.matrix, job.x, result.y);
  // What is compared with must itself be right.
  if (!check_product(job.matrix, job.x, serial).passed()) {
    throw std::logic_error("matvec: the serial product is wrong");
  }
  return result;
}

Source made_real_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  return made(ElementType::float64, {rows, columns}, [seed](std::size_t first, Span to) {
    SplitMix random(seed);
    random.skip(first);
    for (double& value :
         std::span(reinterpret_cast<double*>(to.data()), to.size() / sizeof(double)))
      value = random.symmetric();
  });
}

Matrix generate_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  require_memory(fmt::format("a {} x {} matrix of float64", rows, columns),
                 static_cast<double>(rows) * static_cast<double>(columns) * sizeof(double),
                 "use a smaller one (--shape)");
  return {rows, columns, generate_vector(rows * columns, seed)};
}

std::vector<double> generate_vector(std::size_t elements, std::uint64_t seed) {
  SplitMix random(seed);
  std::vector<double> values(elements);
  for (double& value : values) value = random.symmetric();
  return values;
}

MatvecCheck check_product(const Matrix& matrix, std::span<const double> x,
                          std::span<const double> y) {
  constexpr long double unit = 0x1p-53L, smallest = 0x1p-1074L;
  const auto n = static_cast<long double>(matrix.columns);
  // The reference rounds too: its unit is 2^-64 where long double is wider, and 2^-53 where not.
  constexpr long double reference_unit = std::numeric_limits<long double>::epsilon() / 2;
  const long double gamma =
      n * unit / (1 - n * unit) + n * reference_unit / (1 - n * reference_unit);
  MatvecCheck check{.measured = true};
  long double nearest = -1;  // error / tolerance
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    long double wanted = 0, magnitude = 0;
    for (std::size_t j = 0; j < matrix.columns; ++j) {
      const long double term =
          static_cast<long double>(matrix.values[row * matrix.columns + j]) * x[j];
      wanted += term;
      magnitude += std::abs(term);
    }
    const long double error = std::abs(y[row] - wanted), allowed = gamma * magnitude + n * smallest;
    if (!(error <= allowed)) ++check.wrong;
    const long double ratio =
        std::isfinite(error) ? error / allowed : std::numeric_limits<long double>::infinity();
    if (ratio <= nearest) continue;
    nearest = ratio;
    const long double scale = std::max(magnitude, smallest);
    check.error = static_cast<double>(error / scale);
    check.tolerance = static_cast<double>(allowed / scale);
  }
  return check;
}

}  // namespace wormcube::apps
