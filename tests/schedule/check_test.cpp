// The checker: its counts on schedules worked out by hand, and a broken schedule for every law.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/check.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/tests/schedule/programs.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace programs;
using Catch::Matchers::Contains;

namespace {

/// Every node sends `bytes` to its '+' neighbour in each dimension, one dimension a step.
Program shift(Bytes bytes) {
  return [=](Node& node) {
    for (int d = 0; d < node.topology().dimensions(); ++d) {
      const Memory data = node.memory(2 * bytes);
      node.step(
          {send(Move{d, 1}, data.subspan(0, bytes)),
           receive(node.topology().neighbour(node.rank(), d, -1), data.subspan(bytes, bytes))});
    }
  };
}

ScheduleReport checked(const Schedule& schedule, bool all_port = false, int virtual_channels = 2) {
  return check(schedule, Routing(schedule.topology, virtual_channels), all_port);
}

/// Appends one op to a rank's last step.
void append(Schedule& schedule, Rank rank, OpRecord op) {
  RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
  log.ops.push_back(op);
  ++log.step_ends.back();
}
OpRecord send_record(Rank to, Bytes bytes, Tag tag = 0) {
  return {Op::Kind::send, 0, to, tag, 0, bytes};
}
OpRecord receive_record(Rank from, Bytes bytes, Tag tag = 0) {
  return {Op::Kind::receive, 0, from, tag, 0, bytes};
}

/// One idle step of every node, to be filled.
Schedule idle(const std::string& topology, int steps = 1) {
  return record(Topology::parse(topology), [=](Node& node) {
    for (int t = 0; t < steps; ++t) node.step();
  });
}
/// A message, both ends, in the last step.
void message(Schedule& schedule, Rank from, Rank to, Bytes bytes, Tag tag = 0) {
  append(schedule, from, send_record(to, bytes, tag));
  append(schedule, to, receive_record(from, bytes, tag));
}

}  // namespace

TEST_CASE("the checker's counts on a total exchange are those of the formula", "[check]") {
  const Rank p = GENERATE(1, 2, 3, 5, 8, 16);
  CAPTURE(p);
  const Schedule schedule =
      record(Topology::parse("ring:" + std::to_string(p)), programs::exchange);
  const ScheduleReport report = checked(schedule);
  const auto n = static_cast<std::size_t>(p);
  CHECK(report.steps == n - 1);
  CHECK(report.startups == n - 1);
  CHECK(report.transmission == (n - 1) * word_bytes);
  CHECK(report.rearranged == word_bytes);
  CHECK(report.messages == n * (n - 1));
  CHECK(report.total_bytes == n * (n - 1) * word_bytes);
  std::size_t hops = 0, max_hops = 0;
  for (std::size_t t = 1; t < n; ++t)
    hops += std::min(t, n - t), max_hops = std::max(max_hops, std::min(t, n - t));
  CHECK(report.byte_hops == n * hops * word_bytes);
  CHECK(report.sum_max_hops == hops);
  CHECK(report.max_hops == static_cast<int>(max_hops));
  // A shift by t puts t messages on each link.
  CHECK(report.link_load_max == static_cast<int>(max_hops));
  CHECK(report.peak_block_bytes == 2 * n * word_bytes);
  CHECK(report.peak_bytes == 2 * n * word_bytes);
  CHECK(report.port_violations == 0);
  CHECK(report.matched());
  CHECK(report.deadlock_free);
  // Contention in all steps but the first and the last; the first ten are reported.
  CHECK(report.problems.empty());
  CHECK(report.contention.size() == (max_hops > 1 ? std::min<std::size_t>(n - 3, 10) : 0));
}

TEST_CASE("a shift of neighbours has no problem of any kind", "[check]") {
  const std::string name = GENERATE("ring:5", "torus:4x4", "torus:3x4x5", "hypercube:5");
  const Schedule schedule = record(Topology::parse(name), shift(8));
  for (const bool all_port : {false, true}) {
    const ScheduleReport report = checked(schedule, all_port);
    CHECK(report.link_load_max == 1);
    CHECK(report.max_hops == 1);
    CHECK(report.port_violations == 0);
    CHECK(report.unmatched == 0);
    CHECK(report.deadlock_free);
    CHECK(report.problems.empty());
    CHECK(report.contention.empty());
  }
}

