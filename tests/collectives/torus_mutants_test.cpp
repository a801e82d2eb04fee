// Cases that must fail: total exchanges on tori with one error, and the paper's rules as printed.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/tests/collectives/torus_exchange.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace torus_exchange;

namespace {

/// Changes the ops of one node in one step before the node below sees them.
using Rewrite = std::function<void(const Node&, std::size_t step, std::vector<Op>&)>;

Program mutated(const Program& program, const Rewrite& rewrite) {
  return cases::tampered(program, [rewrite](cases::Tampering& mutant) {
    mutant.change_step = [&mutant, rewrite](int step, std::vector<Op>& ops) {
      rewrite(mutant, static_cast<std::size_t>(step), ops);
    };
  });
}

struct Case {
  std::string text, shape;
};

/// One case as a dry run and as a proof, with ops rewritten.
class Specimen {
 public:
  explicit Specimen(const Case& which)
      : topology_(Topology::parse(which.shape)), call_(call(which.text, topology_)) {}

  const Topology& topology() const { return topology_; }
  Schedule schedule() const { return record(topology_, call_.dry()); }
  ScheduleReport check(const Rewrite& rewrite) const {
    return dry_check(topology_, mutated(call_.dry(), rewrite));
  }
  /// Throws what the proof throws.
  bool delivered(const Rewrite& rewrite) const {
    return cases::outcome(call_, topology_,
                          [&](const Program& program) { return mutated(program, rewrite); })
        .delivered;
  }

 private:
  Topology topology_;
  cases::Call call_;
};

/// The same message without its last block. What it refers to lives as long as the test's thread.
Op shortened(const Op& op) {
  static thread_local std::deque<std::vector<Span>> kept;
  std::vector<Span>& pieces = kept.emplace_back(op.pieces().begin(), op.pieces().end());
  while (pieces.back().empty()) pieces.pop_back();
  pieces.back() = pieces.back().first(pieces.back().size() - block_bytes);
  return op.with_pieces(pieces);
}

/// The last sender of a step, and for whom its message is.
std::pair<Rank, Rank> a_message(const Schedule& schedule, std::size_t step) {
  for (Rank rank = schedule.topology.nodes() - 1; rank >= 0; --rank) {
    for (const OpRecord& op : schedule.ops(rank, step)) {
      if (op.kind == Op::Kind::send) return {rank, op.peer};
    }
  }
  FAIL("an idle step");
  return {};
}

bool half_a_ring(const Topology& topology, const Op& op) {
  const Move move = op.moves().front();
  return 2 * std::abs(move.hops) == topology.size(move.dimension);
}

const std::vector<Case> specimens{
    {"kim-a1", "torus:8x8"},           {"kim-a1", "torus:16x16"},
    {"kim-recursive", "torus:8x8"},    {divided(2), "torus:16x16"},
    {"tseng-diagonal", "torus:12x12"}, {"tseng-diagonal", "torus:8x8"}};

}  // namespace

TEST_CASE("mutant: a tie broken by the router puts two messages on a link", "[torus][mutant]") {
  const Rewrite by_rank = [](const Node& node, std::size_t, std::vector<Op>& ops) {
    for (Op& op : ops) {
      if (op.is_send() && half_a_ring(node.topology(), op)) {
        op = op.with(peer_of(node.topology(), node.rank(), op));
      }
    }
  };
  const auto link_load = [&](const Case& which) {
    const Specimen specimen(which);
    const ScheduleReport report = specimen.check(by_rank);
    CHECK(report.matched());
    CHECK(report.port_violations == 0);
    return report.link_load_max;
  };
  CHECK(link_load({"kim-a1", "torus:16x16"}) == 2);
  CHECK(link_load({divided(2), "torus:32x32"}) == 2);
  CHECK(link_load({"suh-torus", "torus:8x8"}) == 2);
  CHECK(link_load({"tseng-diagonal", "torus:8x8"}) == 2);
  // Ties of the 2-hop and 1-hop phases are harmless.
  CHECK(link_load({"kim-a1", "torus:8x8"}) == 1);
  CHECK(link_load({"kim-recursive", "torus:16x16"}) == 1);
}

