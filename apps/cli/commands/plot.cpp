// wormcube plot: pictures of other commands' JSON.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/plots.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/draw/picture.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace wormcube::cli {

namespace {

struct PlotArguments {
  std::vector<std::string> files;
  PlotOptions plot;
};

}  // namespace

Action add_plot(CLI::App& program) {
  auto options = std::make_shared<PlotArguments>();
  CLI::App& app = *program.add_subcommand("plot",
                                          "Plot the JSON output of run, list, check, replay, "
                                          "reproduce and the benchmarks, as a page or pictures");
  app.add_option("FILES", options->files,
                 "JSON or JSON lines; give several files to compare machines or dates")
      ->required()
      ->type_name("FILE.json..")
      ->check(file_name());
  app.add_option("--html", options->plot.html,
                 "Write a page with all plots, and with their points as tables and CSV")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_option("--svg", options->plot.svg,
                 "Write the first plot to FILE and the others to files numbered from 2 (plot.svg, "
                 "plot-2.svg, ..); the file extension selects SVG, PDF or PNG")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_flag("--bare", options->plot.bare,
               "With --svg: omit the title above the plot and the command below it, for a document "
               "whose caption says what the plot shows")
      ->group("Output");
  app.add_option("--tidy", options->plot.tidy,
                 "Write all points as CSV, one row per point, for pgfplots and data frames")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_option("--ratio-to", options->plot.ratio_to,
                 "Compare all other lines with this one in the second panel (default: the first)")
      ->type_name("NAME")
      ->group("What");
  app.add_option("--copy-limit", options->plot.copy_limit,
                 "Draw a line for the time to copy the data once at this rate, in GB/s (see the "
                 "memcpy benchmarks)")
      ->type_name("GB/S")
      ->check(CLI::PositiveNumber)
      ->group("What");
  app.footer(
      "The plots show times against block size for each network, times against the number of nodes "
      "for each size, bandwidth, and bars for one size on one network. For `list` over several "
      "networks and sizes, a map shows the fastest algorithms. Measured and modelled times are "
      "separate lines. A picture shows only the lines of the eight fastest algorithms; the tables "
      "and the CSV "
      "contain all of them.\n\n"
      "Examples:\n"
      "  wormcube run alltoall --on torus:4x4 --algorithm suh-torus,shift --bytes 64..64K --json "
      "times.json\n"
      "  wormcube plot times.json --html times.html\n"
      "  wormcube list alltoall --on torus:4x4,torus:8x8 --bytes 8..64K --json model.json\n"
      "  wormcube plot model.json --svg winners.svg\n"
      "  wormcube plot times.json --tidy times.csv");
  return [options](Context& context) {
    const std::array<const std::string*, 3> outputs{&options->plot.html, &options->plot.svg,
                                                    &options->plot.tidy};
    if (std::ranges::all_of(outputs, [](const auto* file) { return file->empty(); })) {
      throw UsageError("plot: missing output; use --html FILE, --svg FILE or --tidy FILE");
    }
    if (std::ranges::count(outputs, std::string("-"), [](const auto* file) { return *file; }) > 1) {
      throw UsageError(
          "only one of --html, --svg and --tidy can write to standard output; name a file for the "
          "others");
    }
    if (options->plot.bare && options->plot.svg.empty()) {
      throw UsageError("plot: --bare has no effect without --svg FILE; add it");
    }
    for (const std::string* file : outputs) require_writable(*file);
    apps::require_picture_format(apps::picture_format(options->plot.svg));
    std::vector<PlotFile> files;
    for (const std::string& file : options->files) files.push_back(read_plot_file(file));
    write_plots(context, files, options->plot);
    return passed;
  };
}

}  // namespace wormcube::cli
