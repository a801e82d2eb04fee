// Every algorithm whose values can be named is written, read, proved, and written again; and run.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/msccl.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/tests/dataflow/named_calls.hpp"

#include <map>
#include <string>

#include <catch2/catch.hpp>

using namespace wormcube;

TEST_CASE("algorithms are written as text 2, read, proved, and written again",
          "[dataflow][written]") {
  std::map<std::string, int> written;
  std::size_t as_msccl = 0;
  for (const char* const network : {"ring:4", "mesh:2x4", "hypercube:3"}) {
    const Topology topology = Topology::parse(network);
    const auto unnamed =
        each_named_call(network, [&](const Algorithm& algorithm, const NamedSchedule& named) {
          CAPTURE(network, algorithm.operation->name, algorithm.name);
          const std::string text = named_schedule_text(named);
          NamedSchedule again = parse_named_schedule(text, "f.txt", operation_facts);
          CHECK(named_schedule_text(again) == text);
          const ScheduledCall call = scheduled_call(*again.operation, topology.nodes());
          const Goal goal = goal_of(call.operation, call.arguments, topology.nodes());
          const NamedReport report = prove_named(again, &goal);
          CHECK(report.findings.empty());
          CHECK(report.delivered == true);
          const ScheduleReport before = check(named.schedule, Routing(topology, 2), true),
                               after = check(again.schedule, Routing(topology, 2), true);
          CHECK(before.startups == after.startups);
          CHECK(before.messages == after.messages);
          CHECK(before.transmission == after.transmission);
          CHECK(before.contended == after.contended);
          CHECK(before.combined == after.combined);
          CHECK(after.problems.empty());
          ++written[network];
          const std::string name(algorithm.operation->name);
          if (name == "allreduce" || name == "allgather" || name == "alltoall" ||
              name == "reduce_scatter") {
            const apps::MscclVerdict verdict =
                judge_msccl(apps::parse_msccl(apps::msccl_text(again, "test"), "f.xml"));
            CHECK(verdict.findings == std::vector<std::string>{});
            CHECK(verdict.proved);
            ++as_msccl;
          }
        });
    for (const std::string& text : unnamed) WARN(text);
  }
  for (const auto& [network, count] : written) CHECK(count > 30);
  CHECK(as_msccl > 30);
}