TEST_CASE("mutant: a block dropped from any step's message is missed", "[torus][mutant]") {
  for (const Case& which : specimens) {
    if (sanitized && which.shape != "torus:8x8") continue;
    const Specimen specimen(which);
    const Schedule schedule = specimen.schedule();
    for (std::size_t step = 0; step < schedule.steps(); ++step) {
      CAPTURE(which.text, which.shape, step);
      const auto [from, to] = a_message(schedule, step);
      const auto drop = [&, from = from, to = to](bool at_receiver) {
        return [=](const Node& node, std::size_t now, std::vector<Op>& ops) {
          for (Op& op : ops) {
            const bool sent = op.is_send() && node.rank() == from;
            const bool received = !op.is_send() && node.rank() == to && at_receiver;
            if (now == step && (sent || received)) op = shortened(op);
          }
        };
      };
      CHECK(specimen.check(drop(true)).matched());
      CHECK_FALSE(specimen.delivered(drop(true)));
      CHECK(specimen.check(drop(false)).unmatched > 0);
      CHECK_THROWS_AS(specimen.delivered(drop(false)), UsageError);
    }
  }
}

TEST_CASE("mutant: a move with the wrong sign misses its receiver, or shares links",
          "[torus][mutant]") {
  for (const Case& which : specimens) {
    if (sanitized && which.shape != "torus:8x8") continue;
    const Specimen specimen(which);
    const Schedule schedule = specimen.schedule();
    std::vector<std::size_t> shared;
    for (std::size_t step = 0; step < schedule.steps(); ++step) {
      CAPTURE(which.text, which.shape, step);
      const Rank from = a_message(schedule, step).first;
      std::atomic<bool> tie = false;
      const Rewrite wrong_sign = [&](const Node& node, std::size_t now, std::vector<Op>& ops) {
        for (Op& op : ops) {
          if (now != step || node.rank() != from || !op.is_send()) continue;
          const Move move = op.moves().front();
          tie = half_a_ring(node.topology(), op);
          op = op.with(Move{move.dimension, -move.hops});
        }
      };
      const ScheduleReport report = specimen.check(wrong_sign);
      if (report.link_load_max > 1) shared.push_back(step);
      CHECK(report.unmatched == (tie ? 0 : 2));
      if (tie) {
        CHECK(specimen.delivered(wrong_sign));
      } else {
        CHECK_THROWS_AS(specimen.delivered(wrong_sign), UsageError);
      }
    }
    // Where a ring phase goes half round its rings, all links are busy.
    if (which.text == "kim-a1" && which.shape == "torus:16x16") {
      CHECK_THAT(shared, Catch::Matchers::Contains(std::vector<std::size_t>{2, 3}));
    }
  }
}

// Kim et al., A_1, block by block: who sends what to whom is worked out from the paper's rules for
// all nodes together, and then sent.

