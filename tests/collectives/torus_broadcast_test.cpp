// Broadcast on all-port tori: formulas, contention, delivery, and that the checks can fail.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/torus_trees.hpp"
#include "wormcube/collectives/broadcast/wang_tseng_tree.hpp"
#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/tests/collectives/cases.hpp"

#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace std::string_view_literals;

namespace {

std::string square(int k, int n) {
  std::string text = "torus:" + std::to_string(n);
  for (int i = 1; i < k; ++i) text += "x" + std::to_string(n);
  return text;
}

Rank any_root(const Topology& topology) {
  static std::mt19937 random(7);
  return static_cast<Rank>(random() % static_cast<unsigned>(topology.nodes()));
}

/// \param text  "wang-tseng:once=yes"
Collective broadcast_by(std::string_view text, Rank root = 0) {
  Arguments arguments;
  arguments.root = root;
  return parse_collective(operations::broadcast, text, std::move(arguments));
}

CheckResult checked(const Collective& collective, const Topology& topology, Rank prove_up_to = 0) {
  return check_collective(
      collective, topology,
      {.all_port = collective.algorithm->ports == Ports::all, .prove_up_to = prove_up_to});
}

/// Everything that is promised of a tree, whatever the algorithm.
void require_lawful(const Collective& collective, const Topology& topology, bool once = true) {
  const CheckResult result = checked(collective, topology);
  CAPTURE(cases::title(collective, topology), result.failures);
  REQUIRE(result.passed());
  REQUIRE(result.delivered == true);
  REQUIRE(result.report.link_load_max == (topology.nodes() > 1 ? 1 : 0));
  REQUIRE(result.report.port_violations == 0);
  REQUIRE(result.report.deadlock_free);
  if (once) {
    REQUIRE(result.exactly_once == true);
    REQUIRE(result.report.messages == static_cast<std::size_t>(topology.nodes()) - 1);
  }
}

int formula(int k, int n) {
  int log = 0;
  for (double reached = 1; reached < n; reached *= 2 * k + 1) ++log;
  return k * log + (k - 1) - (k >= 2 && n <= 3 ? 1 : 0);
}

void require_wang_tseng(int k, int n) {
  const Topology topology = Topology::parse(square(k, n));
  for (const bool once : {false, true}) {
    for (const char* mirror : {"no", "yes"}) {
      const std::string text =
          std::string("wang-tseng:once=") + (once ? "yes" : "no") + ":mirror=" + mirror;
      const Collective collective = broadcast_by(text, any_root(topology));
      require_lawful(collective, topology, once);
      REQUIRE(checked(collective, topology).report.startups ==
              static_cast<std::size_t>(formula(k, n)));
    }
  }
}

/// The algorithm in its global form, with the mistakes that one can make.
struct Rules {
  bool plus_signs = false;  // in R_i, i >= 2
  bool floors = false;      // alpha_i = floor(i m / q), segments by the nearest holder
};
using Vector = std::vector<int>;
struct Message {
  int step;
  Vector from, by;
  auto operator<=>(const Message&) const = default;
};

class Reference {
 public:
  Reference(int k, int n, Rules rules) : k_(k), n_(n), rules_(rules) {
    std::set<Vector> holders{Vector(k, 0)};
    for (int stage = 1; stage <= k; ++stage) holders = run(stage, holders);
  }
  std::vector<Message> messages;

 private:
  struct Held {
    Vector v;
    int a, b;
  };
  struct Part {
    int alpha, a, b, row;
  };

