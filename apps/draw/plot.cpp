// Plots as marks: axes, lines, bands, labels at the lines.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/plot.hpp"

#include "wormcube/apps/draw/page.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/core.h>

namespace wormcube::apps {

std::string time_label(double us) {
  const auto text = [](double x) { return fmt::format("{:.4g}", x); };
  if (us < 0.9995) return text(us * 1000) + " ns";
  if (us < 999.5) return text(us) + " µs";
  return us < 999'500 ? text(us / 1000) + " ms" : text(us / 1e6) + " s";
}
std::string rate_label(double gigabytes_per_second) {
  double value = gigabytes_per_second * 1e9;
  constexpr const char* units[] = {"B/s", "KB/s", "MB/s", "GB/s", "TB/s"};
  int i = 0;
  for (; value >= 999.5 && i < 4; ++i) value /= 1000;
  return fmt::format("{:.4g} {}", value, units[i]);
}
std::string size_label(double bytes) {
  constexpr const char* units[] = {"", " K", " M", " G"};
  int i = 0;
  for (; bytes >= 1024 && i < 3; ++i) bytes /= 1024;
  return fmt::format("{:.4g}{}", bytes, units[i]);
}

namespace {

constexpr double plot_width = 1120, plot_left = 86, plot_right = 250, plot_top = 86;

/// What marks a series beside its colour: of the second six hollow.
/// \param around  hollow and larger, to be seen around a filled one
void draw_series_mark(std::size_t i, Point p, const std::string& data, Marks& marks,
                      bool around = false) {
  const double r = around ? 6.2 : 4.2;
  const Colour colour = colours::line(i);
  Mark mark = circle_mark(p, r, colour);
  const auto outline = [&](std::vector<Point> points) {
    for (Point& q : points) q = p + r * q;
    mark = path_mark({std::move(points)}, {}, 0);
    mark.fill = colour, mark.closed = true;
  };
  switch (i % 6) {
    case 1:
      mark = rect_mark(p - Point{r - 0.4, r - 0.4}, {2 * r - 0.8, 2 * r - 0.8}, 0, colour);
      break;
    case 2:
      outline({{0, -1.2}, {1.1, 0.8}, {-1.1, 0.8}});
      break;
    case 3:
      outline({{0, -1.25}, {1.25, 0}, {0, 1.25}, {-1.25, 0}});
      break;
    case 4:
      mark = path_mark({{p + Point{-r, -r}, p + Point{r, r}}, {p + Point{-r, r}, p + Point{r, -r}}},
                       colour, 2.2);
      break;
    case 5:
      mark = circle_mark(p, r - 0.5, colours::bg, colour, 2);
      break;
    default:
      break;
  }
  if (around) {
    mark.fill = {}, mark.stroke = colour, mark.width = 1.4;
  } else if (i % 12 >= 6 && !mark.fill.none()) {
    mark.fill = colours::bg, mark.stroke = colour, mark.width = 1.6;
  }
  mark.data = data;
  marks.push_back(std::move(mark));
}

/// Half decades around all values of a logarithmic axis. All stays finite and above 0, even at the
/// ends of what a double can hold; without a value above 0 it is one decade.
void widen_to_half_decades(double& low, double& high) {
  if (!(low <= high)) low = 1, high = 10;
  constexpr double least = std::numeric_limits<double>::denorm_min(),
                   most = std::numeric_limits<double>::max();
  low = std::max(std::pow(10, std::floor(2 * std::log10(low) - 0.05) / 2), least);
  high = std::min(std::pow(10, std::ceil(2 * std::log10(high) + 0.05) / 2), most);
}

/// Where a value lies between the ends of a logarithmic axis, from 0 to 1. No quotient, which might
/// leave what a double can hold.
double log_share(double value, double low, double high) {
  return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
}

struct Tick {
  double value;
  bool is_decade;
};
/// The decades of a logarithmic axis, and twice and five times each; of more than 12 decades every
/// second, third, ..
std::vector<Tick> log_ticks(double low, double high) {
  const int first = static_cast<int>(std::floor(std::log10(low))),
            last = static_cast<int>(std::floor(std::log10(high) + 0.01));
  constexpr int most_decades = 12;
  const int every = 1 + (last - first) / (most_decades + 1);
  std::vector<Tick> ticks;
  for (int e = first; e <= last; ++e) {
    if (e % every != 0) continue;
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && every > 1) continue;
      const double value = factor * std::pow(10, e);
      if (!std::isfinite(value) || value < low * 0.999 || value > high * 1.001) continue;
      ticks.push_back({value, factor == 1});
    }
  }
  return ticks;
}