namespace {

/// Which phases of stage 2 are taken as printed.
struct Printed {
  bool phase_3 = false, phase_4 = false;
};

struct Block {
  Rank source, destination;
};

/// One node's part in one step.
struct Part {
  std::optional<Move> move;
  std::vector<std::size_t> going;  // ascending places in its list of blocks
  Rank from = -1;
  std::size_t coming = 0;  // behind the last of its list, when what goes has gone
};

struct Plan {
  std::vector<std::vector<Part>> steps;   // of each rank
  std::vector<std::vector<Block>> final;  // of each rank
  std::size_t most_held = 0;
};

/// A move of some nodes, and which blocks they send.
struct Rule {
  std::function<std::optional<Move>(Rank i, Rank j)> move;
  /// \param x, to  the coordinates of sender and destination in the dimension that moves
  std::function<bool(Move, Rank x, Rank to, const Block&)> selects;
};

constexpr int horizontal = 1, vertical = 0;

/// The rules of A_1 on N x N, p = i/2, q = j/2.
std::vector<Rule> rules(Rank n, Printed printed) {
  const auto sign = [](bool plus) { return plus ? 1 : -1; };
  const auto master = [](Rank i, Rank j) { return (i + j) % 2 == 0; };
  std::vector<Rule> rules;
  // Stage 1.
  rules.push_back({[=](Rank, Rank j) {
                     return Move{horizontal, sign(j % 2 == 0)};
                   },
                   [=](Move, Rank j, Rank, const Block& block) {
                     return (block.destination / n - j) % 2 != 0;
                   }});
  rules.push_back(
      {[=](Rank i, Rank j) {
         return master(i, j) ? std::nullopt : std::optional(Move{vertical, sign(i % 2 == 0)});
       },
       [](Move, Rank, Rank, const Block&) { return true; }});
  // Stage 2.
  const auto among_masters = [=](auto move) {
    return [=](Rank i, Rank j) {
      return master(i, j) ? std::optional<Move>(move(i / 2, j / 2)) : std::nullopt;
    };
  };
  for (const bool second : {false, true}) {  // phases 1 and 2
    for (Rank step = 1; step < n / 8; ++step) {
      rules.push_back(
          {among_masters([=](Rank p, Rank q) {
             const Rank c = (p + q) % 4;
             return Move{(c % 2 == 0) != second ? horizontal : vertical, 8 * sign(c < 2)};
           }),
           [](Move, Rank x, Rank to, const Block&) { return x / 8 != to / 8; }});
    }
  }
  for (const bool second : {false, true}) {  // phase 3
    rules.push_back(
        {among_masters([=](Rank p, Rank q) {
           const int d = ((p + q) % 2 == 0) != second ? horizontal : vertical;
           const Rank tested = printed.phase_3 || d == horizontal ? q : p;
           return Move{d, 4 * sign(tested % 4 < 2)};
         }),
         [](Move, Rank x, Rank to, const Block&) { return (x / 4 - to / 4) % 2 != 0; }});
  }
  for (const int d : {horizontal, vertical}) {  // phase 4
    rules.push_back(
        {among_masters([=](Rank p, Rank q) {
           const Rank tested = printed.phase_4 ? p + q : d == horizontal ? q : p;
           return Move{d, 2 * sign(tested % 2 == 0)};
         }),
         [](Move, Rank x, Rank to, const Block&) { return (x / 2 - to / 2) % 2 != 0; }});
  }
  // Stage 3.
  rules.push_back(
      {[=](Rank i, Rank j) {
         return master(i, j) ? std::optional(Move{horizontal, sign(i % 2 == 0)}) : std::nullopt;
       },
       [](Move, Rank x, Rank to, const Block&) { return (x - to) % 2 != 0; }});
  return rules;
}

Plan plan(const Topology& topology, const std::vector<Rule>& rules) {
  const auto nodes = static_cast<std::size_t>(topology.nodes());
  Plan plan;
  auto& held = plan.final;
  held.resize(nodes);
  for (Rank source = 0; source < topology.nodes(); ++source) {
    for (Rank to = 0; to < topology.nodes(); ++to) held[source].push_back({source, to});
  }
  for (const Rule& rule : rules) {
    std::vector<Part> parts(nodes);
    std::vector<std::vector<Block>> arriving(nodes);
    for (Rank rank = 0; rank < topology.nodes(); ++rank) {
      const auto move = rule.move(topology.coordinate(rank, 0), topology.coordinate(rank, 1));
      if (!move) continue;
      std::vector<Block> kept;
      const Rank to = topology.neighbour(rank, move->dimension, move->hops);
      for (std::size_t place = 0; place < held[rank].size(); ++place) {
        const Block& block = held[rank][place];
        const bool goes =
            rule.selects(*move, topology.coordinate(rank, move->dimension),
                         topology.coordinate(block.destination, move->dimension), block);
        if (goes) parts[rank].going.push_back(place);
        (goes ? arriving[to] : kept).push_back(block);
      }
      held[rank] = std::move(kept);
      if (parts[rank].going.empty()) continue;
      REQUIRE(parts[to].from == -1);  // one port
      parts[rank].move = move;
      parts[to].from = rank;
      parts[to].coming = parts[rank].going.size();
    }
    for (std::size_t rank = 0; rank < nodes; ++rank) {
      held[rank].insert(held[rank].end(), arriving[rank].begin(), arriving[rank].end());
      plan.most_held = std::max(plan.most_held, held[rank].size());
    }
    plan.steps.push_back(std::move(parts));
  }
  return plan;
}

/// Takes the plan's steps with the call's blocks.
void take(Node& node, const Call& call, const Plan& plan) {
  const Bytes bytes = call.input.bytes();
  const auto rank = static_cast<std::size_t>(node.rank());
  const Memory list = node.memory(plan.most_held * bytes, Purpose::blocks);
  const Memory going = node.memory(plan.most_held * bytes);
  const Memory coming = node.memory(plan.most_held * bytes);
  const auto place = [=](Span array, std::size_t at) { return array.subspan(at * bytes, bytes); };
  std::size_t held = static_cast<std::size_t>(node.size());
  node.local([&] { copy(call.input.all(), list.subspan(0, held * bytes)); });

  for (const auto& parts : plan.steps) {
    const Part& part = parts[rank];
    node.local([&] {  // what goes, out of the list; what stays closes up
      std::size_t gone = 0;
      for (std::size_t at = 0; at < held; ++at) {
        const bool goes = gone < part.going.size() && part.going[gone] == at;
        const Span target = goes ? place(going, gone) : place(list, at - gone);
        std::copy_n(place(list, at).data(), bytes, target.data());
        gone += goes ? 1 : 0;
      }
    });
    held -= part.going.size();
    std::vector<Op> ops;
    if (part.move) ops.push_back(send(*part.move, going.subspan(0, part.going.size() * bytes)));
    if (part.from >= 0) ops.push_back(receive(part.from, coming.subspan(0, part.coming * bytes)));
    node.step(ops);
    node.local([&] {
      copy(coming.subspan(0, part.coming * bytes), list.subspan(held * bytes, part.coming * bytes));
    });
    held += part.coming;
  }
  node.local([&] {
    for (std::size_t at = 0; at < held; ++at) {
      const Block& block = plan.final[rank][at];
      if (block.destination == node.rank()) copy(place(list, at), call.output[block.source]);
    }
  });
}

/// A_1 on 16 x 16.
template <bool phase_3, bool phase_4>
void a1_block_by_block(Node& node, const Call& call) {
  static const Plan steps = plan(node.topology(), rules(16, {phase_3, phase_4}));
  take(node, call, steps);
}

struct Found {
  ScheduleReport report;
  cases::Outcome outcome;
};

Found found_in(void (*program)(Node&, const Call&)) {
  const Topology topology = Topology::parse("torus:16x16");
  Algorithm algorithm = *alltoall("kim-a1").algorithm;
  algorithm.program = program;
  const cases::Call a1(Collective(algorithm), topology, block_bytes, Pattern::tags);
  return {dry_check(topology, a1.dry()), cases::outcome(a1, topology)};
}

}  // namespace

