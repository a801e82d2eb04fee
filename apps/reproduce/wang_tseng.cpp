// Figure 8 of Wang and Tseng, counted and drawn.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/reproduce/wang_tseng.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace wormcube::apps {

int least_steps(double x, double base) {
  int t = 0;
  for (double reached = 1; reached < x; reached *= base) ++t;
  return t;
}

namespace {

using Steps = std::optional<double>;

Steps lower_bound_of(Rank n) { return least_steps(std::pow(n, 3), 7); }
Steps wang_tseng(Rank n) { return 3 * least_steps(n, 7) + 2 - (n <= 3 ? 1 : 0); }

/// Tsai and McKinley's extended dominating nodes for 2^d x 2^d x z, as the paper quotes them.
Steps tsai_mckinley(Rank n) {
  if (!std::has_single_bit(static_cast<unsigned>(n)) || n < 2) return {};
  const double d = std::log2(n);
  if (n <= 7) return d + 1;
  double m = 0;
  for (double reach = 42; n > reach; reach *= 6) ++m;
  return d + m + 2;
}

Steps park(Rank n) {
  const bool is_double = n % 2 == 0;
  double p = 0;
  Rank rest = is_double ? n / 2 : n;
  for (; rest % 7 == 0; rest /= 7) ++p;
  if (rest != 1 || p == 0) return {};
  return 3 * p + (is_double ? 2 : 0);
}

Steps tsay_wang(Rank n) { return 3 * least_steps(n, 7); }

/// One line of the figure. Those of one label are one curve of the plot.
struct Line {
  std::string_view name, source, label;
  std::string_view algorithm;  // counted; or:
  Steps (*formula)(Rank) = nullptr;
};

constexpr Line lines[]{
    {"lower bound", "ceil(log_7 n^3)", "", {}, lower_bound_of},
    {"WT", "program wang-tseng", "Wang, Tseng", "wang-tseng"},
    {"WT formula", "3 ceil(log_7 n) + 2, one less for n = 2, 3", "Wang, Tseng", {}, wang_tseng},
    {"TM formula",
     "2^d: d + 1 up to z = 7, d + m + 2 up to z = 7 6^(m+1)",
     "Tsai, McKinley; quad",
     {},
     tsai_mckinley},
    {"quad", "program quad, stand-in for TM", "Tsai, McKinley; quad", "quad"},
    {"Park formula", "7^p: 3p; 2 7^p: 3p + 2", "Park et al.", {}, park},
    {"park", "program park, displacements found by search", "Park et al.", "park"},
    {"Tsay-Wang formula", "3 ceil(log_7 n); an abstract only", "Tsay, Wang", {}, tsay_wang},
    {"plan", "program plan, ours", "plan, ours", "plan"},
};

FigureSeries series_of(const Line& line) {
  return {.name = line.name,
          .counted = line.formula == nullptr,
          .source = line.source,
          .label = line.label,
          .steps = {}};
}

/// The steps of a program, if it applies here and the torus is small enough to record.
Steps count(std::string_view name, Rank n, Rank count_up_to, std::vector<std::string>& failures) {
  if (std::int64_t{n} * n * n > count_up_to) return {};
  const Topology topology = Topology::parse(fmt::format("torus:{0}x{0}x{0}", n));
  Arguments arguments;
  arguments.root = topology.nodes() / 3;
  const Collective collective = parse_collective(operations::broadcast, name, arguments);
  if (refusal(collective, topology)) return {};
  // The schedule itself proves that the message reaches all nodes.
  const CheckResult result =
      check_collective(collective, topology, {.all_port = true, .prove_up_to = 0});
  for (const std::string& failure : result.failures)
    failures.push_back(fmt::format("{} on {}: {}", name, topology.name(), failure));
  return static_cast<double>(result.report.startups);
}

}  // namespace

std::vector<Rank> broadcast_figure_sides() {
  return {2,  3,  4,  5,  6,  7,   8,   10,  12,  14,  16,  20,   24,   28,  30,
          32, 40, 49, 64, 98, 128, 200, 256, 343, 512, 686, 1024, 2048, 4096};
}

long figure_points(std::span<const Rank> sides) {
  return std::ssize(lines) * static_cast<long>(sides.size());
}

