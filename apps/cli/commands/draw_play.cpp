// One algorithm of the player's page.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/draw_play.hpp"

#include "wormcube/apps/cli/commands/check_json.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/cli/options/model.hpp"
#include "wormcube/apps/draw/overlay.hpp"
#include "wormcube/apps/draw/play.hpp"
#include "wormcube/apps/draw/still.hpp"
#include "wormcube/apps/draw/times.hpp"
#include "wormcube/collectives/core/explanations.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/weigh.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

using apps::follow_blocks;
using apps::Frame;
using apps::group_traffic;
using apps::GroupTraffic;
using apps::Label;
using apps::Lane;
using apps::Layout;
using apps::link_totals;
using apps::LinkTotals;
using apps::pack_messages;
using apps::pack_times;
using apps::pack_works;
using apps::Packed;
using apps::Packer;
using apps::PlayBlocks;
using apps::PlayMessages;
using apps::PlayTimes;
using apps::Point;
constexpr Rank most_played_nodes = 4096;
constexpr std::size_t most_played_messages = 500'000, most_block_bytes = 4'000'000,
                      most_replayed_messages = 100'000;
constexpr double most_moves = 50e6;  // an all-to-all of 1024 nodes has fewer; more take minutes

Json packed_json(const Packed& packed) {
  return {{"enc", packed.encoding}, {"count", packed.count}, {"data", packed.data}};
}

std::int64_t tenths(double x) { return std::llround(10 * x); }

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

}  // namespace

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

void mark_sets(Play& play, NodeSets sets, const Layout& layout) {
  Json names = Json::array(), cells = Json::array();
  for (std::size_t i = 0; const apps::LegendEntry& entry : apps::overlay_legend(sets)) {
    if (i++ == sets.names.size()) break;  // the entry of the cells
    names.push_back({{"name", entry.text},
                     {"colour", entry.colours.front().name},
                     {"dashed", !entry.dash.empty()}});
  }
  Packer of;
  for (const int set : sets.set_of) of.put(static_cast<std::uint64_t>(set) + 1);
  for (const auto& [corner, size] : apps::cell_frames(layout, sets)) {
    cells.push_back({corner.x, corner.y, size.x, size.y});
  }
  play.json["sets"] = {
      {"names", std::move(names)}, {"of", packed_json(of.packed())}, {"cells", std::move(cells)}};
  play.sets = std::move(sets);
}

Play play(const Collective& collective, const PlayOptions& options, const Routing& routing,
          const Layout& layout, Bytes block_bytes) {
  const Topology& topology = routing.topology();
  CheckOptions check = options.check;
  check.block_bytes = block_bytes;
  CheckResult checked = check_collective(collective, topology, check);
  const Contract contract = contract_of(collective, topology.nodes(), block_bytes, check.seed,
                                        Pattern::words, check.in_place);
  Schedule recorded = record(topology, collective_program(collective, contract, nullptr));
  ScheduleReport report = wormcube::check(recorded, routing, check.all_port);
  Play result{{}, std::move(checked), std::move(recorded), std::move(report)};
  const Schedule& schedule = result.schedule;
  const ScheduleReport& steps = result.steps;

  Json check_object = check_json(
      result.check, weigh(collective, topology, block_bytes, options.model.bus_us.has_value()),
      check, options.model, block_bytes);
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
  // Of whole blocks, or of the parts that an algorithm cuts them into.
  const double moves = static_cast<double>(steps.total_bytes) /
                       static_cast<double>(std::max<Bytes>(block_bytes, 1)) *
                       collective.parts(topology);
  if (!result.check.delivered) {
    blocks.reason = result.check.proof;
  } else if (moves > most_moves) {
    blocks.reason = fmt::format("{:.0f} moves of blocks; they are followed for up to {:.0f}", moves,
                                most_moves);
  } else {
    blocks = follow_blocks(collective, schedule, check.seed, check.in_place);
    if (blocks.runs.data.size() > most_block_bytes) {
      blocks.kind.clear(), blocks.held.clear();
      blocks.reason = fmt::format("{} block moves would take {} bytes, and the limit is {}",
                                  blocks.moved, blocks.runs.data.size(), most_block_bytes);
    }
  }
  json["blocks"] = blocks_json(blocks);
  result.held = std::move(blocks.held);
  return result;
}

}  // namespace wormcube::cli
