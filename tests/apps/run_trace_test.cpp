// Traces of real runs and replays: the laws of the format, their content, bounded memory.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/run_trace.hpp"

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/tests/apps/trace_laws.hpp"
#include "wormcube/tests/cli/program.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json written(RunTrace& trace) {
  std::string text;
  trace.write([&](std::string_view line) { text += line; }, "\"topology\":\"x\"");
  return json::parse(text);
}

json traced_shift(const Topology& topology, Bytes bytes, TraceCut cut, std::size_t in_memory,
                  ExecutorKind executor) {
  RunTrace trace(topology, std::move(cut), in_memory);
  MachineOptions options;
  options.executor = executor;
  trace.observe(options);
  Machine machine(topology, options);
  const Collective collective = parse_collective(operations::alltoall, "shift");
  machine.run(trace.traced([&](Node& node) {
    node.phase("a \"phase\"");
    collective_program(collective, contract_of(collective, topology.nodes(), bytes, 1),
                       nullptr)(node);
    node.rearrange(64, [] {});
  }));
  return written(trace);
}

}  // namespace

TEST_CASE("a real run's trace keeps the laws, has every message and an arrow for each",
          "[machine][trace]") {
  const auto executor = GENERATE(ExecutorKind::threads, ExecutorKind::fibers);
  const std::size_t in_memory = GENERATE(std::size_t{7}, std::size_t{1} << 18U);
  const json file = traced_shift(Topology::parse("mesh:2x3"), 100, {}, in_memory, executor);
  const TraceSeen seen = trace_seen(file);
  CHECK(seen.broken == "");
  CHECK(file["otherData"]["clock"] == "wall");
  CHECK(file["otherData"]["slices_left_out"] == 0);
  CHECK(seen.arrows == 6 * 5);
  CHECK(seen.sent_bytes == 6 * 5 * 100);
  CHECK(seen.of_category.at("message") == 2 * 6 * 5);
  CHECK(seen.of_category.at("step") == 6 * 5);
  CHECK(seen.of_category.at("phase") == 6);
  CHECK(seen.of_category.at("local") >= 6);
  CHECK(seen.rows.at({1, 8}).front().event["name"] == "a \"phase\"");
}

TEST_CASE("a trace of flits has a slice for each worm on each lane, and an instant for each flit",
          "[machine][trace]") {
  const Topology topology = Topology::parse("ring:6");
  const auto traced = [&](TraceCut cut) {
    RunTrace trace(topology, std::move(cut));
    MachineOptions options;
    options.transport = Transport::flits;
    options.routers = 2;
    trace.observe(options);
    Machine machine(topology, options);
    const Program program = [](Node& node) {
      const Memory out = node.memory(600), in = node.memory(600);
      for (const Rank by : {2, 1})
        node.step({send((node.rank() + by) % 6, out), receive((node.rank() + 6 - by) % 6, in)});
    };
    machine.run(program);  // not observed
    machine.run(trace.traced(program));
    return written(trace);
  };
  const json file = traced({});
  const TraceSeen seen = trace_seen(file);
  CHECK(seen.broken == "");
  CHECK(seen.of_category.at("worm") == 6 * 3);  // two links in the first step, then one
  CHECK(seen.of_category.at("flit") == 6 * 3 * 10);
  for (const auto& [row, slices] : seen.rows) {
    if (row.first != 7) continue;
    for (const TraceSlice& slice : slices) {
      const json& arguments = slice.event["args"];
      CHECK(arguments["flits"] == 10);
      CHECK(arguments["bytes"] == 600);
      CHECK(slice.event["name"] ==
            fmt::format("{} -> {}", arguments["from"].get<int>(), arguments["to"].get<int>()));
    }
  }
  const json second = traced({.nodes = {}, .first_step = 1, .last_step = 1});
  CHECK(trace_seen(second).of_category.at("worm") == 6);
  CHECK(trace_seen(second).of_category.at("flit") == 6 * 10);
}

