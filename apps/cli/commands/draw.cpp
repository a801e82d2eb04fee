// wormcube draw: algorithms as moving pictures in one file, and as still ones.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/draw.hpp"

#include "wormcube/apps/cli/commands/check_json.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/node_sets.hpp"
#include "wormcube/apps/cli/commands/sweep.hpp"
#include "wormcube/apps/cli/core/provenance.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/model.hpp"
#include "wormcube/apps/cli/options/modelled.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/schedules.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/draw/layout.hpp"
#include "wormcube/apps/draw/overlay.hpp"
#include "wormcube/apps/draw/page.hpp"
#include "wormcube/apps/draw/picture.hpp"
#include "wormcube/apps/draw/play.hpp"
#include "wormcube/apps/draw/still.hpp"
#include "wormcube/apps/draw/times.hpp"
#include "wormcube/collectives/core/explanations.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::cli {

namespace {

using apps::draw_legend;
using apps::drawn_step;
using apps::DrawnStep;
using apps::escaped;
using apps::follow_blocks;
using apps::Frame;
using apps::group_traffic;
using apps::GroupTraffic;
using apps::Label;
using apps::Lane;
using apps::Layout;
using apps::LegendEntry;
using apps::link_totals;
using apps::LinkTotals;
using apps::Marks;
using apps::pack_messages;
using apps::pack_times;
using apps::pack_works;
using apps::Packed;
using apps::Packer;
using apps::picture;
using apps::picture_format;
using apps::PictureFormat;
using apps::PlayBlocks;
using apps::player_page;
using apps::PlayMessages;
using apps::PlayTimes;
using apps::Point;
using apps::require_picture_format;
using apps::Sheet;
using apps::sheet_svg;
using apps::step_marks;
using apps::Still;
using apps::svg_text;
using apps::TableRow;
using apps::totals_marks;

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
  bool node_sets = false;
  CheckOptions check;
  OutputOptions output;
};

constexpr Rank most_played_nodes = 4096;
constexpr std::size_t most_played_messages = 500'000, most_block_bytes = 4'000'000,
                      most_replayed_messages = 100'000;

Json packed_json(const Packed& packed) {
  return {{"enc", packed.encoding}, {"count", packed.count}, {"data", packed.data}};
}

std::int64_t tenths(double x) { return std::llround(10 * x); }

/// The layout: places, lanes, and their labels.
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
    lanes.put((lane.dateline ? 1U : 0U) | (lane.thin ? 2U : 0U) | (lane.tick ? 4U : 0U));
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
      destinations.put(static_cast<std::uint64_t>(destination) + 1);
    }
    json["destinations"] = packed_json(destinations.packed());
  }
  return json;
}

Json loads_json(const LinkTotals& totals) {
  Packer packer;
  for (std::size_t link = 0; link < totals.bytes.size(); ++link) {
    packer.put(totals.bytes[link]);
    packer.put(static_cast<std::uint64_t>(totals.most[link]));
  }
  return packed_json(packer.packed());
}

Json groups_json(const GroupTraffic& traffic) {
  Packer bytes, messages;
  for (const std::uint64_t amount : traffic.bytes) bytes.put(amount);
  for (const std::uint64_t count : traffic.messages) messages.put(count);
  return {{"per", traffic.per},
          {"bytes", packed_json(bytes.packed())},
          {"messages", packed_json(messages.packed())}};
}

struct Play {
  Json json;
  CheckResult check;
  Schedule schedule;
  ScheduleReport steps;
  std::vector<std::vector<double>> held = {};  ///< as of PlayBlocks
  std::optional<NodeSets> sets = {};           ///< marked in still pictures
  bool aggregate = false;                      ///< too large for worms
};

/// Link loads and traffic between groups instead of worms. \param reason  with both numbers
void aggregate(Play& play, const Routing& routing, std::string reason) {
  Json& json = play.json;
  for (const char* key : {"sizes", "ways", "works"}) json.erase(key);
  json["messages"] = nullptr;
  json["loads"] = loads_json(link_totals(play.schedule, routing));
  json["groups"] = groups_json(group_traffic(play.schedule));
  json["blocks"] = unknown_blocks(reason);
  json["messages_reason"] = std::move(reason);
  play.aggregate = true;
}

