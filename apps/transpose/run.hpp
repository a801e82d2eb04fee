// `wormcube transpose`: a matrix of the host, transposed by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/apps/io/source.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace wormcube::apps {

struct TransposeJob {
  Source matrix;  ///< two dimensions, any element type
  RunOptions options = {};
};

struct TransposeResult {
  RunFigures figures;
  Array transposed;                  ///< the rows that this process's nodes have
  Part here;                         ///< which elements of the whole they are
  std::optional<std::size_t> wrong;  ///< elements, of all processes; empty if not verified

  bool verified() const { return wrong.has_value(); }
  bool passed() const { return wrong == std::size_t{0}; }
};

/// Each process reads, holds and verifies its nodes' part.
/// Throws UsageError before anything runs: not a matrix, an exchange that does not apply here, too
/// little memory.
TransposeResult run_transpose(Machine& machine, const Exchange& exchange, const TransposeJob& job);
TransposeResult run_transpose(const Runner& runner, const Exchange& exchange,
                              const TransposeJob& job);

/// made_array() of two dimensions, in memory.
Array generate_matrix(ElementType type, std::size_t rows, std::size_t columns, std::uint64_t seed);

/// The elements for which out[j][i] != in[i][j], bit for bit. The needed parts of the matrix are
/// read again, some rows at a time.
/// \param transposed  some whole rows, of the transposed matrix' type
/// \param first_row   the first of them
std::size_t count_wrong(const Source& matrix, const Array& transposed, std::size_t first_row = 0);

}  // namespace wormcube::apps