TEST_CASE("a trace is cut to nodes and steps, and reports what is left out", "[machine][trace]") {
  const json all = traced_shift(Topology::parse("ring:4"), 8, {}, 1000, ExecutorKind::fibers);
  const json cut =
      traced_shift(Topology::parse("ring:4"), 8, {.nodes = {0, 1}, .first_step = 1, .last_step = 1},
                   1000, ExecutorKind::fibers);
  const TraceSeen seen = trace_seen(cut);
  CHECK(seen.broken == "");
  // Step 1 goes two nodes on: 0 and 1 send to 2 and 3, and get from them; no arrow has both ends.
  CHECK(seen.of_category.at("message") == 4);
  CHECK(seen.arrows == 0);
  CHECK(cut["otherData"]["slices_left_out"] > 0);
  CHECK(trace_seen(all).of_category.at("message") == 2 * 4 * 3);
}

TEST_CASE("an arrow joins the ends of one message where earlier steps are cut",
          "[machine][trace]") {
  const Topology line = Topology::parse("line:2");
  RunTrace trace(line, {.nodes = {}, .first_step = 1, .last_step = 2}, 1000);
  MachineOptions options;
  options.executor = ExecutorKind::fibers;
  Machine machine(line, options);
  // Sent in steps 0 and 1, received in steps 1 and 2: of the first message one end is left out.
  machine.run(trace.traced([](Node& node) {
    const Memory data = node.memory(8);
    for (int step = 0; step < 3; ++step) {
      const bool sends = node.rank() == 0 && step < 2, receives = node.rank() == 1 && step > 0;
      if (sends) {
        node.step({send(1, data)});
      } else if (receives) {
        node.step({receive(0, data)});
      } else {
        node.step();
      }
    }
  }));
  const json file = written(trace);
  const TraceSeen seen = trace_seen(file);
  CHECK(seen.broken == "");
  CHECK(seen.of_category.at("message") == 3);
  REQUIRE(seen.arrows == 1);
  json sent, received, start, end;
  for (const json& event : file["traceEvents"]) {
    if (event["ph"] == "s") start = event;
    if (event["ph"] == "f") end = event;
    if (event["name"] == "to 1" && event["args"]["step"] == 1) sent = event;
    if (event["name"] == "from 0" && event["args"]["step"] == 2) received = event;
  }
  // Whoever of the two begins later: no arrow goes back in time.
  CHECK(start["ts"] == sent["ts"]);
  // In slices that begin in this order, for readers that draw it from the first to the other.
  CHECK(seen.of_category.count("arrival") == (received["ts"] < sent["ts"] ? 1 : 0));
  CHECK(end["ts"] == std::max(sent["ts"].get<double>(), received["ts"].get<double>()));
}