/// One algorithm: checked, recorded with blocks of this size, proved again while following the
/// blocks.
Play play(const Collective& collective, const DrawCommand& options, const Routing& routing,
          const Layout& layout, Bytes block_bytes) {
  const Topology& topology = routing.topology();
  CheckOptions check = options.check;
  check.all_port = all_port(options.what.algorithm, *collective.algorithm);
  check.in_place = options.what.call.in_place;
  CheckResult checked = check_collective(collective, topology, check);
  const Contract contract = contract_of(collective, topology.nodes(), block_bytes, check.seed,
                                        Pattern::words, check.in_place);
  Schedule recorded = record(topology, collective_program(collective, contract, nullptr));
  ScheduleReport report = wormcube::check(recorded, routing, check.all_port);
  Play result{{}, std::move(checked), std::move(recorded), std::move(report)};
  const Schedule& schedule = result.schedule;
  const ScheduleReport& steps = result.steps;

  Json check_object = check_json(result.check, weigh(collective, topology, block_bytes), check,
                                 options.model, block_bytes);
  check_object["arguments"] = arguments_json(collective.operation(), collective.arguments);
  add_steps(check_object, steps, lock_step_time(steps, options.model));
  Json phases = Json::array();
  for (const Phase& phase : schedule.phases) {
    phases.push_back({{"name", phase.name},
                      {"first", phase.first},
                      {"last", phase.last},
                      {"explanation", explanation(*collective.algorithm, phase.name)}});
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
          {"explanation", explanation(*collective.algorithm)},
          {"source", collective.algorithm->source},
          {"check", std::move(check_object)},
          {"phases", std::move(phases)},
          {"step_rearranged_bytes", std::move(rearranged)},
          {"step_combined_bytes", std::move(combined)}};
  if (options.replays && steps.messages > most_replayed_messages) {
    throw UsageError(
        fmt::format("{} messages; --clock replay is limited to {}: draw a smaller network, or use "
                    "--clock formula",
                    steps.messages, most_replayed_messages));
  }
  if (topology.nodes() > most_played_nodes || steps.messages > most_played_messages) {
    aggregate(result, routing,
              topology.nodes() > most_played_nodes
                  ? fmt::format("{} nodes; worms are shown for up to {}", topology.nodes(),
                                most_played_nodes)
                  : fmt::format("{} messages; worms are shown for up to {}", steps.messages,
                                most_played_messages));
    return result;
  }
  const PlayMessages messages = pack_messages(schedule, routing, layout);
  json["sizes"] = messages.sizes;
  json["ways"] = messages.ways;
  json["messages"] = packed_json(messages.packed);
  if (const Packed works = pack_works(schedule); works.count > 0) {
    json["works"] = packed_json(works);
  }
  if (options.replays) {
    MachineModel machine = *options.replays;
    machine.all_port = check.all_port;
    const PlayTimes times = pack_times(schedule, routing, machine);
    json["replay"] = {{"machine", model_text(machine)},
                      {"time_ps", times.time},
                      {"blocked_messages", times.blocked},
                      {"times", packed_json(times.packed)}};
  }
  PlayBlocks blocks;
  if (!result.check.delivered) {
    blocks.reason = result.check.proof;
  } else {
    blocks = follow_blocks(collective, schedule, check.seed, check.in_place);
    if (blocks.runs.data.size() > most_block_bytes) {
      blocks.kind.clear(), blocks.held.clear();
      blocks.reason =
          fmt::format("{} moves of blocks would take {} bytes; they are shown for up to {}",
                      blocks.moved, blocks.runs.data.size(), most_block_bytes);
    }
  }
  json["blocks"] = blocks_json(blocks);
  result.held = std::move(blocks.held);
  return result;
}

/// "1024", "11.5": a figure of a still picture.
std::string still_figure(const Json& value) {
  if (!value.is_number()) return "-";
  const double number = value.get<double>();
  return number == std::floor(number) || std::abs(number) >= 1000 ? fmt::format("{:.0f}", number)
                                                                  : fmt::format("{:.4g}", number);
}

