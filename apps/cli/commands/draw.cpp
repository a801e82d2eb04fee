// wormcube draw: algorithms as moving pictures in one file, and as still ones.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/draw.hpp"

#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/draw_play.hpp"
#include "wormcube/apps/cli/commands/draw_stills.hpp"
#include "wormcube/apps/cli/commands/node_sets.hpp"
#include "wormcube/apps/cli/commands/sweep.hpp"
#include "wormcube/apps/cli/core/provenance.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/choosers.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/model.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/schedules.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/draw/layout.hpp"
#include "wormcube/apps/draw/page.hpp"
#include "wormcube/apps/draw/picture.hpp"
#include "wormcube/apps/draw/still.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::cli {

namespace {

using apps::Layout;
using apps::picture;
using apps::picture_format;
using apps::PictureFormat;
using apps::player_page;
using apps::require_picture_format;
using apps::Sheet;
using apps::sheet_svg;

struct DrawCommand {
  SweepOptions what;  // the calls on this network
  std::string on, schedule;
  ModelOptions machine;
  CostModel model;                      ///< like the machine's constants
  std::optional<MachineModel> replays;  ///< --clock replay
  std::string bytes = "1K", page_limit = "10000000", html, svg, pdf, thumbnail, frames,
              layout = "plain", clock = "auto";
  long step = -1;
  double time_limit = 0;
  bool compares = false;  ///< the page opens with all algorithms
  bool bare = false;
  bool node_sets = false;
  CheckOptions check;
  OutputOptions output;
};

ExitCode draw(Context& context, const DrawCommand& given) {
  DrawCommand options = given;
  const CommandLimit limit(context, milliseconds_of(options.time_limit));
  const bool replays =
      options.clock == "replay" || (options.clock == "auto" && !options.machine.machine.empty());
  const ModelOptions::Resolved resolved = options.machine.resolve(replays);
  options.model = resolved.cost;
  options.check.virtual_channels = options.machine.virtual_channels;
  if (replays) options.replays = resolved.model;
  if (!options.schedule.empty()) {
    use_schedule(options.schedule, options.what.operation, options.on, options.what.call);
    add_schedule_name(options.what.algorithm.names);
  }
  if (options.what.operation.empty()) {
    throw UsageError("OPERATION is required (or a schedule: --schedule FILE)");
  }
  require_on(!options.on.empty(), options.what.operation);
  Sweep sweep(options.what, {parse_topology(options.on)}, {parse_bytes(options.bytes)});
  const Operation operation = sweep.operation();
  const Topology& topology = sweep.topologies().front();
  const std::array<const std::string*, 4> files{&options.html, &options.svg, &options.pdf,
                                                &options.thumbnail};
  const bool frames = !options.frames.empty();
  if (!frames && std::ranges::all_of(files, [](const auto* file) { return file->empty(); })) {
    throw UsageError(
        "draw: missing output; use --html FILE, --svg FILE, --pdf FILE or --frames DIR");
  }
  if (std::ranges::count(files, std::string("-"), [](const auto* file) { return *file; }) > 1) {
    throw UsageError(
        "only one of --html, --svg, --pdf and --thumbnail can write to standard output; name a "
        "file for the others");
  }
  if (options.bare && options.svg.empty() && options.pdf.empty()) {
    throw UsageError("draw: --bare has no effect without --svg FILE or --pdf FILE; add one");
  }
  for (const std::string* file : files) require_writable(*file);
  require_picture_format(picture_format(options.svg));
  if (!options.pdf.empty()) require_picture_format(PictureFormat::pdf);
  if (frames) require_picture_format(PictureFormat::png);
  const bool still =
      frames || !options.svg.empty() || !options.pdf.empty() || !options.thumbnail.empty();
  if (still && !options.what.algorithm.single()) {
    throw UsageError(
        fmt::format("{} algorithms, but a still picture shows one; name it with --algorithm",
                    options.what.algorithm.names.front() == "all"
                        ? "all"
                        : std::to_string(options.what.algorithm.names.size())));
  }
  if (options.node_sets && options.html.empty() && options.svg.empty() && options.pdf.empty() &&
      !frames) {
    throw UsageError(
        "--node-sets marks nodes on pages and in pictures; add --html, --svg, --pdf or --frames");
  }
  const Bytes block_bytes = sweep.sizes().front();
  const std::size_t page_limit = parse_bytes(options.page_limit);
  OutputOptions output = options.output;
  for (const std::string* file : files) output.quiet = output.quiet || *file == "-";
  sweep.select(context, options.model,
               chooser_by_formula(context, output, resolved.model, options.check.virtual_channels));
  if (sweep.rows().size() > most_plays) {
    throw UsageError(fmt::format(
        "{} algorithms run on {}, but a page compares at most {}; name them, as in --algorithm {}",
        sweep.rows().size(), topology.name(), most_plays, sweep.rows().front().collective.text()));
  }
  const Routing routing(topology, options.check.virtual_channels);
  const Layout layout = apps::layout(routing, options.layout == "folded");

  if (frames) make_empty_folder(options.frames);
  Progress progress(context, output, "draw");
  std::vector<Play> plays;
  bool all_passed = true;
  std::string fallback;
  for (const Sweep::Row& row : sweep.rows()) {
    progress.doing(row.title);
    PlayOptions wanted{options.check, options.model, options.replays};
    wanted.check.all_port = all_port(options.what.algorithm, *row.collective.algorithm);
    wanted.check.in_place = options.what.call.in_place;
    Play result = play(row.collective, wanted, routing, layout, block_bytes);
    if (options.node_sets) mark_sets(result, sets_to_mark(row.collective, topology), layout);
    all_passed = all_passed && result.check.passed();
    if (still || fallback.empty()) {
      Sheet sheet = sheet_of(context, result, layout, routing, options.step, block_bytes);
      fallback = without_script(sheet);
      sheet.bare = options.bare;
      const std::string svg = still ? sheet_svg(sheet) : "";
      if (!options.svg.empty())
        write_text(context, options.svg, picture(svg, picture_format(options.svg)));
      if (!options.pdf.empty()) write_text(context, options.pdf, picture(svg, PictureFormat::pdf));
      if (const std::size_t drawn = sheet.pictures.size();
          !result.aggregate && drawn < result.steps.steps && options.step < 0 &&
          !(options.svg.empty() && options.pdf.empty())) {
        print_note(output, fmt::format("{} of {} steps are drawn; --step N draws another", drawn,
                                       result.steps.steps));
      }
      if (!options.thumbnail.empty())
        write_text(context, options.thumbnail, thumbnail_of(result, layout, routing, sheet.title));
      if (frames) write_frames(context, result, layout, routing, options.frames, block_bytes);
    }
    plays.push_back(std::move(result));
  }
  if (options.html.empty()) return all_passed ? passed : failed;
  const std::string title = fmt::format("{} on {}", operation->name, topology.name());
  const auto make_page = [&] {
    Json list = Json::array();
    for (const Play& play : plays) list.push_back(play.json);
    Json cost = cost_model_json(options.model);
    cost["block_bytes"] = block_bytes;
    const Json json{{"schema", 1},
                    {"kind", "player"},
                    {"provenance", provenance_json(context)},
                    {"network", network_json(layout, routing)},
                    {"cost", std::move(cost)},
                    {"comparing", options.compares},
                    {"plays", std::move(list)}};
    return player_page(title, json.dump(-1, ' ', false, Json::error_handler_t::replace), fallback);
  };
  std::string html = make_page();
  if (html.size() > page_limit && !options.replays) {
    for (Play& play : plays) {
      if (play.aggregate) continue;
      aggregate(
          play, routing,
          fmt::format("{} messages; a page with their worms needs {} bytes, and the limit is {}",
                      play.steps.messages, html.size(), page_limit));
    }
    html = make_page();
  }
  if (html.size() > page_limit) {
    throw UsageError(
        fmt::format("the page of {} needs {} bytes, and the limit is {}: draw fewer algorithms or "
                    "a smaller network, or raise --page-limit",
                    title, html.size(), page_limit));
  }
  write_text(context, options.html, html);
  if (options.html != "-") {
    print_note(output, fmt::format("{}: {} bytes", options.html, html.size()));
  }
  return all_passed ? passed : failed;
}

}  // namespace

