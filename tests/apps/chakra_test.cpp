// Chakra traces: bytes, what is refused, steps, and the way out and back.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/chakra.hpp"

#include "wormcube/apps/formats/protobuf.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/tests/apps/formats_support.hpp"

#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <zlib.h>

namespace wormcube::chakra_tests {

using Catch::Matchers::Contains;

namespace {

struct Node {
  std::uint64_t id, type;
  std::vector<std::uint64_t> needs = {};
  std::int64_t size = 8;
  int peer = 1, tag = 0;
  bool packed = true, has_size = true;
};

/// A trace of these nodes.
std::string trace_of(const std::vector<Node>& nodes) {
  apps::WireWriter trace, metadata;
  metadata.bytes(1, "1.0.0");
  trace.delimited(metadata.text());
  for (const Node& node : nodes) {
    apps::WireWriter text, needs;
    text.number(1, node.id);
    text.number(3, node.type);
    for (const std::uint64_t each : node.needs) {
      if (node.packed) {
        needs.varint(each);
      } else {
        text.number(4, each);
      }
    }
    if (!needs.text().empty()) text.bytes(5, needs.text());
    const auto add = [&](const char* name, std::uint32_t field, std::int64_t value) {
      apps::WireWriter attribute;
      attribute.bytes(1, name);
      attribute.number(field, static_cast<std::uint64_t>(value));
      text.bytes(10, attribute.text());
    };
    if (node.has_size) add("comm_size", 9, node.size);
    add(node.type == 5 ? "comm_dst" : "comm_src", 7, node.peer);
    add("comm_tag", 7, node.tag);
    trace.delimited(text.text());
  }
  return trace.text();
}

Schedule parsed(const std::vector<Node>& first, const std::vector<Node>& second) {
  const std::vector<std::string> traces{trace_of(first), trace_of(second)};
  return apps::parse_chakra(traces, "f");
}
void is_refused_chakra(const std::vector<Node>& first, const std::vector<Node>& second,
                       const std::string& what) {
  CHECK_THROWS_WITH(parsed(first, second), Contains(what));
}

constexpr std::uint64_t comp = 4, send = 5, receive = 6;

}  // namespace

TEST_CASE("a Chakra message's step is its depth, whatever the order of nodes", "[formats]") {
  const Schedule schedule = parsed({{2, send, {1}}, {0, receive}, {1, comp, {0}}},
                                   {{5, receive, {4}, 8, 0}, {4, send, {}, 8, 0}});
  CHECK(schedule.steps() == 2);
  const ScheduleReport report = formats_tests::counted(schedule);
  CHECK(report.messages == 2);
  CHECK(report.total_bytes == 16);
  CHECK(report.problems.empty());
  // Dependencies that are not packed, and control dependencies.
  CHECK(parsed({{0, receive}, {1, send, {0}, 8, 1, 0, false}},
               {{0, send, {}, 8, 0}, {1, receive, {}, 8, 0}})
            .steps() == 2);
}

TEST_CASE("Chakra traces that cannot be laid into steps are refused with rank and node",
          "[formats]") {
  const std::vector<Node> sends{{0, send}}, receives{{0, receive, {}, 8, 0}};
  CHECK(parsed(sends, receives).steps() == 1);
  is_refused_chakra({{0, 7}}, receives, "f: rank 0, node 0: type COMM_COLL_NODE; expected");
  is_refused_chakra({{3, 77}}, receives, "f: rank 0, node 3: type 77");
  is_refused_chakra(
      sends, {{0, receive, {}, 9, 0}},
      "f: rank 1, node 0: rank 1 receives 9 bytes from 0, which sends 8 (rank 0, node 0)");
  is_refused_chakra(sends, {}, "rank 0 sends 8 bytes to 1 with tag 0, which receives none");
  is_refused_chakra({}, receives, "rank 1 receives 8 bytes from 0 with tag 0, which sends none");
  is_refused_chakra({{0, send, {}, 8, 1, 4}}, receives, "with tag 0, which sends none");
  is_refused_chakra({{0, send, {9}}}, receives, "depends on node 9, which is not there");
  is_refused_chakra({{0, send, {1}}, {1, comp, {0}}}, receives, "a deadlock");
  is_refused_chakra({{0, send, {}, 8, 2}}, receives, "comm_dst 2; expected 0 to 1");
  is_refused_chakra({{0, send, {}, 8, 0}}, receives, "its own rank");
  is_refused_chakra({{0, send, {}, -1}}, receives, "comm_size -1");
  is_refused_chakra({{0, send, {}, 8, 1, 0, true, false}}, receives, "comm_size is missing");
  is_refused_chakra({{0, send}, {0, send}}, receives, "its id occurs twice");
  std::vector<std::string> cut{trace_of(sends), trace_of(receives)};
  cut[1].pop_back();
  CHECK_THROWS_WITH(apps::parse_chakra(cut, "f"), Contains("rank 1: the trace is cut off"));
  CHECK_THROWS_WITH(apps::parse_chakra(std::vector{trace_of(sends), trace_of(receives)}, "f", 100),
                    Contains("more memory"));
}

TEST_CASE("a Chakra trace has the bytes that its schema gives", "[formats]") {
  Schedule schedule{Topology::parse("ring:2"), {}};
  const auto log = [](Op::Kind kind, Rank peer) {
    RankLog result;
    for (std::uint32_t step = 0; step < 2; ++step) {
      result.ops.push_back(
          {.kind = kind, .moves = 0, .peer = peer, .tag = 0, .first_move = 0, .bytes = 1024});
      result.step_ends.push_back(step + 1);
    }
    return result;
  };
  schedule.ranks = {log(Op::Kind::send, 1), log(Op::Kind::receive, 0)};
  const std::string trace = apps::chakra_trace(schedule, 0);
  CHECK(apps::is_chakra(trace));
  CHECK_THAT(trace, Contains(std::string("\x08\x01\x12\x04s1_0\x18\x05\x2a\x01\x00\x52\x0e\x0a\x09"
                                         "comm_size\x48\x80\x08",
                                         29)));
  CHECK_THAT(trace, Contains(std::string("\x52\x0c\x0a\x08"
                                         "comm_dst\x38\x01\x52\x0c\x0a\x08"
                                         "comm_tag\x38\x01",
                                         28)));
}

TEST_CASE("compressed Chakra traces are unpacked", "[formats]") {
  const std::string trace = trace_of({{0, send}});
  std::string packed(1000, '\0');
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8,
                       Z_DEFAULT_STRATEGY) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(trace.data()));
  stream.avail_in = static_cast<uInt>(trace.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  CHECK(apps::unpacked(packed, "f", 1000) == trace);
  CHECK(apps::unpacked(trace, "f", 1000) == trace);
  CHECK_THROWS_WITH(apps::unpacked(packed, "f", 10), Contains("takes more than"));
  CHECK(apps::starts_as_chakra(trace));
  CHECK(apps::starts_as_chakra(packed));
  CHECK_FALSE(apps::starts_as_chakra(""));
  CHECK_FALSE(apps::starts_as_chakra(packed.substr(0, 15)));
  CHECK_FALSE(apps::starts_as_chakra("wormcube schedule 2\ntopology ring:3\n"));
  packed.resize(packed.size() / 2);
  CHECK_THROWS_WITH(apps::unpacked(packed, "f", 1000), Contains("damaged gzip data"));
  CHECK(!apps::is_chakra("wormcube schedule 2\ntopology ring:3\n"));
  CHECK(!apps::is_chakra("num_ranks 2\n"));
  CHECK(!apps::is_chakra("{\n  \"name\": \"test\", \"gpus\": []}\n"));
}

