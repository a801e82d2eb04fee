// `wormcube matvec`: a matrix and a vector of the host, multiplied by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/matvec/run.hpp"

#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

using Clock = std::chrono::steady_clock;

/// The largest magnitude. Throws UsageError for a value that is not finite.
/// \param name  describes the value at a place
template <class Name>
double largest(std::span<const double> values, const Name& name) {
  double most = 0;
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (!std::isfinite(values[at])) {
      throw UsageError(fmt::format("matvec: {} is {}; need finite values", name(at),
                                   std::isnan(values[at]) ? "not a number (NaN)" : "infinite"));
    }
    most = std::max(most, std::abs(values[at]));
  }
  return most;
}

void require_product(const MatvecJob& job) {
  const std::vector<std::size_t>& shape = job.matrix.shape();
  if (shape.size() != 2 || job.x.shape().size() != 1) {
    throw UsageError(
        fmt::format("matvec: arrays of {} and {} dimensions; need 2 (rows, columns) and 1",
                    shape.size(), job.x.shape().size()));
  }
  if (job.matrix.elements() == 0) {
    throw UsageError(fmt::format("matvec: a {} x {} matrix has no elements", shape[0], shape[1]));
  }
  if (job.x.elements() != shape[1]) {
    throw UsageError(fmt::format("matvec: a {} x {} matrix and a vector of {}; need a vector of {}",
                                 shape[0], shape[1], job.x.elements(), shape[1]));
  }
}

// Throws UsageError if a sum may overflow.
void require_finite_sums(double of_matrix, double of_x, std::size_t columns) {
  const long double most =
      static_cast<long double>(of_matrix) * of_x * static_cast<long double>(columns);
  // A quarter: intermediate rounding must not exceed the limit either.
  if (most > std::numeric_limits<double>::max() / 4) {
    throw UsageError(fmt::format(
        "matvec: elements up to {:.3g} times up to {:.3g}, {} of them: sums may be larger than the "
        "largest double; scale the matrix or the vector down",
        of_matrix, of_x, columns));
  }
}

/// A block of a matrix.
struct BlockPlace {
  std::size_t row, column, rows, columns;
  std::size_t elements() const { return rows * columns; }
};

/// A block of an array of real elements, row by row. A list is a matrix of one row.
void read_doubles(const Source& source, const BlockPlace& block, std::span<double> to) {
  if (block.elements() == 0) return;
  const std::size_t stride = source.shape().back();
  const auto read = [&](const BlockPlace& part, Span bytes) {
    const std::size_t first = part.row * stride + part.column;
    if (part.rows == 1 || part.columns == stride) {
      source.reader().read(first, bytes);
    } else {
      source.reader().read_block(first, stride, part.rows, bytes);
    }
  };
  if (source.type() == ElementType::float64) return read(block, std::as_writable_bytes(to));
  constexpr std::size_t piece_elements = std::size_t{1} << 17;
  const std::size_t width = std::min(block.columns, piece_elements),
                    height = piece_elements / width;
  for (std::size_t row = 0; row < block.rows; row += height) {
    for (std::size_t column = 0; column < block.columns; column += width) {
      const BlockPlace part{block.row + row, block.column + column,
                            std::min(height, block.rows - row),
                            std::min(width, block.columns - column)};
      Array piece{source.type(),
                  {part.rows, part.columns},
                  std::vector<std::byte>(part.elements() * bytes_of(source.type()))};
      read(part, piece.data);
      const std::vector<double> converted = to_doubles(piece, "matvec");
      for (std::size_t i = 0; i < part.rows; ++i) {
        std::ranges::copy(
            std::span(converted).subspan(i * part.columns, part.columns),
            to.begin() + static_cast<std::ptrdiff_t>((row + i) * block.columns + column));
      }
    }
  }
}

/// The block of the matrix that a node has.
BlockPlace block_place(const MatvecPlan& plan, Rank rank) {
  const Rank i = rank / plan.grid.columns(), j = rank % plan.grid.columns();
  return {plan.rows.first(i), plan.columns.first(j), plan.rows.count(i), plan.columns.count(j)};
}

