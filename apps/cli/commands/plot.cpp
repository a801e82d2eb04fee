// wormcube plot: what other commands wrote as JSON, as pictures.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/plot.hpp"

#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/json.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/draw/page.hpp"
#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

using namespace apps;

struct PlotCommand {
  std::vector<std::string> files;
  std::string html, svg, ratio_to;
  double copy_limit = 0;
  bool quiet = false;
};

/// One measured or modelled value, whoever wrote it.
struct PlotRow {
  enum class Kind : std::uint8_t { measured, modelled, benchmark } kind;
  std::string what;       ///< "alltoall", or the benchmark's name without its number
  std::string algorithm;  ///< with the machine, where there are several
  std::string network;
  double nodes = 0, bytes = 0;
  double us = 0;
  std::optional<double> low_us, high_us, model_us, bandwidth;
  double data_bytes = 0;
  std::string ports;
};

struct ReadFile {
  std::vector<PlotRow> rows;
  std::string made;  ///< version, command, host, cores, date
  long schema = 0;
};

std::optional<double> number_of(const Json& row, const char* key) {
  const auto value = row.find(key);
  if (value == row.end() || !value->is_number()) return std::nullopt;
  return value->get<double>();
}
std::string text_of(const Json& row, const char* key) {
  const auto value = row.find(key);
  return value != row.end() && value->is_string() ? value->get<std::string>() : std::string();
}

