// The fit of the cost model's constants: exact where the times are, never below 0, and its residual.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/cost_fit.hpp"

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

CostSample timed(double startups, double transferred, double rearranged, double combined,
                 const CostModel& model) {
  CostSample sample{startups, transferred, rearranged, combined, 0};
  sample.us = model.startup_us * startups + model.transfer_us * transferred +
              model.rearrange_us * rearranged + model.combine_us * combined;
  return sample;
}

}  // namespace

TEST_CASE("a fit finds the constants of exact times", "[apps][tune]") {
  const CostModel model{3, 0.002, 0.0007, 0.0004};
  std::vector<CostSample> samples;
  for (const double steps : {1, 4, 7, 15}) {
    for (const double bytes : {64.0, 4096.0, 1e6}) {
      samples.push_back(timed(steps, bytes * steps, bytes * (steps - 1), 0, model));
      samples.push_back(timed(2 * steps, bytes, 0, bytes / steps, model));
    }
  }
  const auto fit = fit_costs(samples);
  REQUIRE(fit);
  CHECK(fit->model.startup_us == Approx(3));
  CHECK(fit->model.transfer_us == Approx(0.002));
  CHECK(fit->model.rearrange_us == Approx(0.0007));
  CHECK(fit->model.combine_us == Approx(0.0004));
  CHECK(fit->largest < 1e-6);
  CHECK(fit->fitted_us(samples[3]) == Approx(samples[3].us));
}

TEST_CASE("no constant is below 0, and constants without samples are not reported",
          "[apps][tune]") {
  // Longer messages that take less: the best constant would be negative.
  const std::vector<CostSample> samples{{1, 100, 0, 0, 10}, {1, 1000, 0, 0, 5}, {2, 500, 0, 0, 15}};
  const auto fit = fit_costs(samples);
  REQUIRE(fit);
  CHECK(fit->model.transfer_us == 0);
  CHECK(fit->model.startup_us > 0);
  CHECK(fit->has_transfer);
  CHECK_FALSE(fit->has_rearrange);
  CHECK_FALSE(fit->has_combine);
  CHECK(fit->rms > 0.1);
  CHECK(fit->largest >= fit->rms);
  CHECK_FALSE(fit_costs({}));
  CHECK_FALSE(fit_costs(std::vector<CostSample>{{0, 0, 0, 0, 1}}));
}

TEST_CASE("errors count by their share of a time, not by their length", "[apps][tune]") {
  // One call of a second and a dozen of a microsecond: these decide what a start-up is.
  std::vector<CostSample> samples(12, CostSample{1, 0, 0, 0, 1});
  samples.push_back({1000, 0, 0, 0, 1e6});
  const auto fit = fit_costs(samples);
  REQUIRE(fit);
  CHECK(fit->model.startup_us == Approx(1).epsilon(0.1));
}
