// Plots of lines: axes, lines, bands, labels at the lines, the second panel.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/page.hpp"
#include "wormcube/apps/draw/plot.hpp"
#include "wormcube/apps/draw/plot_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

constexpr double plot_top = 86, label_font = 15, label_line = 17, label_inset = 34;

/// The distance between the lines of a linear axis from 0: 2 or 5, for larger values 1, 2 or 5
/// times a power of ten. At most 20 lines.
double linear_step(double high) {
  if (high <= 20) return 2;
  if (high <= 100) return 5;
  const double decade = std::pow(10, std::floor(std::log10(high / 20)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (high / (factor * decade) <= 20) return factor * decade;
  }
  return 10 * decade;
}

struct LinePlotter {
  const LinePlot& plot;
  Marks marks = {};
  double low = 0, high = 0, step = 0, bottom = 0, x_low = 0, x_high = 0;

  double x(double value) const {
    const double share = x_high > x_low ? log_share(value, x_low, x_high) : 0.5;
    return plot_left + share * (plot_width - plot_left - plot_right);
  }
  std::string_view noun() const {
    return plot.y == LinePlot::Y::microseconds           ? "time"
           : plot.y == LinePlot::Y::gigabytes_per_second ? "bandwidth"
                                                         : "count";
  }
  bool linear() const { return plot.y == LinePlot::Y::count; }
  double y(double value) const {
    const double share = linear() ? value / high : log_share(std::max(value, low), low, high);
    return bottom - share * (bottom - plot_top);
  }
  std::string x_text(double value) const {
    return plot.x == LinePlot::X::bytes ? size_label(value) : fmt::format("{:.6g}", value);
  }
  std::string y_text(double value) const {
    switch (plot.y) {
      case LinePlot::Y::microseconds:
        return time_label(value);
      case LinePlot::Y::gigabytes_per_second:
        return rate_label(value);
      case LinePlot::Y::blocks:
      case LinePlot::Y::count:
        break;
    }
    return fmt::format("{:.6g}", value);
  }

  template <class F>
  void for_all(F f) const {
    for (const PlotSeries& series : plot.series) {
      for (const auto* const points : {&series.measured, &series.model}) {
        for (const PlotPoint& point : *points) f(point);
      }
    }
  }

  void range() {
    low = x_low = std::numeric_limits<double>::infinity();
    high = x_high = 0;
    for_all([&](const PlotPoint& point) {
      for (const double value :
           {point.y, point.low.value_or(point.y), point.high.value_or(point.y)}) {
        if (value > 0) low = std::min(low, value), high = std::max(high, value);
      }
      x_low = std::min(x_low, point.x), x_high = std::max(x_high, point.x);
    });
    if (linear()) {
      step = linear_step(high);
      low = 0, high = std::clamp(std::ceil(high / step), 1.0, 20.0) * step;
      high = std::min(high, std::numeric_limits<double>::max());
      return;
    }
    widen_to_half_decades(low, high);
  }

  void axes(double end, double lower_end) {
    std::set<double> ticks;
    for_all([&](const PlotPoint& point) { ticks.insert(point.x); });
    double last = -100;
    for (const double tick : ticks) {
      marks.push_back(path_mark({{{x(tick), plot_top}, {x(tick), end}}}, colours::rule, 1));
      if (x(tick) - last < 44) continue;
      last = x(tick);
      marks.push_back(text_mark({x(tick), lower_end + 20}, x_text(tick), 13, colours::mute, 0));
    }
    marks.push_back(text_mark({(plot_left + plot_width - plot_right) / 2, lower_end + 44},
                              plot.x_name, 13, colours::ink, 0));
    if (linear()) {
      for (double value = 0; value <= high; value += step) value_line(value);
      return;
    }
    for (const Tick& tick : log_ticks(low, high)) {
      if (tick.is_decade) {
        value_line(tick.value);
        continue;
      }
      const double at = y(tick.value);
      marks.push_back(path_mark({{{plot_left - 2, at}, {plot_left + 3, at}}}, colours::faint, 1));
    }
  }
  void value_line(double value) {
    const double at = y(value);
    marks.push_back(
        path_mark({{{plot_left, at}, {plot_width - plot_right, at}}}, colours::rule, 1));
    marks.push_back(text_mark({plot_left - 10, at + 4.5}, y_text(value), 13, colours::mute, 1));
  }

  void line(const std::vector<PlotPoint>& points, Colour colour, double width,
            std::vector<double> dash, double opacity = 1) {
    std::vector<Point> line;
    for (const PlotPoint& point : points) {
      if (point.y > 0) line.push_back({x(point.x), std::min(y(point.y), bottom)});
    }
    if (line.size() < 2) return;
    Mark mark = path_mark({std::move(line)}, colour, width);
    mark.dash = std::move(dash), mark.opacity = opacity;
    marks.push_back(std::move(mark));
  }

  void band(const std::vector<PlotPoint>& points, Colour colour) {
    std::vector<Point> outline;
    for (const PlotPoint& point : points)
      outline.push_back({x(point.x), y(point.high.value_or(point.y))});
    for (auto point = points.rbegin(); point != points.rend(); ++point) {
      outline.push_back({x(point->x), y(point->low.value_or(point->y))});
    }
    if (points.size() < 2) return;
    Mark mark = path_mark({std::move(outline)}, {}, 0);
    mark.fill = colour, mark.closed = true, mark.opacity = 0.16;
    marks.push_back(std::move(mark));
  }

  std::string data(const PlotSeries& series, const PlotPoint& point) const {
    return fmt::format(
        " data-x=\"{:.17g}\" data-y=\"{:.17g}\" data-px=\"{:.1f}\" data-x-text=\"{}\" "
        "data-name=\"{}\" "
        "data-text=\"{}\"",
        point.x, point.y, x(point.x), escaped(x_text(point.x)), escaped(series.name),
        escaped(y_text(point.y)));
  }

  /// Marks and names at the lines' ends, with a thin leader where a name had to move.
  void labels() {
    struct End {
      double wanted, at;
      std::vector<std::string> lines;
      Colour colour;
      std::optional<std::size_t> series;
      double height() const { return label_line * static_cast<double>(lines.size()) + 1; }
    };
    std::vector<End> ends;
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
      const PlotSeries& series = plot.series[i];
      const bool by_model =
          series.measured.empty() ||
          (!series.model.empty() && series.model.back().x > series.measured.back().x);
      const auto& points = by_model ? series.model : series.measured;
      if (points.empty()) continue;
      const double at = y(points.back().y);
      ends.push_back({at, at, lines_of_label(series), colours::line(i), i});
    }
    if (!plot.limit.empty()) {
      const double at = std::min(bottom, y(plot.limit.back().y));
      ends.push_back({at, at, {plot.limit_name}, colours::mute, {}});
    }
    std::ranges::sort(ends, {}, &End::wanted);
    const auto apart = [&](std::size_t i) { return (ends[i - 1].height() + ends[i].height()) / 2; };
    for (std::size_t i = 1; i < ends.size(); ++i)
      ends[i].at = std::max(ends[i].at, ends[i - 1].at + apart(i));
    if (!ends.empty()) ends.back().at = std::min(ends.back().at, bottom);
    for (std::size_t i = ends.size(); i-- > 1;)
      ends[i - 1].at = std::min(ends[i - 1].at, ends[i].at - apart(i));
    const double right = plot_width - plot_right;
    for (const End& end : ends) {
      if (std::abs(end.at - end.wanted) > 12) {
        marks.push_back(
            path_mark({{{right + 8, end.wanted}, {right + 16, end.at}}}, colours::faint, 1));
      }
      if (end.series) draw_series_mark(*end.series, {right + 24, end.at}, "", marks);
      double at = end.at + 5 - label_line * static_cast<double>(end.lines.size() - 1) / 2;
      for (const std::string& line : end.lines) {
        marks.push_back(text_mark({right + label_inset, at}, line, label_font, end.colour, -1,
                                  end.series.has_value()));
        at += label_line;
      }
    }
  }
  static std::vector<std::string> lines_of_label(const PlotSeries& series) {
    return label_lines(series.label.empty() ? series.name : series.label, label_font,
                       plot_right - label_inset - 6);
  }

  void ratio_panel(double top, double end) {
    const auto base = std::ranges::find(plot.series, plot.ratio_to, &PlotSeries::name);
    const auto points_of = [](const PlotSeries& series) -> const std::vector<PlotPoint>& {
      return series.measured.empty() ? series.model : series.measured;
    };
    const auto& reference = base == plot.series.end() ? plot.limit : points_of(*base);
    const bool share = base == plot.series.end();
    const auto value_at = [&](double at) {
      const auto point = std::ranges::find(reference, at, &PlotPoint::x);
      return point == reference.end() ? 0.0 : point->y;
    };
    std::vector<std::vector<PlotPoint>> lines;
    double most = 1;
    for (const PlotSeries& series : plot.series) {
      auto& line = lines.emplace_back();
      for (const PlotPoint& point : points_of(series)) {
        const double other = value_at(point.x);
        if (other <= 0 || point.y <= 0) continue;
        constexpr double most_times = 1e300;
        const double times = std::min(share ? other / point.y : point.y / other, most_times);
        line.push_back({point.x, times});
        most = std::max(most, line.back().y);
      }
    }
    most = share ? 1 : std::ceil(most * 1.05);
    marks.push_back(text_mark({plot_left, top - 10},
                              share ? fmt::format("share of the {}", plot.limit_name)
                                    : fmt::format("{} relative to {}", noun(),
                                                  base->label.empty() ? base->name : base->label),
                              13, colours::ink, -1, true));
    const auto at = [&](double value) { return end - value / most * (end - top); };
    for (int i = 0; i <= 2; ++i) {
      const double value = most * i / 2;
      marks.push_back(path_mark({{{plot_left, at(value)}, {plot_width - plot_right, at(value)}}},
                                colours::rule, 1));
      marks.push_back(
          text_mark({plot_left - 10, at(value) + 4.5},
                    share ? fmt::format("{:.0f} %", 100 * value) : fmt::format("{:.3g}", value), 13,
                    colours::mute, 1));
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::vector<Point> line;
      for (const PlotPoint& point : lines[i]) line.push_back({x(point.x), at(point.y)});
      if (line.size() > 1) {
        marks.push_back(path_mark({line}, colours::line(i), 1.8));
        if (plot.series[i].measured.empty()) marks.back().dash = {5, 4};
      }
      for (const Point p : line) draw_series_mark(i, p, "", marks);
    }
  }
};

}  // namespace

