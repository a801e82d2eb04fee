// Figure 8 of Wang and Tseng, counted and drawn.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/reproduce/wang_tseng.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace wormcube::apps {

namespace {

using Steps = std::optional<double>;

/// The least t with base^t >= x.
double log_up(double x, double base) {
  double t = 0;
  for (double reached = 1; reached < x; reached *= base) ++t;
  return t;
}

Steps lower_bound_of(Rank n) { return log_up(std::pow(n, 3), 7); }
Steps wang_tseng(Rank n) { return 3 * log_up(n, 7) + 2 - (n <= 3 ? 1 : 0); }

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

Steps tsay_wang(Rank n) { return 3 * log_up(n, 7); }

struct Line {
  std::string_view name, source, colour;
  std::string_view algorithm;  // counted; or:
  Steps (*formula)(Rank) = nullptr;
};

constexpr Line lines[]{
    {"lower bound", "ceil(log_7 n^3)", "#888888", {}, lower_bound_of},
    {"WT", "program wang-tseng", "#1f77b4", "wang-tseng"},
    {"WT formula", "3 ceil(log_7 n) + 2, one less for n = 2, 3", "#1f77b4", {}, wang_tseng},
    {"TM formula",
     "2^d: d + 1 up to z = 7, d + m + 2 up to z = 7 6^(m+1)",
     "#d62728",
     {},
     tsai_mckinley},
    {"quad", "program quad, stand-in for TM", "#d62728", "quad"},
    {"Park formula", "7^p: 3p; 2 7^p: 3p + 2", "#2ca02c", {}, park},
    {"park", "program park, displacements found by search", "#2ca02c", "park"},
    {"Tsay-Wang formula", "3 ceil(log_7 n); an abstract only", "#9467bd", {}, tsay_wang},
    {"plan", "program plan, ours", "#ff7f0e", "plan"},
};

/// The steps of a program, if it runs here and the torus is not too large to record.
Steps count(std::string_view name, Rank n, Rank count_up_to, std::vector<std::string>& failures) {
  if (std::int64_t{n} * n * n > count_up_to) return {};
  const Topology topology = Topology::parse(fmt::format("torus:{0}x{0}x{0}", n));
  Arguments arguments;
  arguments.root = topology.nodes() / 3;
  const Collective collective = parse_collective(operations::broadcast, name, arguments);
  if (refusal(collective, topology)) return {};
  // The schedule itself proves that the message reaches all.
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

BroadcastFigure reproduce_broadcast_figure(std::span<const Rank> sides, Rank count_up_to) {
  BroadcastFigure figure;
  figure.sides.assign(sides.begin(), sides.end());
  std::ranges::sort(figure.sides);
  for (const Line& line : lines) {
    FigureSeries series{.name = line.name,
                        .counted = line.formula == nullptr,
                        .source = line.source,
                        .colour = line.colour,
                        .steps = {}};
    for (const Rank n : figure.sides) {
      series.steps.push_back(series.counted ? count(line.algorithm, n, count_up_to, figure.failures)
                                            : line.formula(n));
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

std::string svg(const BroadcastFigure& figure) {
  constexpr double width = 860, height = 480, left = 60, right = 200, top = 40, bottom = 50;
  double most = 1;
  for (const FigureSeries& series : figure.series) {
    for (const Steps& steps : series.steps) most = std::max(most, steps.value_or(0));
  }
  const double first = std::log2(figure.sides.front());
  const double span = std::max(1e-9, std::log2(figure.sides.back()) - first);
  const auto x = [&](Rank n) {
    return left + (std::log2(n) - first) / span * (width - left - right);
  };
  const auto y = [&](double steps) {
    return height - bottom - steps / most * (height - top - bottom);
  };

  std::string out;
  const auto add = [&]<class... T>(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out), format, std::forward<T>(values)...);
  };
  add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  add("<text x=\"{:.1f}\" y=\"20\" font-size=\"14\">Broadcast on n x n x n all-port tori: "
      "steps</text>\n",
      left);
  for (double steps = 0; steps <= most; steps += most > 20 ? 5 : 2) {
    add("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        left, width - right, y(steps), y(steps), left - 8, y(steps) + 4, steps);
  }
  double last_label = -1000;
  for (const Rank n : figure.sides) {
    if (x(n) - last_label < 28) continue;
    last_label = x(n);
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x(n),
        height - bottom + 18, n);
  }
  add("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">n</text>\n",
      (left + width - right) / 2, height - 12);

  double legend = top + 10;
  for (const FigureSeries& series : figure.series) {
    const char* const dash = series.counted ? "" : " stroke-dasharray=\"5 3\"";
    std::string points;
    for (std::size_t i = 0; i < figure.sides.size(); ++i) {
      if (!series.steps[i]) continue;
      points += fmt::format("{:.1f},{:.1f} ", x(figure.sides[i]), y(*series.steps[i]));
      if (series.counted) {
        add("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", x(figure.sides[i]),
            y(*series.steps[i]), series.colour);
      }
    }
    add("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"{}/>\n", points,
        series.colour, dash);
    add("<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
        "stroke-width=\"2\"{}/><text x=\"{:.1f}\" y=\"{:.1f}\">{}{}</text>\n",
        width - right + 12, width - right + 40, legend, legend, series.colour, dash,
        width - right + 46, legend + 4, series.name, series.counted ? " (counted)" : "");
    legend += 20;
  }
  return out + "</svg>\n";
}

}  // namespace wormcube::apps