TEST_CASE("idle steps are steps, not start-ups, rearrangement adds the most of each gap",
          "[check]") {
  const Schedule schedule = record(Topology::parse("ring:4"), [](Node& node) {
    node.rearrange(10 * (static_cast<Bytes>(node.rank()) + 1), [] {});
    node.step();
    node.rearrange(10 * (4 - static_cast<Bytes>(node.rank())), [] {});
    node.step({send(node.rank(), {}), receive(node.rank(), {})});
    if (node.rank() == 2) node.rearrange(5, [] {});
  });
  const ScheduleReport report = checked(schedule);
  CHECK(report.steps == 2);
  CHECK(report.startups == 1);  // messages to oneself count, and use neither link nor port
  CHECK(report.messages == 4);
  CHECK(report.max_hops == 0);
  CHECK(report.link_load_max == 0);
  CHECK(report.rearranged == 40 + 40 + 5);
  CHECK(report.problems.empty());
  CHECK(report.contention.empty());
}

TEST_CASE("the checker sees a missing receive, a missing send, another size, another tag",
          "[check]") {
  const Schedule good = record(Topology::parse("ring:4"), programs::exchange);
  CHECK(checked(good).unmatched == 0);
  const auto mutated = [&](const std::function<void(RankLog&)>& mutate) {
    Schedule schedule = good;
    mutate(schedule.ranks[2]);
    return checked(schedule);
  };
  // Step 1 of node 2 is op 2, the send to 0, and op 3, the receive from 0.
  const auto drop = [](std::ptrdiff_t op) {
    return [=](RankLog& log) {
      log.ops.erase(log.ops.begin() + op);
      --log.step_ends[1], --log.step_ends[2];
    };
  };
  ScheduleReport report = mutated(drop(3));
  CHECK(report.unmatched == 1);
  REQUIRE(!report.problems.empty());
  CHECK(report.problems[0] == "step 1: node 0 sends 8 bytes to 2, which receives none");

  report = mutated(drop(2));
  CHECK(report.unmatched == 1);
  CHECK(report.problems[0] == "step 1: node 0 receives 8 bytes from 2, which sends none");

  report = mutated([](RankLog& log) { log.ops[2].bytes = 9; });
  CHECK(report.unmatched == 2);
  CHECK(report.problems[0] == "step 1: node 2 sends 9 bytes to 0, which receives 8");

  report = mutated([](RankLog& log) { log.ops[3].tag = 1; });
  CHECK(report.unmatched == 2);

  // Also a second receive's worth for node 3.
  report = mutated([](RankLog& log) { log.ops[2].peer = 3; });
  CHECK(report.unmatched == 2);

  report = mutated([](RankLog& log) { log.ops[2].peer = 4; });
  CHECK(report.unmatched == 2);
  CHECK_THAT(report.problems[0], Contains("peer 4 out of range [0, 4)"));

  // The same messages one step later do not meet either.
  report = mutated([](RankLog& log) { log.step_ends.insert(log.step_ends.begin(), 0); });
  CHECK(report.unmatched > 0);
}

TEST_CASE("messages of one pair and tag are matched in order", "[check]") {
  Schedule schedule = idle("ring:2");
  for (const Bytes bytes : {8, 16}) append(schedule, 0, send_record(1, bytes));
  Schedule swapped = schedule;
  for (const Bytes bytes : {8, 16}) append(schedule, 1, receive_record(0, bytes));
  for (const Bytes bytes : {16, 8}) append(swapped, 1, receive_record(0, bytes));
  CHECK(checked(schedule).unmatched == 0);
  CHECK(checked(swapped).unmatched == 4);

  Schedule tagged = idle("ring:2");
  for (const Tag tag : {5, 6}) append(tagged, 0, send_record(1, 8, tag));
  for (const Tag tag : {6, 5}) append(tagged, 1, receive_record(0, 8, tag));
  CHECK(checked(tagged).unmatched == 0);
}

TEST_CASE("busy nodes are matched too", "[check]") {
  Schedule schedule = record(Topology::parse("complete:40"), exchange_at_once);
  CHECK(checked(schedule).unmatched == 0);
  CHECK(checked(schedule, true).port_violations == 0);
  std::ranges::find(schedule.ranks[11].ops, Op::Kind::send, &OpRecord::kind)->bytes += 1;
  CHECK(checked(schedule).unmatched == 2);
}