TEST_CASE("each broken law of traces is detected", "[trace]") {
  const json good = traced_shift(Topology::parse("ring:3"), 8, {}, 1000, ExecutorKind::fibers);
  REQUIRE(trace_seen(good).broken == "");
  const auto broken = [&](auto change) {
    json bad = good;
    change(bad["traceEvents"]);
    return trace_seen(bad).broken;
  };
  const auto of_kind = [](json& events, const char* kind) -> json& {
    for (json& event : events) {
      if (event["ph"] == kind) return event;
    }
    throw std::logic_error("none");
  };
  CHECK_THAT(broken([&](json& e) { of_kind(e, "f")["id"] = 999; }), Contains("has no"));
  CHECK_THAT(broken([&](json& e) { of_kind(e, "X")["ts"] = 1e9; }), Contains("time falls"));
  const json early = json::parse(R"({"otherData":{"slices":2},"traceEvents":[
    {"ph":"M","name":"process_name","pid":1,"args":{"name":"a"}},
    {"ph":"M","name":"thread_name","pid":1,"tid":8,"args":{"name":"send"}},
    {"ph":"M","name":"thread_name","pid":1,"tid":9,"args":{"name":"receive"}},
    {"ph":"X","cat":"message","name":"from 0","pid":1,"tid":9,"ts":0,"dur":9},
    {"ph":"X","cat":"message","name":"to 0","pid":1,"tid":8,"ts":2,"dur":3,"args":{"bytes":1}},
    {"ph":"s","cat":"message","name":"m","id":1,"pid":1,"tid":8,"ts":2},
    {"ph":"f","bp":"e","cat":"message","name":"m","id":1,"pid":1,"tid":9,"ts":2}]})");
  CHECK_THAT(trace_seen(early).broken, Contains("points backwards"));
  CHECK_THAT(broken([&](json& e) { of_kind(e, "X")["tid"] = 77; }), Contains("has no name"));
  CHECK_THAT(broken([&](json& e) {
               of_kind(e, "s")["ts"] = 0;
               of_kind(e, "s")["tid"] = 11;
             }),
             !Catch::Matchers::Equals(""));
  CHECK_THAT(broken([&](json& e) {
               e.push_back(of_kind(e, "X"));
               e.back()["ts"] = 1e6;
               e.push_back(e.back());
               e.back()["ts"] = 1e6 + 1e-3;
               e.back()["dur"] = 1e6;
             }),
             Contains("cross"));
}

TEST_CASE("the trace of a transform on 64 nodes keeps the laws", "[cli][trace]") {
  const wormcube::test::TemporaryFile file(".json");
  const Output output = run_wormcube(
      "fft --on torus:8x8 --executor fibers --shape 4096 --json - --trace " + file.path());
  REQUIRE(output.exit == 0);
  const json trace = json::parse(read_text(file.path()));
  const TraceSeen seen = trace_seen(trace);
  CHECK(seen.broken == "");
  const json result = output.json();
  CHECK(seen.arrows == result["messages"]);
  CHECK(seen.sent_bytes == result["bytes_moved"]);
  CHECK(seen.of_category.at("wait") > 0);
  CHECK(trace["otherData"]["executor"] == "fibers");
}

TEST_CASE("applications name their phases, and traces have them", "[cli][trace]") {
  struct Named {
    std::string call;
    std::vector<std::string> phases;  // some of one node, in their order
  };
  const auto named =
      GENERATE(Named{"fft --shape 64 --algorithm shift",
                     {"pack", "exchange", "unpack", "transforms of rows", "pack", "exchange"}},
               Named{"transpose --shape 8x8 --algorithm shift", {"pack", "exchange", "unpack"}},
               Named{"matvec --shape 8x8", {"vector along columns", "products", "sums along rows"}},
               Named{"sort --count 64",
                     {"sort own keys", "splitters", "counts", "exchange", "merge", "places"}},
               Named{"lookup --entries 64 --lookups 32",
                     {"keys by owner", "counts", "requests", "search", "answers"}});
  CAPTURE(named.call);
  const wormcube::test::TemporaryFile file(".json");
  const Output output = run_wormcube(named.call + " --on mesh:2x2 --trace " + file.path());
  CAPTURE(output.err);
  REQUIRE(output.exit == 0);
  const TraceSeen seen = trace_seen(json::parse(read_text(file.path())));
  CHECK(seen.broken == "");
  std::size_t found = 0;
  for (const TraceSlice& slice : seen.rows.at({1, 8})) {
    if (found < named.phases.size() && slice.event["cat"] == "phase" &&
        slice.event["name"] == named.phases[found]) {
      ++found;
    }
  }
  CHECK(found == named.phases.size());
}

TEST_CASE("a replay's trace keeps the laws, by the model's clock", "[cli][trace][replay]") {
  const wormcube::test::TemporaryFile file(".json");
  const std::string call = "replay alltoall --on torus:4x4 --algorithm shift --bytes 100 ";
  REQUIRE(run_wormcube(call + "--lockstep --trace " + file.path()).exit == 0);
  const json trace = json::parse(read_text(file.path()));
  const TraceSeen seen = trace_seen(trace);
  CHECK(seen.broken == "");
  CHECK(trace["otherData"]["clock"] == "model");
  CHECK(seen.arrows == 16 * 15);
  CHECK(seen.sent_bytes == 16 * 15 * 100);
}

