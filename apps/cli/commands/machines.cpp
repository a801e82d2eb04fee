// wormcube machines: the profiles for --machine.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/machines.hpp"

#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"

#include <memory>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

struct MachinesCommand {
  std::string name;
  OutputOptions output;
};

Json profile_result_json(const MachineProfile& profile) {
  Json json = Json::parse(machine_json(profile));
  for (const char* const key : {"startup_ps", "hop_ps"}) {
    if (json[key].is_null()) json[std::string(key) + "_reason"] = "no figure was found";
  }
  json["cautions"] = profile.cautions();
  // A message of 1 KiB to a neighbour, alone.
  constexpr Bytes kib = 1024;
  json["kib_alone_ps"] = profile.model.alone(profile.model.flits(kib), 1);
  return json;
}

ExitCode machines(Context& context, const MachinesCommand& options) {
  options.output.validate();
  std::vector<MachineProfile> profiles;
  if (options.name.empty()) {
    profiles.assign(machine_profiles().begin(), machine_profiles().end());
  } else {
    profiles.push_back(find_machine(options.name));
  }
  Results results(context, options.output,
                  {{.head = "machine", .text = true, .width = 14},
                   {.head = "network", .text = true, .width = 16},
                   {.head = "year", .width = 5, .drop = 2},
                   {.head = "unit", .text = true, .width = 7, .drop = 1},
                   {.head = "ports", .text = true, .width = 5},
                   {.head = "ts", .unit = "us", .width = 6},
                   {.head = "flit", .unit = "B", .width = 5, .drop = 3},
                   {.head = "time", .unit = "us", .width = 8},
                   {.head = "hop", .unit = "us", .width = 8, .drop = 4},
                   {.head = "sure", .text = true, .width = 5},
                   {.head = "1 KiB", .unit = "us", .width = 6}});
  for (const MachineProfile& profile : profiles) {
    const MachineModel& m = profile.model;
    constexpr Bytes kib = 1024;
    results.add(
        {profile.name, profile.network, profile.year > 0 ? std::to_string(profile.year) : "-",
         profile.unit, m.all_port ? "all" : "one",
         profile.startup ? microseconds_text(*profile.startup) : "-", std::to_string(m.flit_bytes),
         microseconds_text(m.flit), profile.hop ? microseconds_text(*profile.hop) : "-",
         profile.sure, cell(static_cast<double>(m.alone(m.flits(kib), 1)) / 1e6)},
        profile_result_json(profile));
  }
  results.note(fmt::format("sure: how certain ts, flit time and hop are. {}", certainty_text()));
  if (options.name.empty()) {
    std::string drafts;
    for (const MachineProfile& profile : profiles) {
      if (profile.draft) drafts += (drafts.empty() ? "" : ", ") + profile.name;
    }
    results.note("drafts, to be compared with their sources before use: " + drafts);
    results.note(
        "a profile is not a measurement of the machine; `wormcube machines NAME` shows its source");
  } else {
    for (const std::string& text : profiles.front().cautions()) results.note(text);
    if (!profiles.front().source.empty()) results.note("source: " + profiles.front().source);
  }
  results.finish(!options.name.empty());
  return passed;
}

}  // namespace

Action add_machines(CLI::App& program) {
  auto options = std::make_shared<MachinesCommand>();
  CLI::App& app = *program.add_subcommand(
      "machines", "List the machine profiles for --machine, with their sources");
  app.add_option("NAME", options->name, "Profile to show: a name from the list, or a file")
      ->type_name("NAME|FILE.json");
  add_output_options(app, options->output, true, false);
  app.footer(
      "A profile contains the constants that `wormcube replay` uses, taken from published figures. "
      "It gives a rough estimate of a schedule's cost on such a machine. With NAME, the output "
      "shows the profile's limits and its source. The JSON output has the same keys as a file for "
      "--machine, plus `cautions` and `kib_alone_ps`.\n\n"
      "Examples:\n"
      "  wormcube machines\n"
      "  wormcube machines bluegene-l\n"
      "  wormcube replay alltoall --on torus:8x8x8 --machine bluegene-l");
  return [options](Context& context) { return machines(context, *options); };
}

}  // namespace wormcube::cli
