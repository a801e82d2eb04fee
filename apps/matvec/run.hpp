// `wormcube matvec`: a matrix and a vector of the host, multiplied by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/algorithms.hpp"
#include "wormcube/apps/exchange.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/matvec/matvec.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace wormcube::apps {

/// The operations that a product calls.
std::vector<Operation> matvec_operations();

struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;  ///< row-major
};

struct MatvecJob {
  Matrix matrix;
  std::vector<double> x;
  VectorsOn vectors_on = VectorsOn::edge;
  RunOptions options = {};
  /// The matrix, where it is not in memory: real elements, of matrix.rows x matrix.columns; then
  /// matrix.values is empty. Each process reads the blocks of its own nodes; the vectors all have.
  std::optional<Source> source = {};
};

/// The largest error of an element of y, in terms of what rounding may cause.
struct MatvecCheck {
  bool measured = false;
  double error = 0;       ///< max |y - A x| / (|A| |x|), by element
  double tolerance = 0;   ///< of the element that is nearest to it, or beyond
  std::size_t wrong = 0;  ///< elements beyond it
  bool passed() const { return measured && wrong == 0; }
};

struct MatvecResult {
  RunFigures figures;
  Rank grid_rows = 1, grid_columns = 1;
  std::vector<double> y;
  MatvecCheck check;
  /// Of one product on the host; empty if not verified, or where no process has the whole matrix.
  std::optional<std::chrono::nanoseconds> serial_wall;

  bool verified() const { return check.measured; }
  bool passed() const { return check.passed(); }
};

/// Throws UsageError before anything runs: no elements, a vector of another length, values that are
/// not finite, products that may overflow, an algorithm that does not run here, too little memory.
MatvecResult run_matvec(const Runner& runner, const Algorithms& algorithms, const MatvecJob& job);

/// A matrix of numbers from -1 to 1 that depend on seed and place.
Source made_real_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed);
/// The same in memory.
Matrix generate_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed);
std::vector<double> generate_vector(std::size_t elements, std::uint64_t seed);

/// Compares with a product in extended precision. An element y_i passes if
/// |y_i - sum_j a_ij x_j| <= gamma sum_j |a_ij x_j|, gamma = n u / (1 - n u) with u = 2^-53, the
/// bound for n products summed in any order, plus what subnormal products lose.
/// Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2002, sec. 3.1, eq. 3.4.
MatvecCheck check_product(const Matrix& matrix, std::span<const double> x,
                          std::span<const double> y);

}  // namespace wormcube::apps
