// The text form of schedules: what is written is read again as it was; everything else is refused
// with its line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/text.hpp"

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/tests/schedule/programs.hpp"

#include <random>
#include <string>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

std::string refusal_of(const std::string& text) {
  try {
    parse_schedule(text, "file.txt");
  } catch (const UsageError& error) {
    CHECK_THAT(error.what(), Contains("file.txt: line "));
    return error.what();
  }
  return "accepted";
}

/// Two steps on a ring of 4 with everything that the form knows.
const std::string sample =
    "wormcube schedule 1\n"
    "topology ring:4\n"
    "steps 2\n"
    "\n"
    "step 0\n"
    "node 0: rearrange 8, send 16 to 1 by 0+1, receive 16 from 3\n"
    "node 1: receive 16 from 0, send 16 to 3 by 0+1 0+1 tag 5, send 0 to 1\n"
    "nodes 2..3: rearrange 4\n"
    "\n"
    "step 1\n"
    "node 0: send 8 to 1 tag -7\n"
    "nodes 2..3: end\n"
    "\n"
    "end\n"
    "nodes 0..1: peak 64, peak_blocks 32\n"
    "node 3: rearrange 9\n";

/// The sample with one text replaced by another.
std::string with(const std::string& old, const std::string& text) {
  std::string changed = sample;
  const std::size_t at = changed.find(old);
  REQUIRE(at != changed.npos);
  return changed.replace(at, old.size(), text);
}

}  // namespace

TEST_CASE("a schedule that is written as text is read again as it was", "[schedule][text]") {
  const auto topology =
      Topology::parse(GENERATE("ring:1", "ring:5", "torus:3x4", "hypercube:3", "line:2*ring:6"));
  const Program program = GENERATE(Program(programs::exchange), Program(programs::exchange_at_once),
                                   Program(programs::rotate));
  const Schedule schedule = record(topology, program);
  const std::string text = schedule_text(schedule);
  CAPTURE(text);
  const Schedule again = parse_schedule(text, "x");
  CHECK(again == schedule);
  CHECK(schedule_text(again) == text);
}

TEST_CASE("every registered algorithm's schedule is read again as it was", "[schedule][text]") {
  for (const Algorithm* algorithm : registry()) {
    Arguments arguments;
    if (algorithm->operation->reduces) arguments.reduction = find_reduction("sum", "int32");
    const Collective collective(*algorithm, arguments);
    for (const char* const name : {"torus:4x4", "mesh:4x4", "hypercube:3", "ring:5"}) {
      const auto topology = Topology::parse(name);
      if (refusal(collective, topology)) continue;
      const Contract contract = contract_of(collective, topology.nodes(), 16, 1);
      const Schedule schedule = record(topology, collective_program(collective, contract, nullptr));
      CAPTURE(algorithm->name, name);
      CHECK(parse_schedule(schedule_text(schedule), "x") == schedule);
    }
  }
}

TEST_CASE("nodes may take different numbers of steps", "[schedule][text]") {
  const Schedule schedule = record(Topology::parse("ring:6"), [](Node& node) {
    for (Rank t = 0; t < node.rank() % 4; ++t) {
      node.rearrange(static_cast<Bytes>(t), [] {});
      node.step();
    }
    node.rearrange(static_cast<Bytes>(node.rank()), [] {});
  });
  CHECK(schedule.steps() == 3);
  CHECK(parse_schedule(schedule_text(schedule), "x") == schedule);
}

TEST_CASE("the text says what is in the schedule, and nothing more", "[schedule][text]") {
  const Schedule schedule = parse_schedule(sample, "x");
  CHECK(schedule.topology.name() == "ring:4");
  CHECK(schedule.steps() == 2);
  CHECK(schedule.ranks[2].step_ends.size() == 1);
  REQUIRE(schedule.ops(1, 0).size() == 3);
  const OpRecord& op = schedule.ops(1, 0)[1];
  CHECK((op.kind == Op::Kind::send && op.peer == 3 && op.tag == 5 && op.bytes == 16));
  CHECK(schedule.moves(1, op).size() == 2);
  CHECK(schedule.ranks[0].rearranged == std::vector<Bytes>{8, 0, 0});
  CHECK(schedule.ranks[3].rearranged == std::vector<Bytes>{4, 9});
  CHECK(schedule.ranks[1].peak_bytes == 64);
  CHECK(schedule.ranks[1].peak_block_bytes == 32);
  CHECK(schedule_text(schedule) == sample);
}

TEST_CASE("comments, blanks and line ends of other systems mean nothing", "[schedule][text]") {
  std::string loose = "# made by hand\r\n";
  for (const char c : sample) loose += c == '\n' ? "   # note\r\n\r\n" : std::string(1, c);
  CHECK(parse_schedule(loose, "x") == parse_schedule(sample, "x"));
}

