// Least squares of four constants, none below 0.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/cost_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace wormcube {

namespace {

constexpr std::size_t constants = 4;
using Row = std::array<double, constants>;

/// The constants of a set (bits) that solve the normal equations, the others 0; nothing if the
/// equations are singular. Columns are scaled to length 1 first.
std::optional<Row> solve(std::span<const Row> rows, unsigned set) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < constants; ++c) {
    if ((set >> c & 1U) != 0) columns.push_back(c);
  }
  const std::size_t n = columns.size();
  std::vector<double> length(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (const Row& row : rows) length[i] += row[columns[i]] * row[columns[i]];
    length[i] = std::sqrt(length[i]);
    if (length[i] == 0) return std::nullopt;
  }
  std::array<std::array<double, constants + 1>, constants> a{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < n; ++i) {
      const double x = row[columns[i]] / length[i];
      for (std::size_t j = 0; j < n; ++j) a[i][j] += x * row[columns[j]] / length[j];
      a[i][n] += x;  // every row's target value is 1
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i + 1; r < n; ++r) {
      if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
    }
    constexpr double singular = 1e-10;
    if (std::abs(a[pivot][i]) < singular) return std::nullopt;
    std::swap(a[i], a[pivot]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == i) continue;
      const double factor = a[r][i] / a[i][i];
      for (std::size_t c = i; c <= n; ++c) a[r][c] -= factor * a[i][c];
    }
  }
  Row result{};
  for (std::size_t i = 0; i < n; ++i) result[columns[i]] = a[i][n] / a[i][i] / length[i];
  return result;
}

double error_of(const Row& row, const Row& solution) {
  double sum = -1;
  for (std::size_t c = 0; c < constants; ++c) sum += row[c] * solution[c];
  return sum;
}

}  // namespace

double CostFit::fitted_us(const CostSample& sample) const {
  return model.startup_us * sample.startups + model.transfer_us * sample.transferred +
         model.rearrange_us * sample.rearranged + model.combine_us * sample.combined;
}

std::optional<CostFit> fit_costs(std::span<const CostSample> samples) {
  std::vector<Row> rows;  // of counts in the measured time: a fit makes each 1
  for (const CostSample& sample : samples) {
    Row row = sample.counts();
    for (double& count : row) count /= sample.us;
    rows.push_back(row);
  }
  std::optional<Row> best;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned set = 1; set < 1U << constants; ++set) {
    const auto solution = solve(rows, set);
    if (!solution || std::ranges::any_of(*solution, [](double c) { return c < 0; })) continue;
    double squares = 0;
    for (const Row& row : rows) squares += error_of(row, *solution) * error_of(row, *solution);
    if (squares >= least) continue;
    least = squares;
    best = solution;
  }
  if (!best) return std::nullopt;
  CostFit fit;
  fit.model = {(*best)[0], (*best)[1], (*best)[2], (*best)[3]};
  const auto has = [&](std::size_t c) {
    return std::ranges::any_of(rows, [&](const Row& row) { return row[c] > 0; });
  };
  fit.has_startup = has(0);
  fit.has_transfer = has(1);
  fit.has_rearrange = has(2);
  fit.has_combine = has(3);
  std::vector<double> errors;
  for (const Row& row : rows) errors.push_back(std::abs(error_of(row, *best)));
  std::ranges::sort(errors);
  fit.rms = std::sqrt(least / static_cast<double>(rows.size()));
  fit.median = errors[errors.size() / 2];
  fit.largest = errors.back();
  return fit;
}

}  // namespace wormcube