/// Between the lines of a linear axis from 0: 2 or 5, and of larger values 1, 2 or 5 times a power
/// of ten, at most 20 lines.
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

  /// Names at the lines' ends, 18 apart, with a thin leader where one had to give way.
  void labels() {
    struct End {
      double wanted, at;
      std::string name;
      Colour colour;
      bool bold;
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
      ends.push_back({at, at, series.name, colours::line(i), true});
    }
    if (!plot.limit.empty()) {
      const double at = std::min(bottom, y(plot.limit.back().y));
      ends.push_back({at, at, plot.limit_name, colours::mute, false});
    }
    std::ranges::sort(ends, {}, &End::wanted);
    for (std::size_t i = 1; i < ends.size(); ++i)
      ends[i].at = std::max(ends[i].at, ends[i - 1].at + 18);
    const double over = ends.empty() ? 0 : std::max(0.0, ends.back().at - bottom);
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      if (end == ends.rbegin())
        end->at -= over;
      else
        end->at = std::min(end->at, (end - 1)->at - 18);
    }
    const double right = plot_width - plot_right;
    for (const End& end : ends) {
      if (std::abs(end.at - end.wanted) > 12) {
        marks.push_back(
            path_mark({{{right + 8, end.wanted}, {right + 18, end.at}}}, colours::faint, 1));
      }
      marks.push_back(text_mark({right + 22, end.at + 5}, end.name, 15, end.colour, -1, end.bold));
    }
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
    marks.push_back(
        text_mark({plot_left, top - 10},
                  share ? fmt::format("share of the {}", plot.limit_name)
                        : fmt::format("how many times the {} of {}", noun(), plot.ratio_to),
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
      if (line.size() > 1) marks.push_back(path_mark({line}, colours::line(i), 1.8));
      for (const Point p : line) draw_series_mark(i, p, "", marks);
    }
  }
};

/// Version, command, host: in lines of the picture's width.
std::vector<std::string> foot_lines(const std::vector<std::string>& foot, double left) {
  std::vector<std::string> lines;
  for (const std::string& line : foot) {
    for (std::string& part : wrapped(line, 11.5, plot_width - left - 24)) {
      lines.push_back(std::move(part));
    }
  }
  return lines;
}

/// Title, what is seen, the names of the series beside their samples.
/// \param sample  (series, x): draws its sample; false: it is not named
template <class Sample>
void draw_heading(const std::string& title, const std::string& below, double left,
                  const std::vector<std::string>& series, Marks& marks, const Sample& sample) {
  marks.push_back(text_mark({left, 38}, title, 21, colours::ink, -1, true));
  marks.push_back(text_mark({left, 60}, below, 13, colours::mute));
  double x = left;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (!sample(i, x)) continue;
    marks.push_back(text_mark({x + 18, 90}, series[i], 13, colours::line(i), -1, true));
    x += 44 + text_room(series[i], 13, true);
  }
}

void draw_foot_lines(const std::vector<std::string>& lines, double y, double left, Marks& marks) {
  for (const std::string& line : lines) {
    marks.push_back(text_mark({left, y}, line, 11.5, colours::mute));
    y += 16;
  }
}

/// The plots of a page have one width; one in a file of its own is cropped.
std::string plot_text(const Marks& marks, double height, std::string title, bool themed) {
  const SvgOptions options{.title = std::move(title), .classes = "plot", .themed = themed};
  return themed ? svg_text(marks, {0, 0}, {plot_width, height}, options)
                : cropped_svg(marks, options);
}

}  // namespace