TEST_CASE("a schedule's text that is wrong is refused with its line", "[schedule][text]") {
  CHECK(refusal_of(sample) == "accepted");
  CHECK_THAT(refusal_of(""), Contains("wormcube schedule 1"));
  CHECK_THAT(refusal_of("wormcube schedule 2\n"), Contains("line 1") && Contains("version"));
  CHECK_THAT(refusal_of(with("ring:4", "rung:4")), Contains("line 2") && Contains("rung"));
  CHECK_THAT(refusal_of(with("steps 2", "steps 1")), Contains("line 10") && Contains("'end'"));
  CHECK_THAT(refusal_of(with("steps 2", "steps 3")), Contains("line 14") && Contains("'step'"));
  CHECK_THAT(refusal_of(with("steps 2", "steps -1")), Contains("line 3"));
  CHECK_THAT(refusal_of(with("step 1", "step 2")), Contains("line 10") && Contains("step 1"));
  CHECK_THAT(refusal_of(with("node 1: receive", "node 9: receive")),
             Contains("line 7") && Contains("node 9") && Contains("0 to 3"));
  CHECK_THAT(refusal_of(with("from 3", "from 4")), Contains("line 6") && Contains("node 4"));
  CHECK_THAT(refusal_of(with("node 1: receive", "node 0: receive")), Contains("ascending"));
  CHECK_THAT(refusal_of(with("nodes 2..3: rearrange", "nodes 3..2: rearrange")),
             Contains("line 8"));
  CHECK_THAT(refusal_of(with("nodes 2..3: rearrange 4", "nodes 2..3: send 4 to 0")),
             Contains("line 8") && Contains("one node"));
  CHECK_THAT(refusal_of(with("by 0+1,", "by 0+2,")), Contains("lead to node 2, not 1"));
  CHECK_THAT(refusal_of(with("by 0+1,", "by 1+1,")), Contains("dimension 1"));
  CHECK_THAT(refusal_of(with("by 0+1,", "by 01,")), Contains("line 6"));
  CHECK_THAT(refusal_of(with("by 0+1,", "by 0+-1,")), Contains("line 6"));
  CHECK_THAT(refusal_of(with("receive 16 from 3", "receive 16 from 3 by 0+1")),
             Contains("no moves"));
  CHECK_THAT(refusal_of(with("send 16 to 1", "send -16 to 1")), Contains("number of bytes"));
  CHECK_THAT(refusal_of(with("send 16 to 1", "send 99999999999999999999 to 1")),
             Contains("too large"));
  CHECK_THAT(refusal_of(with("rearrange 8", "conbine 8")), Contains("conbine"));
  CHECK_THAT(refusal_of(with("rearrange 8,", "rearrange 8")), Contains("too much"));
  CHECK_THAT(refusal_of(with("nodes 2..3: end", "nodes 2..3: end, rearrange 1")),
             Contains("alone"));
  CHECK_THAT(refusal_of(with("nodes 2..3: end", "nodes 2..3: rearrange 1, end")),
             Contains("alone"));
  CHECK_THAT(refusal_of(with("peak 64", "top 64")), Contains("line 15") && Contains("peak"));
  CHECK_THAT(refusal_of(sample + "step 2\n"), Contains("line 17"));
  CHECK_THAT(refusal_of(sample.substr(0, sample.find("end\n\nend"))), Contains("line "));
}

TEST_CASE("no step comes after a node's end", "[schedule][text]") {
  std::string text = with("steps 2", "steps 3");
  text.replace(text.find("\nend\n"), 1, "\nstep 2\nnode 2: send 1 to 0\n\n");
  CHECK_THAT(refusal_of(text), Contains("node 2 has ended"));
}

TEST_CASE("a few bytes of text that ask for too much memory are refused", "[schedule][text]") {
  CHECK_THAT(refusal_of("wormcube schedule 1\ntopology ring:1000000\nsteps 4000000000\n"),
             Contains("memory"));
  CHECK_THROWS_WITH(parse_schedule(sample, "x", 100), Contains("memory"));
}

TEST_CASE("messages about a schedule's text are short and cannot command a terminal",
          "[schedule][text]") {
  const std::string text =
      refusal_of(with("send 16", "\x1b[31m" + std::string(100000, 'x') + " 16"));
  CHECK(text.size() < 300);
  CHECK_THAT(text, Contains("\\x1b") && !Contains("\x1b"));
  CHECK(refusal_of(with("ring:4", "ring:\x1b" + std::string(100000, 'x'))).size() < 800);
}

TEST_CASE("a schedule's text with any bytes changed is read or refused", "[schedule][text]") {
  std::mt19937 random(7);  // NOLINT: the same texts in every run
  const std::string digits = "0123456789-+,:. \n#axns";
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = sample;
    for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t at = 40 + random() % (text.size() - 40);
      switch (random() % 3) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text[at] = digits[random() % digits.size()];
          break;
        default:
          text.erase(at, 1 + random() % 8);
      }
    }
    try {
      const Schedule schedule = parse_schedule(text, "x");
      ++accepted;
      // What is read is written and read again as it was.
      if (!(parse_schedule(schedule_text(schedule), "y") == schedule)) {
        CAPTURE(text);
        FAIL_CHECK("not the same again");
      }
    } catch (const UsageError&) {
    }
  }
  CHECK(accepted > 100);
  CHECK(accepted < 19500);
}
