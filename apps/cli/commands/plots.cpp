// Plots of rows: lines over sizes or nodes, maps of winners, and the page around them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/plots.hpp"

#include "wormcube/apps/cli/commands/plot_names.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/draw/page.hpp"
#include "wormcube/apps/draw/picture.hpp"
#include "wormcube/apps/draw/plot.hpp"
#include "wormcube/apps/draw/plot_parts.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::cli {

namespace {

using namespace apps;

/// One picture in three forms, and its points: for a file of its own, the same without heading and
/// foot, and in the page's colours.
struct Plotted {
  std::string title, light, bare, themed;
  std::vector<std::vector<std::string>> table;  ///< the first row: heads

  template <class Plot>
  void draw(const Plot& plot) {
    light = plot_svg(plot, PlotLook::picture);
    bare = plot_svg(plot, PlotLook::bare);
    themed = plot_svg(plot, PlotLook::page);
  }
};

std::string plain(double value) { return fmt::format("{:.10g}", value); }

[[noreturn]] void refuse_ratio(const std::string& name, const std::vector<std::string>& names) {
  throw UsageError(fmt::format("plot: no results of '{}' to compare with; available: {}", name,
                               fmt::join(names, " ")));
}

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
      if (row.algorithm != name || row.value <= 0) continue;
      const double at = x == LinePlot::X::nodes ? row.nodes : row.bytes;
      if (at <= 0) continue;
      if (row.kind != PlotRow::Kind::modelled)
        series.measured.push_back({at, row.value, row.low, row.high});
      const auto model = row.kind == PlotRow::Kind::modelled ? std::optional(row.value) : row.model;
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
  const LinePlot shown = readable(plot);
  Plotted result{plot.title, {}, {}, {}, {}};
  result.draw(shown);
  const char* const x = plot.x == LinePlot::X::nodes   ? "nodes"
                        : plot.x == LinePlot::X::bytes ? "bytes"
                                                       : "n";
  result.table.push_back({x, "series", "value", "quartile 1", "quartile 3", "model"});
  for (const PlotSeries& series : plot.series) {
    std::map<double, std::pair<const PlotPoint*, const PlotPoint*>> at;  // measured, model
    for (const PlotPoint& point : series.measured) at[point.x].first = &point;
    for (const PlotPoint& point : series.model) at[point.x].second = &point;
    const auto value = [](const std::optional<double>& v) { return v ? plain(*v) : std::string(); };
    for (const auto& [x_value, points] : at) {
      const auto& [measured, model] = points;
      result.table.push_back({plain(x_value), series.name,
                              measured != nullptr ? plain(measured->y) : "",
                              measured != nullptr ? value(measured->low) : "",
                              measured != nullptr ? value(measured->high) : "",
                              model != nullptr ? plain(model->y) : ""});
    }
  }
  return result;
}

