// Text 2: schedules of every operation are read, proved and written; each broken law has its
// sentence.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/dataflow/named.hpp"

#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/schedule/text.hpp"
#include "wormcube/tests/dataflow/named_vectors.hpp"

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

const std::string first_line = "wormcube schedule 2\n";

NamedSchedule read_text_2(const std::string& text, const std::string& name = "file.txt") {
  return parse_named_schedule(text, name, operation_facts);
}

NamedReport proved(NamedSchedule& named) {
  if (!named.operation) return prove_named(named, nullptr);
  const Rank nodes = named.schedule.topology.nodes();
  const ScheduledCall call = scheduled_call(*named.operation, nodes);
  const Goal goal = goal_of(call.operation, call.arguments, nodes);
  return prove_named(named, &goal);
}

/// The first finding; "passed" if there is none.
std::string first_finding(const std::string& text, const std::string& name = "file.txt") {
  try {
    NamedSchedule named = read_text_2(text, name);
    const NamedReport report = proved(named);
    if (report.findings.empty()) return report.delivered == true ? "passed" : report.reason;
    return report.findings.front();
  } catch (const UsageError& error) {
    return error.what();
  }
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  const std::size_t at = text.find(old);
  REQUIRE(at != text.npos);
  return text.replace(at, old.size(), by);
}

std::string vector_text(std::string_view number) {
  for (const vectors::Vector& vector : vectors::all) {
    if (vector.name.starts_with(number)) return first_line + std::string(vector.text);
  }
  FAIL("no such vector");
  return {};
}

vectors::Counts counts_of(const NamedSchedule& named) {
  const ScheduleReport report = check(named.schedule, Routing(named.schedule.topology), true);
  std::size_t values = 0;
  for (std::size_t rank = 0; rank < named.names.size(); ++rank) {
    const RankLog& log = named.schedule.ranks[rank];
    for (std::size_t op = 0; op < log.ops.size(); ++op) {
      if (log.ops[op].kind == Op::Kind::send) values += named.names[rank].of(op).size();
    }
  }
  const auto parts = static_cast<std::size_t>(named.form.parts);
  return {.steps = report.steps,
          .startups = report.startups,
          .messages = report.messages,
          .blocks = parts > 1 && values != report.messages ? values / parts : values,
          .transmission = report.transmission,
          .sent = report.total_bytes,
          .combined = report.combined};
}

/// A file of one step: lines parted by '|', and the lines of `end`.
std::string one_step(const std::string& topology, const std::string& operation, std::string step,
                     std::string end = "") {
  for (std::string* lines : {&step, &end}) {
    for (char& c : *lines) c = c == '|' ? '\n' : c;
  }
  return first_line + "topology " + topology + "\noperation " + operation +
         "\nblock 8\nsteps 1\nstep 0\n" + step + "\nend\n" + end + "\n";
}

}  // namespace

TEST_CASE("schedules with names are read, counted and proved", "[dataflow][named]") {
  REQUIRE(vectors::all.size() == 12);
  for (const vectors::Vector& vector : vectors::all) {
    CAPTURE(vector.name);
    NamedSchedule named = read_text_2(first_line + std::string(vector.text));
    const NamedReport report = proved(named);
    CHECK(report.findings == std::vector<std::string>{});
    CHECK(report.delivered == true);
    if (vector.name.starts_with("10")) {
      CHECK(report.exactly_once == std::nullopt);
    } else {
      CHECK(report.exactly_once == true);
    }
    const vectors::Counts counts = counts_of(named);
    CHECK(counts.steps == vector.counts.steps);
    CHECK(counts.startups == vector.counts.startups);
    CHECK(counts.messages == vector.counts.messages);
    CHECK(counts.blocks == vector.counts.blocks);
    CHECK(counts.transmission == vector.counts.transmission);
    CHECK(counts.sent == vector.counts.sent);
    CHECK(counts.combined == vector.counts.combined);
  }
}