std::string plot_svg(const LinePlot& plot, bool themed) {
  const bool panel = !plot.ratio_to.empty();
  LinePlotter plotter{plot};
  // Names at the lines' ends are 18 apart.
  plotter.bottom =
      std::max(panel ? 400.0 : 420.0, plot_top + 18 * static_cast<double>(plot.series.size() + 1));
  const double panel_top = plotter.bottom + 52, end = panel ? panel_top + 128 : plotter.bottom;
  const std::vector<std::string> foot = foot_lines(plot.foot, plot_left);
  const double height = end + 84 + 16 * static_cast<double>(foot.size());
  plotter.range();
  draw_heading(plot.title, plot.below, plot_left, {}, plotter.marks,
               [](std::size_t, double) { return false; });
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
  draw_foot_lines(foot, end + 74, plot_left, plotter.marks);
  return plot_text(plotter.marks, height, plot.title + ": " + plot.below, themed);
}

std::string plot_svg(const DotPlot& plot, bool themed) {
  constexpr double row_height = 26, top = 118;
  double left = plot_left, low = std::numeric_limits<double>::infinity(), high = 0;
  for (const DotPlot::Row& row : plot.rows) {
    left = std::max(left, 24 + text_room(row.name, 13, false) + 14);
    for (const DotPlot::Value& value : row.values) {
      for (const std::optional<double>& x : {value.counted, value.formula}) {
        if (x && *x > 0) low = std::min(low, *x), high = std::max(high, *x);
      }
    }
  }
  left = std::min(left, 420.0);
  const double right = plot_width - 40;
  widen_to_half_decades(low, high);
  const auto x_of = [&](double x) {
    return left + log_share(std::max(x, low), low, high) * (right - left);
  };
  const double bottom = top + row_height * static_cast<double>(plot.rows.size());
  const std::vector<std::string> foot = foot_lines(plot.foot, left);
  Marks marks;
  draw_heading(plot.title, plot.below, left, plot.series, marks, [&](std::size_t i, double x) {
    draw_series_mark(i, {x + 6, 85}, "", marks);
    return true;
  });
  for (const Tick& tick : log_ticks(low, high)) {
    const double x = x_of(tick.value);
    marks.push_back(path_mark({{{x, top - 8}, {x, bottom}}},
                              tick.is_decade ? colours::faint : colours::rule, 1));
    marks.push_back(
        text_mark({x, bottom + 20}, fmt::format("{:.6g}", tick.value), 13, colours::mute, 0));
  }
  marks.push_back(text_mark({(left + right) / 2, bottom + 44}, plot.x_name, 13, colours::ink, 0));
  for (std::size_t r = 0; r < plot.rows.size(); ++r) {
    const DotPlot::Row& row = plot.rows[r];
    const double y = top + row_height * (static_cast<double>(r) + 0.5);
    marks.push_back(path_mark({{{left, y}, {right, y}}}, colours::rule, 1));
    marks.push_back(text_mark({left - 14, y + 4.5}, row.name, 13, colours::ink, 1));
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const auto& [counted, formula] = row.values[i];
      if (formula && *formula > 0) draw_series_mark(i, {x_of(*formula), y}, "", marks, true);
      if (!counted || *counted <= 0) continue;
      draw_series_mark(i, {x_of(*counted), y},
                       fmt::format(" data-x=\"{}\" data-y=\"{:.17g}\" data-name=\"{}\"",
                                   escaped(row.name), *counted, escaped(plot.series[i])),
                       marks);
    }
  }
  draw_foot_lines(foot, bottom + 76, left, marks);
  const double height = bottom + 84 + 16 * static_cast<double>(foot.size());
  return plot_text(marks, height, plot.title + ": " + plot.below, themed);
}

