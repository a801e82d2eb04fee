// Machine profiles: built in, in files, and refused ones.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/machines.hpp"

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/replay/replay.hpp"
#include "wormcube/runtime/topology/topology.hpp"
#include "wormcube/tests/replay/schedules.hpp"
#include "wormcube/tests/temporary_file.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;

namespace {

/// 1 KiB to a neighbour, alone, in ps: worked out beside the figures' sources.
struct KibAlone {
  const char* name;
  Ticks ps;
};
constexpr std::array kib_alone{std::to_array<KibAlone>({
    {"ncube-2", 615'800'000},  {"ipsc-2", 716'071'575},     {"ipsc-860", 508'756'000},
    {"delta", 205'075'000},    {"paragon", 76'063'680},     {"paragon-osf", 131'547'968},
    {"t3d", 58'939'733},       {"t3e", 8'027'840},          {"cm-5", 213'860'000},
    {"sp-1", 416'786'592},     {"sp-2", 69'257'728},        {"j-machine", 32'562'500},
    {"iwarp", 25'850'000},     {"ap1000", 41'120'000},      {"bluegene-l", 8'951'424},
    {"bluegene-p", 5'334'408}, {"bluegene-q", 2'550'896},   {"fugaku", 635'592},
    {"gemini", 1'706'958},     {"tpu-v4", 1'022'756},       {"trainium2", 1'512'000},
    {"hgx-h100", 1'873'840},   {"infiniband-hdr", 637'960}, {"ethernet-10g", 11'730'400},
})};

std::string file_of(const std::string& name) {
  return fmt::format("{}/docs/machines/{}.json", WORMCUBE_SOURCE_DIR, name);
}

MachineProfile read_text(const std::string& text) {
  const test::TemporaryFile file(".json", text);
  return find_machine(file.path());
}

}  // namespace

TEST_CASE("a KiB alone takes on each machine what its figures add up to", "[machines]") {
  for (const auto& [name, ps] : kib_alone) {
    CAPTURE(name);
    const MachineProfile profile = find_machine(name);
    if (profile.draft) CHECK(machine_json(find_machine(file_of(name))) == machine_json(profile));
    CHECK(profile.name == name);
    CHECK(profile.model.alone(profile.model.flits(1024), 1) == ps);
    CHECK(profile.model.full_rate());
    CHECK_FALSE(profile.source.empty());
    CHECK_NOTHROW(Topology::parse(profile.network));
    // The same by a replay.
    const Schedule schedule = test::written("line:2", {{{0, 1, 1024}}});
    CHECK(replay(schedule, Routing(schedule.topology), profile.model).time == ps);
    // What is written is read again.
    const MachineProfile again = read_text(machine_json(profile));
    CHECK(again.model == profile.model);
    CHECK(again.cautions() == profile.cautions());
    CHECK(machine_json(again) == machine_json(profile));
  }
}

TEST_CASE("all profiles have a name of their own and figures that the test above knows",
          "[machines]") {
  std::size_t drafts = 0;
  for (const MachineProfile& profile : machine_profiles()) {
    CAPTURE(profile.name);
    CHECK(std::ranges::count(kib_alone, profile.name, &KibAlone::name) == 1);
    drafts += profile.draft ? 1 : 0;
  }
  CHECK(machine_profiles().size() == kib_alone.size());
  CHECK(drafts == 14);
}

TEST_CASE("a profile says what it cannot express", "[machines]") {
  const auto says = [](const char* name, const char* text) {
    const std::vector<std::string> list = find_machine(name).cautions();
    return std::ranges::any_of(
        list, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  };
  CHECK(says("t3e", "340 of 500 MB/s"));
  CHECK(says("t3e", "no figure for a hop"));
  CHECK(says("t3e", "rearranging and combining are free"));
  CHECK(says("bluegene-l", "a node injects 612.5 MB/s"));
}

TEST_CASE("a profile with a mistake is refused with its key", "[machines]") {
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(find_machine("t4"),
                    Contains("unknown machine 't4'; available: paragon t3d t3e"));
  CHECK_THROWS_WITH(find_machine("fugaki"), Contains("(did you mean 'fugaku'?)"));
  CHECK_THROWS_WITH(find_machine("tpuv4"), Contains("(did you mean 'tpu-v4'?)"));
  CHECK_THROWS_WITH(find_machine("/nowhere/x.json"),
                    Contains("cannot read '/nowhere/x.json': No such file"));
  CHECK_THROWS_WITH(read_text("{"), Contains("no JSON from line 1, column 2 on"));
  CHECK_THROWS_WITH(read_text("{\"flit_bytes\": 1,\n  oops}"), Contains("line 2, column 3 on"));
  CHECK_THROWS_WITH(read_text(R"({"flit_bytes": 1, "flit_ps": 4611686018427387904})"),
                    Contains("expected 1 to 4611686018427387903"));
  CHECK_THROWS_WITH(read_text("[]"), Contains("expected an object"));
  CHECK_THROWS_WITH(read_text(R"({"flit_bytes": 1})"), Contains("\"flit_ps\" is missing"));
  CHECK_THROWS_WITH(read_text(R"({"flit_bytes": 1, "flit_ps": 0})"),
                    Contains("\"flit_ps\" is 0; expected 1 to"));
  CHECK_THROWS_WITH(read_text(R"({"flit_bytes": 1, "flit_ps": 1.5})"),
                    Contains("expected a whole number"));
  CHECK_THROWS_WITH(read_text(R"({"flit_bytes": 1, "flit_ps": 5, "flits": 1})"),
                    Contains("unknown key \"flits\""));
  CHECK_THROWS_WITH(read_text(R"({"flit_bytes": 1, "flit_ps": 5, "ports": "two"})"),
                    Contains("expected one or all"));
  CHECK_THROWS_WITH(
      read_text(
          R"({"flit_bytes": 1, "flit_ps": 5, "rearrange_ps_per_byte": 1, "rearrange_ps_per_kib": 1})"),
      Contains("one of them"));
  const MachineProfile kib = read_text(
      R"({"flit_bytes": 1, "flit_ps": 5, "rearrange_ps_per_kib": 600, "combine_ps_per_kib": 3})");
  CHECK(kib.model.rearrange.of(1) == 1);
  CHECK(kib.model.rearrange.of(2048) == 1200);
  CHECK(kib.model.hop == 5);
  CHECK(kib.model.forwarding == Forwarding::wormhole);
  CHECK(kib.model.port_flit() == 5);
}

TEST_CASE("a profile says how fast its ports are, and how it cuts messages", "[machines]") {
  using Catch::Matchers::Contains;
  const std::string start = R"({"flit_bytes": 2, "flit_ps": 5, "unit": "packet", "ports": "all")";
  const MachineProfile profile =
      read_text(start + R"(, "port_ps": 9, "port_slots": 7, "packet_bytes": 65, "node_ps": 3})");
  CHECK(profile.model.forwarding == Forwarding::packets);
  CHECK(profile.model.port == 9);
  CHECK(profile.model.port_slots == 7);
  CHECK(profile.model.packet == 32);
  CHECK(profile.model.node == 3);
  CHECK(read_text(machine_json(profile)).model == profile.model);
  CHECK(read_text(start + R"(, "port_mb_per_s": 300000})").model.port == 7);  // 6.67 ps
  CHECK_THROWS_WITH(read_text(start + R"(, "port_ps": 9, "port_mb_per_s": 4})"),
                    Contains("one of them"));
  CHECK_THROWS_WITH(read_text(start + R"(, "port_ps": 4})"), Contains("at a port"));
  CHECK_THROWS_WITH(read_text(start + R"(, "packet_bytes": 1})"), Contains("less than a flit"));
  CHECK_THROWS_WITH(read_text(R"({"flit_bytes": 2, "flit_ps": 5, "packet_bytes": 64})"),
                    Contains("needs \"unit\": \"packet\""));
  CHECK_THROWS_WITH(read_text(R"({"flit_bytes": 2, "flit_ps": 5, "node_ps": 64})"),
                    Contains("needs \"unit\": \"packet\""));
}