/// Whether the vector's block lies at this node at the start, the result's at the end.
bool is_source(const MatvecPlan& plan, Rank rank) {
  return rank / plan.grid.columns() == plan.source(rank % plan.grid.columns());
}
bool is_sink(const MatvecPlan& plan, Rank rank) {
  return rank % plan.grid.columns() == plan.sink(rank / plan.grid.columns());
}

/// A node's part of the result: empty except at the sinks, in the nodes' order.
Part result_part(const MatvecPlan& plan, Rank rank) {
  const Rank i = rank / plan.grid.columns(), j = rank % plan.grid.columns();
  const std::size_t first = plan.rows.first(i), last = plan.rows.first(i + 1);
  const Rank sink = plan.sink(i);
  return {j <= sink ? first : last, j == sink ? last - first : 0};
}

/// The parts of the matrix and the vector that this process's nodes have at the start: both whole
/// arrays if it has all nodes, else a block for each node.
class OwnInput {
 public:
  OwnInput(const Runner& runner, const MatvecPlan& plan)
      : plan_(plan), nodes_(nodes_here(runner)), whole_(holds_all(runner)) {}

  /// Its memory in bytes.
  double bytes() const {
    std::size_t elements = 0;
    for (Rank r = nodes_.first; r < nodes_.second; ++r) {
      const BlockPlace block = block_place(plan_, r);
      elements += block.elements() + (is_source(plan_, r) ? block.columns : 0);
    }
    return static_cast<double>(elements) * sizeof(double);
  }

  /// Throws UsageError for a value that is not finite.
  void read(const MatvecJob& job) {
    const std::size_t rows = plan_.rows.items, columns = plan_.columns.items;
    if (whole_) {
      add_matrix(job.matrix, {0, 0, rows, columns});
      add_x(job.x, 0, columns);
      return;
    }
    for (Rank r = nodes_.first; r < nodes_.second; ++r) {
      const BlockPlace block = block_place(plan_, r);
      add_matrix(job.matrix, block);
      add_x(job.x, block.column, is_source(plan_, r) ? block.columns : 0);
    }
  }
  double largest_of_matrix() const { return largest_of_matrix_; }
  double largest_of_x() const { return largest_of_x_; }

  void copy_block(Rank node, std::span<double> to) const {
    if (!whole_) {
      std::ranges::copy(matrix_[of(node)], to.begin());
      return;
    }
    const BlockPlace block = block_place(plan_, node);
    for (std::size_t row = 0; row < block.rows; ++row) {
      std::ranges::copy(
          matrix().subspan((block.row + row) * plan_.columns.items + block.column, block.columns),
          to.begin() + static_cast<std::ptrdiff_t>(row * block.columns));
    }
  }
  /// The block of x of a node that is its source.
  std::span<const double> x_block(Rank node) const {
    const BlockPlace block = block_place(plan_, node);
    return whole_ ? x().subspan(block.column, block.columns) : std::span(x_[of(node)]);
  }

  /// If all nodes are here.
  std::span<const double> matrix() const { return matrix_.front(); }
  std::span<const double> x() const { return x_.front(); }

 private:
  std::size_t of(Rank node) const { return static_cast<std::size_t>(node - nodes_.first); }

  void add_matrix(const Source& source, const BlockPlace& block) {
    std::vector<double>& values = matrix_.emplace_back(block.elements());
    read_doubles(source, block, values);
    const double most = largest(values, [&](std::size_t at) {
      const std::size_t row = block.row + at / block.columns,
                        column = block.column + at % block.columns;
      return fmt::format("matrix element {} (row {}, column {}; from 0)",
                         row * plan_.columns.items + column, row, column);
    });
    largest_of_matrix_ = std::max(largest_of_matrix_, most);
  }
  void add_x(const Source& source, std::size_t first, std::size_t count) {
    std::vector<double>& values = x_.emplace_back(count);
    read_doubles(source, {0, first, 1, count}, values);
    const double most = largest(values, [&](std::size_t at) {
      return fmt::format("vector element {} (from 0)", first + at);
    });
    largest_of_x_ = std::max(largest_of_x_, most);
  }

