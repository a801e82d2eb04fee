// JSON of results as rows to plot.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/plot_rows.hpp"

#include "wormcube/apps/io/text.hpp"
#include "wormcube/apps/reproduce/wang_tseng.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <sstream>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

std::optional<double> number_of(const Json& row, const char* key) {
  const auto value = row.find(key);
  if (value == row.end() || !value->is_number()) return std::nullopt;
  return value->get<double>();
}
/// A number of nodes or a side; 0: not a number.
Rank rank_of(double value) {
  return value >= 0 && value <= std::numeric_limits<Rank>::max() ? static_cast<Rank>(value) : 0;
}
std::string text_of(const Json& row, const char* key) {
  const auto value = row.find(key);
  return value != row.end() && value->is_string() ? value->get<std::string>() : std::string();
}
const Json& list_of(const Json& row, const char* key) {
  static const Json none = Json::array();
  const auto value = row.find(key);
  return value != row.end() && value->is_array() ? *value : none;
}

std::string algorithm_with_options(const Json& json) {
  std::string name = text_of(json, "algorithm");
  if (const auto options = json.find("options"); options != json.end() && options->is_object()) {
    for (const auto& [key, value] : options->items()) {
      name +=
          fmt::format(":{}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return name;
}

/// 0 for a graph whose file is missing.
double nodes_of(const std::string& network) {
  try {
    return Topology::parse(network).nodes();
  } catch (const UsageError&) {
    return 0;
  }
}

/// Rows of run, list, check and replay; results without a time are skipped.
void read_timed_row(const Json& json, PlotFile& file) {
  PlotRow row;
  row.what = text_of(json, "operation");
  row.algorithm = algorithm_with_options(json);
  row.network = text_of(json, "topology");
  row.ports = text_of(json, "ports");
  if (row.what.empty() || row.algorithm.empty()) return;
  row.nodes =
      rank_of(number_of(json, "nodes").value_or(number_of(json, "nodes_in_all").value_or(0)));
  if (row.nodes <= 0 && !row.network.empty()) row.nodes = nodes_of(row.network);
  row.bytes = number_of(json, "block_bytes").value_or(0);
  row.model = number_of(json, "model_time_us");
  const auto considered = json.find("considered_by_auto");
  row.chosen_by_auto = considered == json.end() || *considered != Json(false);
  row.at_least = text_of(json, "model_contention") == "unknown";
  const auto counted = json.find("time_lockstep_us");
  if (const auto median = number_of(json, "time_median_us")) {
    row.kind = PlotRow::Kind::measured;
    row.value = *median;
    row.low = number_of(json, "time_quartile1_us"), row.high = number_of(json, "time_quartile3_us");
    row.bandwidth = number_of(json, "algbw_gb_per_s");
    row.data_bytes = number_of(json, "data_bytes").value_or(0);
  } else if (const auto picoseconds = number_of(json, "time_ps")) {
    row.kind = PlotRow::Kind::replayed;
    row.value = *picoseconds / 1e6;
    row.model = number_of(json, "formula_us");
  } else if (counted != json.end() && counted->is_object() && number_of(*counted, "total")) {
    // Counted step by step, with contention.
    row.kind = PlotRow::Kind::modelled;
    row.value = *number_of(*counted, "total");
    row.at_least = false;
  } else if (row.model && !row.network.empty()) {
    row.kind = PlotRow::Kind::modelled;
    row.value = *row.model;
  } else {
    return;
  }
  file.rows.push_back(std::move(row));
}

/// A paper's tables: the counted figure and the corrected formula for each network.
void read_table(const Json& json, PlotFile& file) {
  const std::string paper = text_of(json, "paper");
  for (const Json& entry : list_of(json, "rows")) {
    if (!entry.is_object()) continue;
    const std::string network = text_of(entry, "topology");
    const auto add = [&](const std::string& what, std::string name, std::optional<double> value,
                         std::optional<double> model) {
      if (!value) return;
      PlotRow row;
      row.kind = PlotRow::Kind::counted;
      row.what = fmt::format("{}: {}", paper, what), row.algorithm = std::move(name);
      row.network = network, row.nodes = nodes_of(network);
      row.value = *value, row.model = model;
      file.rows.push_back(std::move(row));
    };
    for (const auto& [key, what] : {std::pair("startups", "start-ups"),
                                    std::pair("transmission_blocks", "transmission, blocks"),
                                    std::pair("rearranged_blocks", "rearranged, blocks")}) {
      const auto figure = entry.find(key);
      if (figure == entry.end() || !figure->is_object()) continue;
      add(what, text_of(entry, "row"), number_of(*figure, "counted"),
          number_of(*figure, "corrected"));
    }
    for (const Json& exchange : list_of(entry, "exchanges")) {
      const std::string ports = text_of(exchange, "ports");
      add(fmt::format("steps, {} {}", ports, ports == "all" ? "ports" : "port"),
          text_of(exchange, "label"), number_of(exchange, "steps"),
          number_of(exchange, "predicted"));
    }
  }
}

/// Wang and Tseng's figure, as `reproduce wang-tseng --svg` draws it.
void read_broadcast_figure(const Json& json, PlotFile& file) {
  apps::BroadcastFigure figure;
  std::set<Rank> sides;
  for (const Json& series : list_of(json, "series")) {
    for (const Json& point : list_of(series, "points")) {
      if (const auto n = number_of(point, "n")) sides.insert(rank_of(*n));
    }
  }
  figure.sides.assign(sides.begin(), sides.end());
  for (const Json& json_series : list_of(json, "series")) {
    auto series = apps::figure_series(text_of(json_series, "name"));
    if (!series) continue;
    series->steps.resize(figure.sides.size());
    for (const Json& point : list_of(json_series, "points")) {
      const auto n = number_of(point, "n");
      if (!n) continue;
      const auto at = std::ranges::find(figure.sides, rank_of(*n));
      series->steps[static_cast<std::size_t>(at - figure.sides.begin())] =
          number_of(point, "steps");
    }
    figure.series.push_back(std::move(*series));
  }
  if (!figure.sides.empty()) file.figures.push_back(apps::plot_of(figure));
}

/// Google Benchmark's: "name/8/1024": the last number is the abscissa.
void read_benchmarks(const Json& json, PlotFile& file) {
  for (const Json& entry : json["benchmarks"]) {
    const std::string name = text_of(entry, "name");
    if (text_of(entry, "run_type") == "aggregate") continue;
    const auto time = number_of(entry, "real_time");
    if (!time) continue;
    // The last part that is a number: "message/running/64/real_time".
    std::size_t end = name.size();
    double x = 0;
    std::string rest;
    while (end != std::string::npos && x <= 0) {
      const std::size_t slash = name.find_last_of('/', end - 1);
      if (slash == std::string::npos) break;
      const std::string part = name.substr(slash + 1, end - slash - 1);
      char* stop = nullptr;
      const double value = std::strtod(part.c_str(), &stop);
      if (!part.empty() && *stop == '\0' && value > 0) {
        x = value;
        rest = name.substr(0, slash) + name.substr(end);
      }
      end = slash;
    }
    if (x <= 0) continue;
    const std::string unit = text_of(entry, "time_unit");
    const double factor = unit == "ns" ? 1e-3 : unit == "ms" ? 1e3 : unit == "s" ? 1e6 : 1;
    PlotRow row;
    row.kind = PlotRow::Kind::benchmark;
    row.what = rest.substr(0, rest.find('/')), row.algorithm = rest, row.bytes = x;
    row.value = factor * *time;
    if (!std::isfinite(row.value)) continue;
    file.rows.push_back(std::move(row));
  }
  const auto context = json.find("context");
  if (context != json.end() && context->is_object()) {
    file.made = fmt::format("{} · {} cores · {}", text_of(*context, "host_name"),
                            number_of(*context, "num_cpus").value_or(0), text_of(*context, "date"));
  }
}

void read_made(const Json& row, PlotFile& file) {
  const auto made = row.find("provenance");
  if (made == row.end() || !made->is_object()) return;
  const Rank schema = rank_of(number_of(*made, "schema").value_or(0));
  if (file.schema != 0 && schema != file.schema) {
    throw UsageError(
        fmt::format("plot: '{}' has results of schemas {} and {}; plot one schema at a time",
                    file.name, file.schema, schema));
  }
  file.schema = schema;
  if (file.made.empty()) {
    file.made = fmt::format("wormcube {} · {} · {}, {} cores · {}", text_of(*made, "version"),
                            text_of(*made, "command"), text_of(*made, "host"),
                            number_of(*made, "cores").value_or(0), text_of(*made, "date"));
  }
}

}  // namespace

PlotFile plot_file_of(Json json, const std::string& name) {
  PlotFile file;
  file.name = name;
  if (json.is_object() && json.contains("benchmarks") && json["benchmarks"].is_array()) {
    read_benchmarks(json, file);
  } else {
    if (json.is_object()) json = Json::array({std::move(json)});
    if (!json.is_array()) json = Json::array();
    for (const Json& row : json) {
      if (!row.is_object()) continue;
      if (!text_of(row, "paper").empty()) {
        row.contains("series") ? read_broadcast_figure(row, file) : read_table(row, file);
      } else {
        read_timed_row(row, file);
      }
      read_made(row, file);
    }
  }
  if (file.rows.empty() && file.figures.empty()) {
    throw UsageError(
        fmt::format("plot: '{}' has 0 results with times; a plot needs 1 or more from run, list "
                    "--on, check, replay, reproduce or the benchmarks",
                    name));
  }
  return file;
}

PlotFile read_plot_file(const std::string& name) {
  constexpr std::size_t most = std::size_t{256} << 20;
  const std::string text = apps::read_whole(name, most, "the limit of plot; plot fewer runs");
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) {  // JSON lines?
    json = Json::array();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.find_first_not_of(" \t\r") == line.npos) continue;
      Json object = Json::parse(line, nullptr, false);
      if (object.is_discarded()) {
        throw UsageError(
            fmt::format("plot: '{}' is not JSON; plot needs a file written by --json of run, list, "
                        "check, replay or reproduce",
                        name));
      }
      json.push_back(std::move(object));
    }
  }
  return plot_file_of(std::move(json), name);
}