  Vector row(int stage, int j, int alpha) const {  // 1-based, as in the paper
    Vector r(k_, 0);
    const int minus = rules_.plus_signs ? 1 : -1;
    if (stage == 1) {
      r[j - 1] = alpha;
      r[k_ - 1] = alpha;
    } else if (j == 1) {
      r[0] = alpha;
    } else if (j <= k_ - stage + 1) {
      r[j - 1] = alpha;
      r[k_ - 1] = minus * alpha;
    } else {
      r[j - 1] = minus * alpha;
    }
    return r;
  }
  std::vector<Part> split(int& a, int& b) const {
    std::vector<Part> parts;
    const int m = a + b + 1, q = 2 * k_ + 1, most = (m + q - 1) / q;
    const int low = (most - 1) / 2, high = most / 2;
    if (rules_.floors) {
      std::vector<int> alphas{0};
      for (int i = 1; i <= k_; ++i) {
        for (const int sign : {1, -1}) {
          const int alpha = sign * (i * m / q);
          if (alpha != 0 && alpha <= b && alpha >= -a && alpha != alphas.back())
            alphas.push_back(alpha);
        }
      }
      std::map<int, std::pair<int, int>> reach;  // alpha -> first, last of its places
      for (int d = -a; d <= b; ++d) {
        int nearest = 0;
        for (const int alpha : alphas) {
          if (std::abs(alpha - d) < std::abs(nearest - d)) nearest = alpha;
        }
        auto [at, is_new] = reach.try_emplace(nearest, d, d);
        at->second.second = d;
      }
      for (const auto& [alpha, range] : reach) {
        if (alpha == 0) continue;
        int row = 0;
        for (int i = 1; i <= k_; ++i) row = std::abs(alpha) == i * m / q ? i : row;
        parts.push_back({alpha, alpha - range.first, range.second - alpha, row});
      }
      a = -reach[0].first;
      b = reach[0].second;
      return parts;
    }
    const int a0 = std::min(a, a <= b ? low : high), b0 = std::min(b, a <= b ? high : low);
    for (const int sign : {1, -1}) {
      const int length = sign > 0 ? b - b0 : a - a0;
      int p = (sign > 0 ? b0 : a0) + 1;
      for (int j = 1; j <= k_; ++j) {
        const int l = length / k_ + (j <= length % k_ ? 1 : 0), near = (l - 1) / 2, far = l / 2;
        if (l == 0) break;
        parts.push_back({sign * (p + near), sign > 0 ? near : far, sign > 0 ? far : near, j});
        p += l;
      }
    }
    a = a0;
    b = b0;
    return parts;
  }
  Vector sum(Vector x, const Vector& y) const {
    for (int t = 0; t < k_; ++t) x[t] = mod(x[t] + y[t], n_);
    return x;
  }

  std::set<Vector> run(int stage, const std::set<Vector>& u) {
    std::map<int, Held> held{{0, {Vector(k_, 0), (n_ - 1) / 2, n_ / 2}}};
    for (bool busy = true; busy && step_ < 8 * n_; ++step_) {
      busy = false;
      std::map<int, Held> next;
      for (auto& [d, h] : held) {
        if (h.a + h.b > 0) {
          busy = true;
          for (const Part& part : split(h.a, h.b)) {
            const Vector by = row(stage, part.row, part.alpha);
            for (const Vector& x : u) messages.push_back({step_, sum(x, h.v), by});
            next[mod(d + part.alpha, n_)] = {sum(h.v, by), part.a, part.b};
          }
        }
        next.try_emplace(d, h);
      }
      held = next;
      if (!busy) break;
    }
    std::set<Vector> reached;
    bool moved = false;
    for (const auto& [d, h] : held) {
      Vector delta(k_, 0);
      const auto shortest = [&](int x) {
        return mod(x, n_) * 2 <= n_ ? mod(x, n_) : mod(x, n_) - n_;
      };
      if (stage < k_) {
        const int aligned = stage == 1 ? 1 : k_ - stage + 1;
        for (int t = 2; t < (stage == 1 ? k_ : k_ - stage + 1); ++t)
          delta[t - 1] = shortest(-h.v[t - 1]);
        delta[aligned - 1] = shortest(d - h.v[aligned - 1]);
      }
      const bool moves = delta != Vector(k_, 0);
      moved = moved || moves;
      for (const Vector& x : u) {
        if (moves) messages.push_back({step_, sum(x, h.v), delta});
        reached.insert(sum(sum(x, h.v), delta));
      }
    }
    if (moved) ++step_;
    return reached;
  }