TEST_CASE("one port: a second send or a second receive of a node is a violation", "[check]") {
  Schedule schedule = idle("complete:5");
  message(schedule, 0, 1, 8);
  message(schedule, 1, 0, 8);
  CHECK(checked(schedule).port_violations == 0);

  Schedule sends = schedule;
  message(sends, 0, 2, 8);
  const ScheduleReport report = checked(sends);
  CHECK(report.port_violations == 1);
  REQUIRE(report.problems.size() == 1);
  CHECK(report.problems[0] == "step 0: node 0 sends 2 messages");
  CHECK(checked(sends, true).port_violations == 0);  // by another link: all-port allows it

  Schedule receives = schedule;
  message(receives, 2, 0, 8);
  CHECK(checked(receives).port_violations == 1);
  CHECK_THAT(checked(receives).problems[0], Contains("node 0 receives 2 messages"));

  message(sends, 3, 0, 8);
  message(sends, 4, 0, 8);
  CHECK(checked(sends).port_violations == 2);  // node 0 injects two, ejects three

  message(schedule, 0, 0, 8);  // to oneself: no port
  CHECK(checked(schedule).port_violations == 0);
}

TEST_CASE("all ports: two messages by one first or one last link are a violation", "[check]") {
  Schedule schedule = idle("line:4");
  message(schedule, 1, 2, 8);
  message(schedule, 1, 0, 8);
  CHECK(checked(schedule, true).port_violations == 0);
  CHECK(checked(schedule, false).port_violations == 1);

  Schedule first = schedule;
  message(first, 1, 3, 8);
  ScheduleReport report = checked(first, true);
  CHECK(report.port_violations == 1);
  CHECK(report.problems[0] == "step 0: 2 messages leave a node by its link 1->2");

  Schedule last = idle("line:4");
  message(last, 0, 3, 8);
  message(last, 1, 3, 8);
  report = checked(last, true);
  CHECK(report.port_violations == 1);
  CHECK(report.problems[0] == "step 0: 2 messages reach a node by its link 2->3");
}

TEST_CASE("two messages on one directed link in one step are its load", "[check]") {
  Schedule schedule = idle("line:4");
  message(schedule, 0, 2, 8);
  message(schedule, 3, 1, 8);
  ScheduleReport report = checked(schedule);
  CHECK(report.link_load_max == 1);  // both pass 1-2, in opposite directions
  CHECK(report.problems.empty());
  CHECK(report.contention.empty());
  message(schedule, 1, 3, 8);
  report = checked(schedule);
  CHECK(report.link_load_max == 2);
  CHECK(report.problems.empty());
  REQUIRE(report.contention.size() == 1);
  CHECK(report.contention[0] == "step 0: link 1->2 carries 2 messages: 0 to 2, 1 to 3");

  // In different steps they do not meet.
  Schedule apart = record(Topology::parse("line:4"), [](Node& node) {
    const Memory data = node.memory(8);
    for (Rank t = 0; t < 2; ++t) {
      if (node.rank() == t) {
        node.step({send(t + 2, data.span())});
      } else if (node.rank() == t + 2) {
        node.step({receive(t, data)});
      } else {
        node.step();
      }
    }
  });
  CHECK(checked(apart).link_load_max == 1);

  // The two virtual channels of a ring are one link.
  Schedule ring = idle("ring:5");
  message(ring, 4, 1, 8);  // over the dateline: enters 0->1 on channel 1
  message(ring, 0, 2, 8);  // channel 0
  CHECK(checked(ring).link_load_max == 2);
}

TEST_CASE("moves decide the direction: half a ring both ways", "[check]") {
  const auto half = [](bool split) {
    return record(Topology::parse("ring:4"), [=](Node& node) {
      const Memory data = node.memory(16);
      const int sign = split && node.rank() % 2 == 1 ? -1 : 1;
      node.step({send(Move{0, 2 * sign}, data.subspan(0, 8)),
                 receive((node.rank() + 2) % 4, data.subspan(8, 8))});
    });
  };
  CHECK(checked(half(false)).link_load_max == 2);
  CHECK(checked(half(true)).link_load_max == 1);
}

TEST_CASE("a ring without its second virtual channel can deadlock, and the cycle is named",
          "[check]") {
  const Schedule far = record(Topology::parse("ring:6"), [](Node& node) {
    const Memory data = node.memory(16);
    node.step({send(Move{0, 2}, data.subspan(0, 8)),
               receive(mod(node.rank() - 2, 6), data.subspan(8, 8))});
  });
  CHECK(checked(far, false, 2).deadlock_free);
  const ScheduleReport report = checked(far, false, 1);
  CHECK_FALSE(report.deadlock_free);
  CHECK(report.cycle == "a cycle of 6 channels: 0->1, 1->2, 2->3, 3->4, 4->5, 5->0");
  CHECK(report.problems.empty());
  CHECK_THAT(report.contention.at(0), Contains("carries 2 messages"));

  // Neighbours only: the same ring, but no route holds one channel while it waits for another.
  CHECK(checked(record(Topology::parse("ring:6"), shift(8)), false, 1).deadlock_free);
}