LinePlot readable(LinePlot plot) {
  const auto points_of = [](const PlotSeries& series) -> const std::vector<PlotPoint>& {
    return series.measured.empty() ? series.model : series.measured;
  };
  if (plot.series.size() > most_lines) {
    const bool more_is_better = plot.y == LinePlot::Y::gigabytes_per_second;
    std::map<double, double> best;
    for (const PlotSeries& series : plot.series) {
      for (const PlotPoint& point : points_of(series)) {
        const double cost = more_is_better ? 1 / point.y : point.y;
        const auto [at, is_new] = best.emplace(point.x, cost);
        if (!is_new) at->second = std::min(at->second, cost);
      }
    }
    // How near a line comes to the best one; the line that others are compared with stays.
    const auto distance = [&](const PlotSeries& series) {
      if (series.name == plot.ratio_to) return 0.0;
      double least = std::numeric_limits<double>::infinity();
      for (const PlotPoint& point : points_of(series)) {
        least = std::min(least, (more_is_better ? 1 / point.y : point.y) / best.at(point.x));
      }
      return least;
    };
    std::vector<double> distances;
    for (const PlotSeries& series : plot.series) distances.push_back(distance(series));
    std::vector<double> sorted = distances;
    std::ranges::sort(sorted);
    const double most = sorted[most_lines - 1];
    std::vector<PlotSeries> kept;
    std::string others;
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
      if (distances[i] <= most && kept.size() < most_lines) {
        kept.push_back(std::move(plot.series[i]));
      } else {
        others += (others.empty() ? "" : ", ") + plot.series[i].name;
      }
    }
    plot.foot.insert(plot.foot.begin(), "slower, not drawn: " + others);
    plot.series = std::move(kept);
  }
  std::vector<std::string> names;
  for (const PlotSeries& series : plot.series) names.push_back(series.name);
  names = short_names(names);
  for (std::size_t i = 0; i < names.size(); ++i) plot.series[i].label = names[i];
  return plot;
}

