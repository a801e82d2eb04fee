// Parts of all plots: marks, logarithmic axes, headings, footers.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/plot_parts.hpp"

#include "wormcube/apps/draw/plot.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <sstream>

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

void draw_series_mark(std::size_t i, Point p, const std::string& data, Marks& marks, bool around) {
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

void widen_to_half_decades(double& low, double& high) {
  if (!(low <= high)) low = 1, high = 10;
  constexpr double least = std::numeric_limits<double>::denorm_min(),
                   most = std::numeric_limits<double>::max();
  low = std::max(std::pow(10, std::floor(2 * std::log10(low) - 0.05) / 2), least);
  high = std::min(std::pow(10, std::ceil(2 * std::log10(high) + 0.05) / 2), most);
}

double log_share(double value, double low, double high) {
  // A quotient of the values could overflow a double.
  return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
}

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

std::vector<std::string> foot_lines(const std::vector<std::string>& foot, double left) {
  std::vector<std::string> lines;
  for (const std::string& line : foot) {
    for (std::string& part : wrapped(line, 11.5, plot_width - left - 24)) {
      lines.push_back(std::move(part));
    }
  }
  return lines;
}

namespace {

constexpr double legend_line = 20;

/// Where each name of a legend begins; the corner of its sample.
std::vector<Point> legend_places(const std::vector<std::string>& series, double left) {
  std::vector<Point> places;
  Point at{left, 79};
  for (const std::string& name : series) {
    const double room = 18 + text_room(name, 13, true);
    if (at.x > left && at.x + room > plot_width - 24) at = {left, at.y + legend_line};
    places.push_back(at);
    at.x += room + 26;
  }
  return places;
}

}  // namespace

double heading_room(const std::vector<std::string>& series, double left) {
  const std::vector<Point> places = legend_places(series, left);
  return places.empty() ? 0 : places.back().y - places.front().y;
}

void draw_heading(PlotLook look, const std::string& title, const std::string& below, double left,
                  const std::vector<std::string>& series, Marks& marks,
                  const std::function<void(std::size_t series, Point at)>& sample) {
  if (look != PlotLook::bare) {
    marks.push_back(text_mark({left, 38}, title, 21, colours::ink, -1, true));
    marks.push_back(text_mark({left, 60}, below, 13, colours::mute));
  }
  const std::vector<Point> places = legend_places(series, left);
  for (std::size_t i = 0; i < series.size(); ++i) {
    sample(i, places[i]);
    marks.push_back(
        text_mark(places[i] + Point{18, 11}, series[i], 13, colours::line(i), -1, true));
  }
}

std::vector<std::string> label_lines(const std::string& name, double font, double width) {
  std::vector<std::string> lines(1);
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find_first_of(":- ", begin), name.size() - 1) + 1;
    const std::string part = name.substr(begin, end - begin);
    begin = end;
    if (!lines.back().empty() && text_room(lines.back() + part, font, true) > width) {
      lines.emplace_back();
    }
    lines.back() += part;
    if (text_room(lines.back(), font, true) > width) {  // one long word
      std::vector<std::string> split = wrapped(lines.back(), font, width);
      lines.pop_back();
      std::ranges::move(split, std::back_inserter(lines));
    }
  }
  return lines;
}

std::vector<std::string> short_names(const std::vector<std::string>& names) {
  struct Parts {
    std::string algorithm, rest;
    std::vector<std::string> options;
  };
  std::vector<Parts> all;
  for (const std::string& name : names) {
    Parts& parts = all.emplace_back();
    const std::size_t blank = std::min(name.find(' '), name.size());
    parts.rest = name.substr(blank);
    std::istringstream words(name.substr(0, blank));
    std::getline(words, parts.algorithm, ':');
    for (std::string word; std::getline(words, word, ':');) parts.options.push_back(word);
  }
  std::vector<std::string> shorter;
  for (const Parts& parts : all) {
    std::string& name = shorter.emplace_back(parts.algorithm);
    for (const std::string& option : parts.options) {
      const bool shared = std::ranges::all_of(all, [&](const Parts& other) {
        return other.algorithm != parts.algorithm ||
               std::ranges::find(other.options, option) != other.options.end();
      });
      if (!shared) name += ":" + option;
    }
    name += parts.rest;
  }
  return shorter;
}

void draw_foot_lines(PlotLook look, const std::vector<std::string>& lines, double y, double left,
                     Marks& marks) {
  if (look == PlotLook::bare) return;
  for (const std::string& line : lines) {
    marks.push_back(text_mark({left, y}, line, 11.5, colours::mute));
    y += 16;
  }
}

std::string plot_text(const Marks& marks, double height, std::string title, PlotLook look) {
  const bool themed = look == PlotLook::page;
  const SvgOptions options{.title = std::move(title), .classes = "plot", .themed = themed};
  return themed ? svg_text(marks, {0, 0}, {plot_width, height}, options)
                : cropped_svg(marks, options);
}

}  // namespace wormcube::apps