/// The page's figures: counted, by formula, bound, ratio. The bound on transmission is a time with
/// contention, so where links are shared it is compared with the busiest link's blocks.
std::vector<TableRow> still_figures(const Json& check) {
  std::vector<TableRow> rows{{"", "counted", "formula", "bound", "ratio"}};
  const auto add = [&](const char* name, const Json& counted, const Json& formula,
                       const Json& bound) {
    std::string predicted = "none";
    if (formula.is_number()) {
      const double wanted = formula.get<double>();
      const bool close =
          std::abs(wanted - counted.get<double>()) <= 5e-4 * std::max(1.0, std::abs(wanted));
      predicted = still_figure(formula);
      predicted += predicted == still_figure(counted) ? " =" : close ? " \u2248" : " \u2260";
    }
    std::string ratio;
    if (bound.is_number() && bound.get<double>() > 0) {
      ratio = fmt::format("{:.2f} \u00d7", counted.get<double>() / bound.get<double>());
    }
    rows.push_back({name, still_figure(counted), predicted, still_figure(bound), ratio});
  };
  const Json& predicted = check["predicted"];
  const Json& bound = check["lower_bound"];
  add("start-ups", check["startups"], predicted["startups"], bound["startups"]);
  const bool shared =
      still_figure(check["link_blocks"]) != still_figure(check["transmission_blocks"]);
  add("transmission, blocks", check["transmission_blocks"], predicted["transmission_blocks"],
      shared ? Json() : bound["transmission_blocks"]);
  if (shared) {
    add("busiest link, blocks", check["link_blocks"], predicted["link_blocks"],
        bound["transmission_blocks"]);
  }
  add("rearranged, blocks", check["rearranged_blocks"], predicted["rearranged_blocks"], {});
  if (check["combined_blocks"].get<double>() > 0) {
    add("combined, blocks", check["combined_blocks"], predicted["combined_blocks"], {});
  }
  add("highest link load", check["link_load_max"], predicted["link_load"], 1);
  add("model time, µs", check["time_lockstep_us"]["total"], check["model_time_us"], {});
  return rows;
}

/// One step with the line above it.
Still still_of(const Play& play, const Layout& layout, const Routing& routing, std::size_t step,
               Bytes block_bytes, Bytes most_bytes) {
  const DrawnStep drawn = drawn_step(play.schedule, routing, step);
  std::string caption = drawn.phase.empty() ? "" : drawn.phase + " · ";
  const StepFigures& figures = play.steps.per_step[step];
  const double blocks =
      static_cast<double>(figures.largest) / static_cast<double>(std::max<Bytes>(1, block_bytes));
  caption += drawn.messages.empty()
                 ? "idle"
                 : fmt::format("{} worm{} of {:.4g} block{} · load {}", drawn.messages.size(),
                               drawn.messages.size() == 1 ? "" : "s", blocks,
                               blocks == 1 ? "" : "s", figures.link_load);
  const std::vector<double>* const held = play.held.empty() ? nullptr : &play.held[step];
  Marks marks = step_marks(layout, routing, drawn, most_bytes, false, held);
  if (play.sets) {
    std::ranges::move(apps::overlay_marks(layout, *play.sets), std::back_inserter(marks));
  }
  return {fmt::format("step {}", step), caption, std::move(marks), layout.corner, layout.size};
}

Bytes most_bytes_of(const Play& play) {
  Bytes most = 1;
  for (const StepFigures& figures : play.steps.per_step) most = std::max(most, figures.largest);
  return most;
}

/// All steps up to 12; if there are more, the first of each phase.
std::vector<std::size_t> steps_to_print(const Play& play, long chosen) {
  if (chosen >= 0) {
    if (static_cast<std::size_t>(chosen) >= play.steps.steps) {
      throw UsageError(
          fmt::format("step {}: there are {} steps, numbered from 0", chosen, play.steps.steps));
    }
    return {static_cast<std::size_t>(chosen)};
  }
  constexpr std::size_t most = 12;
  std::vector<std::size_t> steps;
  if (play.steps.steps > most && play.schedule.phases.size() > 1) {
    for (const Phase& phase : play.schedule.phases) steps.push_back(phase.first);
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  } else {
    for (std::size_t step = 0; step < play.steps.steps; ++step) steps.push_back(step);
  }
  steps.resize(std::min(steps.size(), most));
  return steps;
}