  int k_, n_;
  Rules rules_;
  int step_ = 0;
};

/// The messages of a list as a node program, from node 0.
void replay(Node& node, Span message, int k, const std::vector<Message>& messages) {
  const Topology& topology = node.topology();
  const auto rank = [&](Vector x) {
    std::ranges::reverse(x);  // the paper's first dimension is our last
    return topology.rank(x);
  };
  int steps = 0;
  for (const Message& m : messages) steps = std::max(steps, m.step + 1);
  for (int step = 0; step < steps; ++step) {
    std::vector<std::vector<Move>> moves;
    std::vector<Op> ops;
    std::vector<Memory> aside;
    moves.reserve(messages.size());
    for (const Message& m : messages) {
      if (m.step != step) continue;
      Vector to = m.from;
      for (int t = 0; t < k; ++t) to[t] = mod(to[t] + m.by[t], topology.size(0));
      if (rank(m.from) == node.rank()) {
        moves.emplace_back();
        for (int t = 0; t < k; ++t) {
          if (m.by[t] != 0) moves.back().push_back({k - 1 - t, m.by[t]});
        }
        ops.push_back(send(moves.back(), ConstSpan(message)));
      }
      if (rank(to) != node.rank()) continue;
      // Wrong lists may bring two messages in one step: the second one aside.
      const bool is_second = std::ranges::any_of(ops, [](const Op& op) { return !op.is_send(); });
      if (is_second) aside.emplace_back(node, message.size(), Purpose::staging);
      ops.push_back(receive(rank(m.from), is_second ? aside.back().span() : message));
    }
    node.step(ops);
  }
}

/// What a program does with a message of 8 bytes from node 0: contention, and whether all get it.
struct Judged {
  int link_load = 0;
  bool delivered = false;
};
Judged judge(const Topology& topology, const std::function<void(Node&, Span)>& program) {
  const Schedule schedule = record(topology, [&](Node& node) {
    const Memory message = node.memory(8);
    program(node, message);
  });
  bool once = false;
  return {check(schedule, Routing(topology), true).link_load_max,
          broadcast_reaches_all(schedule, 0, 8, once) == true};
}

}  // namespace

TEST_CASE("wang-tseng takes the steps of its formula, without contention, from any root",
          "[broadcast]") {
  for (int n = 2; n <= 60; ++n) require_wang_tseng(1, n);
  for (int n = 2; n <= 17; ++n) require_wang_tseng(2, n);
  for (int n = 2; n <= 8; ++n) require_wang_tseng(3, n);
  for (int n = 2; n <= 4; ++n) require_wang_tseng(4, n);
}

TEST_CASE("wang-tseng keeps its formula on all the sizes that it was specified for",
          "[.][wide][broadcast]") {
  for (int n = 2; n <= 60; ++n) require_wang_tseng(2, n);
  for (int n = 2; n <= 30; ++n) require_wang_tseng(3, n);
  for (int n = 2; n <= 8; ++n) require_wang_tseng(4, n);
}

TEST_CASE("wang-tseng sends as many messages as specified, and plan and peel take their steps",
          "[broadcast]") {
  struct Row {
    int k, n;
    std::size_t bound, steps, messages, peel, plan, one_port;
  };
  for (const Row& row :
       {Row{2, 2, 1, 2, 3, 2, 2, 2}, Row{2, 3, 2, 2, 8, 2, 2, 4}, Row{2, 4, 2, 3, 16, 3, 2, 4},
        Row{2, 5, 2, 3, 26, 3, 3, 5}, Row{2, 8, 3, 5, 65, 4, 3, 6}, Row{2, 16, 4, 5, 262, 5, 4, 8},
        Row{2, 25, 4, 5, 640, 5, 5, 10}, Row{3, 2, 2, 4, 9, 3, 3, 3}, Row{3, 4, 3, 5, 72, 4, 3, 6},
        Row{3, 7, 3, 5, 374, 5, 5, 9}, Row{3, 8, 4, 8, 555, 6, 5, 9},
        Row{3, 16, 5, 8, 4311, 7, 6, 12}, Row{4, 5, 3, 7, 696, 5, 5, 10}}) {
    CAPTURE(row.k, row.n);
    const Topology topology = Topology::parse(square(row.k, row.n));
    const CheckResult result = checked(broadcast_by("wang-tseng", any_root(topology)), topology);
    CHECK(result.report.startups == row.steps);
    CHECK(result.report.messages == row.messages);
    // A ring of 2 is one cable here: fewer ports, a higher bound than the table's.
    if (row.n > 2) CHECK(result.lower_bound.startups == static_cast<double>(row.bound));
    CHECK(checked(broadcast_by("peel"), topology).report.startups == row.peel);
    CHECK(checked(broadcast_by("plan"), topology).report.startups == row.plan);
    CHECK(checked(broadcast_by("umesh"), topology).report.startups == row.one_port);
  }
}