TEST_CASE("long cycles are found, and named by their beginning", "[check]") {
  const auto cycle_of = [](Rank p) {
    Schedule schedule = idle("ring:" + std::to_string(p));
    for (Rank r = 0; r < p; ++r) message(schedule, r, mod(r + 2, p), 8);
    return checked(schedule, false, 1).cycle;
  };
  CHECK(cycle_of(8) == "a cycle of 8 channels: 0->1, 1->2, 2->3, 3->4, 4->5, 5->6, 6->7, 7->0");
  CHECK(cycle_of(9) ==
        "a cycle of 9 channels: 0->1, 1->2, 2->3, 3->4, 4->5, 5->6, 6->7, 7->8, ...");
  const Schedule schedule = record(Topology::parse("ring:1500"), [](Node& node) {
    const Memory data = node.memory(16);
    node.step({send(Move{0, -2}, data.subspan(0, 8)),
               receive(mod(node.rank() + 2, 1500), data.subspan(8, 8))});
  });
  CHECK(checked(schedule).deadlock_free);
  const ScheduleReport report = checked(schedule, false, 1);
  CHECK_FALSE(report.deadlock_free);
  CHECK_THAT(report.cycle, Contains("a cycle of 1500 channels") && Contains(", ..."));
}

TEST_CASE("a network of millions of links is checked by the few that are used", "[check]") {
  Schedule schedule = idle("complete:5000", 2);
  message(schedule, 17, 4999, 8);
  CHECK(checked(schedule).link_load_max == 1);
  message(schedule, 17, 4999, 8);
  const ScheduleReport report = checked(schedule, true);
  CHECK(report.link_load_max == 2);
  CHECK(report.port_violations == 2);  // both leave and arrive by the same link
  CHECK(report.unmatched == 0);
}

TEST_CASE("routes that turn both ways can deadlock on a mesh, in dimension order they cannot",
          "[check]") {
  // The four corners of a square, each message round one corner clockwise: the classic cycle.
  const auto corners = [](bool x_first, std::size_t before = 0, std::size_t after = 0) {
    return record(Topology::parse("mesh:2x2"), [=](Node& node) {
      const Memory data = node.memory(16);
      const Rank row = node.rank() / 2, column = node.rank() % 2;
      const Move x{1, column == 0 ? 1 : -1}, y{0, row == 0 ? 1 : -1};
      const bool this_x_first = x_first || row == column;
      const std::array<Move, 2> moves = this_x_first ? std::array{x, y} : std::array{y, x};
      node.idle(before);
      node.step({send(std::span<const Move>(moves), data.subspan(0, 8)),
                 receive(3 - node.rank(), data.subspan(8, 8))});
      node.idle(after);
    });
  };
  CHECK(checked(corners(true)).deadlock_free);
  CHECK(checked(corners(true)).deadlock_free_in_lock_step);
  const ScheduleReport report = checked(corners(false));
  CHECK_FALSE(report.deadlock_free);
  CHECK_FALSE(report.deadlock_free_in_lock_step);
  CHECK_THAT(report.cycle, Contains("a cycle of 4 channels"));
  // Two of the messages in a step of their own: one step's routes have no cycle, those of both have.
  Schedule apart = corners(false, 0, 1);
  for (const std::size_t rank : {1, 2}) {
    RankLog& log = apart.ranks[rank];
    log.step_ends[0] = 0;
  }
  CHECK_FALSE(checked(apart).deadlock_free);
  CHECK(checked(apart).deadlock_free_in_lock_step);
  // One step among thousands, which several threads share: one has seen it, the others have not.
  for (const std::size_t before : {0, 2000, 4000}) {
    CHECK_FALSE(checked(corners(false, before, 4000 - before)).deadlock_free);
    CHECK(checked(corners(true, before, 4000 - before)).deadlock_free);
  }
}