/// The meaning of a still picture's colours and dashes.
std::vector<LegendEntry> legend_of(const Play& play, const Routing& routing,
                                   const std::vector<std::size_t>& steps) {
  const Topology& topology = routing.topology();
  bool dashed = false;
  int load = 0;
  for (const std::size_t step : steps) {
    load = std::max(load, play.steps.per_step[step].link_load);
    for (const auto& message : apps::messages_of(play.schedule, routing, step)) {
      dashed = dashed || std::ranges::any_of(message.route, [&](const Channel channel) {
                 return routing.virtual_channel(channel) == 1;
               });
    }
  }
  std::vector<LegendEntry> entries;
  for (int d = 0; d < std::min(topology.dimensions(), 6); ++d) {
    if (topology.size(d) > 1) {
      entries.push_back({fmt::format("dimension {}", d), {apps::colours::dimension(d)}});
    }
  }
  if (dashed) {
    entries.push_back({"virtual channel 1, after the dateline", {apps::colours::ink}, {7, 3}});
  }
  if (load > 1) {
    entries.push_back({"contention: 2, 3, 4 and more, 8 and more messages on a link",
                       {apps::colours::load(2), apps::colours::load(3), apps::colours::load(4),
                        apps::colours::load(8)}});
  }
  entries.push_back({"idle link", {apps::colours::load(0)}});
  if (play.sets) {
    std::ranges::move(apps::overlay_legend(*play.sets), std::back_inserter(entries));
  }
  return entries;
}

Sheet sheet_of(const Context& context, const Play& play, const Layout& layout,
               const Routing& routing, const DrawCommand& options, Bytes block_bytes) {
  Sheet sheet;
  const Json& check = play.json["check"];
  sheet.title = fmt::format("{} on {}, {}", check["operation"].get<std::string>(), layout.network,
                            play.json["algorithm"].get<std::string>());
  const CheckResult& result = play.check;
  sheet.below = fmt::format(
      "{} · {} port{} · blocks of {} · {} · {}", play.json["source"].get<std::string>(),
      result.all_port ? "all" : "one", result.all_port ? "s" : "",
      bytes_text(static_cast<double>(block_bytes)),
      !result.delivered                                  ? "delivery not proved"
      : *result.delivered && result.exactly_once == true ? "delivered and exactly once: proved"
      : *result.delivered                                ? "delivered: proved"
                                                         : "NOT delivered",
      result.report.deadlock_free ? "deadlock-free" : "can deadlock");
  sheet.figures = still_figures(check);
  const Bytes most_bytes = most_bytes_of(play);
  std::size_t shown = 0;
  if (play.aggregate) {
    sheet.pictures.push_back(
        {"all steps", "links by bytes carried: " + play.json["messages_reason"].get<std::string>(),
         totals_marks(layout, link_totals(play.schedule, routing)), layout.corner, layout.size});
  } else {
    const std::vector<std::size_t> steps = steps_to_print(play, options.step);
    sheet.legend = legend_of(play, routing, steps);
    for (const std::size_t step : steps) {
      sheet.pictures.push_back(still_of(play, layout, routing, step, block_bytes, most_bytes));
      ++shown;
    }
  }
  const Json made = provenance_json(context);
  sheet.foot = fmt::format(
      "wormcube {} · {} · {}a worm ends at its arrow; a stub's number: the node at its other "
      "end{}",
      made["version"].get<std::string>(), made["command"].get<std::string>(),
      shown > 0 && shown < play.steps.steps
          ? fmt::format("{} of {} steps · ", shown, play.steps.steps)
          : std::string(),
      shown > 0 && !play.held.empty()
          ? "; a node's bar: the part of its result that it has when the step begins"
          : "");
  return sheet;
}

