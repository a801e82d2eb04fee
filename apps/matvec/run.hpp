// `wormcube matvec`: a matrix and a vector of the host, multiplied by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/algorithms.hpp"
#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/apps/io/source.hpp"
#include "wormcube/apps/matvec/matvec.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace wormcube::apps {

/// The operations that a product calls.
std::vector<Operation> matvec_operations();

struct MatvecJob {
  Source matrix;  ///< two dimensions, real elements
  Source x;       ///< one dimension, real elements: as many as the matrix has columns
  VectorsOn vectors_on = VectorsOn::edge;
  RunOptions options = {};
};

/// Elements of y, compared with their exact values.
struct MatvecCheck {
  bool measured = false;
  std::size_t elements = 0;  ///< that were compared
  std::size_t wrong = 0;     ///< of these beyond the tolerance
  double error = 0;          ///< max |y - A x| / (|A| |x|), by element
  double tolerance = 0;      ///< of the element that is closest to it, or beyond
  bool passed() const { return measured && wrong == 0; }
};

struct MatvecResult {
  RunFigures figures;
  Rank grid_rows = 1, grid_columns = 1;
  std::vector<double> y;  ///< the part of the product that this process's nodes have
  Part here;              ///< which elements of the whole they are
  MatvecCheck check;      ///< of all processes
  /// For one product on the host; empty if not verified, or if no process has the whole matrix.
  std::optional<std::chrono::nanoseconds> serial_wall;

  bool verified() const { return check.measured; }
  bool passed() const { return check.passed(); }
};

/// Each process reads and holds the blocks of its nodes, of the matrix and of both vectors, and
/// verifies a share of the elements.
/// Throws UsageError before anything runs: no elements, a vector of another length, values that are
/// not finite, products that may overflow, an algorithm that does not apply here, too little
/// memory.
MatvecResult run_matvec(const Runner& runner, const Algorithms& algorithms, const MatvecJob& job);

/// Compares some elements of y with products in extended precision. y_i passes if |y_i - sum_j a_ij
/// x_j| <= gamma sum_j |a_ij x_j|, gamma = n u / (1 - n u) with u = 2^-53, the bound for n products
/// summed in any order, plus what subnormal products lose. The parts of matrix and vector that this
/// needs are read again, a piece at a time.
/// \param first_row  of the first element of y
/// Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2002, sec. 3.1, eq. 3.4.
MatvecCheck check_product(const Source& matrix, const Source& x, std::size_t first_row,
                          std::span<const double> y);

}  // namespace wormcube::apps