TEST_CASE("a reduction keeps the order of nodes, or says that it needs commutativity",
          "[dataflow][named]") {
  for (const char* const number : {"05", "06", "07", "08"}) {
    CAPTURE(number);
    NamedSchedule named = read_text_2(vector_text(number));
    const NamedReport report = proved(named);
    CHECK(report.order_changed == (std::string_view(number) == "06"));
    CHECK(report.brackets_alike == true);
  }
}

TEST_CASE("schedules of one step are proved for the other operations", "[dataflow][named]") {
  const std::vector<std::string> texts{
      one_step("line:2", "scan", "node 0: send 8 to 1 [0]|node 1: receive 8 from 0",
               "node 1: combine 8 [0+1]"),
      one_step("complete:3", "scatter root 1",
               "node 1: send 8 to 0 [1.0], send 8 to 2 [1.2]|node 0: receive 8 from 1|node 2: "
               "receive 8 from 1"),
      one_step("ring:5", "shift by 2", "nodes 0..4: send 8 to +2 [+0], receive 8 from -2"),
      one_step("complete:4", "permute permutation complement",
               "nodes 0..3: send 8 to ^3 [+0], receive 8 from ^3"),
      one_step("complete:4", "permute permutation 1,2,3,0",
               "nodes 0..3: send 8 to +1 [+0], receive 8 from -1"),
      one_step("complete:3", "k_broadcast sources 0,1",
               "nodes 0..1: send 8 to ^1 [+0], send 8 to 2 [+0], receive 8 from ^1|node 2: receive "
               "8 from 0, receive 8 from 1"),
      one_step("complete:3", "k_alltoall sources 0,1",
               "nodes 0..1: send 8 to ^1 [+0.^1], send 8 to 2 [+0.2], receive 8 from ^1|node 2: "
               "receive 8 from 0, receive 8 from 1"),
      one_step("complete:3", "k_reduce sources 1,2",
               "node 0: send 8 to 1 [0.0], send 8 to 2 [0.1]|node 1: send 8 to 2 [1.1], receive 8 "
               "from 0, receive 8 from 2|node 2: send 8 to 1 [2.0], receive 8 from 0, receive 8 "
               "from 1",
               "node 1: combine 16 [0.0+1.0 {0 1}.0+2.0]|node 2: combine 16 [0.1+1.1 {0 "
               "1}.1+2.1]")};
  const std::vector<std::size_t> messages{1, 2, 5, 4, 4, 4, 4, 4};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CAPTURE(texts[i]);
    CHECK(first_finding(texts[i]) == "passed");
    const vectors::Counts counts = counts_of(read_text_2(texts[i]));
    CHECK(counts.messages == messages[i]);
    CHECK(counts.blocks == messages[i]);
  }
}

TEST_CASE("each wrong schedule has its first finding", "[dataflow][named]") {
  const auto finding = [](const char* name, const char* vector, const std::string& old,
                          const std::string& by) {
    return first_finding(replaced(vector_text(vector), old, by), name);
  };
  CHECK(finding("w01", "01", "send 8 to +1 [-1]", "send 8 to +1 [+0]") ==
        "node 0 ends without 1, its block 1");
  CHECK(finding("w02", "01", "steps 2", "steps 3") == "w02:10: 'end': 'step 2' expected");
  CHECK(finding("w03", "02", "[1.2]", "[1.1]") == "node 2 ends without 1.2, its block 1");
  CHECK(finding("w04", "02", "node 0: send 8 to 1 [0.1], receive 8 from 2",
                "node 0: receive 8 from 2") ==
        "step 0: node 1 receives 8 bytes from 0, which sends none");
  CHECK(finding("w05", "03", "send 100 to +2 [1]", "send 100 to +2 [0]") ==
        "step 1, node 2: sends 0 to 0, which it does not hold");
  CHECK(finding("w06", "04", "send 5 to 1 [0/1]", "send 5 to 1 [0/0]") ==
        "step 1, node 0: send 5 to 1, and what it names is 4 bytes");
  CHECK(finding("w07", "05", "[1+2]", "[2+1]") ==
        "step 1, node 1: sends {1..2} to 0, which it does not hold");
  CHECK(finding("w08", "06", "commutative\n", "") ==
        "node 0 ends with {1 0}/1, not {0..1}/1: the order of a reduction that need not commute");
  CHECK(finding("w09", "07", "[0.1+1.1]", "[0.0+1.1]") ==
        "end, node 1: combines 0.0 with 1.1: not the same block and part");
  CHECK(finding("w10", "09", "receive 4 from 0 [0]", "receive 4 from 0 [1]") ==
        "step 0: node 2 receives [1] from 0, which sends [0]");
  CHECK(finding("w11", "10", "nodes 0..2: send 0 to +2, receive 0 from -2\n", "") ==
        "node 0 leaves before node 1 has come");
  CHECK(finding("w12", "12", "[0.1]", "[0.2]") ==
        "step 1, node 0: sends 0.2 to 3, which it does not hold");
}