/// A picture of each step, all of one size, for ffmpeg: DIR/0000.png, DIR/0001.png, ..
void write_frames(const Context& context, const Play& play, const Layout& layout,
                  const Routing& routing, const DrawCommand& options, Bytes block_bytes) {
  if (play.aggregate) {
    throw UsageError("--frames: " + play.json["messages_reason"].get<std::string>());
  }
  constexpr double margin = 24, line = 20, narrowest = 560;
  const double width = std::ceil(std::max(layout.size.x, narrowest) + 2 * margin),
               text_width = width - 2 * margin;
  const Json& phases = play.json["phases"];
  const auto words_of = [&](std::size_t step) {
    for (const Json& phase : phases) {
      if (phase["first"] <= step && step <= phase["last"]) return phase["explanation"];
    }
    return play.json["explanation"];
  };
  std::vector<std::vector<std::string>> words;
  std::size_t lines = 0;
  for (std::size_t step = 0; step < play.steps.steps; ++step) {
    words.push_back(apps::wrapped(words_of(step).get<std::string>(), 14, text_width));
    lines = std::max(lines, words.back().size());
  }
  const double top = margin + 52 + line * static_cast<double>(lines),
               legend_top = top + layout.size.y + margin / 2;
  std::vector<std::size_t> all_steps(play.steps.steps);
  std::iota(all_steps.begin(), all_steps.end(), std::size_t{0});
  Marks legend;
  const double height = std::ceil(legend_top + margin +
                                  draw_legend(legend_of(play, routing, all_steps),
                                              {margin, legend_top}, text_width, 13, legend));
  const std::string title = fmt::format("{} on {}, {}", play.json["operation"].get<std::string>(),
                                        layout.network, play.json["algorithm"].get<std::string>());
  const Bytes most_bytes = most_bytes_of(play);
  for (std::size_t step = 0; step < play.steps.steps; ++step) {
    const Still still = still_of(play, layout, routing, step, block_bytes, most_bytes);
    Marks marks{apps::text_mark({margin, margin + 16}, title, 18, apps::colours::ink, -1, true),
                apps::text_mark({margin, margin + 40},
                                fmt::format("{} {} · {}", still.head,
                                            play.steps.steps == 1
                                                ? "(the only one)"
                                                : fmt::format("(of 0 to {})", play.steps.steps - 1),
                                            still.caption),
                                14, apps::colours::mute)};
    double y = margin + 44;
    for (const std::string& text : words[step]) {
      y += line;
      marks.push_back(apps::text_mark({margin, y}, text, 14, apps::colours::ink));
    }
    const Point to{(width - layout.size.x) / 2 - layout.corner.x, top - layout.corner.y};
    std::ranges::move(apps::moved(still.marks, to, 1), std::back_inserter(marks));
    marks.insert(marks.end(), legend.begin(), legend.end());
    write_text(
        context, fmt::format("{}/{:04}.png", options.frames, step),
        picture(svg_text(marks, {0, 0}, {width, height}, {.title = title}), PictureFormat::png));
  }
}

/// An empty folder for frames: those of another run would be mixed with them.
void make_empty_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder)) {
    throw UsageError(fmt::format("--frames {}: cannot make this folder: {}", folder,
                                 error ? error.message() : "it is a file"));
  }
  if (!std::filesystem::is_empty(folder, error)) {
    throw UsageError(fmt::format(
        "--frames {}: the folder has files already; remove them, or name another", folder));
  }
}

/// The step with the most messages.
std::size_t busiest_step(const Play& play) {
  std::size_t best = 0, most = 0;
  for (std::size_t step = 0; step < play.steps.steps; ++step) {
    std::size_t count = 0;
    for (Rank rank = 0; rank < play.schedule.topology.nodes(); ++rank) {
      count += static_cast<std::size_t>(
          std::ranges::count(play.schedule.ops(rank, step), Op::Kind::send, &OpRecord::kind));
    }
    if (count > most) most = count, best = step;
  }
  return best;
}

/// A thumbnail for the gallery's index: no text, in the page's colours.
std::string thumbnail_of(const Play& play, const Layout& layout, const Routing& routing,
                         std::string title) {
  const Marks marks =
      play.aggregate || play.steps.steps == 0
          ? totals_marks(layout, link_totals(play.schedule, routing))
          : step_marks(layout, routing, drawn_step(play.schedule, routing, busiest_step(play)),
                       most_bytes_of(play));
  return svg_text(marks, layout.corner, layout.size,
                  {.title = std::move(title), .themed = true, .texts = false, .ground = false});
}

/// The page without JavaScript: the figures, and the first step.
std::string without_script(const Sheet& sheet) {
  std::string html =
      fmt::format("<main class=\"gallery\"><h1>{}</h1><p>{}</p><table class=\"figures\">",
                  escaped(sheet.title), escaped(sheet.below));
  for (const TableRow& row : sheet.figures) {
    html += "<tr>";
    for (const std::string& cell : row) html += fmt::format("<td>{}</td>", escaped(cell));
    html += "</tr>";
  }
  html += "</table>";
  constexpr std::size_t most_marks = 2000;
  if (!sheet.pictures.empty() && sheet.pictures[0].marks.size() <= most_marks) {
    const Still& still = sheet.pictures[0];
    html += fmt::format("<p>{} {}</p>", escaped(still.head), escaped(still.caption)) +
            svg_text(still.marks, still.corner, still.size, {.title = still.head});
  }
  return html + "</main>";
}

