// MSCCL++ execution plans: what is refused, and each finding on small plans.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/mscclpp.hpp"

#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/apps/formats_support.hpp"

#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

namespace wormcube::mscclpp_tests {

using Catch::Matchers::Contains;

namespace {

const std::string nop = R"({"name":"nop"})";

std::string on_channel(const std::string& name, const std::string& type = "memory") {
  return fmt::format(R"({{"name":"{}","channel_ids":[0],"channel_type":"{}"}})", name, type);
}
std::string own(char buffer, int index) {
  return fmt::format(R"({{"type":"{}","index":{},"size":1}})", buffer, index);
}
/// Buffer 0 is the peer's scratch, 1 its output, 2 its input.
std::string remote(int buffer, int index) {
  return fmt::format(R"({{"buffer_id":{},"index":{},"size":1}})", buffer, index);
}
std::string of_switch(int index) {
  return fmt::format(R"({{"switch_channel_id":0,"index":{},"size":1}})", index);
}
std::string data(const std::string& name, const std::string& sources, const std::string& targets,
                 const std::string& more = R"("channel_type":"memory")") {
  return fmt::format(R"({{"name":"{}","src_buff":[{}],"dst_buff":[{}],{}}})", name, sources,
                     targets, more);
}
std::string tbg(int part, int parts) {
  return fmt::format(R"("channel_type":"memory","tbg_info":{{"tb_id":{},"tbg_size":{}}})", part,
                     parts);
}

/// The operations of each thread block of a GPU.
using Blocks = std::vector<std::vector<std::string>>;

struct PlanText {
  std::string collective = "allreduce";
  bool in_place = true;
  int input = 1, output = 1, semaphore = 0;
};

/// A plan on two GPUs. Each has memory channels 0 and 1, a port channel and a switch channel to the
/// other (over inputs), scratch of 4 chunks, and a semaphore.
std::string plan_of(const PlanText& text, const std::vector<Blocks>& gpus) {
  std::string all;
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    std::string blocks;
    for (std::size_t b = 0; b < gpus[gpu].size(); ++b) {
      std::string ops;
      for (const std::string& op : gpus[gpu][b]) ops += (ops.empty() ? "" : ",\n") + op;
      blocks += fmt::format(
          R"({}{{"id":{},"channels":[{{"channel_type":"memory","channel_ids":[{}]}},)"
          R"({{"channel_type":"port","channel_ids":[0]}},{{"channel_type":"switch","channel_ids":[0]}}],)"
          R"("remote_buffer_refs":[{{"access_channel_type":"memory","remote_buffer_ids":[0,1,2]}},)"
          R"({{"access_channel_type":"port","remote_buffer_ids":[0,1]}}],"ops":[{}]}})",
          b == 0 ? "" : ",", b, b, ops);
    }
    const std::size_t peer = 1 - gpu;
    const std::string types = R"("access_channel_types":["memory","port"])";
    all += fmt::format(
        R"({0}{{"id":{1},"input_chunks":{2},"output_chunks":{3},"scratch_chunks":4,"channels":[)"
        R"({{"channel_type":"memory","connected_to":[{4},{4},{4}]}},{{"channel_type":"port","connected_to":[{4}]}},)"
        R"({{"channel_type":"switch","buffer_type":"i","rank_groups":[{{"size":2,"ranks":[0,1]}}]}}],)"
        R"("remote_buffers":[{{"rank":{4},"type":"s",{5}}},{{"rank":{4},"type":"o",{5}}},{{"rank":{4},"type":"i",{5}}}],)"
        R"("semaphores":[{{"init_value":{6}}}],"threadblocks":[{7}]}})",
        gpu == 0 ? "" : ",\n", gpu, text.input, text.output, peer, types, text.semaphore, blocks);
  }
  return fmt::format(
      R"({{"name":"test","collective":"{}","protocol":"Simple","inplace":{},"gpus":[{}]}})",
      text.collective, text.in_place, all);
}

/// The same on both GPUs.
std::string both(const PlanText& text, const Blocks& blocks) {
  return plan_of(text, {blocks, blocks});
}

std::vector<std::string> findings_of(const std::string& text) {
  try {
    return judge_mscclpp(apps::parse_mscclpp(text, "f.json")).findings;
  } catch (const UsageError& error) {
    return {error.what()};
  }
}
std::string first_of(const std::string& text) {
  const std::vector<std::string> findings = findings_of(text);
  return findings.empty() ? "right" : findings.front();
}
/// Whether some finding has this text.
bool finds(const std::string& text, const std::string& what) {
  for (const std::string& finding : findings_of(text)) {
    if (finding.find(what) != finding.npos) return true;
  }
  return false;
}
std::vector<std::string> notes_of(const std::string& text) {
  return judge_mscclpp(apps::parse_mscclpp(text, "f.json")).notes;
}

/// Judges a plan, and proves it again as text 2.
void is_right(const std::string& text, std::size_t messages, std::size_t steps) {
  apps::MscclVerdict verdict = judge_mscclpp(apps::parse_mscclpp(text, "f.json"));
  CAPTURE(verdict.findings);
  CHECK(verdict.findings.empty());
  CHECK(verdict.proved);
  CHECK(verdict.messages == messages);
  REQUIRE(verdict.schedule);
  NamedSchedule& named = *verdict.schedule;
  CHECK(named.schedule.steps() == steps);
  const ScheduledCall call = scheduled_call(*named.operation, 2);
  const Goal goal = goal_of(call.operation, call.arguments, 2);
  const NamedReport report = prove_named(named, &goal);
  CAPTURE(report.findings);
  CHECK(report.findings.empty());
  CHECK(report.delivered == true);
}

/// Each GPU puts its input into the other's scratch, and adds.
const std::vector<std::string> exchange{data("put", own('i', 0), remote(0, 0)),
                                        nop,
                                        on_channel("signal"),
                                        on_channel("wait"),
                                        nop,
                                        data("re", own('i', 0) + "," + own('s', 0), own('o', 0))};

std::vector<std::string> without(std::vector<std::string> operations, std::size_t at) {
  operations.erase(operations.begin() + static_cast<std::ptrdiff_t>(at));
  return operations;
}

}  // namespace

