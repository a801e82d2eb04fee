// Still pictures: steps for print, frames for films, thumbnails.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/draw_stills.hpp"

#include "wormcube/apps/cli/core/provenance.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/draw/overlay.hpp"
#include "wormcube/apps/draw/page.hpp"
#include "wormcube/apps/draw/picture.hpp"
#include "wormcube/apps/draw/play.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <numeric>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

using apps::draw_legend;
using apps::drawn_step;
using apps::DrawnStep;
using apps::escaped;
using apps::Layout;
using apps::LegendEntry;
using apps::link_totals;
using apps::Marks;
using apps::picture;
using apps::PictureFormat;
using apps::Point;
using apps::Sheet;
using apps::step_marks;
using apps::Still;
using apps::svg_text;
using apps::TableRow;
using apps::totals_marks;

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
  const Json& formulas = check["formulas"];
  const Json& bound = check["lower_bound"];
  add("start-ups", check["startups"], formulas["startups"], bound["startups"]);
  const bool shared =
      still_figure(check["link_blocks"]) != still_figure(check["transmission_blocks"]);
  add("transmission, blocks", check["transmission_blocks"], formulas["transmission_blocks"],
      shared ? Json() : bound["transmission_blocks"]);
  if (shared) {
    add("busiest link, blocks", check["link_blocks"], formulas["link_blocks"],
        bound["transmission_blocks"]);
  }
  add("rearranged, blocks", check["rearranged_blocks"], formulas["rearranged_blocks"], {});
  if (check["combined_blocks"].get<double>() > 0) {
    add("combined, blocks", check["combined_blocks"], formulas["combined_blocks"], {});
  }
  add("highest link load", check["link_load_max"], formulas["link_load"], 1);
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
    entries.push_back({"contention: 2, 3, 4 or more, 8 or more messages on a link",
                       {apps::colours::load(2), apps::colours::load(3), apps::colours::load(4),
                        apps::colours::load(8)}});
  }
  entries.push_back({"idle link", {apps::colours::load(0)}});
  if (play.sets) {
    std::ranges::move(apps::overlay_legend(*play.sets), std::back_inserter(entries));
  }
  return entries;
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

}  // namespace

Sheet sheet_of(const Context& context, const Play& play, const Layout& layout,
               const Routing& routing, long step, Bytes block_bytes) {
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
    const std::vector<std::size_t> steps = steps_to_print(play, step);
    sheet.legend = legend_of(play, routing, steps);
    for (const std::size_t drawn : steps) {
      sheet.pictures.push_back(still_of(play, layout, routing, drawn, block_bytes, most_bytes));
      ++shown;
    }
  }
  const Json made = provenance_json(context);
  sheet.foot = fmt::format(
      "wormcube {} · {} · {}a worm ends at its arrow; the number at a stub is the node at its "
      "other end{}",
      made["version"].get<std::string>(), made["command"].get<std::string>(),
      shown > 0 && shown < play.steps.steps
          ? fmt::format("{} of {} steps · ", shown, play.steps.steps)
          : std::string(),
      shown > 0 && !play.held.empty()
          ? "; a node's bar shows how much of its result it has when the step begins"
          : "");
  return sheet;
}

void write_frames(const Context& context, const Play& play, const Layout& layout,
                  const Routing& routing, const std::string& folder, Bytes block_bytes) {
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
        context, fmt::format("{}/{:04}.png", folder, step),
        picture(svg_text(marks, {0, 0}, {width, height}, {.title = title}), PictureFormat::png));
  }
}

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

}  // namespace wormcube::cli