void draw_comparison(Context& context, const DrawnComparison& comparison) {
  DrawCommand options;
  options.what = {.operation = comparison.operation,
                  .on = {},
                  .algorithm = comparison.algorithm,
                  .call = comparison.call};
  options.on = comparison.on;
  options.machine = comparison.machine;
  options.clock = comparison.replays ? "replay" : "formula";
  options.bytes = comparison.bytes, options.html = comparison.html;
  options.compares = true;
  options.output.quiet = true;
  draw(context, options);
}

Action add_draw(CLI::App& program) {
  auto options = std::make_shared<DrawCommand>();
  CLI::App& app =
      *program.add_subcommand("draw", "Draw algorithms as an animated page or as still pictures");
  app.add_option("OPERATION", options->what.operation, operations_text());
  app.add_option("--on", options->on, "The network, for instance ring:8 torus:4x4 hypercube:3")
      ->type_name("TOPOLOGY")
      ->group("What");
  add_schedule_option(app, options->schedule);
  add_algorithm_options(app, options->what.algorithm);
  app.add_option("--bytes", options->bytes, "Block size")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("What");
  app.add_option("--layout", options->layout,
                 "`folded`: draw the nodes of a ring in the order 0 2 4 .. 5 3 1, so that all "
                 "links are short")
      ->type_name("plain|folded")
      ->check(one_of({"plain", "folded"}))
      ->capture_default_str()
      ->group("What");
  app.add_option(
         "--clock", options->clock,
         "The page's clock: `formula` animates step by step, `replay` animates each message at its "
         "times on the modelled machine (default: `replay` with --machine, or else `formula`)")
      ->type_name("formula|replay")
      ->check(one_of({"formula", "replay"}))
      ->group("What");
  add_call_options(app, options->what.call);
  add_model_options(app, options->machine);
  app.add_option("--html", options->html,
                 "Write a page that animates the algorithms, as one file that works offline")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_option("--page-limit", options->page_limit,
                 "Show link traffic instead of worms if the page would be larger than this")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("Output");
  app.add_option(
         "--svg", options->svg,
         "Write up to 12 steps (with --step, only that one) as one picture for print: SVG, PDF or "
         "PNG, according to the file extension")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_option("--pdf", options->pdf,
                 "Write the same picture as PDF; needs rsvg-convert (Debian: librsvg2-bin)")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_flag("--bare", options->bare,
               "With --svg or --pdf: omit the title, the table and the command, for a document "
               "whose caption says what the picture shows")
      ->group("Output");
  app.add_option("--frames", options->frames,
                 "Write the steps as DIR/0000.png, DIR/0001.png, .., all of the same size, so that "
                 "ffmpeg can make a GIF or MP4. After an error some of the files may exist")
      ->type_name("DIR")
      ->check(file_name())
      ->group("Output");
  app.add_option("--thumbnail", options->thumbnail,
                 "Write the step with the most messages as a small SVG without text, for web pages "
                 "that define its colours")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_option("--step", options->step, "Draw only this step in still pictures (the first is 0)")
      ->type_name("STEP")
      ->check(at_least(0))
      ->group("What");
  add_node_sets_option(app, options->node_sets);
  app.add_option("--prove-up-to", options->check.prove_up_to,
                 "Skip the proof of delivery, which tracks the blocks, on networks with more than "
                 "this many nodes")
      ->type_name("NODES")
      ->check(at_least(0))
      ->capture_default_str()
      ->group("What");
  app.footer(
      "The page shows the network, the worms of each step on the links that they reserve, the "
      "blocks that every node holds (from a proof that runs the real program) and the figures of "
      "`check`. Several algorithms share one clock, and sliders set the cost model's constants. "
      "Press ? on the page to list its keys.\n\n"
      "Examples:\n"
      "  wormcube draw alltoall --on torus:8x8 --algorithm suh-torus --html suh.html\n"
      "  wormcube draw alltoall --on torus:8x8 --algorithm suh-torus,shift --html compare.html\n"
      "  wormcube draw alltoall --on torus:8x8 --algorithm shift --machine t3d --html replay.html\n"
      "  wormcube draw broadcast --on mesh:4x4 --pdf broadcast.pdf\n"
      "  wormcube draw allgather --on ring:12 --step 2 --svg step.svg\n"
      "  wormcube draw alltoall --on torus:8x8 --algorithm suh-torus --frames suh");
  add_command_limit_option(app, options->time_limit);
  app.add_flag("--quiet", options->output.quiet, "Print nothing")->group("Output");
  return [options](Context& context) { return draw(context, *options); };
}

}  // namespace wormcube::cli