TEST_CASE("an MSCCL++ plan that puts, signals, waits and adds is proved twice", "[formats]") {
  CHECK(apps::is_mscclpp(both({}, {exchange})));
  is_right(both({}, {exchange}), 2, 1);
  is_right(both({.in_place = false}, {exchange}), 2, 1);
}

TEST_CASE("each nop, signal and wait of an MSCCL++ plan is missed", "[formats]") {
  // Without the first nop, the signal may overtake the data.
  CHECK(first_of(both({}, {without(exchange, 1)})) ==
        "gpu 0, s[0]: tb 0 step 4 (re) reads, gpu 1's tb 0 step 0 (put) writes, and nothing orders "
        "them");
  CHECK(first_of(both({}, {without(exchange, 2)})) ==
        "hangs: gpu 0, tb 0 step 2 (wait) waits for gpu 1 on memory channel 0");
  CHECK(finds(both({}, {without(exchange, 3)}), "and nothing orders them"));
  // Without the second, data is read while the signal is awaited.
  CHECK_THAT(first_of(both({}, {without(exchange, 4)})), Contains("tb 0 step 4 (re) reads"));
  // Without the wait, the signals stay.
  const auto left = notes_of(both({}, {without(exchange, 3)}));
  REQUIRE(left.size() == 2);
  CHECK(left.front() ==
        "gpu 0 signals gpu 1 on memory channel 0: 1 that nobody waits for; the next call finds it");
}