BroadcastFigure reproduce_broadcast_figure(
    std::span<const Rank> sides, Rank count_up_to,
    const std::function<void(const BroadcastFigure&)>& so_far) {
  BroadcastFigure figure;
  figure.sides.assign(sides.begin(), sides.end());
  std::ranges::sort(figure.sides);
  for (const Line& line : lines) {
    figure.series.push_back(series_of(line));
    FigureSeries& series = figure.series.back();
    for (const Rank n : figure.sides) {
      series.steps.push_back(series.counted ? count(line.algorithm, n, count_up_to, figure.failures)
                                            : line.formula(n));
      if (so_far) so_far(figure);
    }
  }
  return figure;
}

std::optional<FigureSeries> figure_series(std::string_view name) {
  const auto* const line = std::ranges::find(lines, name, &Line::name);
  return line == std::end(lines) ? std::nullopt : std::optional(series_of(*line));
}

LinePlot plot_of(const BroadcastFigure& figure) {
  LinePlot plot;
  plot.title = "Broadcast on n \u00d7 n \u00d7 n wormhole tori, all ports";
  plot.below =
      "filled, solid line: counted from the recorded program; hollow, dashed: the formula only, "
      "with no program run";
  plot.x = LinePlot::X::number, plot.x_name = "n, nodes along each dimension (logarithmic)";
  plot.y = LinePlot::Y::count, plot.y_name = "steps (start-ups)";
  plot.model_marks = true;
  plot.foot = {
      "Figure 8 of Wang and Tseng. Lines join the computed sizes; between these points they have "
      "no meaning."};
  for (const FigureSeries& series : figure.series) {
    std::vector<PlotPoint> points;
    for (std::size_t i = 0; i < figure.sides.size(); ++i) {
      if (series.steps[i])
        points.push_back({static_cast<double>(figure.sides[i]), *series.steps[i]});
    }
    if (series.label.empty()) {
      plot.limit = std::move(points), plot.limit_name = series.name;
      continue;
    }
    auto curve = std::ranges::find(plot.series, series.label, &PlotSeries::name);
    if (curve == plot.series.end()) {
      curve = plot.series.insert(curve, PlotSeries{std::string(series.label), {}, {}});
    }
    (series.counted ? curve->measured : curve->model) = std::move(points);
  }
  std::erase_if(plot.series,
                [](const PlotSeries& s) { return s.measured.empty() && s.model.empty(); });
  return plot;
}

std::span<const Erratum> wang_tseng_errata() {
  static constexpr std::array<Erratum, 9> errata{{
      {"wang-tseng-1", "sec. 4, alpha", "about +-i m / (2k + 1)",
       "rounded to the nearest: truncation takes more steps for nearly every n, or leaves "
       "super-nodes out"},
      {"wang-tseng-2", "the algorithm", "every node receives the message",
       "some nodes receive it twice; with wang-tseng:once=yes, each node receives it exactly once"},
      {"wang-tseng-3", "Theorem 2", "steps for n = 2 and 3", "one less"},
      {"wang-tseng-4", "hops of n/2", "the shorter direction",
       "both directions are equally short: with '+' for all, n = 6 and 8 have contention for k = "
       "2, and n = 8, 10, 12 for k = 3; directions are explicit here, and mirror=yes needs none"},
      {"wang-tseng-5", "sec. 3, stage 2", "2t hops along X, t along Y",
       "the matrix R_2 has t along X, 2t along Y; both are free of contention"},
      {"wang-tseng-6", "lower bound, n = 2", "2k links a node",
       "+1 and -1 reach the same node: with one cable for both the bound is not attainable"},
      {"wang-tseng-7", "domain of Z", "{0; 1}", "{0, 1, .., n - 1}"},
      {"wang-tseng-8", "TM in three dimensions", "about 8.6 % more steps",
       "this is its limit for long z; on cubes 2^d it is farther off"},
      {"wang-tseng-9", "sec. 5, rows of R_i for i >= 2", "their signs are not legible in our copy",
       "row 1 is e_1, then e_j - e_k, then -e_j: with + in all rows, or with e_j alone, nodes are "
       "left out or links are shared"},
  }};
  return errata;
}

}  // namespace wormcube::apps
