// Figure 8 of Wang and Tseng, counted and drawn.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/reproduce/wang_tseng.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <utility>

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
  std::string_view name, source, label, colour;
  CurveMark mark;
  std::string_view algorithm;  // counted; or:
  Steps (*formula)(Rank) = nullptr;
};

constexpr Line lines[]{
    {"lower bound",
     "ceil(log_7 n^3)",
     "lower bound",
     "#888888",
     CurveMark::none,
     {},
     lower_bound_of},
    {"WT", "program wang-tseng", "Wang, Tseng", "#1f77b4", CurveMark::circle, "wang-tseng"},
    {"WT formula",
     "3 ceil(log_7 n) + 2, one less for n = 2, 3",
     "Wang, Tseng",
     "#1f77b4",
     CurveMark::circle,
     {},
     wang_tseng},
    {"TM formula",
     "2^d: d + 1 up to z = 7, d + m + 2 up to z = 7 6^(m+1)",
     "Tsai, McKinley",
     "#d62728",
     CurveMark::square,
     {},
     tsai_mckinley},
    {"quad", "program quad, stand-in for TM", "quad, for Tsai, McKinley", "#d62728",
     CurveMark::square, "quad"},
    {"Park formula",
     "7^p: 3p; 2 7^p: 3p + 2",
     "Park et al.",
     "#2ca02c",
     CurveMark::triangle,
     {},
     park},
    {"park", "program park, displacements found by search", "park, our displacements", "#2ca02c",
     CurveMark::triangle, "park"},
    {"Tsay-Wang formula",
     "3 ceil(log_7 n); an abstract only",
     "Tsay, Wang",
     "#9467bd",
     CurveMark::diamond,
     {},
     tsay_wang},
    {"plan", "program plan, ours", "plan, ours", "#ff7f0e", CurveMark::wedge, "plan"},
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

BroadcastFigure reproduce_broadcast_figure(
    std::span<const Rank> sides, Rank count_up_to,
    const std::function<void(const BroadcastFigure&)>& so_far) {
  BroadcastFigure figure;
  figure.sides.assign(sides.begin(), sides.end());
  std::ranges::sort(figure.sides);
  for (const Line& line : lines) {
    figure.series.push_back({.name = line.name,
                             .counted = line.formula == nullptr,
                             .source = line.source,
                             .label = line.label,
                             .colour = line.colour,
                             .mark = line.mark,
                             .steps = {}});
    FigureSeries& series = figure.series.back();
    for (const Rank n : figure.sides) {
      series.steps.push_back(series.counted ? count(line.algorithm, n, count_up_to, figure.failures)
                                            : line.formula(n));
      if (so_far) so_far(figure);
    }
  }
  return figure;
}

namespace {

/// SVG text under construction.
class Drawing {
 public:
  template <class... T>
  void add(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(values)...);
  }
  void line(double x1, double y1, double x2, double y2, std::string_view style) {
    add("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
        style);
  }
  /// \param style  attributes: where x is (text-anchor), size, rotation
  void label(double x, double y, std::string_view style, std::string_view text) {
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, text);
  }
  /// Hollow ones are larger: they show around a filled one at the same point.
  void mark(double x, double y, const FigureSeries& series) {
    const double r = series.counted ? 3.5 : 5.5;
    const std::string style = fmt::format("fill=\"{}\" stroke=\"{}\"",
                                          series.counted ? series.colour : "none", series.colour);
    const auto polygon = [&](std::initializer_list<std::pair<double, double>> corners) {
      add("<polygon points=\"");
      for (const auto& [dx, dy] : corners) add("{:.1f},{:.1f} ", x + r * dx, y + r * dy);
      add("\" {}/>\n", style);
    };
    switch (series.mark) {
      case CurveMark::none:
        break;
      case CurveMark::circle:
        add("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" {}/>\n", x, y, r, style);
        break;
      case CurveMark::square:
        polygon({{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}});
        break;
      case CurveMark::triangle:
        polygon({{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}});
        break;
      case CurveMark::diamond:
        polygon({{0, -1.2}, {1.2, 0}, {0, 1.2}, {-1.2, 0}});
        break;
      case CurveMark::wedge:
        polygon({{0, 1.2}, {1.1, -0.8}, {-1.1, -0.8}});
        break;
    }
  }
  static std::string stroke(const FigureSeries& series) {
    return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"{}", series.colour,
                       series.counted                   ? ""
                       : series.mark == CurveMark::none ? " stroke-dasharray=\"2 2\""
                                                        : " stroke-dasharray=\"6 4\"");
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Where the axis of n has numbers: at its ends and at powers of 2.
std::vector<Rank> ticks(Rank first, Rank last) {
  std::vector<Rank> ticks{first};
  for (std::int64_t n = 2; n < last; n *= 2) {
    if (n > first) ticks.push_back(static_cast<Rank>(n));
  }
  if (last > first) ticks.push_back(last);
  return ticks;
}

}  // namespace

std::string svg(const BroadcastFigure& figure) {
  constexpr double width = 900, height = 540, left = 64, right = 230, top = 48, bottom = 96;
  constexpr double end = width - right, floor = height - bottom;
  constexpr std::string_view at_end = "text-anchor=\"end\"", at_middle = "text-anchor=\"middle\"";
  double most = 1;
  for (const FigureSeries& series : figure.series) {
    for (const Steps& steps : series.steps) most = std::max(most, steps.value_or(0));
  }
  const double between = most > 20 ? 5 : 2;
  const double highest = std::ceil(most / between) * between;
  const Rank first = figure.sides.front(), last = figure.sides.back();
  const double span = std::max(1e-9, std::log2(last) - std::log2(first));
  const auto x = [&](Rank n) {
    return left + (std::log2(n) - std::log2(first)) / span * (end - left);
  };
  const auto y = [&](double steps) { return floor - steps / highest * (floor - top); };

  Drawing drawing;
  drawing.add(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  drawing.label(left, 24, "font-size=\"15\"",
                "Broadcast on n \u00d7 n \u00d7 n wormhole tori, all ports");
  for (double steps = 0; steps <= highest; steps += between) {
    drawing.line(left, y(steps), end, y(steps), "stroke=\"#dddddd\"");
    drawing.label(left - 8, y(steps) + 4, at_end, fmt::format("{}", steps));
  }
  for (double last_label = -1000; const Rank n : ticks(first, last)) {
    drawing.line(x(n), floor, x(n), floor + 5, "stroke=\"black\"");
    if (x(n) - last_label < 30 || (n != last && x(last) - x(n) < 30 && n != first)) continue;
    last_label = x(n);
    drawing.label(x(n), floor + 19, at_middle, fmt::format("{}", n));
  }
  drawing.line(left, floor, end, floor, "stroke=\"black\"");
  drawing.line(left, top, left, floor, "stroke=\"black\"");
  drawing.label((left + end) / 2, floor + 40, at_middle,
                "n, nodes along each dimension (logarithmic)");
  drawing.label(20, (top + floor) / 2,
                fmt::format("{} transform=\"rotate(-90 20 {:.1f})\"", at_middle, (top + floor) / 2),
                "steps (start-ups)");
  drawing.label(left, height - 26, "font-size=\"11\" fill=\"#444444\"",
                "Filled: counted from the recorded program. Hollow, dashed: the formula "
                "alone; nothing was run.");
  drawing.label(left, height - 10, "font-size=\"11\" fill=\"#444444\"",
                "Lines join the sizes that were computed; between them they mean nothing.");

  double row = top + 6;
  for (const bool counted : {true, false}) {  // formulas last, so that their marks lie around
    drawing.label(end + 14, row + 4, "font-weight=\"bold\"",
                  counted ? "counted from programs" : "formulas only");
    row += 20;
    for (const FigureSeries& series : figure.series) {
      if (series.counted != counted) continue;
      std::string points;
      for (std::size_t i = 0; i < figure.sides.size(); ++i) {
        if (series.steps[i])
          points += fmt::format("{:.1f},{:.1f} ", x(figure.sides[i]), y(*series.steps[i]));
      }
      drawing.add("<polyline points=\"{}\" {}/>\n", points, Drawing::stroke(series));
      for (std::size_t i = 0; i < figure.sides.size(); ++i) {
        if (series.steps[i]) drawing.mark(x(figure.sides[i]), y(*series.steps[i]), series);
      }
      drawing.line(end + 14, row, end + 48, row, Drawing::stroke(series));
      drawing.mark(end + 31, row, series);
      drawing.label(end + 56, row + 4, "", series.label);
      row += 20;
    }
    row += 12;
  }
  drawing.add("</svg>\n");
  return drawing.take();
}

}  // namespace wormcube::apps
