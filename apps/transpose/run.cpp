// `wormcube transpose`: a matrix of the host, transposed by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/transpose/run.hpp"

#include "wormcube/apps/random.hpp"
#include "wormcube/apps/transpose/transpose.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/host/faults.hpp"
#include "wormcube/runtime/host/memory.hpp"

#include <cstring>
#include <numeric>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

using Clock = std::chrono::steady_clock;

MatrixShape shape_of(const Array& matrix) {
  if (matrix.shape.size() != 2) {
    throw UsageError(fmt::format("transpose: an array of {} dimension{}; need 2 (rows, columns)",
                                 matrix.shape.size(), matrix.shape.size() == 1 ? "" : "s"));
  }
  const MatrixShape shape{matrix.shape[0], matrix.shape[1], bytes_of(matrix.type)};
  if (shape.rows == 0 || shape.columns == 0) {
    throw UsageError(
        fmt::format("transpose: a {} x {} matrix has no elements", shape.rows, shape.columns));
  }
  if (matrix.data.size() != shape.rows * shape.columns * shape.element_bytes) {
    throw UsageError(fmt::format("transpose: {} bytes for a {} x {} matrix of {}",
                                 matrix.data.size(), shape.rows, shape.columns,
                                 to_string(matrix.type)));
  }
  return shape;
}

}  // namespace

TransposeResult run_transpose(const Runner& runner, const Exchange& exchange,
                              const TransposeJob& job) {
  const Activity activity("transpose");
  const MatrixShape shape = shape_of(job.matrix);
  const Rank p = runner.topology.nodes();
  const Exchange resolved = resolve(exchange, runner.topology, shape.padded_block_bytes(p));
  const auto matrix_bytes = static_cast<double>(job.matrix.data.size());
  const auto what = fmt::format("transpose of {} x {} on {} nodes", shape.rows, shape.columns, p);
  require_memory(what, matrix_bytes, "use a smaller matrix");

  TransposeResult result;
  result.transposed = {job.matrix.type, {shape.columns, shape.rows}, {}};
  result.transposed.data.resize(job.matrix.data.size());

  std::vector<Clock::duration> host(p);  // entry r: written by node r
  const Distribution before{shape.rows, p}, after{shape.columns, p};
  const Program program = [&](Node& node) {
    const Rank r = node.rank();
    const Memory rows = node.memory(shape.buffer_bytes(r, p));
    node.local([&] {
      const auto start = Clock::now();
      copy(ConstSpan(job.matrix.data)
               .subspan(before.first(r) * shape.columns * shape.element_bytes,
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
               .subspan(after.first(r) * shape.rows * shape.element_bytes, bytes));
      host[r] += Clock::now() - start;
    });
  };
  require_memory_to_run(what, runner, 0, program);
  RunFigures known;
  known.collectives = {UsedCollective(resolved.collective, 1)};
  known.block_bytes = shape.padded_block_bytes(p);
  known.padding = shape.padding(resolved, p);
  result.figures = measure(runner, job.options, program, std::move(known),
                           [&] { return sum(runner, host) / p; });
  join(runner, result.transposed.data, [&](Rank rank) {
    const std::size_t row = shape.rows * shape.element_bytes;
    return std::pair(after.first(rank) * row, after.first(rank + 1) * row);
  });
  job.options.tell("comparison");
  if (job.options.verify) result.wrong = count_wrong(job.matrix, result.transposed);
  return result;
}

TransposeResult run_transpose(Machine& machine, const Exchange& exchange, const TransposeJob& job) {
  return run_transpose(on(machine), exchange, job);
}

Array generate_matrix(ElementType type, std::size_t rows, std::size_t columns, std::uint64_t seed) {
  const Bytes element = bytes_of(type);
  require_memory(
      fmt::format("a {} x {} matrix of {}", rows, columns, to_string(type)),
      static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(element),
      "use a smaller one (--shape)");
  Array matrix{type, {rows, columns}, std::vector<std::byte>(rows * columns * element)};
  SplitMix random(seed);
  for (std::size_t at = 0; at < matrix.data.size();) {
    const auto put = [&](auto value) {
      std::memcpy(&matrix.data[at], &value, sizeof value);
      at += sizeof value;
    };
    switch (type) {
      case ElementType::float32:
      case ElementType::complex64:
        put(static_cast<float>(random.symmetric()));
        break;
      case ElementType::float64:
      case ElementType::complex128:
        put(random.symmetric());
        break;
      default: {
        const std::uint64_t bits = random.next();
        std::memcpy(&matrix.data[at], &bits, element);
        at += element;
      }
    }
  }
  return matrix;
}

std::size_t count_wrong(const Array& matrix, const Array& transposed) {
  const MatrixShape shape = shape_of(matrix);
  if (transposed.type != matrix.type ||
      transposed.shape != std::vector{shape.columns, shape.rows} ||
      transposed.data.size() != matrix.data.size()) {
    return matrix.elements();
  }
  const Bytes element = shape.element_bytes;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) {
      wrong += std::memcmp(&matrix.data[(i * shape.columns + j) * element],
                           &transposed.data[(j * shape.rows + i) * element], element) != 0
                   ? 1
                   : 0;
    }
  }
  return wrong;
}

}  // namespace wormcube::apps