TEST_CASE("schedules survive the way into Chakra and back", "[formats]") {
  formats_tests::require_round_trips([](const Schedule& schedule) {
    std::vector<std::string> traces;
    for (Rank rank = 0; rank < schedule.topology.nodes(); ++rank)
      traces.push_back(apps::chakra_trace(schedule, rank));
    return apps::parse_chakra(traces, "f");
  });
}

TEST_CASE("Chakra traces with any bytes changed are read or refused", "[formats]") {
  std::mt19937 random(6);  // NOLINT: the same bytes in every run
  const std::vector<std::string> right{trace_of({{0, send}, {1, receive, {0}}}),
                                       trace_of({{0, receive, {}, 8, 0}, {1, send, {0}, 8, 0}})};
  int accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<std::string> traces = right;
    std::string& text = traces[random() % 2];
    for (std::size_t changes = 1 + random() % 3; changes > 0; --changes)
      text[random() % text.size()] = static_cast<char>(random() % 256);
    try {
      static_cast<void>(formats_tests::counted(apps::parse_chakra(traces, "f", 1 << 20)));
      ++accepted;
    } catch (const UsageError&) {
    }
  }
  CHECK(accepted > 50);
  CHECK(accepted < 3950);
}

}  // namespace wormcube::chakra_tests
