// The built-in profiles, and profiles in files.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/machines.hpp"

#include "wormcube/apps/io/text.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace wormcube {

extern const std::span<const std::string_view> machine_drafts;  // the texts of docs/machines/*.json

namespace {

using ProfileJson = nlohmann::ordered_json;

/// A profile to which a file gives its own name, or that has no figure for a constant.
constexpr Ticks no_figure = -1;

struct ProfileRow {
  const char *name, *network;
  int year;
  const char* unit;
  bool all_port;
  Ticks startup;
  std::int64_t flit_bytes;
  Ticks flit, hop, credit;
  std::int64_t slots;
  Ticks rearrange, combine;
  const char* sure;
  std::int64_t port_mb_per_s;  // 0: as the link
  const char *note, *source;
  Ticks node = 0;
};

constexpr std::array built_in_machines{
    ProfileRow{"paragon", "mesh:16x32", 1994, "worm", false, 70'000'000, 2, 11'429, 40'000, 11'429,
               5, 5000, 7500, "v v r", 170, "SUNMOS; NX under OSF/1 took 100 us and 30 to 35 MB/s",
               "NASA RNR-94-016; van der Steen, Dongarra, report 95"},
    ProfileRow{
        "t3d", "torus:8x8x4", 1993, "packet", false, 21'000'000, 2, 6667, 13'333, 6667, 3,
        no_figure, no_figure, "r v r", 27,
        "PVM; for puts to shared memory --ts 3 (128 MB/s); two processors share a network port",
        "van der Steen, Dongarra, report 94; Dongarra, Dunigan, UT-CS-95-299"},
    ProfileRow{"t3e", "torus:8x8x8", 1996, "packet", false, 5'000'000, 8, 16'000, no_figure, 16'000,
               2, no_figure, no_figure, "v v -", 340, "MPI; routes were adaptive",
               "Scott, Thorson, The Cray T3E Network, 1996; Ames Laboratory, MP_Lite"},
    ProfileRow{"sp-2", "complete:64", 1994, "packet", false, 39'500'000, 1, 25'000, 500'000, 25'000,
               21, no_figure, no_figure, "d v v", 35,
               "MPL or MPI; a hop is the whole path through the switches",
               "Chang et al., Low-Latency Communication on the IBM SP, SC'96"},
    ProfileRow{"bluegene-l", "torus:8x8x8", 2005, "packet", true, 3'000'000, 32, 182'857, 100'000,
               182'857, 32, 364, 545, "v v r", 0,
               "a node injects 612.5 MB/s, 3.5 of its 6 links; routes were adaptive",
               "Hennessy, Patterson, Computer Architecture, app. F; Adiga et al., IBM J. R&D 49",
               52'245},
    ProfileRow{"bluegene-q", "torus:4x4x4x4x2", 2012, "packet", true, 1'942'000, 32, 17'778, 40'000,
               17'778, 4, 47, 70, "r v v", 0, "routes were adaptive",
               "IBM, Blue Gene/Q Hardware Overview, ch. 2"},
    ProfileRow{"gemini", "torus:17x8x24", 2010, "packet", false, 1'270'000, 64, 20'513, 108'750,
               20'513, 7, no_figure, no_figure, "d d v", 0,
               "settings of simulators of Cray XE6 machines; links of the second dimension are "
               "assumed to be the slower ones",
               "lanl/PPT, hardware/interconnect/configs; sst-macro, configurations/hopper_*"},
    ProfileRow{"tpu-v4", "torus:4x4x4", 2020, "packet", true, 0, 512, 11'378, 1'000'000, 11'378, 89,
               2, 3, "a v v", 0, "this profile has per-hop latency only",
               "jax-ml/scaling-book; cloud.google.com/tpu/docs/v4"},
    ProfileRow{"trainium2", "torus:4x4", 2024, "packet", true, 1'500'000, 512, 4000, no_figure,
               4000, 2, 1, 1, "v d -", 0, "links of a third dimension are half as fast",
               "aws-neuron-sdk, trn2-arch, intranode-collective-comm"},
    ProfileRow{"hgx-h100", "complete:8", 2023, "packet", false, 1'870'000, 512, 1280, no_figure,
               1280, 2, 1, 1, "v v -", 0, "switches can add up what passes; not modelled",
               "astra-sim, HGX-H100-validated.yml; stas00/ml-engineering, network"}};

/// A flit takes whole ticks at a port, rounded up.
void set_port_rate(MachineProfile& profile, std::int64_t mb_per_s) {
  constexpr Ticks ps_per_us = 1'000'000;  // and bytes per us are MB/s
  profile.port_mb_per_s = mb_per_s;
  profile.model.port = Rate{ps_per_us, mb_per_s}.of(static_cast<Bytes>(profile.model.flit_bytes));
}

MachineProfile profile_of(const ProfileRow& row) {
  MachineProfile profile;
  profile.name = row.name;
  profile.network = row.network;
  profile.year = row.year;
  profile.unit = row.unit;
  profile.startup = row.startup;
  if (row.hop != no_figure) profile.hop = row.hop;
  profile.rearranges = row.rearrange != no_figure;
  profile.model = {.startup = row.startup,
                   .flit_bytes = row.flit_bytes,
                   .flit = row.flit,
                   .hop = row.hop == no_figure ? row.flit : row.hop,
                   .credit = row.credit,
                   .slots = row.slots,
                   .rearrange = {profile.rearranges ? row.rearrange : 0, 1},
                   .combine = {profile.rearranges ? row.combine : 0, 1},
                   .all_port = row.all_port};
  profile.sure = row.sure;
  if (row.port_mb_per_s > 0) set_port_rate(profile, row.port_mb_per_s);
  if (profile.unit == "packet") profile.model.forwarding = Forwarding::packets;
  profile.model.node = row.node;
  profile.notes = {row.note};
  profile.source = row.source;
  return profile;
}

/// Reads a profile's keys, each once.
class ProfileReader {
 public:
  ProfileReader(const ProfileJson& json, const std::string& file) : json_(json), file_(file) {
    if (!json.is_object()) fail("expected an object");
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw UsageError(fmt::format("machine profile {}: {}", file_, why));
  }
  std::string text(const char* key, const char* preset) {
    const ProfileJson* const value = find(key);
    if (value == nullptr) return preset;
    if (!value->is_string()) fail(fmt::format("\"{}\" is not a string", key));
    return value->get<std::string>();
  }
  std::optional<std::int64_t> number(const char* key, std::int64_t least) {
    const ProfileJson* const value = find(key);
    if (value == nullptr || value->is_null()) return std::nullopt;
    if (!value->is_number_integer()) {
      fail(fmt::format("\"{}\" is {}; expected a whole number", key, value->dump()));
    }
    constexpr std::int64_t most = (std::int64_t{1} << 62) - 1;
    const bool fits =
        !value->is_number_unsigned() || std::cmp_less_equal(value->get<std::uint64_t>(), most);
    if (!fits || value->get<std::int64_t>() < least) {
      fail(fmt::format("\"{}\" is {}; expected {} to {}", key, value->dump(), least, most));
    }
    return value->get<std::int64_t>();
  }
  std::int64_t required(const char* key, std::int64_t least) {
    const auto value = number(key, least);
    if (!value) fail(fmt::format("\"{}\" is missing", key));
    return *value;
  }
  /// NAME_ps_per_byte or NAME_ps_per_kib.
  std::optional<Rate> rate(const std::string& name) {
    constexpr std::int64_t kib = 1024;
    const auto per_byte = number((name + "_ps_per_byte").c_str(), 0);
    const auto per_kib = number((name + "_ps_per_kib").c_str(), 0);
    if (per_byte && per_kib) {
      fail(fmt::format("\"{0}_ps_per_byte\" and \"{0}_ps_per_kib\": give only one of them", name));
    }
    if (per_kib) return Rate{*per_kib, kib};
    if (per_byte) return Rate{*per_byte, 1};
    return std::nullopt;
  }
  void require_all_known() const {
    for (const auto& [key, value] : json_.items()) {
      if (std::ranges::find(seen_, key) == seen_.end())
        fail(fmt::format("unknown key \"{}\"", key));
    }
  }
  std::vector<std::string> texts(const char* key) {
    const ProfileJson* const value = find(key);
    std::vector<std::string> list;
    if (value == nullptr) return list;
    if (!value->is_array()) fail(fmt::format("\"{}\" is not a list of strings", key));
    for (const ProfileJson& item : *value) {
      if (!item.is_string()) fail(fmt::format("\"{}\" is not a list of strings", key));
      list.push_back(item.get<std::string>());
    }
    return list;
  }

 private:
  const ProfileJson* find(const char* key) {
    seen_.emplace_back(key);
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }
  const ProfileJson& json_;
  const std::string& file_;
  std::vector<std::string> seen_;
};

MachineProfile profile_of_text(std::string_view text, const std::string& file) {
  ProfileJson json;
  try {
    json = ProfileJson::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string_view before = text.substr(0, error.byte > 0 ? error.byte - 1 : 0);
    const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
    throw UsageError(fmt::format(
        "machine profile {}: no JSON from line {}, column {} on; `wormcube machines NAME --json -` "
        "prints a profile to begin with",
        file, std::ranges::count(before, '\n') + 1, before.size() - line_begin + 1));
  }
  ProfileReader reader(json, file);
  MachineProfile profile;
  profile.name = reader.text("name", file.c_str());
  profile.network = reader.text("network", "");
  profile.year = static_cast<int>(reader.number("year", 0).value_or(0));
  profile.unit = reader.text("unit", "worm");
  if (profile.unit != "worm" && profile.unit != "circuit" && profile.unit != "packet") {
    reader.fail(fmt::format("\"unit\" is \"{}\"; expected worm, circuit or packet", profile.unit));
  }
  const std::string ports = reader.text("ports", "one");
  if (ports != "one" && ports != "all") {
    reader.fail(fmt::format("\"ports\" is \"{}\"; expected one or all", ports));
  }
  MachineModel& model = profile.model;
  profile.startup = reader.number("startup_ps", 0);
  profile.hop = reader.number("hop_ps", 1);
  model.all_port = ports == "all";
  model.flit_bytes = reader.required("flit_bytes", 1);
  model.flit = reader.required("flit_ps", 1);
  model.startup = profile.startup.value_or(0);
  model.hop = profile.hop.value_or(model.flit);
  model.credit = reader.number("credit_ps", 1).value_or(1);
  model.slots = reader.number("depth", 1).value_or(4);
  const auto rearrange = reader.rate("rearrange"), combine = reader.rate("combine");
  profile.rearranges = rearrange && combine;
  model.rearrange = rearrange.value_or(Rate{0, 1});
  model.combine = combine.value_or(Rate{0, 1});
  if (const auto rate = reader.number("port_mb_per_s", 1)) set_port_rate(profile, *rate);
  if (const auto ticks = reader.number("port_ps", 1)) {
    if (profile.port_mb_per_s)
      reader.fail("\"port_ps\" and \"port_mb_per_s\": give only one of them");
    model.port = *ticks;
  }
  model.port_slots = reader.number("port_slots", 1).value_or(0);
  if (profile.unit == "packet") model.forwarding = Forwarding::packets;
  if (const auto bytes = reader.number("packet_bytes", 1)) {
    if (profile.unit != "packet") reader.fail("\"packet_bytes\" needs \"unit\": \"packet\"");
    if (*bytes < model.flit_bytes) reader.fail("\"packet_bytes\" is less than a flit");
    model.packet = *bytes / model.flit_bytes;
  }
  if (const auto ticks = reader.number("node_ps", 1)) {
    if (profile.unit != "packet") reader.fail("\"node_ps\" needs \"unit\": \"packet\"");
    model.node = *ticks;
  }
  profile.sure = reader.text("sure", "");
  profile.notes = reader.texts("notes");
  profile.source = reader.text("source", "");
  reader.require_all_known();
  model.require_valid();
  return profile;
}

MachineProfile read_profile(const std::string& file) {
  constexpr std::size_t most = std::size_t{1} << 20;  // they have some 500 bytes
  return profile_of_text(apps::read_whole(file, most, "the limit of a machine profile"), file);
}

}  // namespace

std::string machine_text(const MachineProfile& profile) {
  return fmt::format("{}{}, {}", profile.name,
                     profile.network.empty() ? "" : fmt::format(" ({})", profile.network),
                     profile.model.all_port ? "all ports" : "one port");
}

std::string_view certainty_text() {
  return "v: read in the cited source; d: derived from such figures; r: recalled from it; a: "
         "assumed; -: no figure, a hop takes one flit time";
}

std::span<const MachineProfile> machine_profiles() {
  static const std::vector<MachineProfile> profiles = [] {
    std::vector<MachineProfile> list;
    for (const ProfileRow& row : built_in_machines) list.push_back(profile_of(row));
    for (const std::string_view text : machine_drafts) {
      list.push_back(profile_of_text(text, "of the program"));
      list.back().draft = true;
    }
    return list;
  }();
  return profiles;
}

std::vector<std::string> MachineProfile::cautions() const {
  std::vector<std::string> list;
  if (unit == "circuit") {
    list.emplace_back("its messages set up a circuit first; routers stored nothing");
  }
  if (!hop) list.emplace_back("no figure for a hop was found: a hop takes one flit time");
  if (!startup) list.emplace_back("no figure for a start-up: give one with --ts");
  if (!rearranges) {
    list.emplace_back(model.rearrange.ticks + model.combine.ticks == 0
                          ? "rearranging and combining are free: no figures"
                          : "rearranging or combining is free: no figure for one of them");
  }
  if (port_mb_per_s) {
    const double link_mb =
        1e6 * static_cast<double>(model.flit_bytes) / static_cast<double>(model.flit);
    list.push_back(fmt::format("its ports are slower than its links: {} of {:.0f} MB/s",
                               *port_mb_per_s, link_mb));
  }
  list.insert(list.end(), notes.begin(), notes.end());
  return list;
}

MachineProfile find_machine(const std::string& name) {
  const auto profiles = machine_profiles();
  const auto found = std::ranges::find(profiles, name, &MachineProfile::name);
  if (found != profiles.end()) return *found;
  if (name.find('.') != std::string::npos || name.find('/') != std::string::npos) {
    return read_profile(name);
  }
  std::vector<std::string_view> names;
  for (const MachineProfile& profile : profiles) names.push_back(profile.name);
  throw UsageError(fmt::format(
      "unknown machine '{}'{}; available:{}; for your own machine give a file: --machine FILE.json",
      name, did_you_mean(name, names), listed(names)));
}

std::string machine_json(const MachineProfile& profile) {
  const MachineModel& m = profile.model;
  ProfileJson json{{"name", profile.name}};
  if (!profile.network.empty()) json["network"] = profile.network;
  if (profile.year != 0) json["year"] = profile.year;
  json["unit"] = profile.unit;
  json["ports"] = m.all_port ? "all" : "one";
  json["startup_ps"] = profile.startup ? ProfileJson(*profile.startup) : ProfileJson(nullptr);
  json["flit_bytes"] = m.flit_bytes;
  json["flit_ps"] = m.flit;
  json["hop_ps"] = profile.hop ? ProfileJson(*profile.hop) : ProfileJson(nullptr);
  json["credit_ps"] = m.credit;
  json["depth"] = m.slots;
  for (const auto& [name, rate] :
       {std::pair("rearrange", m.rearrange), std::pair("combine", m.combine)}) {
    if (!profile.rearranges && rate.ticks == 0) continue;
    json[fmt::format("{}_ps_per_{}", name, rate.bytes == 1 ? "byte" : "kib")] = rate.ticks;
  }
  const MachineModel defaults;
  if (profile.port_mb_per_s) {
    json["port_mb_per_s"] = *profile.port_mb_per_s;
  } else if (m.port != 0) {
    json["port_ps"] = m.port;
  }
  if (m.port_slots != 0) json["port_slots"] = m.port_slots;
  if (m.packet != defaults.packet) json["packet_bytes"] = m.packet * m.flit_bytes;
  if (m.node != 0) json["node_ps"] = m.node;
  if (!profile.sure.empty()) json["sure"] = profile.sure;
  if (!profile.notes.empty()) json["notes"] = profile.notes;
  if (!profile.source.empty()) json["source"] = profile.source;
  return json.dump(2) + "\n";
}

}  // namespace wormcube