/// Rows of run, list and check; what has no time is no row.
void read_row(const Json& json, ReadFile& file) {
  PlotRow row;
  row.what = text_of(json, "operation");
  row.algorithm = text_of(json, "algorithm");
  row.network = text_of(json, "topology");
  row.ports = text_of(json, "ports");
  if (row.what.empty() || row.algorithm.empty()) return;
  if (const auto options = json.find("options"); options != json.end() && options->is_object()) {
    for (const auto& [key, value] : options->items()) {
      row.algorithm +=
          fmt::format(":{}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  row.nodes = number_of(json, "nodes").value_or(0);
  row.bytes = number_of(json, "block_bytes").value_or(0);
  row.model_us = number_of(json, "model_time_us");
  if (const auto median = number_of(json, "time_median_us")) {
    row.kind = PlotRow::Kind::measured;
    row.us = *median;
    row.low_us = number_of(json, "time_quartile1_us"),
    row.high_us = number_of(json, "time_quartile3_us");
    row.bandwidth = number_of(json, "algbw_gb_per_s");
    row.data_bytes = number_of(json, "data_bytes").value_or(0);
  } else if (row.model_us && !row.network.empty()) {
    row.kind = PlotRow::Kind::modelled;
    row.us = *row.model_us;
    if (const auto lock_step = number_of(json, "time_lockstep"))
      row.us = std::max(row.us, *lock_step);
  } else {
    return;
  }
  file.rows.push_back(std::move(row));
}

/// Google Benchmark's: "name/8/1024": the last number is the abscissa.
void read_benchmarks(const Json& json, ReadFile& file) {
  for (const Json& entry : json["benchmarks"]) {
    const std::string name = text_of(entry, "name");
    const std::size_t slash = name.find_last_of('/');
    const auto time = number_of(entry, "real_time");
    if (slash == name.npos || !time || text_of(entry, "run_type") == "aggregate") continue;
    char* end = nullptr;
    const double x = std::strtod(name.c_str() + slash + 1, &end);
    if (*end != '\0' || end == name.c_str() + slash + 1 || x <= 0) continue;
    const std::string unit = text_of(entry, "time_unit");
    const double factor = unit == "ns" ? 1e-3 : unit == "ms" ? 1e3 : unit == "s" ? 1e6 : 1;
    PlotRow row;
    row.kind = PlotRow::Kind::benchmark;
    row.what = "benchmarks", row.algorithm = name.substr(0, slash), row.bytes = x,
    row.us = factor * *time;
    file.rows.push_back(std::move(row));
  }
  const auto context = json.find("context");
  if (context != json.end()) {
    file.made = fmt::format("{} · {} cores · {}", text_of(*context, "host_name"),
                            number_of(*context, "num_cpus").value_or(0), text_of(*context, "date"));
  }
}

ReadFile read_results(const std::string& name) {
  std::ifstream input(name, std::ios::binary);
  if (!input)
    throw UsageError(fmt::format("plot: cannot read '{}': {}", name, std::strerror(errno)));
  std::ostringstream text;
  text << input.rdbuf();
  Json json = Json::parse(text.str(), nullptr, false);
  if (json.is_discarded()) {  // JSON lines?
    json = Json::array();
    std::istringstream lines(text.str());
    for (std::string line; std::getline(lines, line);) {
      if (line.find_first_not_of(" \t\r") == line.npos) continue;
      Json object = Json::parse(line, nullptr, false);
      if (object.is_discarded()) {
        throw UsageError(fmt::format(
            "plot: '{}' is not JSON; give it what --json of run, list or check has written", name));
      }
      json.push_back(std::move(object));
    }
  }
  ReadFile file;
  if (json.is_object() && json.contains("benchmarks") && json["benchmarks"].is_array()) {
    read_benchmarks(json, file);
  } else {
    if (json.is_object()) json = Json::array({std::move(json)});
    if (!json.is_array()) json = Json::array();
    for (const Json& row : json) {
      if (!row.is_object()) continue;
      read_row(row, file);
      const auto made = row.find("made");
      if (made == row.end() || !made->is_object()) continue;
      const auto schema = static_cast<long>(number_of(*made, "schema").value_or(0));
      if (file.schema != 0 && schema != file.schema) {
        throw UsageError(
            fmt::format("plot: '{}' has results of schemas {} and {}; plot one schema at a time",
                        name, file.schema, schema));
      }
      file.schema = schema;
      if (file.made.empty()) {
        file.made = fmt::format("wormcube {} · {} · {}, {} cores · {}", text_of(*made, "version"),
                                text_of(*made, "command"), text_of(*made, "host"),
                                number_of(*made, "cores").value_or(0), text_of(*made, "date"));
      }
    }
  }
  if (file.rows.empty()) {
    throw UsageError(
        fmt::format("plot: '{}' has 0 results with times; a plot needs 1 or more of run, list "
                    "--on, check or the benchmarks",
                    name));
  }
  return file;
}

/// One picture, light for a file of its own and in the page's colours, and its points.
struct Plotted {
  std::string title, light, themed;
  std::vector<std::vector<std::string>> table;  ///< the first row: heads
};

std::string plain(double value) { return fmt::format("{:.10g}", value); }

/// Rows of one operation as lines over sizes or nodes.
LinePlot lines_of(const std::vector<PlotRow>& rows, LinePlot::X x,
                  const std::vector<std::string>& foot) {
  LinePlot plot;
  plot.x = x;
  plot.foot = foot;
  std::vector<std::string> names;
  for (const PlotRow& row : rows) {
    if (std::ranges::find(names, row.algorithm) == names.end()) names.push_back(row.algorithm);
  }
  for (const std::string& name : names) {
    PlotSeries& series = plot.series.emplace_back();
    series.name = name;
    for (const PlotRow& row : rows) {
      if (row.algorithm != name || row.us <= 0) continue;
      const double at = x == LinePlot::X::nodes ? row.nodes : row.bytes;
      if (at <= 0) continue;
      if (row.kind != PlotRow::Kind::modelled)
        series.measured.push_back({at, row.us, row.low_us, row.high_us});
      const auto model = row.kind == PlotRow::Kind::modelled ? std::optional(row.us) : row.model_us;
      if (model && *model > 0) series.model.push_back({at, *model});
    }
    std::ranges::stable_sort(series.measured, {}, &PlotPoint::x);
    std::ranges::stable_sort(series.model, {}, &PlotPoint::x);
  }
  std::erase_if(plot.series,
                [](const PlotSeries& s) { return s.measured.empty() && s.model.empty(); });
  return plot;
}

Plotted plotted(const LinePlot& plot) {
  Plotted result{plot.title, plot_svg(plot, false), plot_svg(plot, true), {}};
  result.table.push_back({plot.x == LinePlot::X::nodes ? "nodes" : "bytes", "series", "value",
                          "quartile 1", "quartile 3", "model"});
  for (const PlotSeries& series : plot.series) {
    const auto& points = series.measured.empty() ? series.model : series.measured;
    for (const PlotPoint& point : points) {
      const auto model = std::ranges::find(series.model, point.x, &PlotPoint::x);
      result.table.push_back({plain(point.x), series.name, plain(point.y),
                              point.low ? plain(*point.low) : "",
                              point.high ? plain(*point.high) : "",
                              model == series.model.end() ? "" : plain(model->y)});
    }
  }
  return result;
}

/// Who is fastest where, by the model.
Plotted winners_of(const std::vector<PlotRow>& rows, const std::string& what,
                   const std::string& ports, const std::vector<std::string>& foot) {
  WinnerMap map;
  map.title = fmt::format("{}: the fastest {}-port algorithm by model time", what, ports);
  map.below =
      "number: how many times faster than the second; pale: no clear winner; busy links shared";
  map.foot = foot;
  std::set<double> sizes;
  std::set<std::pair<double, std::string>> networks;
  for (const PlotRow& row : rows) {
    sizes.insert(row.bytes);
    networks.insert({row.nodes, row.network});
    if (std::ranges::find(map.algorithms, row.algorithm) == map.algorithms.end()) {
      map.algorithms.push_back(row.algorithm);
    }
  }
  map.sizes.assign(sizes.begin(), sizes.end());
  Plotted result;
  result.table.push_back({"nodes", "network", "bytes", "fastest", "times faster"});
  for (const auto& [nodes, network] : networks) {
    WinnerMap::Row& line =
        map.rows.emplace_back(WinnerMap::Row{static_cast<Rank>(nodes), network, {}});
    for (const double size : map.sizes) {
      WinnerMap::Cell& cell = line.cells.emplace_back();
      double best = 0, second = 0;
      for (const PlotRow& row : rows) {
        if (row.bytes != size || row.network != network) continue;
        const auto index = static_cast<int>(std::ranges::find(map.algorithms, row.algorithm) -
                                            map.algorithms.begin());
        if (cell.winner < 0 || row.us < best) {
          second = cell.winner < 0 ? 0 : best;
          best = row.us, cell.winner = index;
        } else if (second == 0 || row.us < second) {
          second = row.us;
        }
      }
      if (best > 0 && second > 0) cell.factor = second / best;
      if (cell.winner >= 0) {
        result.table.push_back({plain(nodes), network, plain(size),
                                map.algorithms[static_cast<std::size_t>(cell.winner)],
                                plain(cell.factor)});
      }
    }
  }
  result.title = map.title, result.light = plot_svg(map, false),
  result.themed = plot_svg(map, true);
  return result;
}

std::vector<Plotted> plots_of(std::vector<PlotRow> rows, const std::vector<std::string>& foot,
                              const PlotCommand& options) {
  std::vector<Plotted> plots;
  const auto finish = [&](LinePlot plot) {
    if (plot.series.empty()) return;
    if (!options.ratio_to.empty()) {
      if (std::ranges::none_of(plot.series,
                               [&](const auto& s) { return s.name == options.ratio_to; })) {
        std::string names;
        for (const PlotSeries& series : plot.series)
          names += (names.empty() ? "" : " ") + series.name;
        throw UsageError(fmt::format("plot: no results of '{}' to compare with; there are: {}",
                                     options.ratio_to, names));
      }
      plot.ratio_to = options.ratio_to;
    } else if (!plot.limit.empty()) {
      plot.ratio_to = plot.limit_name;
    } else if (plot.series.size() > 1) {
      plot.ratio_to = plot.series.front().name;
    }
    plots.push_back(plotted(plot));
  };
  std::map<std::pair<std::string, PlotRow::Kind>, std::vector<PlotRow>> by_what;
  for (PlotRow& row : rows) by_what[{row.what, row.kind}].push_back(std::move(row));
  for (auto& [key, group] : by_what) {
    const auto& [what, kind] = key;
    if (kind == PlotRow::Kind::benchmark) {
      LinePlot plot = lines_of(group, LinePlot::X::bytes, foot);
      plot.title = "benchmarks: time against size", plot.below = "points: one run each",
      plot.x_name = "bytes, or the last argument";
      finish(std::move(plot));
      continue;
    }
    std::map<std::string, std::set<double>> sizes;
    std::map<double, std::set<double>> nodes;
    for (const PlotRow& row : group) {
      sizes[row.network].insert(row.bytes);
      nodes[row.bytes].insert(row.nodes);
    }
    const bool measured = kind == PlotRow::Kind::measured;
    const std::string points =
        measured ? "points: median; bands: first to third quartile; dashed: cost model"
                 : "dashed: the cost model; nothing here is measured";
    bool drawn = false;
    for (const auto& [network, of_network] : sizes) {
      if (of_network.size() < 2) continue;
      std::vector<PlotRow> here;
      for (const PlotRow& row : group) {
        if (row.network == network) here.push_back(row);
      }
      if (!measured && sizes.size() > 1) continue;
      LinePlot plot = lines_of(here, LinePlot::X::bytes, foot);
      plot.title = fmt::format("{} on {}: time against block size", what, network);
      plot.below = points, plot.x_name = "block, bytes";
      if (options.copy_limit > 0 && measured) {
        std::map<double, double> data;
        for (const PlotRow& row : here) data[row.bytes] = row.data_bytes * row.nodes;
        for (const auto& [at, bytes] : data)
          plot.limit.push_back({at, bytes / options.copy_limit / 1000});
        plot.limit_name = "copy limit";
      }
      finish(std::move(plot));
      if (measured) {
        LinePlot rate = lines_of(here, LinePlot::X::bytes, foot);
        rate.y = LinePlot::Y::gigabytes_per_second;
        rate.title = fmt::format("{} on {}: bandwidth against block size", what, network);
        rate.below = "points: data of a node in the median time", rate.x_name = "block, bytes";
        for (PlotSeries& series : rate.series) {
          series.model.clear(), series.measured.clear();
          for (const PlotRow& row : here) {
            if (row.algorithm == series.name && row.bandwidth && *row.bandwidth > 0) {
              series.measured.push_back({row.bytes, *row.bandwidth});
            }
          }
          std::ranges::stable_sort(series.measured, {}, &PlotPoint::x);
        }
        std::erase_if(rate.series, [](const PlotSeries& s) { return s.measured.empty(); });
        finish(std::move(rate));
      }
      drawn = true;
    }
    if (!measured && sizes.size() > 1 && nodes.size() > 1) {
      for (const char* const ports : {"one", "all"}) {
        std::vector<PlotRow> here;
        for (const PlotRow& row : group) {
          if (row.ports == ports) here.push_back(row);
        }
        if (!here.empty()) plots.push_back(winners_of(here, what, ports, foot)), drawn = true;
      }
    }
    for (const auto& [bytes, of_size] : nodes) {
      if (of_size.size() < 2 || (!measured && nodes.size() > 1)) continue;
      std::vector<PlotRow> here;
      for (const PlotRow& row : group) {
        if (row.bytes == bytes) here.push_back(row);
      }
      LinePlot plot = lines_of(here, LinePlot::X::nodes, foot);
      plot.title = fmt::format("{}: time against nodes", what);
      plot.below = fmt::format("blocks of {}; {}", bytes_text(bytes), points),
      plot.x_name = "nodes";
      finish(std::move(plot));
      drawn = true;
    }
    if (!drawn) {  // one size on one network: still a picture of its points
      LinePlot plot = lines_of(group, LinePlot::X::bytes, foot);
      if (plot.series.empty()) plot = lines_of(group, LinePlot::X::nodes, foot);
      plot.title = fmt::format("{} on {}: time", what, group.front().network);
      plot.below = points, plot.x_name = plot.x == LinePlot::X::bytes ? "block, bytes" : "nodes";
      finish(std::move(plot));
    }
  }
  return plots;
}

std::string page_of(const std::vector<Plotted>& plots) {
  std::string body =
      "<main class=\"plots\"><div class=\"gallery-head\"><h1>Plots</h1><button id=\"theme\" "
      "type=\"button\" "
      "aria-label=\"theme\">◐</button></div>\n";
  for (std::size_t i = 0; i < plots.size(); ++i) {
    const Plotted& plot = plots[i];
    body += fmt::format(
        "<section aria-label=\"{}\">{}<details><summary>Points as a table</summary><button "
        "type=\"button\" data-csv=\"points-{}\">CSV</button><table id=\"points-{}\">",
        escaped(plot.title), plot.themed, i, i);
    for (std::size_t row = 0; row < plot.table.size(); ++row) {
      body += row == 0 ? "<thead><tr>" : row == 1 ? "<tbody><tr>" : "<tr>";
      for (const std::string& cell : plot.table[row]) {
        body += fmt::format("<{0}>{1}</{0}>", row == 0 ? "th" : "td", escaped(cell));
      }
      body += row == 0 ? "</tr></thead>" : "</tr>";
    }
    body += "</tbody></table></details></section>\n";
  }
  return body + "</main>";
}

void write_plots(const std::vector<std::string>& files, const std::string& html,
                 const std::string& svg, const std::string& ratio_to, double copy_limit) {
  PlotCommand options;
  options.files = files, options.html = html, options.svg = svg, options.ratio_to = ratio_to;
  options.copy_limit = copy_limit;
  std::vector<PlotRow> rows;
  std::vector<std::string> foot;
  long schema = 0;
  std::string first;
  for (const std::string& name : options.files) {
    ReadFile file = read_results(name);
    if (schema != 0 && file.schema != 0 && schema != file.schema) {
      throw UsageError(
          fmt::format("plot: '{}' has schema {}, '{}' has {}; plot one schema at a time", first,
                      schema, name, file.schema));
    }
    if (file.schema != 0) schema = file.schema, first = name;
    for (PlotRow& row : file.rows) {
      if (options.files.size() > 1 && row.kind != PlotRow::Kind::modelled)
        row.algorithm += fmt::format(" ({})", foot.size() + 1);
      rows.push_back(std::move(row));
    }
    foot.push_back(options.files.size() > 1 ? fmt::format("({}) {}", foot.size() + 1, file.made)
                                            : file.made);
  }
  const std::vector<Plotted> plots = plots_of(std::move(rows), foot, options);
  if (plots.empty()) throw UsageError("plot: 0 points above 0; a plot needs 1 or more");
  if (!options.html.empty())
    write_text(options.html, plot_page(plots.front().title, {}, page_of(plots)));
  if (options.svg.empty()) return;
  if (plots.size() == 1 || options.svg == "-") return write_text(options.svg, plots.front().light);
  // Several: FILE.svg, FILE-2.svg, ..
  const std::size_t dot = options.svg.find_last_of('.');
  const std::size_t end = dot == std::string::npos ? options.svg.size() : dot;
  for (std::size_t i = 0; i < plots.size(); ++i) {
    write_text(
        i == 0 ? options.svg
               : fmt::format("{}-{}{}", options.svg.substr(0, end), i + 1, options.svg.substr(end)),
        plots[i].light);
  }
}

}  // namespace

Action add_plot(CLI::App& program) {
  auto options = std::make_shared<PlotCommand>();
  CLI::App& app = *program.add_subcommand(
      "plot", "Plot what run, list, check and the benchmarks wrote as JSON: a page, or SVG");
  app.add_option("FILES", options->files, "JSON or JSON lines; several: several machines or days")
      ->required()
      ->type_name("FILE.json..")
      ->check(file_name());
  app.add_option("--html", options->html,
                 "Write a page with all plots, their points as tables and CSV")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_option("--svg", options->svg, "Write the plots as pictures: FILE.svg, FILE-2.svg, ..")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_option(
         "--ratio-to", options->ratio_to,
         "The line that all others are compared with in the second panel; the first, if not given")
      ->type_name("NAME")
      ->group("What");
  app.add_option(
         "--copy-limit", options->copy_limit,
         "Draw what copying the data once takes at so many GB/s (see the benchmarks of memcpy)")
      ->type_name("GB/S")
      ->check(CLI::PositiveNumber)
      ->group("What");
  app.footer(
      "Times of one network over block sizes, of one size over nodes, bandwidth, and of `list` "
      "over several\n"
      "networks and sizes a map of who is fastest. What is measured and what is the model are "
      "never one line.\n\n"
      "Examples:\n"
      "  wormcube run alltoall --on torus:4x4 --algorithm suh-torus,shift --bytes 64..64K --json "
      "times.json\n"
      "  wormcube plot times.json --html times.html\n"
      "  wormcube list alltoall --on torus:4x4 torus:8x8 --bytes 8..64K --json model.json\n"
      "  wormcube plot model.json --svg winners.svg");
  return [options] {
    if (options->html.empty() && options->svg.empty()) {
      throw UsageError("plot: say where to: --html FILE or --svg FILE");
    }
    if (options->html == "-" && options->svg == "-") {
      throw UsageError(
          "only one of --html and --svg can have standard output; give the other a file");
    }
    require_writable(options->html);
    require_writable(options->svg);
    write_plots(options->files, options->html, options->svg, options->ratio_to,
                options->copy_limit);
    return passed;
  };
}

}  // namespace wormcube::cli