TEST_CASE("routes of which each turns both ways can deadlock", "[check]") {
  // Round three sides of a square, clockwise, from each of its corners.
  const Schedule schedule = record(Topology::parse("mesh:2x2"), [](Node& node) {
    const Memory data = node.memory(16);
    const std::array<Move, 4> round{Move{1, 1}, Move{0, 1}, Move{1, -1}, Move{0, -1}};
    const std::array<Rank, 4> corners{0, 1, 3, 2};
    const auto at =
        static_cast<std::size_t>(std::ranges::find(corners, node.rank()) - corners.begin());
    const std::array<Move, 3> moves{round[at], round[(at + 1) % 4], round[(at + 2) % 4]};
    node.step({send(std::span<const Move>(moves), data.subspan(0, 8)),
               receive(corners[(at + 1) % 4], data.subspan(8, 8))});
  });
  const ScheduleReport report = checked(schedule);
  CHECK(report.unmatched == 0);
  CHECK_FALSE(report.deadlock_free);
  CHECK_THAT(report.cycle, Contains("a cycle of 4 channels"));
}

TEST_CASE("of links that are equally busy the first is named, and up to four of its messages",
          "[check]") {
  const auto contention = [](int messages) {
    Schedule schedule = idle("line:9");
    for (Rank r = 0; r < messages; ++r) message(schedule, r, 8, 8);
    for (Rank r = 0; r < 2; ++r) message(schedule, 8, 5 + r, 8);
    return checked(schedule).contention.at(0);
  };
  CHECK(contention(0) == "step 0: link 8->7 carries 2 messages: 8 to 5, 8 to 6");
  CHECK(contention(4) == "step 0: link 3->4 carries 4 messages: 0 to 8, 1 to 8, 2 to 8, 3 to 8");
  CHECK(contention(5) ==
        "step 0: link 4->5 carries 5 messages: 0 to 8, 1 to 8, 2 to 8, 3 to 8, ...");
  CHECK(contention(6) ==
        "step 0: link 5->6 carries 6 messages: 0 to 8, 1 to 8, 2 to 8, 3 to 8, ...");
}

TEST_CASE("a node's figures end with its steps", "[check]") {
  Schedule schedule = record(Topology::parse("ring:2"), [](Node& node) {
    node.idle(node.rank() == 0 ? 1 : 4);
    node.rearrange(8, [] {});
  });
  schedule.ranks[0].rearranged.add(6, 1000);  // a gap that no node reaches
  const ScheduleReport report = checked(schedule);
  CHECK(report.steps == 4);
  CHECK(report.rearranged == 8 + 8);
}

TEST_CASE("bytes on links that 64 bits cannot count are refused", "[check]") {
  const Topology ring = Topology::parse("ring:8");
  const auto refused = [&](Rank to, Bytes bytes, Bytes rearranged) {
    Schedule schedule{ring, std::vector<RankLog>(8)};
    const auto op = [&](Op::Kind kind, Rank peer) { return OpRecord{kind, 0, peer, 0, 0, bytes}; };
    schedule.ranks[0].ops = {op(Op::Kind::send, to)};
    schedule.ranks[static_cast<std::size_t>(to)].ops = {op(Op::Kind::receive, 0)};
    for (RankLog& log : schedule.ranks) {
      log.step_ends = {static_cast<std::uint32_t>(log.ops.size())};
      log.rearranged.add(0, rearranged);
    }
    try {
      check(schedule, Routing(ring, 2), false);
    } catch (const UsageError& error) {
      CHECK_THAT(error.what(), Catch::Matchers::Contains("64 bits cannot count"));
      return true;
    }
    return false;
  };
  CHECK_FALSE(refused(1, Bytes{1} << 62, 0));
  CHECK(refused(1, Bytes{1} << 63, 0));
  CHECK(refused(2, Bytes{1} << 62, 0));  // on two links
  CHECK(refused(1, Bytes{1} << 62, Bytes{1} << 62));
}

TEST_CASE("a schedule that is not of this network is refused", "[check]") {
  Schedule schedule = record(Topology::parse("ring:6"), shift(8));
  CHECK_THROWS_AS(check(schedule, Routing(Topology::parse("ring:7")), false), UsageError);
  schedule.ranks.pop_back();
  CHECK_THROWS_AS(checked(schedule), UsageError);
}