TEST_CASE("every node of wang-tseng does by itself what the global form says", "[broadcast]") {
  for (const auto& [k, n] : std::vector<std::pair<int, int>>{{1, 2},
                                                             {1, 9},
                                                             {2, 2},
                                                             {2, 3},
                                                             {2, 6},
                                                             {2, 9},
                                                             {2, 13},
                                                             {3, 3},
                                                             {3, 4},
                                                             {3, 6},
                                                             {4, 3}}) {
    CAPTURE(k, n);
    const Topology topology = Topology::parse(square(k, n));
    std::vector<Message> local;
    for (Rank rank = 0; rank < topology.nodes(); ++rank) {
      Vector from = topology.coordinates(rank);
      std::ranges::reverse(from);
      const Schedule schedule = record(topology, [&](Node& node) {
        if (node.rank() != rank) return;
        const Memory message = node.memory(8);
        broadcast_by("wang-tseng")(node, message.span());
      });
      for (std::size_t step = 0; step < schedule.steps(); ++step) {
        for (const OpRecord& op : schedule.ops(rank, step)) {
          if (op.kind != Op::Kind::send) continue;
          Vector by(k, 0);
          for (const Move& move : schedule.moves(rank, op)) by[k - 1 - move.dimension] = move.hops;
          local.push_back({static_cast<int>(step), from, by});
        }
      }
    }
    std::vector<Message> global = Reference(k, n, {}).messages;
    std::ranges::sort(local);
    std::ranges::sort(global);
    CHECK(local == global);
  }
}

TEST_CASE("wrong signs, wrong rounding and a router that breaks ties are noticed", "[broadcast]") {
  for (const int n : {6, 8}) {
    const Topology topology = Topology::parse(square(2, n));
    const auto judged = [&](Rules rules) {
      const std::vector<Message> messages = Reference(2, n, rules).messages;
      return judge(topology, [&](Node& node, Span message) { replay(node, message, 2, messages); });
    };
    CAPTURE(n);
    CHECK((judged({}).link_load == 1 && judged({}).delivered));
    const Judged plus = judged({.plus_signs = true});
    CHECK((plus.link_load > 1 || !plus.delivered));

    const auto routed_by_rank = [&](bool mirror) {
      return judge(topology, [&](Node& node, Span message) {
        cases::Tampering router(node);
        router.change_step = [&](int, std::vector<Op>& ops) {
          for (Op& op : ops) {
            if (op.is_send()) op = send(peer_of(topology, node.rank(), op), message);
          }
        };
        broadcast_by(mirror ? "wang-tseng:mirror=yes" : "wang-tseng")(router, message);
      });
    };
    CHECK(routed_by_rank(false).link_load > 1);
    CHECK(routed_by_rank(true).link_load == 1);
  }
}

TEST_CASE("mirror is another schedule, as good, in which no hop of half a ring goes to '-'",
          "[broadcast]") {
  const auto scheduled = [](const char* text, const Topology& topology) {
    const Collective collective = broadcast_by(text, 5);
    require_lawful(collective, topology, false);
    CHECK(checked(collective, topology, 4096).delivered == true);  // by a run, too
    const Contract contract = contract_of(collective, topology.nodes(), 8, 1);
    return record(topology, collective_program(collective, contract, nullptr));
  };
  const auto backward_halves = [](const Schedule& schedule) {
    int count = 0;
    for (const RankLog& log : schedule.ranks) {
      count += static_cast<int>(std::ranges::count_if(log.moves, [&](const Move& move) {
        return 2 * move.hops == -schedule.topology.size(move.dimension);
      }));
    }
    return count;
  };
  for (const char* text : {"torus:6x6", "torus:8x8", "torus:6x6x6"}) {
    CAPTURE(text);
    const Topology topology = Topology::parse(text);
    const Schedule plain = scheduled("wang-tseng", topology),
                   mirrored = scheduled("wang-tseng:mirror=yes", topology);
    CHECK_FALSE(plain == mirrored);
    CHECK(plain.steps() == mirrored.steps());
    CHECK(backward_halves(plain) > 0);
    CHECK(backward_halves(mirrored) == 0);
  }
  // Odd rings have no half.
  const Topology odd = Topology::parse("torus:5x5");
  CHECK(scheduled("wang-tseng", odd) == scheduled("wang-tseng:mirror=yes", odd));
}

TEST_CASE("rounding alpha down costs steps or leaves nodes without the message", "[broadcast]") {
  int worse = 0;
  for (int n = 4; n <= 24; ++n) {
    const std::vector<Message> messages = Reference(2, n, {.floors = true}).messages;
    int steps = 0;
    std::set<Vector> reached{{0, 0}};
    for (const Message& m : messages) {
      steps = std::max(steps, m.step + 1);
      reached.insert({mod(m.from[0] + m.by[0], n), mod(m.from[1] + m.by[1], n)});
    }
    if (steps > formula(2, n) || static_cast<int>(reached.size()) < n * n) ++worse;
  }
  CHECK(worse >= 18);
}

