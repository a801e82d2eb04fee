// `wormcube transpose`: a matrix of the host, transposed by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/exchange.hpp"
#include "wormcube/apps/io/npy.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace wormcube::apps {

struct TransposeJob {
  Array matrix;  ///< two dimensions, any element type
  RunOptions options = {};
};

struct TransposeResult {
  RunFigures figures;
  Array transposed;
  std::optional<std::size_t> wrong;  ///< elements; empty if not verified

  bool verified() const { return wrong.has_value(); }
  bool passed() const { return wrong == std::size_t{0}; }
};

/// Throws UsageError before anything runs: not a matrix, an exchange that does not run here, too
/// little memory.
TransposeResult run_transpose(Machine& machine, const Exchange& exchange, const TransposeJob& job);
TransposeResult run_transpose(const Runner& runner, const Exchange& exchange,
                              const TransposeJob& job);

/// A matrix of elements that depend on seed and place, all different but for chance.
Array generate_matrix(ElementType type, std::size_t rows, std::size_t columns, std::uint64_t seed);

/// The elements for which out[j][i] != in[i][j], bit for bit.
std::size_t count_wrong(const Array& matrix, const Array& transposed);

}  // namespace wormcube::apps