TEST_CASE("the paper's A_1, block by block with its errata fixed, costs what kim-a1 costs",
          "[torus][mutant]") {
  const Found fixed = found_in(a1_block_by_block<false, false>);
  CHECK(fixed.outcome.delivered);
  CHECK(fixed.outcome.exactly_once());
  CHECK(fixed.report.problems.empty());
  CHECK(fixed.report.link_load_max == 1);
  CHECK(fixed.report.startups == 9);
  CHECK(fixed.report.transmission / block_bytes == 2176);
}

TEST_CASE("mutant: phases 3 and 4 of A_1 as printed keep the ports and links, and do not deliver",
          "[torus][mutant]") {
  for (const auto printed : {a1_block_by_block<true, false>, a1_block_by_block<false, true>,
                             a1_block_by_block<true, true>}) {
    const Found found = found_in(printed);
    CHECK_FALSE(found.outcome.delivered);
    CHECK(found.report.matched());
    CHECK(found.report.port_violations == 0);
    CHECK(found.report.link_load_max == 1);
    CHECK(found.report.startups == 9);
  }
}

TEST_CASE("kim-a1 as printed is checked, fails, and says where", "[torus][mutant]") {
  const Topology topology = Topology::parse(GENERATE("torus:8x8", "torus:16x16"));
  const CheckResult printed =
      check_collective(parse_collective(operations::alltoall, "kim-a1:phases=printed"), topology);
  CHECK(printed.delivered == false);
  CHECK_FALSE(printed.passed());
  CHECK_THAT(printed.proof, Catch::Matchers::Contains("not from block"));
  // As the paper says, ports and links are right: only the blocks are wrong.
  CHECK(printed.report.port_violations == 0);
  CHECK(printed.report.link_load_max == 1);
  CHECK(printed.report.unmatched == 0);
  const CheckResult corrected =
      check_collective(parse_collective(operations::alltoall, "kim-a1:phases=corrected"), topology);
  CHECK(corrected.passed());
  CHECK(printed.report.startups == corrected.report.startups);
}