TEST_CASE("problems are the first ones, the worst kind first, in every run the same", "[check]") {
  Schedule schedule = idle("line:6", 30);
  // Two messages over 1->2 in each step; from step 20 on unmatched, too.
  for (std::size_t t = 0; t < 30; ++t) {
    for (const Rank rank : {0, 1, 2, 3}) {
      RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
      if (rank >= 2 && t >= 24) continue;
      log.ops.push_back(rank < 2 ? send_record(rank + 2, 8) : receive_record(rank - 2, 8));
      for (std::size_t s = t; s < 30; ++s) ++log.step_ends[s];
    }
  }
  const ScheduleReport report = checked(schedule);
  CHECK(report.unmatched == 12);
  REQUIRE(report.problems.size() == 10);
  CHECK_THAT(report.problems[0], Contains("step 24: node 0 sends 8 bytes to 2, which"));
  CHECK_THAT(report.problems[9], Contains("step 28: node 1 sends 8 bytes to 3, which"));
  REQUIRE(report.contention.size() == 10);
  CHECK_THAT(report.contention[9], Contains("step 9: link 1->2 carries 2 messages"));
  for (int repetition = 0; repetition < 5; ++repetition)
    CHECK(checked(schedule).problems == report.problems);
}

TEST_CASE("what the host's threads find in their shares of the steps adds up", "[check]") {
  // Per step: two messages by one port and over one link, 3 and 5 hops long, and a lonely receive.
  constexpr std::size_t steps = 3000;
  const Schedule schedule = record(Topology::parse("line:32"), [](Node& node) {
    const Memory data = node.memory(40);
    for (std::size_t t = 0; t < steps; ++t) {
      node.rearrange(24, [] {});
      node.combine(40, [] {});
      switch (node.rank()) {
        case 0:
          node.step({send(3, data.subspan(0, 8)), send(5, data.subspan(0, 16))});
          break;
        case 3:
          node.step({receive(0, data.subspan(0, 8))});
          break;
        case 5:
          node.step({receive(0, data.subspan(0, 16))});
          break;
        case 7:
          node.step({receive(8, data.subspan(0, 4))});
          break;
        default:
          node.step();
      }
    }
  });
  for (int repetition = 0; repetition < 10; ++repetition) {
    const ScheduleReport report = checked(schedule);
    CHECK(report.startups == steps);
    CHECK(report.transmission == 16 * steps);
    CHECK(report.contended == (8 + 16) * steps);  // both on one link
    CHECK(report.rearranged == 24 * steps);
    CHECK(report.combined == 40 * steps);
    CHECK(report.messages == 2 * steps);
    CHECK(report.total_bytes == 24 * steps);
    CHECK(report.byte_hops == (3 * 8 + 5 * 16) * steps);
    CHECK(report.sum_max_hops == 5 * steps);
    CHECK(report.max_hops == 5);
    CHECK(report.link_load_max == 2);
    CHECK(report.port_violations == steps);
    CHECK(report.unmatched == steps);
    REQUIRE(report.problems.size() == 10);
    for (std::size_t i = 0; i < 10; ++i) {
      CHECK_THAT(report.problems[i], Contains("step " + std::to_string(i) + ": node 7 receives"));
    }
  }
}

TEST_CASE("a problem is reported whichever of the host's threads finds it", "[check]") {
  for (const std::size_t where : {0, 500, 1000, 1500, 2000, 2500, 2999}) {
    const Schedule schedule = record(Topology::parse("line:32"), [=](Node& node) {
      const Memory data = node.memory(8);
      for (std::size_t t = 0; t < 3000; ++t) {
        if (t == where && node.rank() == 7) {
          node.step({receive(8, data)});
        } else if (t == where && node.rank() == 0) {
          node.step({send(3, data), send(5, data)});
        } else if (t == where && (node.rank() == 3 || node.rank() == 5)) {
          node.step({receive(0, data)});
        } else {
          node.step();
        }
      }
    });
    const ScheduleReport report = checked(schedule);
    const std::string step = "step " + std::to_string(where) + ": ";
    CHECK(report.unmatched == 1);
    REQUIRE(report.problems.size() == 2);
    CHECK_THAT(report.problems[0],
               Contains(step + "node 7 receives 8 bytes from 8, which sends none"));
    CHECK(report.problems[1] == step + "node 0 sends 2 messages");
    REQUIRE(report.contention.size() == 1);
    CHECK_THAT(report.contention[0], Contains(step + "link 0->1 carries 2 messages"));
    CHECK(report.max_hops == 5);
    CHECK(report.link_load_max == 2);
  }
}

TEST_CASE("proof and checker agree about what matches", "[check][prove]") {
  const Rank p = GENERATE(2, 7, 12);
  const Topology topology = Topology::parse("torus:" + std::to_string(p) + "x3");
  for (const auto& program : {exchange, exchange_at_once, exchange_in_groups, rotate}) {
    CHECK(check(record(topology, program), Routing(topology), true).unmatched == 0);
  }
}