std::string plot_svg(const LinePlot& plot, PlotLook look) {
  const bool panel = !plot.ratio_to.empty();
  LinePlotter plotter{plot};
  std::size_t lines = 1;
  for (const PlotSeries& series : plot.series) lines += LinePlotter::lines_of_label(series).size();
  plotter.bottom =
      std::max(panel ? 400.0 : 420.0, plot_top + (label_line + 1) * static_cast<double>(lines));
  const double panel_top = plotter.bottom + 52, end = panel ? panel_top + 128 : plotter.bottom;
  const std::vector<std::string> foot = foot_lines(plot.foot, plot_left);
  const double height = end + 84 + 16 * static_cast<double>(foot.size());
  plotter.range();
  draw_heading(look, plot.title, plot.below, plot_left, {}, plotter.marks,
               [](std::size_t, Point) {});
  plotter.axes(end, end);
  if (!plot.y_name.empty()) {
    plotter.marks.push_back(
        text_mark({plot_left, plot_top - 8}, plot.y_name, 13, colours::ink, -1, true));
  }
  if (!plot.limit.empty()) plotter.line(plot.limit, colours::mute, 5, {}, 0.35);
  for (std::size_t i = 0; i < plot.series.size(); ++i)
    plotter.band(plot.series[i].measured, colours::line(i));
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const PlotSeries& series = plot.series[i];
    plotter.line(series.model, colours::line(i), series.measured.empty() ? 2.2 : 1.5, {5, 4});
    plotter.line(series.measured, colours::line(i), 2.4, {});
    const auto& shown = series.measured.empty() ? series.model : series.measured;
    if (plot.model_marks) {
      for (const PlotPoint& point : series.model) {
        draw_series_mark(i, {plotter.x(point.x), plotter.y(point.y)},
                         &shown == &series.model ? plotter.data(series, point) : "", plotter.marks,
                         true);
      }
      if (&shown == &series.model) continue;
    }
    for (const PlotPoint& point : shown) {
      if (point.y <= 0) continue;
      draw_series_mark(i, {plotter.x(point.x), plotter.y(point.y)}, plotter.data(series, point),
                       plotter.marks);
    }
  }
  plotter.labels();
  if (panel) plotter.ratio_panel(panel_top, end);
  draw_foot_lines(look, foot, end + 74, plot_left, plotter.marks);
  return plot_text(plotter.marks, height, plot.title + ": " + plot.below, look);
}

}  // namespace wormcube::apps
