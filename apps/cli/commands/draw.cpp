// wormcube draw: algorithms as moving pictures in one file, and as still ones.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/check_json.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/help.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/json.hpp"
#include "wormcube/apps/cli/output/provenance.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/cli/progress.hpp"
#include "wormcube/apps/draw/layout.hpp"
#include "wormcube/apps/draw/page.hpp"
#include "wormcube/apps/draw/play.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::cli {

namespace {

using apps::follow_blocks;
using apps::Frame;
using apps::Label;
using apps::Lane;
using apps::Layout;
using apps::messages_of;
using apps::pack_messages;
using apps::Packed;
using apps::Packer;
using apps::PlayBlocks;
using apps::PlayedMessage;
using apps::player_page;
using apps::PlayMessages;
using apps::Point;

struct DrawCommand {
  std::string operation, on;
  AlgorithmOptions algorithm;
  CallOptions call;
  CostModel model;
  std::string bytes = "1K", html, layout = "plain";
  CheckOptions check;
  OutputOptions output;
};

constexpr std::size_t most_plays = 4;
constexpr Rank most_played_nodes = 4096;
constexpr std::size_t most_played_messages = 500'000, most_html_bytes = 10'000'000,
                      most_block_bytes = 4'000'000;

Json packed_json(const Packed& packed) {
  return {{"enc", packed.encoding}, {"count", packed.count}, {"data", packed.data}};
}

std::int64_t tenths(double x) { return std::llround(10 * x); }

/// The layout: places, lanes, what is written beside them.
Json network_json(const Layout& layout, const Routing& routing) {
  const Topology& topology = routing.topology();
  Json dimensions = Json::array();
  for (int d = 0; d < topology.dimensions(); ++d) {
    dimensions.push_back(
        {{"shape", to_string(topology.factor(d).shape())}, {"size", topology.size(d)}});
  }
  Json json{{"text", topology.name()},
            {"shape", layout.shape},
            {"dimensions", std::move(dimensions)},
            {"nodes", layout.nodes},
            {"switches", static_cast<std::int64_t>(layout.places.size()) - layout.nodes},
            {"hypercube", topology.is_hypercube() && topology.nodes() > 2},
            {"virtual_channels", routing.virtual_channels()},
            {"large", layout.large},
            {"radius", layout.radius},
            {"lane", layout.lane},
            {"offset", layout.offset},
            {"number_size", layout.number_size},
            {"box", {layout.corner.x, layout.corner.y, layout.size.x, layout.size.y}}};
  Packer places, lanes;
  Point last;
  for (const Point place : layout.places) {
    places.put_signed(tenths(place.x) - tenths(last.x));
    places.put_signed(tenths(place.y) - tenths(last.y));
    last = place;
  }
  std::int64_t from = 0;
  for (const Lane& lane : layout.lanes) {
    lanes.put_signed(lane.from - from);
    lanes.put_signed(lane.to - lane.from);
    lanes.put(static_cast<std::uint64_t>(lane.dimension));
    lanes.put(static_cast<std::uint64_t>(lane.slot));
    lanes.put((lane.dateline ? 1U : 0U) | (lane.thin ? 2U : 0U));
    lanes.put(lane.points.size());
    lanes.put(lane.gap);
    Point at = layout.places[static_cast<std::size_t>(lane.from)];
    for (const Point point : lane.points) {
      lanes.put_signed(tenths(point.x) - tenths(at.x));
      lanes.put_signed(tenths(point.y) - tenths(at.y));
      at = point;
    }
    from = lane.from;
  }
  json["places"] = packed_json(places.packed());
  json["lanes"] = packed_json(lanes.packed());
  Json labels = Json::array(), frames = Json::array();
  for (const Label& label : layout.labels) {
    labels.push_back({std::round(10 * label.at.x) / 10, std::round(10 * label.at.y) / 10,
                      label.text, label.size});
  }
  for (const Frame& frame : layout.frames) {
    frames.push_back({frame.corner.x, frame.corner.y, frame.size.x, frame.size.y, frame.caption});
  }
  json["labels"] = std::move(labels);
  json["frames"] = std::move(frames);
  json["names"] = Json::array();
  if (topology.is_hypercube() || layout.places.size() > static_cast<std::size_t>(layout.nodes)) {
    json["names"] = layout.names;
  }
  return json;
}

Json unknown_blocks(const Json& reason) { return {{"kind", nullptr}, {"reason", reason}}; }

Json blocks_json(const PlayBlocks& blocks) {
  if (blocks.kind.empty()) return unknown_blocks(blocks.reason);
  Json json{{"kind", blocks.kind},
            {"parts", blocks.parts},
            {"units", blocks.units},
            {"moved", blocks.moved},
            {"direct", blocks.direct}};
  if (!blocks.direct) json["runs"] = packed_json(blocks.runs);
  Packer bases;
  std::size_t last = 0;
  for (const std::size_t base : blocks.bases) {
    bases.put(base - last);
    last = base;
  }
  json["bases"] = packed_json(bases.packed());
  if (!blocks.destinations.empty()) {
    Packer destinations;
    for (const Rank destination : blocks.destinations) {
      destinations.put(static_cast<std::uint64_t>(destination + 1));
    }
    json["destinations"] = packed_json(destinations.packed());
  }
  return json;
}

/// What links carry over all steps: of plays without messages.
Json loads_json(const Schedule& schedule, const Routing& routing) {
  std::vector<std::uint64_t> bytes(static_cast<std::size_t>(routing.topology().links())),
      most(bytes.size()), load(bytes.size());
  for (std::size_t step = 0; step < schedule.steps(); ++step) {
    std::vector<std::size_t> used;
    for (const PlayedMessage& message : messages_of(schedule, routing, step)) {
      for (const Channel channel : message.route) {
        const auto link = static_cast<std::size_t>(routing.link(channel));
        bytes[link] += message.bytes;
        if (load[link]++ == 0) used.push_back(link);
      }
    }
    for (const std::size_t link : used) {
      most[link] = std::max(most[link], load[link]);
      load[link] = 0;
    }
  }
  Packer packer;
  for (std::size_t link = 0; link < bytes.size(); ++link) {
    packer.put(bytes[link]);
    packer.put(most[link]);
  }
  return packed_json(packer.packed());
}

struct Play {
  Json json;
  CheckResult check;
};

/// One algorithm: checked, recorded with blocks of this size, proved again with an eye on the blocks.
Play play(const Collective& collective, const DrawCommand& options, const Routing& routing,
          const Layout& layout, Bytes block_bytes) {
  const Topology& topology = routing.topology();
  CheckOptions check = options.check;
  check.all_port = all_port(options.algorithm, *collective.algorithm);
  check.in_place = options.call.in_place == "on";
  Play result;
  result.check = check_collective(collective, topology, check);
  const Contract contract = contract_of(collective, topology.nodes(), block_bytes, check.seed,
                                        Pattern::words, check.in_place);
  const Schedule schedule = record(topology, collective_program(collective, contract, nullptr));
  const ScheduleReport steps = wormcube::check(schedule, routing, check.all_port);

  Json check_object =
      check_json(result.check, collective.predict(topology), check, options.model, block_bytes);
  check_object["arguments"] = arguments_json(collective.operation(), collective.arguments);
  add_steps(check_object, steps, lock_step_time(steps, options.model));
  Json phases = Json::array();
  for (const Phase& phase : schedule.phases) {
    phases.push_back({{"name", phase.name}, {"first", phase.first}, {"last", phase.last}});
  }
  Json rearranged = Json::array(), combined = Json::array();
  for (const StepFigures& figures : steps.per_step) {
    rearranged.push_back(figures.rearranged);
    combined.push_back(figures.combined);
  }
  Json& json = result.json;
  json = {{"operation", to_string(collective.operation())},
          {"algorithm", collective.text()},
          {"ports", ports_text(check.all_port)},
          {"summary", collective.algorithm->summary},
          {"source", collective.algorithm->source},
          {"check", std::move(check_object)},
          {"phases", std::move(phases)},
          {"step_rearranged_bytes", std::move(rearranged)},
          {"step_combined_bytes", std::move(combined)}};
  if (topology.nodes() > most_played_nodes || steps.messages > most_played_messages) {
    json["messages"] = nullptr;
    json["messages_reason"] = topology.nodes() > most_played_nodes
                                  ? fmt::format("{} nodes; worms are shown on up to {}",
                                                topology.nodes(), most_played_nodes)
                                  : fmt::format("{} messages; worms are shown of up to {}",
                                                steps.messages, most_played_messages);
    json["loads"] = loads_json(schedule, routing);
    json["blocks"] = unknown_blocks(json["messages_reason"]);
    return result;
  }
  const PlayMessages messages = pack_messages(schedule, routing, layout);
  json["sizes"] = messages.sizes;
  json["ways"] = messages.ways;
  json["messages"] = packed_json(messages.packed);
  PlayBlocks blocks;
  if (!result.check.delivered) {
    blocks.reason = result.check.proof;
  } else {
    blocks = follow_blocks(collective, schedule, check.seed, check.in_place);
    if (blocks.runs.data.size() > most_block_bytes) {
      blocks.kind.clear();
      blocks.reason = fmt::format("{} moves of blocks would take {} bytes; they are shown up to {}",
                                  blocks.moved, blocks.runs.data.size(), most_block_bytes);
    }
  }
  json["blocks"] = blocks_json(blocks);
  return result;
}

ExitCode draw(const DrawCommand& options) {
  const Operation operation = parse_operation(options.operation);
  const Topology topology = parse_topology(options.on);
  topology.require_routable();
  if (options.html.empty()) throw UsageError("draw: say where to: --html FILE");
  require_writable(options.html);
  const Arguments arguments = options.call.resolve(operation);
  const Bytes block_bytes = parse_bytes(options.bytes);
  const Selection selection =
      select(options.algorithm, operation, topology, arguments, options.model, block_bytes, false);
  require_some(operation, std::span(&selection, 1));
  if (selection.collectives.size() > most_plays) {
    throw UsageError(
        fmt::format("{} algorithms run on {}; a player compares up to {}: name them, "
                    "as in --algorithm {}",
                    selection.collectives.size(), topology.name(), most_plays,
                    selection.collectives.front().text()));
  }
  const Routing routing(topology, options.check.virtual_channels);
  const Layout layout = apps::layout(routing, options.layout == "folded");

  OutputOptions output = options.output;
  if (options.html == "-") output.quiet = true;
  Progress progress(output, "draw");
  Json plays = Json::array();
  bool all_passed = true;
  std::string fallback;
  for (const Collective& collective : selection.collectives) {
    progress.doing(fmt::format("{} {} on {}", operation->name, collective.text(), topology.name()));
    Play result = play(collective, options, routing, layout, block_bytes);
    all_passed = all_passed && result.check.passed();
    plays.push_back(std::move(result.json));
  }
  Json json{{"schema", 1},
            {"kind", "player"},
            {"made", made_json()},
            {"network", network_json(layout, routing)},
            {"cost",
             {{"ts_us", options.model.startup_us},
              {"tw_us_per_byte", options.model.transfer_us},
              {"tr_us_per_byte", options.model.rearrange_us},
              {"tc_us_per_byte", options.model.combine_us},
              {"block_bytes", block_bytes}}},
            {"plays", std::move(plays)}};
  const std::string title = fmt::format("{} on {}", operation->name, topology.name());
  const auto replace = [](const auto&) { return Json::error_handler_t::replace; };
  const std::string html = player_page(title, json.dump(-1, ' ', false, replace(json)), fallback);
  if (html.size() > most_html_bytes) {
    throw UsageError(fmt::format(
        "the page of {} takes {} bytes; pages have up to {}: draw fewer algorithms, or a smaller "
        "network",
        title, html.size(), most_html_bytes));
  }
  write_text(options.html, html);
  if (options.html != "-") {
    print_note(output, fmt::format("{}: {} bytes", options.html, html.size()));
  }
  return all_passed ? passed : failed;
}

}  // namespace

Action add_draw(CLI::App& program) {
  auto options = std::make_shared<DrawCommand>();
  CLI::App& app =
      *program.add_subcommand("draw", "Draw algorithms: a page that plays them, or still pictures");
  app.add_option("OPERATION", options->operation, operations_text())->required();
  app.add_option("--on", options->on, "The network, for instance ring:8 torus:4x4 hypercube:3")
      ->type_name("TOPOLOGY")
      ->required()
      ->group("What");
  add_algorithm_options(app, options->algorithm);
  app.add_option("--bytes", options->bytes, "Block size")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("What");
  app.add_option("--layout", options->layout,
                 "`folded`: rings in the order 0 2 4 .. 5 3 1, so that all links are short")
      ->check(CLI::IsMember({"plain", "folded"}))
      ->capture_default_str()
      ->group("What");
  add_virtual_channels_option(app, options->check.virtual_channels);
  add_call_options(app, options->call);
  add_cost_options(app, options->model);
  app.add_option("--html", options->html,
                 "Write a page that plays the algorithms, in one file that needs no network")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_flag("--quiet", options->output.quiet, "Print nothing")->group("Output");
  return [options] { return draw(*options); };
}

}  // namespace wormcube::cli