TEST_CASE("wang-tseng serves tori with a first dimension of c n", "[broadcast]") {
  for (const char* text : {"torus:6x3", "torus:12x4", "torus:20x5", "torus:21x7", "torus:9x3x3",
                           "torus:15x5x5", "torus:8x4x4", "torus:6x3x3x3", "torus:1x8x8"}) {
    const Topology topology = Topology::parse(text);
    require_lawful(broadcast_by("wang-tseng:once=yes", any_root(topology)), topology);
  }
}

TEST_CASE("peel, squeeze and plan serve every torus, each node once", "[broadcast]") {
  std::vector<std::string> shapes{"torus:1",     "ring:2",      "ring:37",       "hypercube:5",
                                  "torus:16x16", "torus:9x8x8", "torus:4x9x8x8", "torus:30x7",
                                  "torus:7x30",  "torus:2x9x5", "torus:3x1x11",  "torus:6x5x4x3"};
  for (int x = 1; x <= 8; ++x) {
    for (int y = 1; y <= 8; ++y)
      shapes.push_back("torus:" + std::to_string(x) + "x" + std::to_string(y));
  }
  for (const std::string& shape : shapes) {
    const Topology topology = Topology::parse(shape);
    for (const char* name : {"peel", "squeeze", "plan"})
      require_lawful(broadcast_by(name, any_root(topology)), topology);
  }
}

TEST_CASE("plan is never worse than what it is made of", "[broadcast]") {
  for (int k = 1; k <= 3; ++k) {
    for (int n = 2; n <= 64; ++n) {
      const Topology topology = Topology::parse(square(k, n));
      const auto steps = [&](const char* name) {
        return *broadcast_by(name).predict(topology).startups;
      };
      CAPTURE(k, n);
      CHECK(steps("plan") <= steps("wang-tseng"));
      CHECK(steps("plan") <= steps("squeeze"));
      CHECK(steps("plan") <= steps("peel"));
    }
  }
}

TEST_CASE("auto is the plan on all-port tori, also where others take as many steps",
          "[broadcast]") {
  for (const char* text : {"torus:3x3", "torus:5x5", "torus:6x10", "torus:8x8", "torus:16x16",
                           "torus:9x9x9", "torus:4x8x8", "torus:5x5x5x5", "torus:1x7", "ring:9"}) {
    const Topology topology = Topology::parse(text);
    const Collective automatic = cheapest({.operation = operations::broadcast,
                                           .topology = topology,
                                           .block_bytes = 1024,
                                           .ports = Ports::all});
    CAPTURE(text, automatic.text());
    CHECK(automatic.name() == "plan");
    // The least of all trees: what plan is made of, and the others.
    for (const char* name : {"peel", "squeeze", "quad", "wang-tseng", "umesh", "halving"}) {
      const Collective other = broadcast_by(name);
      if (refusal(other, topology)) continue;
      CAPTURE(name);
      CHECK(*automatic.predict(topology).startups <= *other.predict(topology).startups);
    }
  }
}

TEST_CASE("quad quarters squares of powers of two", "[broadcast]") {
  for (const char* text : {"torus:4x4", "torus:8x8", "torus:16x16", "torus:32x32", "torus:3x4x4",
                           "torus:7x8x8", "torus:8x8x8", "torus:43x4x4"}) {
    const Topology topology = Topology::parse(text);
    require_lawful(broadcast_by("quad", any_root(topology)), topology);
  }
  CHECK(refusal(broadcast_by("quad"), Topology::parse("torus:6x6")));
  CHECK(refusal(broadcast_by("quad"), Topology::parse("torus:2x2")));
}

TEST_CASE("park meets the lower bound, and its free routes cannot wait in a cycle", "[broadcast]") {
  for (const char* text : {"torus:5x5", "torus:10x10", "torus:25x25", "torus:50x50", "torus:7x7x7",
                           "torus:14x14x14", "torus:9x9x9x9"}) {
    const Topology topology = Topology::parse(text);
    for (int i = 0; i < (topology.nodes() < 1000 ? 6 : 1); ++i) {
      const Collective park = broadcast_by("park", any_root(topology));
      require_lawful(park, topology);
      const CheckResult result = checked(park, topology);
      CHECK(result.lower_bound.startups == static_cast<double>(result.report.startups));
    }
  }
}