  const MatvecPlan& plan_;
  std::pair<Rank, Rank> nodes_;
  bool whole_;
  std::vector<std::vector<double>> matrix_, x_;
  double largest_of_matrix_ = 0, largest_of_x_ = 0;
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
      "{}: {} start-ups from root {} but {} from root {}; all lines of the grid need the same "
      "number; use another algorithm, or put the vectors on the edge (--vectors-on edge)",
      collective.name(), *steps, collective.arguments.root, *others, other_root));
}

MatvecPlan make_plan(const Runner& runner, const Algorithms& algorithms, const MatvecJob& job) {
  MatvecPlan plan{NodeGrid(runner.topology), {}, {}, job.vectors_on, {}, {}};
  const NodeGrid& grid = plan.grid;
  plan.rows = {job.matrix.shape()[0], grid.rows()};
  plan.columns = {job.matrix.shape()[1], grid.columns()};
  Arguments arguments;
  // One algorithm for all roots: chosen for the highest, as some admit only root 0.
  const auto choose = [&](Operation operation, const Topology& network, Rank calls, Bytes bytes,
                          auto root) {
    arguments.root = root(std::min(calls, network.nodes()) - 1);
    const auto require_all_alike = [&](const Collective& collective) {
      for (Rank other = 0; other <= arguments.root; ++other) {
        require_alike(collective, network, other);
      }
    };
    Collective chosen =
        algorithms.choose(operation, network, bytes, arguments, [&](const Collective& collective) {
          try {
            require_all_alike(collective);
          } catch (const UsageError&) {
            return false;
          }
          return true;
        });
    chosen.settle(network, {}, bytes);  // equally for all roots
    require_all_alike(chosen);
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

// Bytes of zeros behind the blocks at sources and sinks.
Bytes padding(const MatvecPlan& plan) {
  const auto of = [](const Distribution& distribution) {
    return distribution.largest() * static_cast<std::size_t>(distribution.nodes) -
           distribution.items;
  };
  return (of(plan.rows) + of(plan.columns)) * sizeof(double);
}

class Product {
 public:
  /// \param y  the part of this process's nodes
  Product(const MatvecPlan& plan, const OwnInput& input, Part here, std::vector<double>& y)
      : plan_(plan), input_(input), here_(here), y_(y), host_(static_cast<std::size_t>(nodes())) {}

  void operator()(Node& node) {
    const BlockPlace block = block_place(plan_, node.rank());
    const bool gets_result = is_sink(plan_, node.rank());
    const Memory matrix = node.memory(block.elements() * sizeof(double), Purpose::blocks);
    const Memory x = node.memory(plan_.x_block_bytes(), Purpose::blocks);
    const Memory y = node.memory(gets_result ? plan_.y_block_bytes() : 0, Purpose::blocks);
    Clock::duration& host = host_[static_cast<std::size_t>(node.rank())];
    node.local([&] {
      const auto start = Clock::now();
      input_.copy_block(node.rank(), as<double>(matrix));
      if (is_source(plan_, node.rank())) {
        std::ranges::fill(as<double>(x), 0.0);
        std::ranges::copy(input_.x_block(node.rank()), as<double>(x).begin());
      }
      host = Clock::now() - start;
    });
    matvec(node, plan_, matrix, x, y);
    node.local([&] {
      if (!gets_result) return;
      const auto start = Clock::now();
      std::copy_n(as<double>(y).begin(), block.rows,
                  y_.begin() + static_cast<std::ptrdiff_t>(block.row - here_.first));
      host += Clock::now() - start;
    });
  }

  std::chrono::nanoseconds host_time(const Runner& runner) { return sum(runner, host_) / nodes(); }

 private:
  Rank nodes() const { return plan_.grid.rows() * plan_.grid.columns(); }

  const MatvecPlan& plan_;
  const OwnInput& input_;
  Part here_;
  std::vector<double>& y_;
  std::vector<Clock::duration> host_;  // entry r: written by node r
};

std::vector<double> multiply_serially(const OwnInput& input, std::size_t rows) {
  std::vector<double> y(rows);
  const std::span<const double> x = input.x();
  for (std::size_t row = 0; row < rows; ++row) {
    const auto first = input.matrix().begin() + static_cast<std::ptrdiff_t>(row * x.size());
    y[row] = std::transform_reduce(x.begin(), x.end(), first, 0.0);
  }
  return y;
}

/// An array elsewhere in memory, which must live on.
Source view(std::span<const double> values, std::vector<std::size_t> shape) {
  return made(ElementType::float64, std::move(shape), [values](std::size_t first, Span to) {
    copy(std::as_bytes(values).subspan(first * sizeof(double), to.size()), to);
  });
}

/// How close an element is to the tolerance, or how far beyond: 1 is exactly at it.
double nearness(const MatvecCheck& check) {
  if (check.elements == 0) return -1;
  return std::isfinite(check.error) ? check.error / check.tolerance
                                    : std::numeric_limits<double>::infinity();
}

void add(const MatvecCheck& part, MatvecCheck& all) {
  if (nearness(part) > nearness(all)) {
    all.error = part.error;
    all.tolerance = part.tolerance;
  }
  all.elements += part.elements;
  all.wrong += part.wrong;
}

/// check_product of all elements, of which each process has a part: every process visits them all,
/// some at a time, and compares a share of these.
MatvecCheck check_by_parts(const Runner& runner, const Source& matrix, const Source& x, Part here,
                           std::span<const double> y) {
  const bool several = !holds_all(runner);
  MatvecCheck mine{.measured = true};
  in_order(runner, matrix.shape()[0], sizeof(double), here, std::as_bytes(y),
           [&](std::size_t first, ConstSpan bytes) {
             const std::span<const double> piece(reinterpret_cast<const double*>(bytes.data()),
                                                 bytes.size() / sizeof(double));
             const Distribution shares{piece.size(), several ? runner.processes->processes() : 1};
             const Rank share = several ? runner.processes->process() : 0;
             const std::size_t begin = shares.first(share);
             add(check_product(matrix, x, first + begin, piece.subspan(begin, shares.count(share))),
                 mine);
           });
  MatvecCheck all{.measured = true};
  for (const MatvecCheck& part : of_all_processes(runner, mine)) add(part, all);
  return all;
}

}  // namespace

std::vector<Operation> matvec_operations() { return {operations::broadcast, operations::reduce}; }

MatvecResult run_matvec(const Runner& runner, const Algorithms& algorithms, const MatvecJob& job) {
  require_product(job);
  const MatvecPlan plan = make_plan(runner, algorithms, job);
  const std::size_t rows = plan.rows.items, columns = plan.columns.items;
  const auto what =
      fmt::format("matvec of {} x {} on {} nodes", rows, columns, runner.topology.nodes());
  const bool alone = holds_all(runner);
  const char* const way_out = alone ? "use a smaller matrix" : "use more processes";
  MatvecResult result;
  result.grid_rows = plan.grid.rows();
  result.grid_columns = plan.grid.columns();
  result.here = part_here(runner, [&](Rank r) { return result_part(plan, r); });
  std::optional<OwnInput> input(std::in_place, runner, plan);
  // In a single process, the product is compared with another one.
  const double host_bytes = static_cast<double>(result.here.count) * sizeof(double) *
                            (alone && job.options.verify ? 2 : 1);
  job.options.tell("input");
  in_all_processes(runner, [&] {
    require_memory_here(what, runner, input->bytes() + host_bytes, way_out);
    input->read(job);
  });
  require_finite_sums(maximum(runner, input->largest_of_matrix()),
                      maximum(runner, input->largest_of_x()), columns);
  Product product(plan, *input, result.here, result.y);
  const Program program = [&](Node& node) { product(node); };
  job.options.tell("memory");
  in_all_processes(runner, [&] {
    require_memory_to_run(what, runner, host_bytes, program, way_out);
    result.y.resize(result.here.count);
  });
  RunFigures known;
  for (const Collective* collective : {&plan.broadcast, &plan.reduce}) {
    if (collective->algorithm != nullptr) known.collectives.emplace_back(*collective, 1);
  }
  known.block_bytes = std::max(plan.x_block_bytes(), plan.y_block_bytes());
  known.padding = padding(plan);
  result.figures = measure(runner, job.options, program, std::move(known),
                           [&] { return product.host_time(runner); });
  if (!job.options.verify) return result;
  if (!alone) {
    job.options.tell("comparison");
    input.reset();
    result.check = check_by_parts(runner, job.matrix, job.x, result.here, result.y);
  } else {
    job.options.tell("one serial product");
    const auto start = Clock::now();
    const std::vector<double> serial = multiply_serially(*input, rows);
    result.serial_wall = Clock::now() - start;
    job.options.tell("comparison");
    const Source matrix = view(input->matrix(), {rows, columns}), x = view(input->x(), {columns});
    result.check = check_by_parts(runner, matrix, x, result.here, result.y);
    // The reference must itself be right.
    if (!check_product(matrix, x, 0, serial).passed()) {
      throw std::logic_error("matvec: the serial product is wrong");
    }
  }
  if (result.check.elements != rows) {
    throw std::logic_error(
        fmt::format("matvec: {} of {} elements were compared", result.check.elements, rows));
  }
  return result;
}

MatvecCheck check_product(const Source& matrix, const Source& x, std::size_t first_row,
                          std::span<const double> y) {
  constexpr long double unit = 0x1p-53L, smallest = 0x1p-1074L;
  const std::size_t columns = matrix.shape()[1];
  const auto n = static_cast<long double>(columns);
  // The reference rounds too: its unit is 2^-64 if long double is wider, else 2^-53.
  constexpr long double reference_unit = std::numeric_limits<long double>::epsilon() / 2;
  const long double gamma =
      n * unit / (1 - n * unit) + n * reference_unit / (1 - n * reference_unit);
  // Some rows of some columns: 4 MiB of the matrix, half a MiB of x, and as much for the sums.
  constexpr std::size_t piece_elements = std::size_t{1} << 19, most = std::size_t{1} << 16;
  const std::size_t width = std::min(columns, most),
                    height = std::min(piece_elements / width, most);
  std::vector<double> of_x, block;
  std::vector<long double> wanted, magnitude;
  std::size_t x_at = columns;  // the first column of the part of x that is held
  MatvecCheck check{.measured = true};
  for (std::size_t row = 0; row < y.size(); row += height) {
    const std::size_t rows = std::min(height, y.size() - row);
    wanted.assign(rows, 0);
    magnitude.assign(rows, 0);
    for (std::size_t column = 0; column < columns; column += width) {
      const std::size_t count = std::min(width, columns - column);
      if (x_at != column) {
        of_x.resize(count);
        read_doubles(x, {0, column, 1, count}, of_x);
        x_at = column;
      }
      block.resize(rows * count);
      read_doubles(matrix, {first_row + row, column, rows, count}, block);
      for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < count; ++j) {
          const long double term = static_cast<long double>(block[i * count + j]) * of_x[j];
          wanted[i] += term;
          magnitude[i] += std::abs(term);
        }
      }
    }
    for (std::size_t i = 0; i < rows; ++i) {
      const long double error = std::abs(y[row + i] - wanted[i]),
                        allowed = gamma * magnitude[i] + n * smallest,
                        scale = std::max(magnitude[i], smallest);
      add({.measured = true,
           .elements = 1,
           .wrong = error <= allowed ? std::size_t{0} : std::size_t{1},
           .error = static_cast<double>(error / scale),
           .tolerance = static_cast<double>(allowed / scale)},
          check);
    }
  }
  return check;
}

}  // namespace wormcube::apps
