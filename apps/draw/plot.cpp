// Plots of networks without a common measure, and maps of winners.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/plot.hpp"

#include "wormcube/apps/draw/page.hpp"
#include "wormcube/apps/draw/plot_parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

namespace wormcube::apps {

std::string plot_svg(const DotPlot& plot, PlotLook look) {
  constexpr double row_height = 26;
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
  const double right = plot_width - 40, top = 118 + heading_room(plot.series, left);
  widen_to_half_decades(low, high);
  const auto x_of = [&](double x) {
    return left + log_share(std::max(x, low), low, high) * (right - left);
  };
  const double bottom = top + row_height * static_cast<double>(plot.rows.size());
  const std::vector<std::string> foot = foot_lines(plot.foot, left);
  Marks marks;
  draw_heading(look, plot.title, plot.below, left, plot.series, marks,
               [&](std::size_t i, Point at) {
                 draw_series_mark(i, at + Point{6, 6}, "", marks);
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
  draw_foot_lines(look, foot, bottom + 76, left, marks);
  const double height = bottom + 84 + 16 * static_cast<double>(foot.size());
  return plot_text(marks, height, plot.title + ": " + plot.below, look);
}

std::string plot_svg(const BarPlot& plot, PlotLook look) {
  constexpr double row_height = 30, bar_height = 18, top = 92;
  double left = plot_left, high = 0;
  for (const BarPlot::Bar& bar : plot.bars) {
    left = std::max(left, 24 + text_room(bar.name, 14, true) + 14);
    high = std::max({high, bar.microseconds, bar.high.value_or(0), bar.model.value_or(0)});
  }
  left = std::min(left, 460.0);
  const double right = plot_width - 190,
               bottom = top + row_height * static_cast<double>(plot.bars.size());
  const double decade = std::pow(10, std::floor(std::log10(high / 5)));
  double step = 10 * decade;
  for (const double factor : {5.0, 2.0, 1.0}) {
    if (high / (factor * decade) <= 6) step = factor * decade;
  }
  const auto x_of = [&](double us) { return left + us / high * (right - left); };
  Marks marks;
  draw_heading(look, plot.title, plot.below, left, {}, marks, [](std::size_t, Point) {});
  for (int i = 0; i * step <= high * 1.001; ++i) {
    const double x = x_of(i * step);
    marks.push_back(path_mark({{{x, top - 8}, {x, bottom}}}, colours::rule, 1));
    marks.push_back(
        text_mark({x, bottom + 20}, i == 0 ? "0" : time_label(i * step), 13, colours::mute, 0));
  }
  for (std::size_t r = 0; r < plot.bars.size(); ++r) {
    const BarPlot::Bar& bar = plot.bars[r];
    const double y = top + row_height * (static_cast<double>(r) + 0.5),
                 end = x_of(bar.microseconds);
    const std::vector<std::string> names = label_lines(bar.name, 14, left - 38);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double at = y + 5 + 15 * (static_cast<double>(i) - (names.size() - 1) / 2.0);
      marks.push_back(text_mark({left - 14, at}, names[i], 14, colours::ink, 1, true));
    }
    Mark body =
        rect_mark({left, y - bar_height / 2}, {end - left, bar_height}, 2, colours::line(0));
    body.data = fmt::format(" data-x=\"{}\" data-y=\"{:.17g}\" data-name=\"{}\" data-text=\"{}\"",
                            escaped(bar.name), bar.microseconds, escaped(bar.name),
                            time_label(bar.microseconds));
    marks.push_back(std::move(body));
    double after = end;
    if (bar.low && bar.high) {
      const double x0 = x_of(*bar.low), x1 = x_of(*bar.high);
      marks.push_back(
          path_mark({{{x0, y}, {x1, y}}, {{x0, y - 5}, {x0, y + 5}}, {{x1, y - 5}, {x1, y + 5}}},
                    colours::ink, 1.4));
      after = std::max(after, x1);
    }
    if (bar.model && *bar.model > 0) {
      const double x = x_of(*bar.model);
      Mark model = path_mark({{{x, y - 12}, {x, y + 12}}}, colours::line(1), 2.2);
      model.dash = {4, 3};
      marks.push_back(std::move(model));
      after = std::max(after, x);
    }
    marks.push_back(
        text_mark({after + 9, y + 5},
                  time_label(bar.microseconds) + (bar.ratio.empty() ? "" : " · " + bar.ratio), 13,
                  colours::ink, -1));
  }
  const std::vector<std::string> foot = foot_lines(plot.foot, left);
  draw_foot_lines(look, foot, bottom + 56, left, marks);
  const double height = bottom + 66 + 16 * static_cast<double>(foot.size());
  return plot_text(marks, height, plot.title + ": " + plot.below, look);
}

std::string plot_svg(const WinnerMap& map, PlotLook look) {
  constexpr double cell_height = 50;
  double left = 150;
  for (const WinnerMap::Row& row : map.rows) {
    left = std::max(left, 24 + text_room(row.network, 11.5, false) + 14);
  }
  left = std::min(left, 420.0);
  const double top = 104 + heading_room(map.algorithms, left);
  const double cell =
      std::min(90.0, (plot_width - left - 30) / static_cast<double>(map.sizes.size()));
  const double bottom = top + cell_height * static_cast<double>(map.rows.size());
  const std::vector<std::string> foot = foot_lines(map.foot, left);
  Marks marks;
  draw_heading(look, map.title, map.below, left, map.algorithms, marks,
               [&](std::size_t i, Point at) {
                 marks.push_back(rect_mark(at, {12, 12}, 3, colours::line(i)));
               });
  marks.push_back(text_mark({left - 14, top - 14}, "nodes", 13, colours::ink, 1));
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
  // Lines in the background colour separate regions.
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
  draw_foot_lines(look, foot, bottom + 76, left, marks);
  const double height = bottom + 84 + 16 * static_cast<double>(foot.size());
  return plot_text(marks, height, map.title + ": " + map.below, look);
}

}  // namespace wormcube::apps
