// Parts of all plots: marks of series, logarithmic axes, headings, footers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/draw/marks.hpp"
#include "wormcube/apps/draw/plot.hpp"

#include <functional>
#include <string>
#include <vector>

namespace wormcube::apps {

inline constexpr double plot_width = 1120, plot_left = 86, plot_right = 250;

/// Draws the mark of a series. The marks of series 6 to 11 are hollow.
/// \param around  hollow and larger, visible around a filled mark
void draw_series_mark(std::size_t i, Point p, const std::string& data, Marks& marks,
                      bool around = false);

/// Half decades around all values of a logarithmic axis. The ends stay finite and above 0, even at
/// the limits of a double; without a value above 0 the axis is one decade.
void widen_to_half_decades(double& low, double& high);

/// Where a value lies between the ends of a logarithmic axis, from 0 to 1.
double log_share(double value, double low, double high);

struct Tick {
  double value;
  bool is_decade;
};
/// The decades of a logarithmic axis, and twice and five times each. For more than 12 decades:
/// every second, third, .. decade.
std::vector<Tick> log_ticks(double low, double high);

/// Title and subtitle, unless the look is bare, and below them the names of the series beside their
/// samples.
/// \param sample  draws the sample of a series with its corner there
void draw_heading(PlotLook look, const std::string& title, const std::string& below, double left,
                  const std::vector<std::string>& series, Marks& marks,
                  const std::function<void(std::size_t series, Point at)>& sample);
/// The height of the names' lines after the first.
double heading_room(const std::vector<std::string>& series, double left);

/// A name in lines of this width, broken after ':', '-' and blanks.
std::vector<std::string> label_lines(const std::string& name, double font, double width);
/// Each name without the options that all lines of its algorithm share: "ring:order=plain (2)" is
/// "ring (2)" if all have this order.
std::vector<std::string> short_names(const std::vector<std::string>& names);

/// Version, command and host, wrapped to the picture's width.
std::vector<std::string> foot_lines(const std::vector<std::string>& foot, double left);
void draw_foot_lines(PlotLook look, const std::vector<std::string>& lines, double y, double left,
                     Marks& marks);

/// The plots of a page have one width; a plot in its own file is cropped.
std::string plot_text(const Marks& marks, double height, std::string title, PlotLook look);

}  // namespace wormcube::apps
