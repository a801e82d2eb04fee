// Figure 8 of Wang and Tseng: steps against n on n x n x n tori, counted from the programs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/draw/plot.hpp"
#include "wormcube/apps/reproduce/paper.hpp"
#include "wormcube/collectives/harness/check.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// One line of the figure, either counted from a program or a formula of the paper.
struct FigureSeries {
  std::string_view name;
  bool counted = false;     ///< from the recorded program, else from the formula
  std::string_view source;  ///< the formula, or the program
  /// In the plot, where a program and its formula are one line; empty: the bound of all.
  std::string_view label = {};
  std::vector<std::optional<double>> steps;  ///< one for each n
};

struct BroadcastFigure {
  std::vector<Rank> sides;  ///< n, ascending
  std::vector<FigureSeries> series;
  /// Programs whose counts or delivery differ from their formulas and the checks.
  std::vector<std::string> failures;
};

/// ceil(log_base x): the least t with base^t >= x.
int least_steps(double x, double base);

std::vector<Rank> broadcast_figure_sides();

std::span<const Erratum> wang_tseng_errata();

/// The points of all its lines.
long figure_points(std::span<const Rank> sides);
/// \param count_up_to  nodes; on larger tori programs are not recorded, and only formulas are shown
/// \param so_far       called with the figure after every point; may be empty
BroadcastFigure reproduce_broadcast_figure(
    std::span<const Rank> sides, Rank count_up_to,
    const std::function<void(const BroadcastFigure&)>& so_far = {});

/// The line with that name, without steps; nothing if there is none.
std::optional<FigureSeries> figure_series(std::string_view name);
/// The figure as a plot, n on a logarithmic axis: counted values as solid lines with filled marks,
/// formulas alone as dashed ones with hollow marks.
LinePlot plot_of(const BroadcastFigure& figure);

}  // namespace wormcube::apps
