// Plots of measurements and of the cost model: lines with quartiles, maps of winners.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/draw/marks.hpp"

#include <optional>
#include <string>
#include <vector>

namespace wormcube::apps {

struct PlotPoint {
  double x, y;
  std::optional<double> low = {}, high = {};  ///< quartiles
};
/// One line: measured points, and the modelled ones dashed.
struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> measured, model;  ///< ascending by x
  std::string label = {};  ///< the part of the name that differs from the others'; empty: the name
};
struct LinePlot {
  enum class X : std::uint8_t { bytes, nodes, number } x = X::bytes;
  /// `count` is linear from 0 on, the others are logarithmic.
  enum class Y : std::uint8_t { microseconds, gigabytes_per_second, blocks, count };
  Y y = Y::microseconds;
  std::string title, below, x_name, y_name;
  std::vector<std::string> foot;
  std::vector<PlotSeries> series;
  bool model_marks = false;           ///< modelled points have hollow marks
  std::vector<PlotPoint> limit = {};  ///< a grey line: copying alone
  std::string limit_name = {};
  /// The second panel shows each series as a multiple of the series with this name, or as a share
  /// of the limit; empty: no panel.
  std::string ratio_to = {};
};
/// Times of one block size: a bar for each algorithm.
struct BarPlot {
  struct Bar {
    std::string name;
    double microseconds = 0;
    std::optional<double> low = {}, high = {}, model = {};
    std::string ratio = {};  ///< text after the time: "1.5 ×"
  };
  std::string title, below;
  std::vector<std::string> foot;
  std::vector<Bar> bars;  ///< top to bottom
};
/// Values of networks without a common measure: one row per network, one mark per series.
struct DotPlot {
  struct Value {
    std::optional<double> counted = {}, formula = {};
  };
  struct Row {
    std::string name;
    std::vector<Value> values;  ///< one per series
  };
  std::string title, below, x_name;
  std::vector<std::string> series, foot;
  std::vector<Row> rows;  ///< top to bottom
};
/// A map of the fastest algorithms: rows are networks, columns block sizes.
struct WinnerMap {
  struct Cell {
    int winner = -1;    ///< index of an algorithm; -1: none runs there
    double factor = 1;  ///< how many times faster than the second
  };
  struct Row {
    Rank nodes;
    std::string network;
    std::vector<Cell> cells;
  };
  std::string title, below;
  std::vector<std::string> algorithms, foot;
  std::vector<double> sizes;
  std::vector<Row> rows;  ///< ascending by nodes; drawn upwards
};

/// In the page's colours; as a picture of its own; or the same without heading and foot, for a
/// document that has a caption.
enum class PlotLook : std::uint8_t { page, picture, bare };
std::string plot_svg(const LinePlot& plot, PlotLook look);
std::string plot_svg(const BarPlot& plot, PlotLook look);
std::string plot_svg(const DotPlot& plot, PlotLook look);
std::string plot_svg(const WinnerMap& map, PlotLook look);

/// A picture shows this many lines at most.
inline constexpr std::size_t most_lines = 8;
/// The lines that are best at some point, or nearly so; the foot names the others. A plot with few
/// lines stays as it is. Afterwards each line has a label.
LinePlot readable(LinePlot plot);

/// "100 µs", "1 ms"; "2.5 MB/s"; "64", "4 K".
std::string time_label(double microseconds);
std::string rate_label(double gigabytes_per_second);
std::string size_label(double bytes);

}  // namespace wormcube::apps