namespace {

/// On torus:5x5: all nodes of a row send two hops round it at once, which is a cycle of waits where
/// a link has one channel.
void round_the_rows(Node& node, const Call& /*call*/) {
  const Rank row = node.rank() / 5, column = node.rank() % 5;
  const std::array<Move, 1> up{{{1, 2}}};
  const Memory memory = node.memory(16);
  node.step(
      {send(up, memory.subspan(0, 8)), receive(row * 5 + (column + 3) % 5, memory.subspan(8, 8))});
}

/// The same of the first row's nodes but node 0: no cycle by itself. That node's message to node 2,
/// a barrier's, makes it one.
void round_a_row_but_for_one(Node& node) {
  const Rank column = node.rank();
  const std::array<Move, 1> up{{{1, 2}}};
  const Memory memory = node.memory(16);
  std::vector<Op> ops;
  if (column > 0 && column < 5) ops.push_back(send(up, memory.subspan(0, 8)));
  if (column < 5 && column != 2) ops.push_back(receive((column + 3) % 5, memory.subspan(8, 8)));
  node.step(ops);
}

}  // namespace

TEST_CASE("free routes that can wait in a cycle are refused by a machine that is not in lock step",
          "[broadcast]") {
  const Topology topology = Topology::parse("torus:5x5");
  const Collective park = broadcast_by("park");
  const CollectiveRun run{.iterations = 1, .warmup = 0};
  {
    Machine ordered(topology, {.all_port = true});
    CHECK_THROWS_WITH(run_collective(ordered, park, run), Catch::Contains("any order"));
  }
  Machine one_channel(
      topology, {.all_port = true, .virtual_channels = 1, .allow_cycles = true, .any_order = true});
  Algorithm mutant = find_algorithm(operations::broadcast, "park");
  mutant.program = round_the_rows;
  CHECK_THROWS_WITH(run_collective(one_channel, Collective(mutant), run),
                    Catch::Contains("deadlock"));
  Machine free(topology, {.all_port = true, .any_order = true});
  CHECK(run_collective(free, broadcast_by("park", 13), run).wrong == 0U);
}

TEST_CASE("free routes that can wait in a cycle with those of the barriers are refused",
          "[broadcast]") {
  const Topology topology = Topology::parse("torus:5x5");
  Algorithm mutant = find_algorithm(operations::broadcast, "park");
  mutant.program = [](Node& node, const Call& /*call*/) { round_a_row_but_for_one(node); };
  CHECK(check(record(topology, round_a_row_but_for_one), Routing(topology, 1), true).deadlock_free);
  Machine machine(
      topology, {.all_port = true, .virtual_channels = 1, .allow_cycles = true, .any_order = true});
  CHECK_THROWS_WITH(run_collective(machine, Collective(mutant), {.iterations = 1, .warmup = 0}),
                    Catch::Contains("deadlock"));
}

TEST_CASE("the checker distinguishes cyclic waits inside steps from those across them",
          "[broadcast]") {
  const Topology topology = Topology::parse("mesh:2x2");
  // Four messages round the square, one corner each; all at once, or one after the other.
  const std::array<std::array<Move, 2>, 4> turns{{{{{1, 1}, {0, 1}}},      // 0 -> 1 -> 3
                                                  {{{0, 1}, {1, -1}}},     // 1 -> 3 -> 2
                                                  {{{0, -1}, {1, 1}}},     // 2 -> 0 -> 1
                                                  {{{1, -1}, {0, -1}}}}};  // 3 -> 2 -> 0
  const auto report = [&](bool at_once) {
    return check(record(topology,
                        [&](Node& node) {
                          const Memory memory = node.memory(16);
                          for (Rank s = 0; s < 4; ++s) {
                            std::vector<Op> ops;
                            if (s == node.rank() || at_once)
                              ops.push_back(send(turns[node.rank()], memory.subspan(0, 8)));
                            if (3 - s == node.rank() || at_once)
                              ops.push_back(receive(3 - node.rank(), memory.subspan(8, 8)));
                            node.step(ops);
                            if (at_once) break;
                          }
                        }),
                 Routing(topology), true);
  };
  CHECK_FALSE(report(true).deadlock_free);
  CHECK_FALSE(report(true).deadlock_free_in_lock_step);
  CHECK_FALSE(report(false).deadlock_free);
  CHECK(report(false).deadlock_free_in_lock_step);
}