TEST_CASE("the laws that no wrong vector breaks have their sentences", "[dataflow][named]") {
  CHECK(first_finding(replaced(vector_text("05"), "send 8 to 0 [{1..2}]",
                               "send 8 to 0 tag 4 "
                               "[{1..2}]")) ==
        "step 1: node 0 receives 8 bytes from 1, which sends none");
  CHECK(first_finding(replaced(vector_text("05"), "receive 8 from 1", "receive 9 from 1")) ==
        "step 1: node 1 sends 8 bytes to 0, which receives 9");
  CHECK(first_finding(replaced(vector_text("05"), "node 0: receive 8 from 1\n", "")) ==
        "step 1: node 1 sends 8 bytes to 0, which receives none");
  CHECK(first_finding(replaced(vector_text("05"), "[1+2]", "[0+2]")) ==
        "step 1, node 1: combines 0, which it does not hold");
  CHECK(first_finding(replaced(vector_text("05"), "[1+2]", "[1+1]")) ==
        "step 1, node 1: combines 1 with 1: node 1's twice");
  CHECK(first_finding(replaced(vector_text("05"), "combine 8 [1+2]", "combine 9 [1+2]")) ==
        "step 1, node 1: combine 9, and what it names is 8 bytes");
  CHECK(first_finding(replaced(vector_text("11"), "[^0..^1]", "[^0 ^0]")) ==
        "step 1, node 2: 2 twice in one message to 0");
  CHECK(first_finding(replaced(replaced(vector_text("05"), "node 0: receive 8 from 1",
                                        "node 0: receive 8 from 1\nnode 2: combine 0"),
                               "node 1: receive 8 from 2\nnode 2: send 8 to 1 [2]",
                               "node 1: receive 8 from 2\nnode 2: end")) ==
        "step 0: node 1 receives 8 bytes from 2, which sends none");
  CHECK(first_finding(one_step("line:2", "broadcast", "node 0: end", "")) ==
        "node 1 ends without 0, its block 0");
  const std::string late =
      first_line +
      "topology line:2\nsteps 2\nstep 0\nnode 1: end\nstep 1\nnode 1: combine 1\nend\n";
  CHECK(first_finding(late) == "step 1, node 1: it has ended");
  CHECK(first_finding(replaced(vector_text("05"), "node 0: combine 8 [0+{1 2}]\n", "")) ==
        "node 0 ends without {0..2}, its block 0; the most it has is {1..2}");
}

TEST_CASE("one fault does not hide the next, ten are kept, all are counted", "[dataflow][named]") {
  NamedSchedule named =
      read_text_2(replaced(vector_text("03"), "send 100 to +2 [1]", "send 100 to +2 [0]"));
  const NamedReport report = proved(named);
  CHECK(report.findings ==
        std::vector<std::string>{"step 1, node 2: sends 0 to 0, which it does not hold",
                                 "step 1, node 1: sends 0 to 3, which it does not hold",
                                 "node 0 ends without 1, its block 0"});
  NamedSchedule many =
      read_text_2(one_step("complete:16", "allgather", "nodes 0..15: send 8 to +1 [+3]"));
  const NamedReport all = proved(many);
  CHECK(all.findings.size() == 10);
  CHECK(all.broken == 2 * 16 + 1);
}

