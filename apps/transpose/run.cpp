// `wormcube transpose`: a matrix of the host, transposed by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/transpose/run.hpp"

#include "wormcube/apps/common/made.hpp"
#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/transpose/transpose.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/base/host/memory.hpp"

#include <cstring>
#include <numeric>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

using Clock = std::chrono::steady_clock;

MatrixShape shape_of(const Source& matrix) {
  if (matrix.shape().size() != 2) {
    throw UsageError(fmt::format("transpose: an array of {} dimension{}; need 2 (rows, columns)",
                                 matrix.shape().size(), matrix.shape().size() == 1 ? "" : "s"));
  }
  const MatrixShape shape{matrix.shape()[0], matrix.shape()[1], bytes_of(matrix.type())};
  if (shape.rows == 0 || shape.columns == 0) {
    throw UsageError(
        fmt::format("transpose: a {} x {} matrix has no elements", shape.rows, shape.columns));
  }
  if (const std::size_t bytes = matrix.reader().memory().size();
      bytes > 0 && bytes != shape.rows * shape.columns * shape.element_bytes) {
    throw UsageError(fmt::format("transpose: {} bytes for a {} x {} matrix of {}", bytes,
                                 shape.rows, shape.columns, to_string(matrix.type())));
  }
  return shape;
}

/// The elements of the rows that this process's nodes have.
Part rows_here(const Runner& runner, std::size_t rows, std::size_t columns) {
  const Distribution distribution{rows, runner.topology.nodes()};
  return part_here(runner, [&](Rank r) {
    return Part{distribution.first(r) * columns, distribution.count(r) * columns};
  });
}

}  // namespace

TransposeResult run_transpose(const Runner& runner, const Exchange& exchange,
                              const TransposeJob& job) {
  const Activity activity("transpose");
  const MatrixShape shape = shape_of(job.matrix);
  const Rank p = runner.topology.nodes();
  const Exchange resolved = resolve(exchange, runner.topology, shape.padded_block_bytes(p));
  const auto what = fmt::format("transpose of {} x {} on {} nodes", shape.rows, shape.columns, p);
  const Part there = rows_here(runner, shape.rows, shape.columns);
  Loaded matrix;
  TransposeResult result;
  result.here = rows_here(runner, shape.columns, shape.rows);
  std::vector<Clock::duration> host(p);  // entry r: written by node r
  const Distribution before{shape.rows, p}, after{shape.columns, p};
  const Program program = [&](Node& node) {
    const Rank r = node.rank();
    const Memory rows = node.memory(shape.buffer_bytes(r, p));
    node.local([&] {
      const auto start = Clock::now();
      copy(matrix.bytes().subspan(
               (before.first(r) * shape.columns - there.first) * shape.element_bytes,
               shape.row_bytes(r, p)),
           rows.subspan(0, shape.row_bytes(r, p)));
      host[r] = Clock::now() - start;
    });
    transpose(node, resolved, shape, rows);
    node.local([&] {
      const auto start = Clock::now();
      const Bytes bytes = shape.transposed().row_bytes(r, p);
      copy(rows.subspan(0, bytes),
           Span(result.transposed.data)
               .subspan((after.first(r) * shape.rows - result.here.first) * shape.element_bytes,
                        bytes));
      host[r] += Clock::now() - start;
    });
  };
  in_all_processes(runner, [&] {
    const std::size_t out_bytes = result.here.count * shape.element_bytes;
    const double host_bytes = Loaded::bytes(job.matrix, there) + static_cast<double>(out_bytes);
    require_memory_here(what, runner, host_bytes, "use a smaller matrix");
    require_memory_to_run(what, runner, host_bytes, program);
    job.options.tell("input");
    matrix = Loaded(job.matrix, there);
    result.transposed = {job.matrix.type(),
                         {result.here.count / shape.rows, shape.rows},
                         std::vector<std::byte>(out_bytes)};
  });
  RunFigures known;
  known.collectives = {UsedCollective(resolved.collective, 1)};
  known.block_bytes = shape.padded_block_bytes(p);
  known.padding = shape.padding(resolved, p);
  result.figures = measure(runner, job.options, program, std::move(known),
                           [&] { return sum(runner, host) / p; });
  if (!job.options.verify) return result;
  job.options.tell("comparison");
  matrix = {};
  std::size_t wrong = 0;
  in_all_processes(runner, [&] {
    wrong = count_wrong(job.matrix, result.transposed, result.here.first / shape.rows);
  });
  result.wrong = sum(runner, wrong);
  return result;
}

TransposeResult run_transpose(Machine& machine, const Exchange& exchange, const TransposeJob& job) {
  return run_transpose(on(machine), exchange, job);
}

Array generate_matrix(ElementType type, std::size_t rows, std::size_t columns, std::uint64_t seed) {
  require_memory(fmt::format("a {} x {} matrix of {}", rows, columns, to_string(type)),
                 static_cast<double>(rows) * static_cast<double>(columns) *
                     static_cast<double>(bytes_of(type)),
                 "use a smaller one (--shape)");
  return read_all(made_array(type, {rows, columns}, seed));
}

std::size_t count_wrong(const Source& matrix, const Array& transposed, std::size_t first_row) {
  const MatrixShape shape = shape_of(matrix);
  if (transposed.shape.size() != 2 || transposed.shape[1] != shape.rows ||
      transposed.type != matrix.type() || first_row + transposed.shape[0] > shape.columns ||
      transposed.data.size() != transposed.shape[0] * shape.rows * shape.element_bytes) {
    return matrix.elements();
  }
  const Bytes element = shape.element_bytes;
  const std::size_t columns = transposed.shape[0];  // of the matrix, which are rows here
  if (columns == 0) return 0;
  constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  const std::size_t most =
      std::clamp<std::size_t>(piece_bytes / (columns * element), 1, shape.rows);
  std::vector<std::byte> piece(most * columns * element);
  std::size_t wrong = 0;
  for (std::size_t row = 0; row < shape.rows; row += most) {
    const std::size_t rows = std::min(most, shape.rows - row);
    const Span rows_of_matrix = Span(piece).subspan(0, rows * columns * element);
    matrix.reader().read_block(row * shape.columns + first_row, shape.columns, rows,
                               rows_of_matrix);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        wrong += std::memcmp(&rows_of_matrix[(i * columns + j) * element],
                             &transposed.data[(j * shape.rows + row + i) * element], element) != 0
                     ? 1
                     : 0;
      }
    }
  }
  return wrong;
}

}  // namespace wormcube::apps
