// `wormcube matvec`: a matrix and a vector of the host, multiplied by a machine and verified.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/algorithms.hpp"
#include "wormcube/apps/exchange.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/matvec/matvec.hpp"

#include <cstdint>
#include <vector>

namespace wormcube::apps {

/// The operations that a product calls.
std::vector<Operation> matvec_operations();

struct MatvecJob {
  Matrix matrix;
  std::vector<double> x;
  VectorsOn vectors_on = VectorsOn::edge;
  RunOptions options = {};
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
  std::chrono::nanoseconds serial_wall{0};  ///< of one product on the host, if verified

  bool verified() const { return check.measured; }
  bool passed() const { return check.passed(); }
};

/// Throws UsageError before anything runs: no elements, a vector of another length, values that are
/// not finite, products that may overflow, an algorithm that does not run here, too little memory.
MatvecResult run_matvec(const Runner& runner, const Algorithms& algorithms, const MatvecJob& job);

/// A matrix of numbers from -1 to 1 that depend on seed and place.
Matrix generate_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed);
std::vector<double> generate_vector(std::size_t elements, std::uint64_t seed);

/// Compares with a product in extended precision. An element y_i passes if
/// |y_i - sum_j a_ij x_j| <= gamma sum_j |a_ij x_j|, gamma = n u / (1 - n u) with u = 2^-53, the
/// bound for n products summed in any order, plus what subnormal products lose.
/// Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2002, sec. 3.1, eq. 3.4.
MatvecCheck check_product(const Matrix& matrix, std::span<const double> x,
                          std::span<const double> y);

}  // namespace wormcube::apps