TEST_CASE("wrong data of an MSCCL++ plan is found", "[formats]") {
  auto twice = exchange;
  twice.back() = data("re", own('i', 0) + "," + own('i', 0), own('o', 0));
  CHECK(first_of(both({}, {twice})) == "gpu 1, tb 0 step 5 (re): reduces gpu 1's chunk 0 twice");
  auto empty = exchange;
  empty.back() = data("re", own('i', 0) + "," + own('s', 1), own('o', 0));
  CHECK(first_of(both({}, {empty})) ==
        "gpu 1, tb 0 step 5 (re): reads s[1], which nothing was written to");
  CHECK(first_of(both({}, {without(exchange, 5)})) ==
        "gpu 0 ends with chunk 0 of 0 in o[0], not chunk 0 of all");
  auto written = exchange;
  written.back() = data("re", own('i', 0) + "," + own('s', 0), own('i', 0));
  written.push_back(nop);
  written.push_back(data("copy", own('i', 0), own('o', 0)));
  CHECK(first_of(both({}, {written})) == "right");
  CHECK(first_of(both({.in_place = false}, {written})) ==
        "gpu 1, tb 0 step 5 (re): writes to the caller's input i[0]");
  auto differing = exchange;
  differing.back() = data("re", own('i', 1) + "," + own('s', 0), own('o', 1));
  CHECK(first_of(both({.input = 2, .output = 2}, {differing})) ==
        "gpu 1, tb 0 step 5 (re): reduces chunk 1 of 1 with chunk 0 of 0");
}

TEST_CASE("reading and writing the other's memory in one operation", "[formats]") {
  // GPU 0 reads both inputs, adds, and writes both outputs; GPU 1 waits.
  const std::vector<std::string> reader{
      nop, on_channel("wait"),
      nop, data("rres", own('i', 0) + "," + remote(2, 0), own('o', 0) + "," + remote(1, 0)),
      nop, on_channel("signal")};
  const std::vector<std::string> waiter{on_channel("signal"), on_channel("wait")};
  is_right(plan_of({}, {{reader}, {waiter}}), 2, 2);
  // In place, what GPU 1 writes before GPU 0 has read is lost.
  const std::vector<std::string> writer{on_channel("signal"),
                                        data("copy", own('i', 0), own('o', 0)), on_channel("wait")};
  CHECK_THAT(first_of(plan_of({}, {{reader}, {writer}})),
             Contains("gpu 1, o[0]: gpu 0's tb 0 step"));
}

TEST_CASE("a GPU must not end before all is written to its output", "[formats]") {
  // An allgather: each GPU puts its block into the other's output.
  const auto blocks = [&](int gpu) {
    return std::vector<std::string>{data("put", own('o', gpu), remote(1, gpu)), nop,
                                    on_channel("signal"), on_channel("wait")};
  };
  const PlanText allgather{.collective = "allgather", .output = 2};
  is_right(plan_of(allgather, {{blocks(0)}, {blocks(1)}}), 2, 1);
  CHECK(first_of(plan_of(allgather, {{without(blocks(0), 3)}, {blocks(1)}})) ==
        "gpu 0, o[1]: gpu 1's tb 0 step 0 (put) writes, and gpu 0 may have ended");
}

TEST_CASE("packets order their readers after their writers", "[formats]") {
  const std::string sources = own('i', 0) + "," + own('s', 0);
  const std::vector<std::string> packets{data("ppkt", own('i', 0), remote(0, 0)),
                                         data("repkt", sources, own('o', 0))};
  is_right(both({}, {packets}), 2, 1);
  CHECK(first_of(plan_of({}, {{packets}, {{packets.back()}}})) ==
        "hangs: gpu 0, tb 0 step 1 (repkt) waits for packets in s[0]");
  // The writer of the input is another thread block.
  CHECK(
      first_of(both({}, {{packets.front()}, {packets.back()}})) ==
      "gpu 0, o[0]: tb 0 step 0 (ppkt) reads, tb 1 step 0 (repkt) writes, and nothing orders them");
  const std::vector<std::string> as_data{
      data("ppkt", own('i', 0), remote(0, 0)), nop, on_channel("signal"), on_channel("wait"), nop,
      data("re", sources, own('o', 0))};
  CHECK(first_of(both({}, {as_data})) ==
        "gpu 1, tb 0 step 5 (re): reads s[0] as data, which holds packets");
  const std::vector<std::string> result{data("cpkt", own('i', 0), own('o', 0))};
  CHECK(first_of(both({}, {result})) == "gpu 0 ends with packets in o[0], not with data");
}