TEST_CASE("umesh is free of contention through one port on any lines and rings", "[broadcast]") {
  for (const char* text : {"line:17", "ring:12", "mesh:5x7", "mesh:8x8", "mesh:4x6x5", "torus:9x5",
                           "ring:5*line:7", "line:9*ring:6*line:4", "hypercube:5", "torus:2x3x4"}) {
    const Topology topology = Topology::parse(text);
    for (int i = 0; i < 5; ++i) require_lawful(broadcast_by("umesh", any_root(topology)), topology);
  }
}

TEST_CASE("packets follow each other through the tree, and too close ones are noticed",
          "[broadcast]") {
  const auto require_packets = [](const std::string& whole, const Topology& topology, int packets) {
    const std::string cut = whole + ":packets=" + std::to_string(packets);
    const auto one = checked(broadcast_by(whole, 11), topology, 4096),
               many = checked(broadcast_by(cut, 11), topology, 4096);
    CAPTURE(topology.name(), cut, many.failures);
    CHECK(many.passed());  // counts as predicted, among others
    CHECK(many.delivered == true);
    CHECK(many.exactly_once == true);
    CHECK(many.report.port_violations == 0);
    CHECK(many.report.link_load_max == 1);
    const auto count = static_cast<std::size_t>(packets);
    CHECK(many.predicted.startups == static_cast<double>(count * one.report.startups));
    CHECK(many.report.startups == count * one.report.startups);
    CHECK(many.transmission_blocks == one.transmission_blocks);  // nothing gained
    CHECK(many.report.messages == count * one.report.messages);
    // Every packet starts one step after the one before.
    const auto close = checked(broadcast_by(cut + ":period=1", 11), topology);
    CHECK(close.report.startups == one.report.startups + count - 1);
    CHECK(close.report.link_load_max > 1);
    CHECK_FALSE(close.passed());
  };
  const Topology topology = Topology::parse("torus:5x5x5");
  for (const char* name : {"wang-tseng:once=yes", "peel", "squeeze", "plan", "umesh"}) {
    require_packets(name, topology, 4);
  }
  for (const int packets : {2, 3, 7}) {
    for (const char* text : {"torus:5x5", "torus:10x10", "torus:7x7x7"}) {
      require_packets("park", Topology::parse(text), packets);
    }
    for (const char* text : {"torus:4x4", "torus:8x8", "torus:3x4x4"}) {
      require_packets("quad", Topology::parse(text), packets);
    }
  }
  // The root is idle while the others align, so with one distribution step a stage
  // (n <= 2k+1, k >= 3) packets may overlap by two of the five steps.
  const Collective overlapped = broadcast_by("wang-tseng:once=yes:packets=4:period=3", 11);
  const auto result = checked(overlapped, topology, 4096);
  CAPTURE(result.failures);
  CHECK(result.passed());
  CHECK(result.report.startups == 5 + 3 * 3);
}

TEST_CASE("packets may wait longer than the tree is deep: idle steps are no start-ups",
          "[broadcast]") {
  const Topology ring = Topology::parse("ring:8"), torus = Topology::parse("torus:5x5");
  for (const auto& [name, topology] :
       {std::pair("wang-tseng", &ring), std::pair("peel", &ring), std::pair("squeeze", &ring),
        std::pair("plan", &ring), std::pair("umesh", &ring), std::pair("park", &torus)}) {
    const auto whole = checked(broadcast_by(name, 3), *topology);
    for (const int period : {0, 8, 20}) {
      const auto cut = checked(
          broadcast_by(name + std::string(":packets=3:period=") + std::to_string(period), 3),
          *topology);
      CAPTURE(name, period, cut.failures);
      CHECK(cut.passed());
      CHECK(cut.report.startups == 3 * whole.report.startups);
      CHECK(cut.report.steps ==
            2 * (period == 0 ? whole.report.steps : period) + whole.report.steps);
    }
  }
  const Topology square = Topology::parse("torus:4x4");
  CHECK(checked(broadcast_by("quad:packets=3:period=8", 3), square).passed());
}

