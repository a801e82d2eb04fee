// MSCCL XML: what is refused, and each finding on small files.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/msccl.hpp"

#include "wormcube/collectives/core/operations.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/naming.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/apps/formats_support.hpp"

#include <random>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

struct Parts {
  std::string channel = "0", flagged = "1", source = "s", dependency = "depid=\"0\" deps=\"0\"",
              reduce = "yes", protocol = "Simple";
};

/// An all-reduce of one chunk on two GPUs, in place; the second GPU is always right.
std::string pair_of(const Parts& parts) {
  const auto gpu = [](int id, const Parts& its) {
    return fmt::format(
        "<gpu id=\"{0}\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"1\">\n"
        "<tb id=\"0\" send=\"{1}\" recv=\"-1\" chan=\"{2}\"><step s=\"0\" type=\"s\" srcbuf=\"i\" "
        "srcoff=\"0\" dstbuf=\"s\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\" "
        "hasdep=\"{3}\"/></tb>\n"
        "<tb id=\"1\" send=\"-1\" recv=\"{1}\" chan=\"0\"><step s=\"0\" type=\"r\" srcbuf=\"i\" "
        "srcoff=\"0\" dstbuf=\"s\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\" "
        "hasdep=\"0\"/>\n{4}</tb></gpu>\n",
        id, 1 - id, its.channel, its.flagged,
        its.reduce == "yes" ? fmt::format("<step s=\"1\" type=\"re\" srcbuf=\"{}\" srcoff=\"0\" "
                                          "dstbuf=\"o\" dstoff=\"0\" cnt=\"1\" {} hasdep=\"0\"/>\n",
                                          its.source, its.dependency)
                            : "");
  };
  return fmt::format(
      "<?xml version=\"1.0\"?>\n<!-- two -->\n<algo name=\"pair\" proto=\"{}\" nchannels=\"1\" "
      "nchunksperloop=\"1\" ngpus=\"2\" coll=\"allreduce\" inplace=\"1\">\n{}{}</algo>\n",
      parts.protocol, gpu(0, parts), gpu(1, {}));
}

std::string first_finding_of(const std::string& text) {
  try {
    const apps::MscclVerdict verdict = judge_msccl(apps::parse_msccl(text, "f.xml"));
    return verdict.findings.empty() ? "right" : verdict.findings.front();
  } catch (const UsageError& error) {
    return error.what();
  }
}

std::string changed(std::string text, const std::string& old, const std::string& by) {
  const std::size_t at = text.find(old);
  REQUIRE(at != text.npos);
  return text.replace(at, old.size(), by);
}

}  // namespace

TEST_CASE("a right MSCCL file is proved twice, and laid into steps", "[formats]") {
  apps::MscclVerdict verdict = judge_msccl(apps::parse_msccl(pair_of({}), "f.xml"));
  CHECK(verdict.findings.empty());
  CHECK(verdict.proved);
  REQUIRE(verdict.schedule);
  NamedSchedule& named = *verdict.schedule;
  CHECK(named.schedule.steps() == 1);
  CHECK(verdict.messages == 2);
  const ScheduledCall call = scheduled_call(*named.operation, 2);
  const Goal goal = goal_of(call.operation, call.arguments, 2);
  const NamedReport report = prove_named(named, &goal);
  CHECK(report.findings.empty());
  CHECK(report.delivered == true);
  // GPU 0 combines 0+1, GPU 1 combines 1+0.
  CHECK(report.order_changed == true);
}

TEST_CASE("each fault of an MSCCL file has its sentence", "[formats]") {
  CHECK(first_finding_of(pair_of({})) == "right");
  CHECK(first_finding_of(pair_of({.dependency = "depid=\"-1\" deps=\"-1\""})) ==
        "gpu 0, o[0]: tb 0 step 0 (s) reads, tb 1 step 1 (re) writes, and nothing orders them");
  CHECK(first_finding_of(pair_of({.flagged = "0"})) ==
        "hangs: gpu 0, tb 1, step 1 waits for tb 0, step 0");
  CHECK(first_finding_of(pair_of({.source = "i"})) ==
        "gpu 0, tb 1, step 1 (re): reduces gpu 0's chunk 0 twice");
  CHECK(first_finding_of(pair_of({.reduce = "no"})) ==
        "gpu 0 ends with chunk 0 of 0 in o[0], not chunk 0 of all");
  CHECK(first_finding_of(pair_of({.channel = "1"})) == "f.xml: gpu 0, tb 0: channel 1 of 1");
  const std::string left_over = changed(
      pair_of({}), "<tb id=\"1\" send=\"-1\" recv=\"1\" chan=\"0\"><step s=\"0\" type=\"r\"",
      "<tb id=\"1\" send=\"-1\" recv=\"1\" chan=\"0\"><step s=\"0\" type=\"nop\"");
  CHECK(first_finding_of(left_over) ==
        "gpu 1 sends 1 chunk to 0 on channel 0 that are never received");
}