TEST_CASE("a proxy puts after what its thread block has done, and flush waits for it",
          "[formats]") {
  const std::string port = R"("channel_type":"port","channel_ids":[0])";
  const std::vector<std::string> proxied{data("put", own('i', 0), remote(0, 0), port),
                                         on_channel("signal", "port"),
                                         on_channel("flush", "port"),
                                         on_channel("wait", "port"),
                                         nop,
                                         data("re", own('i', 0) + "," + own('s', 0), own('o', 0))};
  is_right(both({}, {proxied}), 2, 1);
  auto fused = proxied;
  fused.erase(fused.begin() + 1, fused.begin() + 3);
  fused.front() = data("pwsf", own('i', 0), remote(0, 0), port);
  is_right(both({}, {fused}), 2, 1);
  // Without the flush, the proxy may still read what is overwritten.
  CHECK(first_of(both({}, {without(proxied, 2)})) ==
        "gpu 0, o[0]: tb 0 step 0 (put) reads, tb 0 step 4 (re) writes, and nothing orders them");
  CHECK_THAT(first_of(both({}, {{data("get", remote(0, 0), own('s', 0), port)}})),
             Contains("get on port channels; expected memory"));
  CHECK_THAT(first_of(both({}, {{on_channel("flush")}})), Contains("expected port"));
}

TEST_CASE("semaphores and barriers order thread blocks", "[formats]") {
  const std::string release = R"({"name":"sem_release","semaphore_ids":[0]})";
  const std::string acquire = R"({"name":"sem_acquire","semaphore_ids":[0]})";
  const std::vector<std::string> first{exchange[0], nop, exchange[2], exchange[3], release};
  const std::vector<std::string> second{acquire, nop, exchange[5]};
  is_right(both({}, {first, second}), 2, 1);
  CHECK(finds(both({}, {first, {exchange[5]}}), "and nothing orders them"));
  CHECK(first_of(both({}, {without(first, 4), second})) ==
        "hangs: gpu 0, tb 1 step 0 (sem_acquire) waits for semaphore 0");
  CHECK(notes_of(both({.semaphore = 1}, {first, second})).empty());
  CHECK(finds(both({.semaphore = 1}, {first, second}), "and nothing orders them"));
  const auto left = notes_of(both({}, {first, {exchange[5]}}));
  CHECK(left.front() ==
        "gpu 0's semaphore 0 begins with 0 and ends with 1, so the next call begins with a "
        "different value");
  const auto barrier = [](int blocks) {
    return fmt::format(R"({{"name":"barrier","barrier_id":0,"num_threadblocks":{}}})", blocks);
  };
  is_right(both({}, {{exchange[0], nop, exchange[2], exchange[3], barrier(2)},
                     {barrier(2), exchange[5]}}),
           2, 1);
  CHECK(first_of(both({}, {{exchange[0], barrier(3)}, {barrier(3)}})) ==
        "hangs: gpu 0, tb 0 step 1 (barrier) waits for barrier 0 of 3 thread blocks");
}

TEST_CASE("switch channels add and store on all GPUs of their group", "[formats]") {
  const std::string switched = R"("channel_type":"switch")";
  const auto blocks = [&](int index) {
    return std::vector<std::string>{nop,
                                    on_channel("signal"),
                                    on_channel("wait"),
                                    nop,
                                    data("glres", of_switch(index), of_switch(index), switched),
                                    nop,
                                    on_channel("signal"),
                                    on_channel("wait")};
  };
  is_right(plan_of({.input = 2, .output = 2}, {{blocks(0)}, {blocks(1)}}), 4, 2);
  CHECK_THAT(first_of(plan_of({.input = 2, .output = 2}, {{blocks(0)}, {blocks(0)}})),
             Contains("twice"));
  CHECK_THAT(notes_of(plan_of({.input = 2, .output = 2}, {{blocks(0)}, {blocks(1)}})).back(),
             Contains("switch channel"));
}