TEST_CASE("a value that comes twice is counted and allowed", "[dataflow][named]") {
  NamedSchedule named =
      read_text_2(first_line +
                  "topology line:2\noperation broadcast\nblock 8\nsteps 2\nstep 0\nnode 0: send 8 "
                  "to 1 [0]\nnode 1: receive 8 from 0\nstep 1\nnode 0: send 8 to 1 [0]\nnode 1: "
                  "receive 8 from 0\nend\n");
  const NamedReport report = proved(named);
  CHECK(report.findings.empty());
  CHECK(report.delivered == true);
  CHECK(report.exactly_once == false);
  CHECK(report.arrivals == "node 1 receives 0 twice");
}

TEST_CASE("a written schedule with names is read as it was, and written as it is",
          "[dataflow][named]") {
  for (const vectors::Vector& vector : vectors::all) {
    CAPTURE(vector.name);
    NamedSchedule named = read_text_2(first_line + std::string(vector.text));
    const std::string text = named_schedule_text(named);
    CAPTURE(text);
    NamedSchedule again = read_text_2(text);
    CHECK(again.schedule == named.schedule);
    CHECK(named_schedule_text(again) == text);
    CHECK(proved(again).delivered == true);
    CHECK_THROWS_WITH(named_schedule_text(named, 10), Contains("--text-limit"));
  }
}

TEST_CASE("names are canonical: runs of parts, then blocks, then nodes", "[dataflow][named]") {
  const std::string file = first_line +
                           "topology ring:8\nparts 4\nsteps 1\nstep 0\nnode 0: send 1 to 1 [NAMES]"
                           "\nend\n";
  const auto written = [&](const std::string& names) {
    const std::string text = named_schedule_text(read_text_2(replaced(file, "NAMES", names)));
    const std::size_t at = text.find('[');
    return text.substr(at + 1, text.find(']') - at - 1);
  };
  CHECK(written("0") == "0");
  CHECK(written("{5}") == "5");
  CHECK(written("0/0 0/1 0/2 0/3") == "0");
  CHECK(written("0/1 0/2") == "0/1..2");
  CHECK(written("0/2..3 0/0..1") == "0/2..3 0/0..1");
  CHECK(written("0.1 0.2 0.3") == "0.1..3");
  CHECK(written("0.1 1.1 2.1") == "0..2.1");
  CHECK(written("0.0..1 1.0..1") == "0..1.0..1");
  CHECK(written("0..6:2") == "0 2 4 6");
  CHECK(written("+0..-3") == "0 7 6 5");
  CHECK(written("{0..3 7}") == "{0..3 7}");
  CHECK(written("{0 1} {1 0}") == "{0..1} {1 0}");
  CHECK(written("^0..^2") == "0..2");
}