namespace {

std::string tidy_number(double value) { return fmt::format("{:.10g}", value); }

const char* kind_name(PlotRow::Kind kind) {
  switch (kind) {
    case PlotRow::Kind::measured:
      return "measured";
    case PlotRow::Kind::modelled:
      return "modelled";
    case PlotRow::Kind::replayed:
      return "replayed";
    case PlotRow::Kind::counted:
      return "counted";
    case PlotRow::Kind::benchmark:
      return "benchmark";
    case PlotRow::Kind::figure:
      break;
  }
  return "figure";
}

/// A value of a table in CSV.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string tidy_text(const std::vector<PlotFile>& files) {
  std::string text =
      "operation,algorithm,network,nodes,ports,bytes,kind,value,quartile1,quartile3,model,file\n";
  const auto add = [&](const PlotFile& file, const char* kind, const PlotRow& row) {
    const auto number = [](const std::optional<double>& x) { return x ? tidy_number(*x) : "nan"; };
    const std::vector<std::string> cells{row.what,
                                         row.algorithm,
                                         row.network,
                                         tidy_number(row.nodes),
                                         row.ports.empty() ? "-" : row.ports,
                                         tidy_number(row.bytes),
                                         kind,
                                         tidy_number(row.value),
                                         number(row.low),
                                         number(row.high),
                                         number(row.model),
                                         file.name};
    for (std::size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : ",") + csv_cell(cells[i]);
    text += '\n';
  };
  for (const PlotFile& file : files) {
    for (const PlotRow& row : file.rows) add(file, kind_name(row.kind), row);
    for (const apps::LinePlot& figure : file.figures) {
      for (const apps::PlotSeries& series : figure.series) {
        PlotRow row;
        row.what = figure.title, row.algorithm = series.name;
        for (const apps::PlotPoint& point :
             series.measured.empty() ? series.model : series.measured) {
          row.nodes = point.x, row.value = point.y;
          add(file, "figure", row);
        }
      }
    }
  }
  return text;
}

}  // namespace wormcube::cli