TEST_CASE("a replay's trace has phases, and steps from their post to their end",
          "[cli][trace][replay]") {
  const std::string lock_step = GENERATE("", " --lockstep");
  const wormcube::test::TemporaryFile file(".json");
  const std::string call =
      "replay alltoall --on torus:8x8 --algorithm suh-torus --bytes 100 --tr 0.001" + lock_step;
  const Output output = run_wormcube(call + " --json - --trace " + file.path());
  REQUIRE(output.exit == 0);
  const json trace = json::parse(read_text(file.path()));
  const TraceSeen seen = trace_seen(trace);
  CHECK(seen.broken == "");
  std::map<int, std::string> names;
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "process_name") names[event["pid"]] = event["args"]["name"];
  }
  std::map<std::string, std::vector<const TraceSlice*>> steps;  // by node
  std::set<std::string> phases;
  for (const auto& [row, slices] : seen.rows) {
    for (const TraceSlice& slice : slices) {
      if (slice.event["cat"] == "step") steps[names[row.first]].push_back(&slice);
      if (slice.event["cat"] == "phase") phases.insert(slice.event["name"]);
    }
  }
  CHECK(phases == std::set<std::string>{"phase 1: rings of every fourth node",
                                        "phase 2: rings of every fourth node", "phase 3: two hops",
                                        "phase 4: one hop"});
  CHECK(seen.of_category.at("phase") == 64 * phases.size());
  const json replayed = output.json();
  std::size_t differ = 0;
  for (const json& message : replayed["messages"]) {
    const TraceSlice& step = *steps.at(fmt::format("node {:02}", message["from"].get<int>()))
                                  .at(message["step"].get<std::size_t>());
    if (step.begin != message["posted_ps"].get<std::int64_t>() / 1000) ++differ;
  }
  CHECK(differ == 0);
  for (const json& node : replayed["nodes"]) {
    const auto& own = steps.at(fmt::format("node {:02}", node["node"].get<int>()));
    REQUIRE(own.size() == node["steps_ps"].size());
    for (std::size_t t = 0; t < own.size(); ++t) {
      if (own[t]->end != node["steps_ps"][t].get<std::int64_t>() / 1000) ++differ;
    }
  }
  CHECK(differ == 0);
  CHECK(seen.of_category.at("wait") > 0);
}

TEST_CASE("run traces one more call, commands without a trace say so", "[cli][trace]") {
  const wormcube::test::TemporaryFile file(".json");
  const std::string call = "run alltoall --on ring:4 --algorithm ring --iterations 2 --bytes 16 ";
  const Output output = run_wormcube(call + "--trace " + file.path() + " --trace-nodes 0..1");
  REQUIRE(output.exit == 0);
  CHECK_THAT(output.out, Contains("left out by --trace-nodes"));
  const TraceSeen seen = trace_seen(json::parse(read_text(file.path())));
  CHECK(seen.broken == "");
  CHECK(seen.of_category.at("step") == 2 * 3);
  const auto expect_error = [](const std::string& arguments, const std::string& text) {
    const Output mistake = run_wormcube(arguments);
    CHECK(mistake.exit == 2);
    CHECK_THAT(mistake.err, Contains(text));
  };
  expect_error(call + "--trace -", "--trace -: expected a file name");
  expect_error(call + "--trace-steps 0..3", "no effect without --trace");
  expect_error(call + "--trace " + file.path() + " --trace-nodes 9", "nodes are 0 to 3");
  expect_error("run alltoall --on ring:4 --algorithm all --trace " + file.path(),
               "needs a single algorithm");
  expect_error(call + "--trace " + file.path() + " --json " + file.path(),
               "would write the same file");
}