TEST_CASE("text 2 that cannot be read is refused with its line", "[dataflow][named]") {
  const std::string good = vector_text("05");
  const auto refused = [&](const std::string& old, const std::string& by) {
    return first_finding(replaced(good, old, by));
  };
  CHECK(first_finding("wormcube schedule 3\n") ==
        "file.txt:1: the first line is neither 'wormcube schedule 1' nor 'wormcube schedule 2': "
        "not a schedule, or another version");
  CHECK_THAT(refused("topology line:3\n", ""), Contains("'topology NETWORK' is missing"));
  CHECK_THAT(refused("steps 2\n", ""), Contains("'steps N' is missing"));
  CHECK_THAT(refused("steps 2\n", "steps 2\nsteps 2\n"), Contains(":6: steps twice"));
  CHECK(refused("steps 2\nstep 0", "steps 2\nstep 1") == "file.txt:6: 'step 1': 'step 0' expected");
  CHECK(refused("steps 2\n", "steps 1\n") == "file.txt:9: 'step 1': 'end' expected");
  CHECK(refused("node 2: send", "node 1: send") == "file.txt:8: node 1 twice in one step");
  CHECK(refused("node 2: send", "node 3: send") == "file.txt:8: node 3; line:3 has nodes 0 to 2");
  CHECK(refused("to 1 [2]", "to 3 [2]") == "file.txt:8: node 3; line:3 has nodes 0 to 2");
  CHECK(refused("to 1 [2]", "to 1 [3]") == "file.txt:8: node 3; line:3 has nodes 0 to 2");
  CHECK(refused("to 1 [2]", "to 1 [2/1]") == "file.txt:8: part 1 of 1 part, counted from 0");
  CHECK_THAT(refused("to 1 [2]", "to 1 [0..+2]"), Contains("mixes kinds"));
  CHECK_THAT(refused("to 1 [2]", "to 1 [2..0]"), Contains("the first number is the larger"));
  CHECK_THAT(refused("[1+2]", "[1+0..2]"), Contains("1 values on the left, 3 on the right"));
  CHECK(refused("block 8\n", "block 9\nelement 4\n") ==
        "file.txt:4: block 9 is not whole elements of 4 bytes");
  CHECK_THAT(refused("block 8\n", "parts 0\n"), StartsWith("file.txt:4: parts 0"));
  CHECK_THAT(refused("block 8\n", "element 0\n"), StartsWith("file.txt:4: element 0"));
  CHECK_THAT(refused("operation reduce", "operation reduse"),
             StartsWith("file.txt:3: ") && Contains("reduse"));
  CHECK_THAT(refused("operation reduce", "operation allreduce root 1"),
             StartsWith("file.txt:3: operation allreduce has no root"));
  CHECK_THAT(refused("operation reduce", "operation reduce root 3"), Contains("root 3 of 3"));
  CHECK_THAT(refused("block 8\n", "size 0 8\nsize 1 16\n"), Contains("one size"));
  CHECK_THAT(refused("send 8 to 1", "send 8 to 1 by 0+1"), Contains("cannot move +1"));
  CHECK_THAT(first_finding(replaced(vector_text("02"), "[0.1]", "[0]")),
             Contains("which block? a node gives several"));
  CHECK_THAT(refused("block 8\n", "block 8\nphase 1..2 x\n"), Contains("there are 2 steps"));
}

TEST_CASE("a few bytes of text 2 that ask for too much memory are refused", "[dataflow][named]") {
  const auto refused = [](const std::string& text) {
    CHECK_THROWS_WITH(parse_named_schedule(first_line + text, "x", operation_facts, 1e8),
                      Contains("more than 95 MiB of memory"));
  };
  refused("topology ring:1000\nsteps 4000000000\nend\n");
  refused("topology ring:9\nsteps 1\nstep 0\nnode 0: send 1 to 1 [0..8.0..1048575]\nend\n");
  refused("topology ring:9\nparts 1048576\nsteps 1\nstep 0\nnode 0: send 1 to 1 [0..8]\nend\n");
  refused("topology ring:2\nsteps 1\nsize 0..1.0..1048575 4\nstep 0\nend\n");
}