/// A map of the fastest algorithms by modelled time.
Plotted winners_of(std::vector<PlotRow> rows, const std::string& what, const std::string& ports,
                   const std::vector<std::string>& foot) {
  WinnerMap map;
  map.title = fmt::format("{}: the fastest algorithm with {} by model time", what, ports);
  map.below =
      "number: how many times faster than the runner-up; pale: no clear winner; contention "
      "included";
  map.foot = foot;
  std::set<std::string> unknown;
  for (const PlotRow& row : rows) {
    if (row.at_least) unknown.insert(row.algorithm);
  }
  if (!unknown.empty()) {
    std::string names;
    for (const std::string& name : unknown) names += " " + name;
    map.foot.insert(
        map.foot.begin(),
        "left out, because messages share links and the model does not know how many:" + names);
    std::erase_if(rows, [](const PlotRow& row) { return row.at_least; });
  }
  std::erase_if(rows, [](const PlotRow& row) { return !row.chosen_by_auto; });
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
        if (cell.winner < 0 || row.value < best) {
          if (cell.winner >= 0 && cell.winner != index) second = best;
          best = row.value, cell.winner = index;
        } else if (cell.winner != index && (second == 0 || row.value < second)) {
          second = row.value;
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
  // Algorithms that win somewhere get the colours.
  std::vector<int> place(map.algorithms.size(), -1);
  std::vector<std::string> winners;
  for (WinnerMap::Row& row : map.rows) {
    for (WinnerMap::Cell& cell : row.cells) {
      if (cell.winner < 0) continue;
      const auto winner = static_cast<std::size_t>(cell.winner);
      if (place[winner] < 0) {
        place[winner] = static_cast<int>(winners.size());
        winners.push_back(map.algorithms[winner]);
      }
      cell.winner = place[winner];
    }
  }
  map.algorithms = std::move(winners);
  result.title = map.title;
  result.draw(map);
  return result;
}

/// The counted figure of each network, and the formula.
Plotted counted_of(const std::vector<PlotRow>& rows, const std::string& what,
                   const std::vector<std::string>& foot) {
  DotPlot plot;
  plot.title = what;
  plot.below = "filled: counted from the recorded programs; hollow: the formula, corrected";
  plot.x_name = what.substr(what.find(": ") + 2);
  plot.foot = foot;
  std::vector<std::pair<double, std::string>> networks;
  for (const PlotRow& row : rows) {
    if (std::ranges::find(plot.series, row.algorithm) == plot.series.end())
      plot.series.push_back(row.algorithm);
    if (const std::pair network(row.nodes, row.network);
        std::ranges::find(networks, network) == networks.end()) {
      networks.push_back(network);
    }
  }
  std::ranges::stable_sort(networks, {}, [](const auto& network) { return network.first; });
  Plotted result{plot.title, {}, {}, {}, {{"network", "nodes", "series", "counted", "formula"}}};
  for (const auto& [nodes, network] : networks) {
    DotPlot::Row& line = plot.rows.emplace_back(DotPlot::Row{network, {}});
    line.values.resize(plot.series.size());
    for (const PlotRow& row : rows) {
      if (row.network != network) continue;
      const auto series = std::ranges::find(plot.series, row.algorithm) - plot.series.begin();
      line.values[static_cast<std::size_t>(series)] = {row.value, row.model};
      result.table.push_back({network, plain(nodes), row.algorithm, plain(row.value),
                              row.model ? plain(*row.model) : ""});
    }
  }
  result.draw(plot);
  return result;
}

/// Results of one block size: a bar for each, the fastest first.
Plotted bars_of(std::vector<PlotRow> rows, const std::string& what, bool measured,
                const std::string& below, const std::vector<std::string>& foot,
                const PlotOptions& options) {
  std::erase_if(rows, [](const PlotRow& row) { return !(row.value > 0); });
  if (rows.empty()) throw UsageError("plot: 0 points above 0; a plot needs 1 or more");
  std::ranges::stable_sort(rows, {}, &PlotRow::value);
  std::set<std::string> networks;
  std::vector<std::string> names;
  double reference = 0;
  for (const PlotRow& row : rows) {
    networks.insert(row.network);
    names.push_back(row.algorithm);
    if (row.algorithm == options.ratio_to && reference == 0) reference = row.value;
  }
  if (!options.ratio_to.empty() && reference == 0) refuse_ratio(options.ratio_to, names);
  names = short_names(names);
  BarPlot plot;
  plot.title = networks.size() == 1 ? fmt::format("{} on {}: time", what, rows.front().network)
                                    : fmt::format("{}: time", what);
  const double bytes = rows.front().bytes;
  plot.below = (bytes > 0 ? fmt::format("blocks of {}; ", bytes_text(bytes)) : "") + below;
  plot.foot = foot;
  Plotted result{plot.title,
                 {},
                 {},
                 {},
                 {{"network", "bytes", "series", "value", "quartile 1", "quartile 3", "model"}}};
  const auto value = [](const std::optional<double>& x) { return x ? plain(*x) : std::string(); };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const PlotRow& row = rows[i];
    plot.bars.push_back(
        {networks.size() > 1 ? fmt::format("{} on {}", names[i], row.network) : names[i], row.value,
         measured ? row.low : std::nullopt, measured ? row.high : std::nullopt, row.model,
         reference > 0 ? fmt::format("{:.3g} ×", row.value / reference) : ""});
    result.table.push_back({row.network, plain(row.bytes), row.algorithm, plain(row.value),
                            value(row.low), value(row.high), value(row.model)});
  }
  result.draw(plot);
  return result;
}

