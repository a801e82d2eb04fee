// The text form of schedules: written schedules are read back unchanged; anything else is refused
// with its line.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/text.hpp"

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/collectives/built_in.hpp"
#include "wormcube/tests/schedule/programs.hpp"

#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

std::string refusal_of(const std::string& text) {
  try {
    parse_schedule(text, "file.txt");
  } catch (const UsageError& error) {
    CHECK_THAT(error.what(), Contains("file.txt:"));
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
  for (const Algorithm* algorithm : cases::built_in()) {
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

TEST_CASE("logs that nobody has begun are written as nodes without a step", "[schedule][text]") {
  const Topology line = Topology::parse("line:2");
  CHECK(schedule_text({line, std::vector<RankLog>(2)}) ==
        "wormcube schedule 1\ntopology line:2\nsteps 0\n\nend\n");
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
  CHECK(schedule.ranks[0].rearranged == GapBytes{8});
  CHECK(schedule.ranks[3].rearranged == GapBytes{4, 9});
  CHECK(schedule.ranks[1].peak_bytes == 64);
  CHECK(schedule.ranks[1].peak_block_bytes == 32);
  CHECK(schedule_text(schedule) == sample);
}

TEST_CASE("a schedule's text ends where its bytes do, whatever comes after", "[schedule][text]") {
  REQUIRE(sample.ends_with("rearrange 9\n"));
  const std::string more = sample.substr(0, sample.size() - 1) + "99";
  CHECK(parse_schedule(std::string_view(more).substr(0, sample.size() - 1), "x") ==
        parse_schedule(sample, "x"));
}

TEST_CASE("comments, blanks and line ends of other systems mean nothing", "[schedule][text]") {
  std::string loose = "# made by hand\r\n";
  for (const char c : sample) loose += c == '\n' ? "   # note\r\n\r\n" : std::string(1, c);
  CHECK(parse_schedule(loose, "x") == parse_schedule(sample, "x"));
}

TEST_CASE("the nodes of a step come in any order", "[schedule][text]") {
  // The lines of each section backwards.
  std::vector<std::string> lines, section;
  std::istringstream stream(sample);
  const auto flush = [&] {
    lines.insert(lines.end(), section.rbegin(), section.rend());
    section.clear();
  };
  std::size_t moved = 0;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("node")) {
      section.push_back(line);
      moved += section.size() > 1 ? 1 : 0;
    } else {
      flush();
      lines.push_back(line);
    }
  }
  flush();
  REQUIRE(moved > 2);
  std::string backwards;
  for (const std::string& line : lines) backwards += line + "\n";
  CHECK(schedule_text(parse_schedule(backwards, "x")) == sample);
}

TEST_CASE("a schedule's text that is wrong is refused with its line", "[schedule][text]") {
  CHECK(refusal_of(sample) == "accepted");
  CHECK_THAT(refusal_of(""), Contains("wormcube schedule 1"));
  CHECK_THAT(refusal_of("wormcube schedule 2\n"), Contains(":1: ") && Contains("version"));
  CHECK_THAT(refusal_of(with("ring:4", "rung:4")), Contains(":2: ") && Contains("rung"));
  CHECK_THAT(refusal_of(with("steps 2", "steps 1")), Contains(":10: ") && Contains("'end'"));
  CHECK_THAT(refusal_of(with("steps 2", "steps 3")), Contains(":14: ") && Contains("'step'"));
  CHECK_THAT(refusal_of(with("steps 2", "steps -1")), Contains(":3: "));
  CHECK_THAT(refusal_of(with("step 1", "step 2")), Contains(":10: ") && Contains("step 1"));
  CHECK_THAT(refusal_of(with("node 1: receive", "node 9: receive")),
             Contains(":7: ") && Contains("node 9") && Contains("0 to 3"));
  CHECK_THAT(refusal_of(with("from 3", "from 4")), Contains(":6: ") && Contains("node 4"));
  CHECK_THAT(refusal_of(with("node 1: receive", "node 0: receive")),
             Contains("node 0 twice in one step"));
  CHECK_THAT(refusal_of(with("nodes 2..3: rearrange", "nodes 3..2: rearrange")), Contains(":8: "));
  CHECK_THAT(refusal_of(with("nodes 2..3: rearrange 4", "nodes 2..3: send 4 to 0")),
             Contains(":8: ") && Contains("one node"));
  CHECK_THAT(refusal_of(with("by 0+1,", "by 0+2,")), Contains("lead to node 2, not 1"));
  CHECK_THAT(refusal_of(with("by 0+1,", "by 1+1,")), Contains("dimension 1"));
  CHECK_THAT(refusal_of(with("by 0+1,", "by 01,")), Contains(":6: "));
  CHECK_THAT(refusal_of(with("by 0+1,", "by 0+-1,")), Contains(":6: "));
  CHECK_THAT(refusal_of(with("receive 16 from 3", "receive 16 from 3 by 0+1")),
             Contains("no moves"));
  CHECK_THAT(refusal_of(with("send 16 to 1", "send -16 to 1")), Contains("number of bytes"));
  CHECK_THAT(refusal_of(with("send 16 to 1", "send 99999999999999999999 to 1")),
             Contains("too large"));
  CHECK_THAT(refusal_of(with("rearrange 8", "conbine 8")), Contains("conbine"));
  CHECK_THAT(refusal_of(with("rearrange 8,", "rearrange 8")), Contains("unexpected"));
  CHECK_THAT(refusal_of(with("nodes 2..3: end", "nodes 2..3: end, rearrange 1")),
             Contains("alone"));
  CHECK_THAT(refusal_of(with("nodes 2..3: end", "nodes 2..3: rearrange 1, end")),
             Contains("alone"));
  CHECK_THAT(refusal_of(with("peak 64", "top 64")), Contains(":15: ") && Contains("peak"));
  CHECK_THAT(refusal_of(sample + "step 2\n"), Contains(":17: "));
  CHECK_THAT(refusal_of(sample.substr(0, sample.find("end\n\nend"))), Contains("file.txt:"));
}

TEST_CASE("blanks may stand around every word and sign of a schedule's text", "[schedule][text]") {
  CHECK(
      parse_schedule(" \twormcube schedule 1\n"
                     "\ttopology \t ring:4 \n"
                     "steps\t2\n"
                     "step\t 0\n"
                     "node 0 :rearrange 8 ,send  16 to\t1 by 0 + 1,receive 16 from 3\n"
                     "node\t1: receive 16 from 0 , send 16 to 3 by 0 +1\t0+ 1  tag 5,send 0 to 1\n"
                     "nodes 2 . . 3 :\trearrange 4\n"
                     "step 1\n"
                     "node 0:send 8 to 1 tag -7\n"
                     "nodes 2 ..3:end\n"
                     "end\n"
                     "nodes 0.. 1:peak 64,peak_blocks 32\n"
                     "node 3:rearrange 9",
                     "x") == parse_schedule(sample, "x"));
}

TEST_CASE("a schedule's text that is refused is shown from where it is wrong", "[schedule][text]") {
  const std::string file = "file.txt:";
  CHECK(refusal_of("wormcube schedule 1\n") == file + "1: 'topology' expected before ''");
  CHECK(refusal_of("wormcube schedule 1\n\ntopology ring:4\n") ==
        file + "3: 'steps' expected before ''");
  CHECK(refusal_of(with("steps 2", "steps 2  3")) ==
        file + "3: unexpected '3' at the end of the line");
  CHECK(refusal_of(with("step 0", "step 0  1")) ==
        file + "5: unexpected '1' at the end of the line");
  CHECK(refusal_of(with("to 1 by", "to 1 via")) == file +
                                                       "6: unexpected 'via 0+1, receive 16 from 3' "
                                                       "at the end of the line");
  CHECK(refusal_of(with("rearrange 8", "conbine 8")) ==
        file +
            "6: send, receive, rearrange, combine or end expected before 'conbine 8, send 16 to 1 "
            "by 0+1, "
            "receive ...'");
  CHECK(refusal_of(with("send 16 to 1", "send 16 at 1")) ==
        file + "6: 'to' expected before 'at 1 by 0+1, receive 16 from 3'");
  CHECK(refusal_of(with("16 from 3", "16 to 3")) == file + "6: 'from' expected before 'to 3'");
  CHECK(refusal_of(with("node 0: rearrange", "node -1: rearrange")) ==
        file + "6: node -1; ring:4 has nodes 0 to 3");
  CHECK(refusal_of(with("nodes 2..3: rearrange", "nodes 2.3: rearrange")) ==
        file + "8: '..' expected, as in nodes 0..3:");
  CHECK(refusal_of(with("nodes 2..3: rearrange", "nodes 3..2: rearrange")) ==
        file + "8: nodes 3..2: the first number is the larger");
  CHECK(refusal_of(with("\n\nend\n", "\n\nend 1\n")) ==
        file + "14: unexpected '1' at the end of the line");
  CHECK(refusal_of(with("peak 64", "top 64")) ==
        file +
            "15: rearrange, combine, peak or peak_blocks expected before 'top 64, peak_blocks 32'");
  CHECK(refusal_of(with("blocks 32", "blocks 32 33")) ==
        file + "15: unexpected '33' at the end of the line");
}

TEST_CASE("'end' stands alone on its line, and ends a node that has talked before",
          "[schedule][text]") {
  const auto steps = [](const std::string& first, const std::string& second,
                        const std::string& third) {
    return "wormcube schedule 1\ntopology ring:4\nsteps 3\nstep 0\n" + first + "\nstep 1\n" +
           second + "\nstep 2\n" + third + "\nend\n";
  };
  const std::string talk = "node 1: receive 0 from 1", end = "node 1: end",
                    both = "node 1: receive 0 from 1, end";
  CHECK(parse_schedule(steps(talk, end, ""), "x").ranks[1].step_ends ==
        std::vector<std::uint32_t>{1});
  CHECK(parse_schedule(steps(talk, "", end), "x").ranks[1].step_ends ==
        std::vector<std::uint32_t>{1, 1});
  const std::string alone = ": 'end' stands alone on its line";
  CHECK(refusal_of(steps(both, "", "")) == "file.txt:5" + alone);
  CHECK(refusal_of(steps("", both, "")) == "file.txt:7" + alone);
  CHECK(refusal_of(steps("", talk, both)) == "file.txt:9" + alone);
  CHECK(refusal_of(steps("", end + ", end", "")) == "file.txt:7" + alone);
  CHECK(refusal_of(steps("", end + ", rearrange 1", "")) == "file.txt:7" + alone);
  CHECK(refusal_of(steps("", "node 1: combine 1, end", "")) == "file.txt:7" + alone);
}

TEST_CASE("an empty text is no schedule, and a number of bytes has a limit", "[schedule][text]") {
  for (const char* const empty : {"", "\n \n", "# nothing\n"}) {
    CHECK_THROWS_WITH(parse_schedule(empty, "f"), Contains("f: empty, or only comments"));
  }
  const auto sends = [](const char* bytes) {
    return fmt::format(
        "wormcube schedule 1\ntopology line:2\nsteps 1\nstep 0\n"
        "node 0: send {0} to 1\nnode 1: receive {0} from 0\nend\n",
        bytes);
  };
  CHECK_NOTHROW(parse_schedule(sends("9007199254740992"), "f"));
  CHECK_THROWS_WITH(parse_schedule(sends("9007199254740993"), "f"),
                    Contains("f:5: 9007199254740993 bytes; a schedule can name up to"));
  CHECK_THROWS_WITH(parse_schedule(sends("-1"), "f"), Contains("expected before '-1"));
}

TEST_CASE("one node may be written as several from it to itself", "[schedule][text]") {
  CHECK(parse_schedule(with("node 3: rearrange 9", "nodes 3..3: rearrange 9"), "x") ==
        parse_schedule(sample, "x"));
}

TEST_CASE("no step comes after a node's end", "[schedule][text]") {
  std::string text = with("steps 2", "steps 3");
  text.replace(text.find("\nend\n"), 1, "\nstep 2\nnode 2: send 1 to 0\n\n");
  CHECK_THAT(refusal_of(text), Contains("node 2 has ended"));
}

TEST_CASE("a few bytes of text that ask for too much memory are refused", "[schedule][text]") {
  CHECK(refusal_of("wormcube schedule 1\ntopology ring:1000000\nsteps 4000000000\n") ==
        "file.txt:3: the schedule would take more than 8192 MiB of memory");
  CHECK_THROWS_WITH(parse_schedule(sample, "x", 100), Contains("memory"));
}

TEST_CASE("a schedule's text may ask for the memory that its logs take, and for no byte more",
          "[schedule][text]") {
  // Of 4 nodes, the ends of 2 steps and one more, and two figures of each gap; 6 messages; 3 moves.
  const double bytes = 4.0 * (sizeof(RankLog) + 3 * (sizeof(std::uint32_t) + 2 * sizeof(Bytes))) +
                       6 * sizeof(OpRecord) + 3 * sizeof(Move);
  CHECK(parse_schedule(sample, "x", bytes) == parse_schedule(sample, "x"));
  CHECK_THROWS_AS(parse_schedule(sample, "x", bytes - 1), UsageError);
}

TEST_CASE("messages about a schedule's text are short and cannot command a terminal",
          "[schedule][text]") {
  const std::string text =
      refusal_of(with("send 16", "\x1b[31m" + std::string(100000, 'x') + " 16"));
  CHECK(text.size() < 300);
  CHECK_THAT(text, Contains("\\x1b") && !Contains("\x1b"));
  CHECK(refusal_of(with("ring:4", "ring:\x1b" + std::string(100000, 'x'))).size() < 800);

  const std::string forty = "40 bytes, with blanks and some more bytes";
  const std::string before = "file.txt:5: 'step' expected before '";
  CHECK(refusal_of(with("step 0", forty.substr(0, 40))) == before + forty.substr(0, 40) + "'");
  CHECK(refusal_of(with("step 0", forty)) == before + forty.substr(0, 40) + "...'");
  CHECK(refusal_of(with("step 0", "\x1f~\x7f\xff")) == before + "\\x1f~\\x7f\\xff'");
}

TEST_CASE("of an error of the topology 400 bytes are shown", "[schedule][text]") {
  CHECK(refusal_of(with("ring:4", std::string(1000, 'x'))) ==
        "file.txt:2: topology '" + std::string(390, 'x') + "...");
  std::string name = "ring:4";
  while (name.size() < 400) name += "*ring:1";
  std::string text = with("ring:4", name);
  text.replace(text.find("by 0+1,"), 7, "by 999+1,");
  CHECK(refusal_of(text) == "file.txt:6: " + name.substr(0, 400) + "...");
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
