// Figure 8 of Wang and Tseng: what is counted, what is a formula, and the plot.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/reproduce/wang_tseng.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::apps;

namespace {

const FigureSeries& named(const BroadcastFigure& figure, std::string_view name) {
  for (const FigureSeries& series : figure.series) {
    if (series.name == name) return series;
  }
  throw std::logic_error("no such series");
}

}  // namespace

TEST_CASE("the broadcast figure counts programs and marks formulas", "[reproduce]") {
  const std::array<Rank, 6> sides{3, 4, 7, 8, 14, 512};
  const BroadcastFigure figure = reproduce_broadcast_figure(sides, 3000);
  CHECK(figure.failures.empty());
  using Steps = std::vector<std::optional<double>>;
  CHECK(named(figure, "lower bound").steps == Steps{2, 3, 3, 4, 5, 10});
  CHECK(named(figure, "WT").steps == Steps{4, 5, 5, 8, 8, {}});
  CHECK(named(figure, "WT formula").steps == Steps{4, 5, 5, 8, 8, 14});
  CHECK(named(figure, "TM formula").steps == Steps{{}, 3, {}, 5, {}, 13});
  CHECK(named(figure, "quad").steps == Steps{{}, 3, {}, 5, {}, {}});
  CHECK(named(figure, "park").steps == Steps{{}, {}, 3, {}, 5, {}});
  CHECK(named(figure, "Park formula").steps == Steps{{}, {}, 3, {}, 5, {}});
  CHECK(named(figure, "plan").steps == Steps{3, 3, 5, 5, 7, {}});
  CHECK(named(figure, "park").counted);
  CHECK_FALSE(named(figure, "Tsay-Wang formula").counted);
}

TEST_CASE("the broadcast figure is drawn with a line for each series, formulas marked so",
          "[reproduce]") {
  const std::array<Rank, 3> sides{4, 7, 8};
  const BroadcastFigure figure = reproduce_broadcast_figure(sides, 600);
  const std::string drawn = svg(figure);
  const auto count = [&](std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = drawn.find(what); at != std::string::npos; at = drawn.find(what, at + 1))
      ++found;
    return found;
  };
  CHECK(count("<polyline") == figure.series.size());
  const auto formulas = std::ranges::count(figure.series, false, &FigureSeries::counted);
  // Each in the plot and in the legend; only they.
  CHECK(count("stroke-dasharray") == 2 * static_cast<std::size_t>(formulas));
  // wang-tseng: three sizes and the legend, filled; its formula as often, hollow.
  CHECK(count("fill=\"#1f77b4\"") == 4);
  CHECK(count("fill=\"none\" stroke=\"#1f77b4\"/>") == 4);
  for (const char* text : {"counted from programs", "formulas only", ">steps (start-ups)<",
                           "plan, ours", ">4<", ">8<"}) {
    CHECK_THAT(drawn, Catch::Contains(text));
  }
  CHECK_THAT(drawn, Catch::EndsWith("</svg>\n"));
  CHECK(drawn.find("nan") == std::string::npos);
}
