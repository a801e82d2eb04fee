// Transforms within one node: FFTW and roots of unity.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/local.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>
#include <utility>

#include <fftw3.h>
#include <fmt/core.h>

namespace wormcube::apps {

namespace {

// FFTW's planner has state of its own and is not thread safe; only its execution is.
std::mutex& planner() {
  static std::mutex mutex;
  return mutex;
}

int as_int(std::size_t size) {
  if (size > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw UsageError(fmt::format("fft: a local transform of {} elements; FFTW takes at most {}",
                                 size, std::numeric_limits<int>::max()));
  }
  return static_cast<int>(size);
}

std::size_t largest_prime_factor(std::size_t n) {
  std::size_t largest = 1;
  for (std::size_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return std::max(largest, n);
}

/// FFTW ends the process if it gets no memory.
void require_memory_to_plan(std::size_t length, std::size_t scratch) {
  constexpr double own = 2 << 20, tables = 2;
  require_available(
      fmt::format("a plan of transforms of {} elements", length),
      own + convolution_bytes(length) +
          (tables * static_cast<double>(length) + static_cast<double>(scratch)) * sizeof(Complex),
      "use a shorter signal");
}

fftw_complex* as_fftw(Complex* data) {
  return reinterpret_cast<fftw_complex*>(data);  // FFTW promises this layout
}

}  // namespace

double convolution_bytes(std::size_t length) {
  constexpr double copies = 9;  // measured with FFTW 3.3.10, length 524287
  constexpr std::size_t largest_direct = 173;
  const std::size_t factor = largest_prime_factor(length);
  return factor > largest_direct ? copies * sizeof(Complex) * static_cast<double>(factor) : 0;
}

std::string_view local_transforms_library() { return fftw_version; }

void LocalTransforms::Destroy::operator()(fftw_plan_s* plan) const {
  const std::scoped_lock lock(planner());
  fftw_destroy_plan(plan);
}

void LocalTransforms::prepare(std::size_t length, std::size_t rows) {
  if (rows == 0 || plans_.contains({length, rows, Direction::forward})) return;
  const int n = as_int(length), many = as_int(rows);
  require_memory_to_plan(length, length * rows);
  // Planning may overwrite its array. FFTW_UNALIGNED: node memory has no alignment to rely on, and
  // it costs nothing here (512 rows of 2048: 2.8 ms without, 2.9 ms with it; one core of two,
  // FFTW 3.3.10, 2026-11).
  const std::unique_ptr<fftw_complex, void (*)(void*)> scratch(fftw_alloc_complex(length * rows),
                                                               fftw_free);
  const unsigned flags = FFTW_UNALIGNED | (measure_ ? FFTW_MEASURE : FFTW_ESTIMATE);
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    fftw_plan plan = nullptr;
    {
      const std::scoped_lock lock(planner());
      plan = fftw_plan_many_dft(1, &n, many, scratch.get(), nullptr, 1, n, scratch.get(), nullptr,
                                1, n, static_cast<int>(direction), flags);
    }
    if (plan == nullptr) {
      throw UsageError(fmt::format("fft: FFTW cannot plan {} rows of {} elements", rows, length));
    }
    plans_[{length, rows, direction}].reset(plan);
  }
}

void LocalTransforms::run(std::size_t length, std::size_t rows, Direction direction,
                          Complex* data) const {
  if (rows == 0) return;
  const auto plan = plans_.find({length, rows, direction});
  WORMCUBE_ASSERT(plan != plans_.end());
  fftw_execute_dft(plan->second.get(), as_fftw(data), as_fftw(data));
}

double transform_serially(std::span<const std::size_t> shape, Direction direction,
                          std::span<Complex> data) {
  std::vector<int> sizes;
  for (const std::size_t size : shape) sizes.push_back(as_int(size));
  require_memory_to_plan(std::ranges::max(shape), 0);
  fftw_plan plan = nullptr;
  {
    const std::scoped_lock lock(planner());
    plan = fftw_plan_dft(static_cast<int>(sizes.size()), sizes.data(), as_fftw(data.data()),
                         as_fftw(data.data()), static_cast<int>(direction), FFTW_ESTIMATE);
  }
  const auto start = std::chrono::steady_clock::now();
  fftw_execute(plan);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const std::scoped_lock lock(planner());
  fftw_destroy_plan(plan);
  return seconds.count();
}

Complex root_of_unity(std::uint64_t t, std::uint64_t order) {
  // The angle is t quarters of an order-th of a circle, 4 order of which make the circle.
  std::uint64_t quarters = 4 * (t % order);
  const bool below = quarters > 2 * order;  // the lower half mirrors the upper
  if (below) quarters = 4 * order - quarters;
  const bool left = quarters > order;  // the left half mirrors the right
  if (left) quarters = 2 * order - quarters;
  const bool steep = 2 * quarters > order;  // above the diagonal sine and cosine change places
  if (steep) quarters = order - quarters;
  const long double angle = std::numbers::pi_v<long double> / 2 *
                            (static_cast<long double>(quarters) / static_cast<long double>(order));
  auto real = static_cast<double>(std::cos(angle)),
       imaginary = static_cast<double>(std::sin(angle));
  if (steep) std::swap(real, imaginary);
  return {left ? -real : real, below ? -imaginary : imaginary};
}

Roots::Roots(std::uint64_t order) : order_(order) {
  while ((std::uint64_t{1} << (2 * shift_)) < order) ++shift_;
  const std::uint64_t step = std::uint64_t{1} << shift_;
  for (std::uint64_t t = 0; t < step; ++t) fine_.push_back(root_of_unity(t, order));
  for (std::uint64_t t = 0; t < order; t += step) coarse_.push_back(root_of_unity(t, order));
}

}  // namespace wormcube::apps