// Without the memory for the values of a range, so that the limit here is none.
TEST_CASE("ranges of more blocks, parts or nodes than there are are refused before they are made",
          "[dataflow][named]") {
  const auto refused = [](const std::string& text, const char* expected) {
    CHECK_THROWS_WITH(parse_named_schedule(first_line + text, "x", operation_facts, 1e18),
                      Contains(expected));
  };
  const std::string ring = "topology ring:4\nsteps 1\n", step = "step 0\nnode 0: send 8 to 1 ";
  refused(ring + "operation alltoall\n" + step + "[0.0..250000000]\nend\n",
          "x:6: block 4 is out of range; there are 0 to 3");
  refused(ring + "operation alltoall\n" + step + "[0.9..250000000:7]\nend\n", "block 9 is out of");
  refused(ring + "operation alltoall\n" + step + "[0.1..2000000000:5]\nend\n", "block 6 is out of");
  refused(ring + "operation allgather\n" + step + "[0.0..1]\nend\n", "there is only block 0");
  refused(ring + step + "[0.0..2000000000]\nend\n", "block 1048576 is out of range");
  refused(ring + "size 0.0..2000000000 4\n" + step + "[0]\nend\n", "block 1048576 is out of range");
  refused(ring + "parts 2000000000\n" + step + "[0]\nend\n", "a block has up to 1048576");
  refused(ring + step + "[{0 +0..+2000000000}]\nend\n",
          "a range of 2000000001 relative numbers; ring:4 has 4 nodes");
  refused(ring + step + "[0.+0..-2000000000]\nend\n", "a range of 2000000001 relative numbers");
  const std::string good = "node 1: receive 8 from 0\nend\n";
  CHECK_NOTHROW(
      read_text_2(first_line + ring + "operation alltoall\n" + step + "[0.0..3]\n" + good));
  CHECK_NOTHROW(
      read_text_2(first_line + ring + "operation alltoall\n" + step + "[0.+0..+3]\n" + good));
}

TEST_CASE("numbers of bytes that doubles do not count exactly are refused", "[dataflow][named]") {
  const auto text = [](const char* bytes) {
    return first_line + fmt::format(
                            "topology line:2\noperation broadcast\nblock {0}\nsteps 1\n"
                            "step 0\nnode 0: send {0} to 1 [0]\n"
                            "node 1: receive {0} from 0\nend\n",
                            bytes);
  };
  CHECK_NOTHROW(read_text_2(text("9007199254740992")));
  for (const char* const bytes : {"9007199254740993", "9223372036854775808"}) {
    CHECK_THROWS_WITH(
        read_text_2(text(bytes)),
        Contains(fmt::format("file.txt:4: {} bytes; a schedule can name up to 9007199254740992",
                             bytes)));
  }
}

TEST_CASE("sizes are compared only if the file has sizes of blocks", "[dataflow][named]") {
  const std::string barrier =
      "topology line:2\noperation barrier\nsteps 1\nstep 0\n"
      "node 0: send 8 to 1 [], receive 0 from 1\nnode 1: send 0 to 0, receive 8 from 0\nend\n";
  CHECK(first_finding(first_line + barrier) == "passed");
  CHECK(first_finding(first_line + "block 8\n" + barrier) ==
        "step 0, node 0: send 8 to 1, and what it names is 0 bytes");
}

TEST_CASE("text 2 without an operation obeys the laws alone", "[dataflow][named]") {
  std::string text = vector_text("01");
  text = replaced(text, "operation allgather\n", "");
  NamedSchedule named = read_text_2(text);
  const NamedReport report = proved(named);
  CHECK(report.findings.empty());
  CHECK(report.delivered == std::nullopt);
  CHECK(report.reason == "no operation is named");
  CHECK(report.exactly_once == true);
}

TEST_CASE("text 2 with any bytes changed is read or refused", "[dataflow][named]") {
  std::mt19937 random(7);  // NOLINT: the same texts in every run
  const std::string digits = "0123456789-+^,:./[]{}() \n#aen";
  int accepted = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string text = first_line + std::string(vectors::all[random() % 12].text);
    for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t at = first_line.size() + random() % (text.size() - first_line.size());
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
      NamedSchedule named = parse_named_schedule(text, "x", operation_facts, 1 << 22);
      ++accepted;
      const bool is_late = !named.after_end.empty();
      if (named.schedule.topology.nodes() <= 64) static_cast<void>(proved(named));
      const std::string written = named_schedule_text(named);
      if (!is_late &&
          named_schedule_text(parse_named_schedule(written, "y", operation_facts)) != written) {
        CAPTURE(text);
        FAIL_CHECK("not the same again");
      }
    } catch (const UsageError&) {
    }
  }
  CHECK(accepted > 50);
  CHECK(accepted < 5900);
}