TEST_CASE("thread block groups divide chunks, and pipelines are followed once", "[formats]") {
  const auto part = [&](int block) {
    const std::string channel = fmt::format(
        R"({{"name":"pipeline","iter_context":{{"unit_size":1024,"num_chunks":1}},"ops":[{}]}})",
        data("put", own('i', 0), remote(0, 0), tbg(block, 2)) + "," + nop);
    return std::vector<std::string>{
        channel, on_channel("signal"), on_channel("wait"), nop,
        data("re", own('i', 0) + "," + own('s', 0), own('o', 0), tbg(block, 2))};
  };
  is_right(both({}, {part(0), part(1)}), 2, 1);
  // The second thread block adds what the first has received.
  auto crossed = part(1);
  crossed.back() = part(0).back();
  CHECK(
      first_of(both({}, {without(part(0), 4), crossed})) ==
      "gpu 0 ends with chunk 0 (part 1 of 2) of 0 in o[0] (part 1 of 2), not chunk 0 (part 1 of 2) "
      "of all");
  CHECK_THAT(findings_of(both({}, {without(part(0), 4), crossed})).back(),
             Contains("tb 1 step 4 (re)") && Contains("tb 0 step 0.0 (put)"));
}

TEST_CASE("an MSCCL++ plan that an executor would not take is refused", "[formats]") {
  const std::string right = both({}, {exchange});
  const auto refused = [&](const std::string& old, const std::string& by) {
    std::string text = right;
    const std::size_t at = text.find(old);
    REQUIRE(at != text.npos);
    return first_of(text.replace(at, old.size(), by));
  };
  CHECK(first_of("{\"a\":\n}") == "f.json:2: not JSON");
  CHECK_THAT(first_of("{}"), Contains("JSON without `gpus`"));
  CHECK_THAT(refused("\"nop\"", "\"noop\""),
             Contains("f.json: gpu 0, tb 0, step 1: operation 'noop'"));
  CHECK_THAT(refused("\"buffer_type\":\"i\",", ""), Contains("of an older version"));
  CHECK_THAT(refused("\"id\":0,\"input", "\"id\":1,\"input"), Contains("numbered from 0"));
  CHECK_THAT(refused("\"output_chunks\":1", "\"output_chunks\":3"),
             Contains("not those of allreduce on 2 GPUs"));
  CHECK_THAT(refused("\"type\":\"i\",\"index\":0", "\"type\":\"i\",\"index\":1"),
             Contains("gpu 0, tb 0, step 0: src_buff: gpu 0, i[1..1] of 1 chunks"));
  CHECK_THAT(refused("\"buffer_id\":0", "\"buffer_id\":9"), Contains("buffer_id 9 of 3"));
  CHECK_THAT(refused("\"channel_ids\":[0],\"channel_type\":\"memory\"}",
                     "\"channel_ids\":[5],\"channel_type\":\"memory\"}"),
             Contains("channel_ids: 5 of 1"));
  CHECK_THAT(refused("\"connected_to\":[1", "\"connected_to\":[0"), Contains("to gpu 0 itself"));
  CHECK_THAT(refused("\"size\":1}],\"dst", "\"size\":2}],\"dst"), Contains("of 1 chunks"));
  CHECK_THROWS_WITH(apps::parse_mscclpp(right, "f.json", 1000), Contains("of memory"));
  CHECK_THROWS_WITH(apps::parse_mscclpp(right, "f.json", 110000), Contains("more memory"));
}

TEST_CASE("an MSCCL++ plan with any bytes changed is judged or refused", "[formats]") {
  std::mt19937 random(12);  // NOLINT: the same texts in every run
  const std::string letters = "0123456789{}[],:\"acegilmnoprstw";
  const std::string right = both({}, {exchange});
  int judged = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = formats_tests::with_random_changes(right, letters, random);
    try {
      static_cast<void>(judge_mscclpp(apps::parse_mscclpp(text, "f.json", 1 << 22)));
      ++judged;
    } catch (const UsageError&) {
    }
  }
  CHECK(judged > 100);
  CHECK(judged < 2900);
}

}  // namespace wormcube::mscclpp_tests