TEST_CASE("each dependency of a written MSCCL file is missed", "[formats]") {
  const Topology topology = Topology::parse("ring:4");
  const std::string none = "depid=\"-1\" deps=\"-1\"";
  int dependencies = 0;
  for (const char* const operation : {"allreduce", "reduce_scatter", "allgather"}) {
    CAPTURE(operation);
    Arguments arguments;
    if (parse_operation(operation)->reduces) arguments.reduction = find_reduction("sum", "int32");
    const Collective ring(find_algorithm(parse_operation(operation), "ring"), arguments);
    NamedSchedule named = named_call(ring, topology, 64, false);
    const std::string text = apps::msccl_text(named, "ring");
    CHECK(first_finding_of(text) == "right");
    for (std::size_t at = text.find("depid=\""); at != text.npos;
         at = text.find("depid=\"", at + 1)) {
      const std::size_t end = text.find(" hasdep", at);
      if (text.substr(at, end - at) == none) continue;
      ++dependencies;
      // A race, stale data, or nothing to read.
      CHECK_THAT(first_finding_of(std::string(text).replace(at, end - at, none)),
                 StartsWith("gpu "));
    }
  }
  CHECK(dependencies > 20);
}

TEST_CASE("an MSCCL file that an executor would ignore is refused", "[formats]") {
  const std::string right = pair_of({});
  CHECK_THAT(first_finding_of(changed(right, "<algo", "<algorithm")), Contains("not XML"));
  CHECK_THAT(first_finding_of("<html></html>"), Contains("'html', not 'algo'"));
  CHECK_THAT(first_finding_of(changed(right, "proto=\"Simple\"", "proto=\"simple\"")),
             Contains("expected Simple, LL or LL128"));
  CHECK_THAT(first_finding_of(changed(right, "type=\"s\"", "type=\"send\"")),
             Contains("f.xml: gpu 0, tb 0, step 0: type 'send'"));
  CHECK_THAT(first_finding_of(changed(right, "send=\"1\"", "send=\"-1\"")),
             Contains("no `send` peer"));
  CHECK_THAT(first_finding_of(changed(right, "send=\"1\"", "send=\"2\"")), Contains("expected"));
  CHECK_THAT(first_finding_of(changed(right, "srcoff=\"0\"", "srcoff=\"1\"")),
             Contains("i[1..1] of 1 chunks"));
  CHECK_THAT(first_finding_of(changed(right, "depid=\"0\"", "depid=\"7\"")),
             Contains("depends on tb 7 of 2"));
  CHECK_THAT(first_finding_of(changed(right, "depid=\"0\"", "depid=\"1\"")),
             Contains("depends on its own thread block"));
  CHECK_THAT(first_finding_of(changed(right, "<step s=\"1\"", "<step s=\"2\"")),
             Contains("in order"));
  CHECK_THAT(first_finding_of(changed(right, "ngpus=\"2\"", "ngpus=\"3\"")),
             Contains("gpu 2 of 3 is missing"));
  CHECK_THROWS_WITH(apps::parse_msccl(right, "f.xml", 1000), Contains("of memory"));
}

TEST_CASE("an MSCCL file with any bytes changed is judged or refused", "[formats]") {
  std::mt19937 random(11);  // NOLINT: the same texts in every run
  const std::string letters = "0123456789<>/=\" -abcdefgiorstpmn";
  int judged = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = formats_tests::with_random_changes(pair_of({}), letters, random);
    try {
      static_cast<void>(judge_msccl(apps::parse_msccl(text, "f.xml", 1 << 22)));
      ++judged;
    } catch (const UsageError&) {
    }
  }
  CHECK(judged > 100);
  CHECK(judged < 2900);
}