std::string plot_svg(const WinnerMap& map, bool themed) {
  constexpr double left = 150, cell_height = 50, top = 104;
  const double cell =
      std::min(90.0, (plot_width - left - 30) / static_cast<double>(map.sizes.size()));
  const double bottom = top + cell_height * static_cast<double>(map.rows.size());
  const std::vector<std::string> foot = foot_lines(map.foot, left);
  Marks marks;
  draw_heading(map.title, map.below, left, map.algorithms, marks, [&](std::size_t i, double x) {
    const bool wins = std::ranges::any_of(map.rows, [&](const auto& row) {
      return std::ranges::any_of(row.cells,
                                 [&](const auto& c) { return c.winner == static_cast<int>(i); });
    });
    if (wins) marks.push_back(rect_mark({x, 79}, {12, 12}, 3, colours::line(i)));
    return wins;
  });
  marks.push_back(text_mark({left - 14, 90}, "nodes", 13, colours::ink, 1));
  const auto cell_of = [&](std::size_t row, std::size_t column) -> const WinnerMap::Cell& {
    return map.rows[map.rows.size() - 1 - row].cells[column];
  };
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    const WinnerMap::Row& row = map.rows[map.rows.size() - 1 - i];
    const double y = top + cell_height * static_cast<double>(i);
    marks.push_back(
        text_mark({left - 14, y + 22}, std::to_string(row.nodes), 13, colours::ink, 1, true));
    marks.push_back(text_mark({left - 14, y + 37}, row.network, 11.5, colours::mute, 1));
    for (std::size_t j = 0; j < map.sizes.size(); ++j) {
      const WinnerMap::Cell& c = row.cells[j];
      const Point corner{left + cell * static_cast<double>(j), y};
      if (c.winner < 0) continue;
      const double opacity = 0.24 + 0.76 * std::min(1.0, c.factor - 1);
      Mark ground = rect_mark(corner, {cell, cell_height}, 0,
                              colours::line(static_cast<std::size_t>(c.winner)));
      ground.opacity = opacity;
      const std::string text = c.factor < 1.005  ? "="
                               : c.factor < 1000 ? fmt::format("{:.1f}", c.factor)
                                                 : fmt::format("{:.3g}", c.factor);
      ground.data = fmt::format(
          " data-x=\"{:.17g}\" data-nodes=\"{}\" data-winner=\"{}\" data-factor=\"{:.6g}\"",
          map.sizes[j], row.nodes, escaped(map.algorithms[static_cast<std::size_t>(c.winner)]),
          c.factor);
      marks.push_back(std::move(ground));
      marks.push_back(text_mark(corner + Point{cell / 2, 30}, text, 13,
                                opacity > 0.81  ? colours::white
                                : opacity > 0.6 ? colours::middle
                                                : colours::ink,
                                0));
    }
  }
  // Regions are parted by lines of the ground.
  std::vector<std::vector<Point>> seams;
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    for (std::size_t j = 0; j < map.sizes.size(); ++j) {
      const double x0 = left + cell * static_cast<double>(j),
                   y0 = top + cell_height * static_cast<double>(i);
      if (j > 0 && cell_of(i, j).winner != cell_of(i, j - 1).winner)
        seams.push_back({{x0, y0}, {x0, y0 + cell_height}});
      if (i > 0 && cell_of(i, j).winner != cell_of(i - 1, j).winner)
        seams.push_back({{x0, y0}, {x0 + cell, y0}});
    }
  }
  if (!seams.empty()) {
    marks.push_back(path_mark(std::move(seams), colours::bg, 3.5));
    marks.back().round = true;
  }
  for (std::size_t j = 0; j < map.sizes.size(); ++j) {
    marks.push_back(text_mark({left + cell * (static_cast<double>(j) + 0.5), bottom + 20},
                              size_label(map.sizes[j]), 13, colours::mute, 0));
  }
  marks.push_back(text_mark({left + cell * static_cast<double>(map.sizes.size()) / 2, bottom + 44},
                            "block, bytes", 13, colours::ink, 0));
  draw_foot_lines(foot, bottom + 76, left, marks);
  const double height = bottom + 84 + 16 * static_cast<double>(foot.size());
  return plot_text(marks, height, map.title + ": " + map.below, themed);
}

}  // namespace wormcube::apps
