// What plots are made of: values that other commands and the benchmarks wrote as JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/draw/plot.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wormcube::cli {

/// One measured, modelled or counted value, whoever wrote it.
struct PlotRow {
  enum class Kind : std::uint8_t { measured, modelled, replayed, counted, figure, benchmark };
  Kind kind = Kind::measured;
  std::string what;       ///< "alltoall", or what is counted: "kim, 2 dimensions: start-ups"
  std::string algorithm;  ///< or the curve's name
  std::string network;
  double nodes = 0, bytes = 0;
  double value = 0;  ///< microseconds; of what is counted a number
  std::optional<double> low = {}, high = {}, model = {}, bandwidth = {};
  double data_bytes = 0;
  std::string ports = {};
  bool chosen_by_auto = true;
  bool at_least = false;  ///< links are shared, and the model does not know how often
};

/// What one file has.
struct PlotFile {
  std::string name;
  std::vector<PlotRow> rows;
  std::vector<apps::LinePlot> figures;  ///< of papers, as they are
  std::string made;                     ///< version, command, host, cores, date
  long schema = 0;
};

/// Throws UsageError for what is no JSON, has nothing to plot, or mixes schemas.
PlotFile read_plot_file(const std::string& name);
/// The same of results as they are written. \param name  for messages
PlotFile plot_file_of(Json results, const std::string& name);

}  // namespace wormcube::cli