TEST_CASE("squeeze picks the virtual torus with the fewest steps", "[broadcast]") {
  CHECK(best_virtual_torus(std::vector<Rank>{3, 3, 7}).steps == 5);
  const auto fewest = [](const std::vector<Rank>& sizes) {
    const auto k = static_cast<int>(sizes.size());
    int least_steps = std::numeric_limits<int>::max();
    const Rank least = *std::ranges::min_element(sizes);
    for (Rank side = 2; side <= least; ++side) {
      for (Rank c = 1; c * side <= sizes.back() && (c == 1 || side >= 3); ++c) {
        std::vector<Rank> v(sizes.size(), side);
        v.back() = c * side;
        int steps = WangTsengTree::steps(v);
        for (int axis = 0; axis < k; ++axis) {
          steps += rounds((sizes[axis] + v[axis] - 1) / v[axis], 3);
        }
        least_steps = std::min(least_steps, steps);
      }
    }
    return least_steps;
  };
  for (Rank a = 2; a <= 14; ++a) {
    for (Rank b = 2; b <= 14; ++b) {
      CAPTURE(a, b);
      CHECK(best_virtual_torus(std::vector{a, b}).steps == fewest({a, b}));
      for (Rank c = 2; c <= 14; ++c) {
        CAPTURE(c);
        if (best_virtual_torus(std::vector{a, b, c}).steps != fewest({a, b, c})) FAIL_CHECK();
      }
    }
  }
}

TEST_CASE("broadcasts on tori deliver real bytes on real machines, as recorded", "[broadcast]") {
  const auto run_all = [](const char* text, std::initializer_list<const char*> names,
                          ExecutorKind as, std::initializer_list<Bytes> sizes) {
    const Topology topology = Topology::parse(text);
    for (const char* name : names) {
      const Algorithm& algorithm = find_algorithm(operations::broadcast, name);
      Machine machine(topology, {.executor = as,
                                 .all_port = algorithm.ports == Ports::all,
                                 .any_order = algorithm.selection == Selection::any_order});
      for (const Bytes bytes : sizes) {
        const Collective collective =
            broadcast_by(name + std::string(bytes > 100 ? ":packets=3" : ""), any_root(topology));
        const RunResult result =
            run_collective(machine, collective,
                           {.block_bytes = bytes, .iterations = 2, .warmup = 0, .verify = true});
        CAPTURE(cases::title(collective, topology), bytes, result.first_wrong);
        CHECK(result.wrong == 0U);

        const Contract contract = contract_of(collective, topology.nodes(), bytes, 1);
        const Program program = collective_program(collective, contract, nullptr);
        Schedule trace{topology, {}};
        machine.run(program, trace);
        CHECK(trace == record(topology, program));
      }
    }
  };
  run_all("torus:5x5", {"wang-tseng", "peel", "squeeze", "plan", "park", "umesh"},
          ExecutorKind::threads, {1, 1000, 70000});
  run_all("torus:3x4x4", {"quad", "peel", "plan", "squeeze"}, ExecutorKind::fibers, {1, 4097});
  run_all("torus:6x6x6", {"wang-tseng"}, ExecutorKind::fibers, {8, 2000});
}

TEST_CASE("wang-tseng runs on a thousand nodes with up to 4 MiB", "[.][wide][broadcast]") {
  const Topology topology = Topology::parse("torus:10x10x10");
  Machine machine(topology, {.all_port = true});
  for (const Bytes bytes : {Bytes{1}, Bytes{64}, Bytes{4096}, Bytes{1} << 20, Bytes{4} << 20}) {
    const RunResult result =
        run_collective(machine, broadcast_by("wang-tseng", any_root(topology)),
                       {.block_bytes = bytes, .iterations = 1, .warmup = 0, .verify = true});
    CAPTURE(bytes, result.first_wrong);
    CHECK(result.wrong == 0U);
  }
}

TEST_CASE("wrong shapes, roots and packets are refused before any message", "[broadcast]") {
  const auto reason = [](const char* name, const char* text, Rank root = 0) {
    return refusal(broadcast_by(name, root), Topology::parse(text)).value_or("");
  };
  CHECK_THAT(reason("wang-tseng", "torus:4x6"), Catch::Contains("plan, peel"));
  CHECK_THAT(reason("wang-tseng", "torus:4x8"), Catch::Contains("last dimension has 8"));
  CHECK_THAT(reason("peel", "mesh:4x4"), Catch::Contains("umesh"));
  CHECK_THAT(reason("park", "torus:6x6"), Catch::Contains("5^p"));
  CHECK_THAT(reason("plan", "torus:4x4", 16), Catch::Contains("root 16"));
  CHECK_THROWS_WITH(broadcast_by("plan:packets=0"),
                    Catch::Contains("packets is '0'") && Catch::Contains("1..65536"));
}
