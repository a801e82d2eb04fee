// Figure 8 of Wang and Tseng: counted values, formulas, and the plot.
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

TEST_CASE("the broadcast figure is a plot: what is counted is full, formulas are dashed",
          "[reproduce]") {
  const std::array<Rank, 3> sides{4, 7, 8};
  const BroadcastFigure figure = reproduce_broadcast_figure(sides, 600);
  const LinePlot plot = plot_of(figure);
  CHECK(plot.limit.size() == 3);
  REQUIRE(plot.series.size() == 5);
  CHECK(plot.series[0].name == "Wang, Tseng");
  CHECK(plot.series[0].measured.size() == 3);
  CHECK(plot.series[0].model.size() == 3);
  const std::string drawn = plot_svg(plot, PlotLook::picture);
  const auto count = [&](std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = drawn.find(what); at != std::string::npos; at = drawn.find(what, at + 1))
      ++found;
    return found;
  };
  const auto with_formula = std::ranges::count_if(
      plot.series, [](const PlotSeries& series) { return series.model.size() > 1; });
  CHECK(count("stroke-dasharray") == static_cast<std::size_t>(with_formula));
  // wang-tseng: three sizes, filled; its formula as often, hollow and larger.
  CHECK(count("r=\"4.2\" data-x") == 3);
  CHECK(count("r=\"6.2\" fill=\"none\" stroke=\"#0072b2\"") == 3);
  for (const char* text :
       {"counted from the recorded program", "steps (start-ups)", "plan, ours", ">4<", ">8<"}) {
    CHECK_THAT(drawn, Catch::Contains(text));
  }
  CHECK_THAT(drawn, Catch::EndsWith("</svg>\n"));
  CHECK(drawn.find("nan") == std::string::npos);
}