/// Networks with the same number of nodes get separate lines.
void name_networks(std::vector<PlotRow>& rows) {
  std::set<std::pair<std::string, double>> seen;
  const bool repeated = std::ranges::any_of(
      rows, [&](const PlotRow& row) { return !seen.emplace(row.algorithm, row.nodes).second; });
  if (!repeated) return;
  for (PlotRow& row : rows) {
    row.algorithm += fmt::format(" on {}", row.network.substr(0, row.network.find(':')));
  }
}

std::vector<Plotted> plots_of(std::vector<PlotRow> rows, const std::vector<std::string>& foot,
                              const PlotOptions& options) {
  std::vector<Plotted> plots;
  const auto finish = [&](LinePlot plot) {
    if (plot.series.empty()) return;
    if (!options.ratio_to.empty()) {
      if (std::ranges::none_of(plot.series,
                               [&](const auto& s) { return s.name == options.ratio_to; })) {
        std::vector<std::string> names;
        for (const PlotSeries& series : plot.series) names.push_back(series.name);
        refuse_ratio(options.ratio_to, names);
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
      plot.title = fmt::format("benchmark {}: time against size", what);
      plot.below = "points: one run each", plot.x_name = "the last number in the benchmark's name";
      finish(std::move(plot));
      continue;
    }
    if (kind == PlotRow::Kind::counted) {
      plots.push_back(counted_of(group, what, foot));
      continue;
    }
    std::map<std::string, std::set<double>> sizes;
    std::map<double, std::set<double>> nodes;
    for (const PlotRow& row : group) {
      sizes[row.network].insert(row.bytes);
      nodes[row.bytes].insert(row.nodes);
    }
    const bool measured = kind == PlotRow::Kind::measured;
    const bool replayed = kind == PlotRow::Kind::replayed;
    // A dashed line is mentioned where it can be distinguished from the points'. Bars have a mark for it.
    const auto points_of = [&](const std::vector<PlotRow>& of, bool bars) {
      const bool dashed = std::ranges::any_of(of, [&](const PlotRow& row) {
        constexpr double visible = 0.02;
        return row.model && *row.model > 0 &&
               (bars || std::abs(*row.model - row.value) > visible * row.value);
      });
      return measured ? std::string("points: median; bands: first to third quartile") +
                            (dashed ? "; dashed: cost model" : "")
             : replayed ? std::string("points: replayed on a modelled machine, not measured") +
                              (dashed ? "; dashed: the formula" : "")
                        : std::string(bars ? "the cost model" : "dashed: the cost model") +
                              "; nothing is measured";
    };
    bool drawn = false;
    for (const auto& [network, of_network] : sizes) {
      if (of_network.size() < 2) continue;
      std::vector<PlotRow> here;
      for (const PlotRow& row : group) {
        if (row.network == network) here.push_back(row);
      }
      if (kind == PlotRow::Kind::modelled && sizes.size() > 1) continue;
      LinePlot plot = lines_of(here, LinePlot::X::bytes, foot);
      plot.title = fmt::format("{} on {}: time against block size", what, network);
      plot.below = points_of(here, false), plot.x_name = "block, bytes", plot.y_name = "time";
      if (options.copy_limit > 0 && measured) {
        std::map<double, double> data;
        for (const PlotRow& row : here) data[row.bytes] = row.data_bytes * row.nodes;
        for (const auto& [at, bytes] : data)
          if (const double least = bytes / options.copy_limit / 1000; std::isfinite(least))
            plot.limit.push_back({at, least});
        plot.limit_name = "copy limit";
      }
      finish(std::move(plot));
      if (measured) {
        LinePlot rate = lines_of(here, LinePlot::X::bytes, foot);
        rate.y = LinePlot::Y::gigabytes_per_second;
        rate.title = fmt::format("{} on {}: bandwidth against block size", what, network);
        rate.below = "points: a node's data / median time", rate.x_name = "block, bytes";
        rate.y_name = "bandwidth";
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
    if (kind == PlotRow::Kind::modelled && sizes.size() > 1 && nodes.size() > 1) {
      // With all ports, one-port algorithms are compared too.
      const auto one_port = [](const PlotRow& row) { return row.ports == "one"; };
      std::vector<PlotRow> here;
      std::ranges::copy_if(group, std::back_inserter(here), one_port);
      if (!here.empty()) plots.push_back(winners_of(here, what, "one port", foot));
      if (here.size() < group.size()) {
        plots.push_back(winners_of(group, what, "all ports", foot));
      }
      drawn = true;
    }
    for (const auto& [bytes, of_size] : nodes) {
      if (of_size.size() < 2 || (kind == PlotRow::Kind::modelled && nodes.size() > 1)) continue;
      std::vector<PlotRow> here;
      for (const PlotRow& row : group) {
        if (row.bytes == bytes) here.push_back(row);
      }
      name_networks(here);
      LinePlot plot = lines_of(here, LinePlot::X::nodes, foot);
      plot.title = fmt::format("{}: time against nodes", what);
      plot.below = fmt::format("blocks of {}; {}", bytes_text(bytes), points_of(here, false)),
      plot.x_name = "nodes", plot.y_name = "time";
      finish(std::move(plot));
      drawn = true;
    }
    if (!drawn) {
      plots.push_back(bars_of(group, what, measured, points_of(group, true), foot, options));
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

}  // namespace

void write_plots(const Context& context, std::vector<PlotFile> files, const PlotOptions& options) {
  shorten_names(files);
  std::vector<PlotRow> rows;
  std::vector<LinePlot> figures;
  std::vector<std::string> foot;
  const PlotFile* first = nullptr;
  for (const PlotFile& file : files) {
    if (first != nullptr && file.schema != 0 && first->schema != file.schema) {
      throw UsageError(
          fmt::format("plot: '{}' has schema {}, '{}' has {}; plot one schema at a time",
                      first->name, first->schema, file.name, file.schema));
    }
    if (file.schema != 0) first = &file;
    for (PlotRow row : file.rows) {
      const bool differs =
          row.kind == PlotRow::Kind::measured || row.kind == PlotRow::Kind::benchmark;
      if (files.size() > 1 && differs) row.algorithm += fmt::format(" ({})", foot.size() + 1);
      rows.push_back(std::move(row));
    }
    for (LinePlot figure : file.figures) {
      figure.foot.push_back(file.made);
      figures.push_back(std::move(figure));
    }
    foot.push_back(files.size() > 1 ? fmt::format("({}) {}", foot.size() + 1, file.made)
                                    : file.made);
  }
  if (!options.tidy.empty()) write_text(context, options.tidy, tidy_text(files));
  if (options.html.empty() && options.svg.empty()) return;
  std::vector<Plotted> plots = plots_of(std::move(rows), foot, options);
  for (const LinePlot& figure : figures) plots.push_back(plotted(figure));
  if (plots.empty()) throw UsageError("plot: 0 points above 0; a plot needs 1 or more");
  if (!options.html.empty())
    write_text(context, options.html, plot_page(plots.front().title, {}, page_of(plots)));
  if (options.svg.empty()) return;
  const PictureFormat format = picture_format(options.svg);
  const auto drawn = [&](const Plotted& plot) { return options.bare ? plot.bare : plot.light; };
  if (options.svg == "-") return write_text(context, options.svg, drawn(plots.front()));
  // Several: FILE.svg, FILE-2.svg, ..
  const std::size_t dot = options.svg.find_last_of('.');
  const std::size_t end = dot == std::string::npos ? options.svg.size() : dot;
  for (std::size_t i = 0; i < plots.size(); ++i) {
    write_text(
        context,
        i == 0 ? options.svg
               : fmt::format("{}-{}{}", options.svg.substr(0, end), i + 1, options.svg.substr(end)),
        picture(drawn(plots[i]), format));
  }
}

}  // namespace wormcube::cli
