// The data of plots: values that other commands and the benchmarks wrote as JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/draw/plot.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wormcube::cli {

/// One measured, modelled or counted value, from any source.
struct PlotRow {
  enum class Kind : std::uint8_t { measured, modelled, replayed, counted, figure, benchmark };
  Kind kind = Kind::measured;
  std::string what;       ///< "alltoall", or the counted quantity: "kim, 2 dimensions: start-ups"
  std::string algorithm;  ///< or the curve's name
  std::string network;
  double nodes = 0, bytes = 0;
  double value = 0;  ///< microseconds, or a count
  std::optional<double> low = {}, high = {}, model = {}, bandwidth = {};
  double data_bytes = 0;
  std::string ports = {};
  bool chosen_by_auto = true;
  bool at_least = false;  ///< links are shared, but the model does not know how often
};

/// The contents of one file.
struct PlotFile {
  std::string name;
  std::vector<PlotRow> rows;
  std::vector<apps::LinePlot> figures;  ///< from papers, unchanged
  std::string made;                     ///< version, command, host, cores, date
  long schema = 0;
};

/// Throws UsageError for a file that is not JSON, has nothing to plot, or mixes schemas.
PlotFile read_plot_file(const std::string& name);
/// The same for results from memory. \param name  for messages
PlotFile plot_file_of(Json results, const std::string& name);
/// All points as CSV, one row each, for LaTeX's pgfplots and for data frames; `nan`: no value.
std::string tidy_text(const std::vector<PlotFile>& files);

}  // namespace wormcube::cli