ExitCode draw(Context& context, const DrawCommand& given) {
  DrawCommand options = given;
  const CommandLimit limit(context, milliseconds_of(options.time_limit));
  const ModelOptions::Resolved resolved = options.machine.resolve();
  options.model = resolved.cost;
  options.check.virtual_channels = options.machine.virtual_channels;
  if (options.clock == "replay" || (options.clock == "auto" && !options.machine.machine.empty())) {
    options.replays = resolved.model;
  }
  if (!options.schedule.empty()) {
    use_schedule(options.schedule, options.what.operation, options.on, options.what.call);
    add_schedule_name(options.what.algorithm.names);
  }
  if (options.what.operation.empty()) {
    throw UsageError("OPERATION is required (or a schedule: --schedule FILE)");
  }
  if (options.on.empty()) throw UsageError("--on is required");
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
  if (options.node_sets && !still) {
    throw UsageError("--node-sets marks nodes in still pictures; add --svg, --pdf or --frames");
  }
  const Bytes block_bytes = sweep.sizes().front();
  const std::size_t page_limit = parse_bytes(options.page_limit);
  OutputOptions output = options.output;
  for (const std::string* file : files) output.quiet = output.quiet || *file == "-";
  sweep.select(context, options.model, chooser_by_formula(context, output));
  if (sweep.rows().size() > most_plays) {
    throw UsageError(fmt::format(
        "{} algorithms run on {}, but a player compares up to {}; name them, as in --algorithm {}",
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
    Play result = play(row.collective, options, routing, layout, block_bytes);
    if (options.node_sets) result.sets = sets_to_mark(row.collective, topology);
    all_passed = all_passed && result.check.passed();
    if (still || fallback.empty()) {
      const Sheet sheet = sheet_of(context, result, layout, routing, options, block_bytes);
      fallback = without_script(sheet);
      const std::string svg = still ? sheet_svg(sheet) : "";
      if (!options.svg.empty())
        write_text(context, options.svg, picture(svg, picture_format(options.svg)));
      if (!options.pdf.empty()) write_text(context, options.pdf, picture(svg, PictureFormat::pdf));
      if (const std::size_t drawn = sheet.pictures.size();
          !result.aggregate && drawn < result.steps.steps && options.step < 0 &&
          !(options.svg.empty() && options.pdf.empty())) {
        print_note(output, fmt::format("{} of {} steps are drawn; --step N draws another one",
                                       drawn, result.steps.steps));
      }
      if (!options.thumbnail.empty())
        write_text(context, options.thumbnail, thumbnail_of(result, layout, routing, sheet.title));
      if (frames) write_frames(context, result, layout, routing, options, block_bytes);
    }
    plays.push_back(std::move(result));
  }
  if (options.html.empty()) return all_passed ? passed : failed;
  const std::string title = fmt::format("{} on {}", operation->name, topology.name());
  const auto make_page = [&] {
    Json list = Json::array();
    for (const Play& play : plays) list.push_back(play.json);
    const Json json{{"schema", 1},
                    {"kind", "player"},
                    {"provenance", provenance_json(context)},
                    {"network", network_json(layout, routing)},
                    {"cost",
                     {{"ts_us", options.model.startup_us},
                      {"tw_us_per_byte", options.model.transfer_us},
                      {"tr_us_per_byte", options.model.rearrange_us},
                      {"tc_us_per_byte", options.model.combine_us},
                      {"th_us", options.model.link_hop_us()},
                      {"tw_link_us_per_byte", options.model.link_byte_us()},
                      {"flit_bytes", options.model.flit_bytes},
                      {"block_bytes", block_bytes}}},
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
      *program.add_subcommand("draw", "Draw algorithms: an animated page, or still pictures");
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
         "Write up to 12 steps (with --step, one) as one picture for print: SVG, PDF or PNG, "
         "according to the file extension")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_option("--pdf", options->pdf,
                 "Write the same picture as PDF; needs rsvg-convert (Debian: librsvg2-bin)")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  app.add_option("--frames", options->frames,
                 "Write the steps as DIR/0000.png, DIR/0001.png, .., all of the same size, so that "
                 "ffmpeg can make a GIF or MP4")
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
                 "Skip the proof of delivery, which follows the blocks, above N nodes")
      ->type_name("NODES")
      ->check(at_least(0))
      ->capture_default_str()
      ->group("What");
  app.footer(
      "The page shows the network, the worms of each step on the links that they reserve, the "
      "blocks that every node holds (from a proof that runs the real program) and the figures of "
      "`check`. Several algorithms run on one clock, and sliders set the cost model's constants. "
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
