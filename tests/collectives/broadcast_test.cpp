// Broadcast: the rows of the textbook's ledger, step by step and in time; its errata; mutants.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/forwarding_node.hpp"
#include "wormcube/tests/collectives/ledger.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <cmath>

#include <fmt/core.h>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

ledger::Case broadcast(std::string algorithm, std::string network, Rank root = 0) {
  return {operations::broadcast, std::move(algorithm), std::move(network), root};
}

/// Checked against its own formulas, and against the ledger's.
void row(const ledger::Case& on, double startups, double link_blocks, double load = 1) {
  const CheckResult result = ledger::check(on);
  INFO(on.text());
  CHECK(static_cast<double>(result.report.startups) == startups);
  CHECK(result.link_blocks == Approx(link_blocks));
  CHECK(result.report.link_load_max == static_cast<int>(load));
  CHECK(result.predicted.startups == startups);
  CHECK(result.predicted.link_load == load);
  REQUIRE(result.predicted.link_blocks);
  CHECK(*result.predicted.link_blocks == Approx(link_blocks));
  ledger::check_time(on, startups, link_blocks);
}

std::string on(std::string_view shape, int size) { return fmt::format("{}:{}", shape, size); }

}  // namespace

TEST_CASE("broadcast rows on 2^d nodes take the ledger's steps, loads and time", "[broadcast]") {
  for (int d = 1; d <= most_dimensions; ++d) {
    const Rank p = 1 << d, root = (5 * p / 8) % p;
    const double once = (p - 1.0) / p;
    row(broadcast("naive", on("ring", p), root), p - 1, p - 1);       // 1.1
    row(broadcast("halving", on("ring", p), root), d, d);             // 1.2
    row(broadcast("halving", on("line", p), root), d, d);             // 1.2
    row(broadcast("recursive-doubling", on("line", p), root), d, d);  // 1.2
    const std::string ascending = "recursive-doubling:order=ascending";
    row(broadcast(ascending, on("line", p), root), d, p - 1, p / 2);                 // 1.3
    row(broadcast(ascending, on("ring", p), root), d, p - 1, p / 2);                 // 1.3
    row(broadcast(ascending, on("hypercube", d), root), d, d);                       // 1.4
    row(broadcast("recursive-doubling", on("hypercube", d), root), d, d);            // 1.7
    row(broadcast("tree", on("tree", p), root), d, d);                               // 1.8
    row(broadcast("recursive-doubling", on("tree", p), root), d, d);                 // 1.8
    row(broadcast(ascending, on("tree", p), root), d, p - 1, p / 2);                 // 1.8
    row(broadcast("scatter-allgather", on("hypercube", d), root), 2 * d, 2 * once);  // 1.11
    row(broadcast("scatter-allgather:allgather=doubling", on("hypercube", d), root), 2 * d,
        2 * once);                                                                  // 1.11
    row(broadcast("scatter-allgather", on("ring", p), root), d + p - 1, 2 * once);  // 1.12
    row(broadcast("scatter-allgather", on("line", p), root), d + p - 1, 2 * once);  // 1.12
    row(broadcast("hypercube-all-port", on("hypercube", d), root), d, 1);           // 1.16
  }
  for (int p = 1; p <= 65; ++p) {  // 1.9
    row(broadcast("halving", on("complete", p), p / 2), log2_ceiling(p), log2_ceiling(p),
        p > 1 ? 1 : 0);
  }
}

TEST_CASE("broadcast rows on square meshes and cubes take the ledger's steps", "[broadcast]") {
  for (int k = 1; k <= 5; ++k) {
    const Rank s = 1 << k, p = s * s, root = p / 2 + s / 2;
    for (const std::string shape : {"mesh", "torus"}) {
      const std::string square = fmt::format("{}:{}x{}", shape, s, s);
      row(broadcast("mesh", square, root), 2 * k, 2 * k);  // 1.5
      row(broadcast("scatter-allgather", square, root), 2 * k + 2 * (s - 1), 2.0 * (p - 1) / p);
      row(broadcast("recursive-doubling", square, root), 2 * k, 2 * k);  // 1.17
    }
  }
  for (int k = 1; k <= 3; ++k) {
    const std::string cube = fmt::format("{0}x{0}x{0}", 1 << k);
    row(broadcast("mesh", "mesh:" + cube), 3 * k, 3 * k);   // 1.6
    row(broadcast("mesh", "torus:" + cube), 3 * k, 3 * k);  // 1.6
  }
  row(broadcast("mesh", "torus:5x5"), 6, 6);  // one more than ceil(log2 25)
  CHECK(log2_ceiling(25) == 5);
  for (Rank root = 0; root < 60; ++root) row(broadcast("mesh", "mesh:3x4x5", root), 7, 7);
}

TEST_CASE(
    "store-and-forward broadcast takes 3 ceil(n / 2) steps on a torus, 3 (n - 1) from a corner",
    "[broadcast]") {
  for (int n = 1; n <= 9; ++n) {
    const double torus = 3 * ((n + 1) / 2) - (n == 1 ? 3 : 0), corner = 3.0 * (n - 1);
    const double load = n > 1 ? 1 : 0;
    row(broadcast("neighbours", fmt::format("torus:{0}x{0}x{0}", n), n * n * n / 3), torus, torus,
        load);
    row(broadcast("neighbours", fmt::format("mesh:{0}x{0}x{0}", n)), corner, corner, load);
    for (Rank root = 0; root < n; ++root) {
      const CheckResult line = ledger::check(broadcast("neighbours", on("line", n), root));
      const CheckResult ring = ledger::check(broadcast("neighbours", on("ring", n), root));
      CHECK(line.report.max_hops <= 1);
      CHECK(ring.report.max_hops <= 1);
    }
  }
}

TEST_CASE("halving and binomial are free of contention from every root of up to 33 nodes",
          "[broadcast]") {
  for (int p = 1; p <= 33; ++p) {
    for (Rank root = 0; root < p; ++root) {
      for (const char* shape : {"line", "ring", "complete"}) {
        for (const char* algorithm : {"halving", "binomial"}) {
          row(broadcast(algorithm, on(shape, p), root), log2_ceiling(p), log2_ceiling(p),
              p > 1 ? 1 : 0);
        }
      }
      row(broadcast("tree", on("tree", p), root), log2_ceiling(p), log2_ceiling(p), p > 1 ? 1 : 0);
    }
    for (const char* shape : {"line", "ring", "complete"}) {  // from node 0, partners left out
      ledger::check(broadcast("recursive-doubling", on(shape, p)));
      ledger::check(broadcast("recursive-doubling:order=ascending", on(shape, p)));
    }
  }
}

TEST_CASE("erratum E4: p / 2 messages on a link are the open array's, or a one-sided tie's",
          "[broadcast]") {
  const std::string ascending = "recursive-doubling:order=ascending";
  CHECK(ledger::loads(broadcast(ascending, "line:8")) == std::vector<int>{1, 2, 4});
  CHECK(ledger::loads(broadcast(ascending, "ring:8")) == std::vector<int>{1, 2, 4});
  CHECK(ledger::loads(broadcast(ascending + ":ties=balanced", "ring:8")) ==
        std::vector<int>{1, 2, 2});
  CHECK(ledger::loads(broadcast(ascending + ":ties=balanced", "line:8")) ==
        std::vector<int>{1, 2, 4});
  for (int d = 2; d <= 10; ++d) {
    const Rank p = 1 << d;
    for (const Rank root : {0, 1, p - 1}) {
      row(broadcast(ascending + ":ties=balanced", on("ring", p), root), d, 3.0 * p / 4 - 1, p / 4);
    }
  }
}

TEST_CASE("erratum E5: the order of dimensions matters but on hypercubes and complete networks",
          "[broadcast]") {
  const std::vector<int> free{1, 1, 1, 1}, shared{1, 2, 4, 8};
  for (const char* network : {"hypercube:4", "complete:16", "line:16", "ring:16", "tree:16"}) {
    CHECK(ledger::loads(broadcast("recursive-doubling", network, 5)) == free);
  }
  const std::string ascending = "recursive-doubling:order=ascending";
  for (const char* network : {"hypercube:4", "complete:16"}) {
    CHECK(ledger::loads(broadcast(ascending, network, 5)) == free);
  }
  for (const char* network : {"line:16", "ring:16", "tree:16"}) {
    CHECK(ledger::loads(broadcast(ascending, network, 5)) == shared);
  }
  CHECK(ledger::loads(broadcast(ascending, "mesh:4x4", 5)) == std::vector<int>{1, 2, 1, 2});
}

TEST_CASE("the parts of a doubling all-gather share links on poorer networks, as predicted",
          "[broadcast]") {
  for (const char* network : {"line:16", "ring:16", "ring:4", "tree:8", "mesh:4x8", "torus:4x4",
                              "complete:8", "ring:4*tree:4*complete:2"}) {
    for (const Rank root : {0, 3}) {
      const CheckResult result =
          ledger::check(broadcast("scatter-allgather:allgather=doubling", network, root), 32);
      CHECK(result.predicted.link_blocks);
      CHECK(result.delivered == true);
    }
  }
}

TEST_CASE("a split broadcast wins above the cut-off, on a hypercube", "[broadcast]") {
  // m* in units of ts / tw: row 1.14.
  const CostModel model{.startup_us = 7000, .transfer_us = 0.25};
  const double ts_over_tw = model.startup_us / model.transfer_us;
  for (const auto& [d, cut] :
       std::vector<std::pair<int, double>>{{2, 4}, {3, 2.4}, {4, 1.882}, {6, 1.488}}) {
    const Rank p = 1 << d;
    CHECK(d / (d - 2.0 * (p - 1) / p) == Approx(cut).margin(5e-4));
    const std::string network = on("hypercube", d);
    const Topology topology = Topology::parse(network);
    const auto us = [&](const char* algorithm, double blocks) {
      const auto collective = broadcast(algorithm, network).collective();
      return predicted_us(collective.predict(topology), model,
                          static_cast<Bytes>(blocks * ts_over_tw));
    };
    CHECK(us("scatter-allgather", 1.02 * cut) < us("halving", 1.02 * cut));
    CHECK(us("scatter-allgather", 0.98 * cut) > us("halving", 0.98 * cut));
  }
  const auto chosen = [](const char* network, Bytes bytes) {
    return cheapest({.operation = operations::broadcast,
                     .topology = Topology::parse(network),
                     .block_bytes = bytes})
        .text();
  };
  CHECK(chosen("complete:64", 1 << 20) == "circulant:packets=23");  // round sqrt(1048.576 * 5 / 10)
  CHECK_THAT(chosen("complete:64", 64), !Contains("scatter-allgather"));
  CHECK(chosen("hypercube:6", 1 << 20) == "circulant:packets=23");  // pipelined: 3 rounds more
  CHECK_THAT(chosen("hypercube:6", 64), !Contains("scatter-allgather"));
}

TEST_CASE("pipelined broadcast takes N + d steps of m / N from every root", "[broadcast]") {
  for (int d = 2; d <= 10; ++d) {
    const Rank p = 1 << d;
    for (const int packets : {1, 2, 3, d, d + 1, 17}) {
      for (Rank root = 0; root < p; root += d <= 4 ? 1 : p / 3) {
        row(broadcast(fmt::format("pipelined:packets={}", packets), on("hypercube", d), root),
            packets + d, (packets + d) / static_cast<double>(packets));
      }
    }
  }
  row(broadcast("pipelined:packets=5", "hypercube:1", 1), 5, 1);
  row(broadcast("pipelined:packets=5", "hypercube:0"), 0, 0, 0);
}

TEST_CASE("pipelined broadcast by itself picks the best number of packets", "[broadcast]") {
  const CostModel model{.hop_us = 0};
  const auto best = broadcast("pipelined", "hypercube:4");
  for (const double bytes : {1e3, 2e5, 1e6}) {
    const double exact = std::sqrt(model.transfer_us * bytes * 4 / model.startup_us);
    const auto report = check_steps(best.collective(), best.topology(), static_cast<Bytes>(bytes));
    CHECK(report.startups == 4 + std::max<std::size_t>(1, std::llround(exact)));
    const double bound =
        std::pow(std::sqrt(model.startup_us * 4) + std::sqrt(model.transfer_us * bytes), 2);
    const double us = lock_step_time(report, model).total_us;
    CHECK(us >= 0.999 * bound);
    if (exact > 3) CHECK(us <= 1.01 * bound);
  }
}

TEST_CASE(
    "the number of packets is settled by the message's size and the costs, and then predicted",
    "[broadcast]") {
  const CostModel dear{.startup_us = 100, .transfer_us = 1, .hop_us = 0};
  auto open = broadcast("pipelined", "hypercube:4").collective();
  CHECK_FALSE(open.predict(Topology::parse("hypercube:4")).complete());
  for (const auto& [network, bytes, packets] :
       std::vector<std::tuple<const char*, Bytes, int>>{{"hypercube:4", 10000, 20},
                                                        {"hypercube:4", 0, 1},
                                                        {"hypercube:1", 10000, 1},
                                                        {"hypercube:10", 64000, 80}}) {
    const Topology cube = Topology::parse(network);
    const double d = cube.dimensions();
    Collective settled = open;
    settled.settle(cube, dear, bytes);
    INFO(network << ", " << bytes << " bytes: " << settled.text());
    CHECK(settled.options.number("packets") == packets);
    const double startups = d > 1 ? packets + d : packets;
    CHECK(settled.predict(cube).startups == startups);
    CHECK(settled.predict(cube).transmission_blocks == Approx(startups / packets));
    const ScheduleReport report = check_steps(settled, cube, bytes);
    CHECK(report.startups == (bytes > 0 ? static_cast<std::size_t>(startups) : report.startups));
    CHECK(lock_step_time(report, dear).total_us ==
          Approx(predicted_us(settled.predict(cube), dear, bytes)));
    Collective chosen = settled;  // what is chosen stays
    chosen.settle(cube, dear, 10 * bytes);
    CHECK(chosen.text() == settled.text());
  }
}

TEST_CASE("broadcasts deliver messages of any size, parts and packets uneven or empty",
          "[broadcast]") {
  for (const char* network : {"hypercube:3", "ring:5", "mesh:3x4", "torus:4x4", "tree:6"}) {
    const Topology topology = Topology::parse(network);
    for (const Rank root : {0, 3}) {
      Arguments arguments;
      arguments.root = root;
      for (const Collective& admitted : admitted(operations::broadcast, topology, arguments)) {
        for (const Bytes bytes : {0, 1, 7, 61}) {
          CHECK(ledger::delivers(broadcast(std::string(admitted.name()), network, root), bytes));
        }
      }
    }
  }
  for (const char* options :
       {"pipelined:packets=3", "pipelined:packets=100", "scatter-allgather:allgather=doubling"}) {
    for (const Bytes bytes : {0, 1, 61}) {
      CHECK(ledger::delivers(broadcast(options, "hypercube:3", 6), bytes));
    }
  }
}

TEST_CASE("broadcasts refuse unsupported calls and suggest alternatives", "[broadcast]") {
  const auto refuse = [](const ledger::Case& on) {
    return refusal(on.collective(), on.topology()).value_or("");
  };
  CHECK(refuse(broadcast("recursive-doubling", "ring:6", 3)) ==
        "recursive-doubling: a root other than 0 needs a power-of-2 number of nodes; ring:6 has 6, "
        "and the root is 3; use binomial or halving");
  CHECK(refuse(broadcast("recursive-doubling", "ring:6")).empty());
  CHECK_THAT(refuse(broadcast("recursive-doubling:ties=balanced", "ring:6")),
             Contains("use ties=plus"));
  CHECK(refuse(broadcast("scatter-allgather:allgather=doubling", "mesh:3x5")) ==
        "scatter-allgather: allgather=doubling needs a power-of-2 number of nodes; mesh:3x5 has "
        "15; use allgather=neighbours");
  CHECK_THAT(refuse(broadcast("pipelined", "ring:8")), Contains("use scatter-allgather"));
  CHECK_THAT(refuse(broadcast("hypercube-all-port", "ring:8")), Contains("needs a hypercube"));
  CHECK_THAT(refuse(broadcast("neighbours", "complete:4")), Contains("use mesh or halving"));
  CHECK_THAT(refuse(broadcast("tree", "ring:8")), Contains("ring:8 is not one"));
}

namespace {

/// Node 0's message in the last step goes astray.
class Deserter : public ForwardingNode {
 public:
  using ForwardingNode::ForwardingNode;
  using Node::step;
  void step(std::span<const Op> ops) override {
    ForwardingNode::step(++steps_ == 3 && rank() == 0 ? std::span<const Op>{} : ops);
  }

 private:
  int steps_ = 0;
};

CheckResult check_mutant(const Algorithm& mutant) {
  return check_collective(Collective(mutant), Topology::parse("line:8"));
}

}  // namespace

TEST_CASE("a broadcast that forgets a node, or claims free links, is caught", "[broadcast]") {
  static const Algorithm& original = find_algorithm(operations::broadcast, "recursive-doubling");
  CHECK(check_mutant(original).passed());

  Algorithm forgetful = original;
  forgetful.program = [](Node& node, const Call& call) {
    Deserter deserter(node);
    original.program(deserter, call);
  };
  CHECK(check_mutant(forgetful).report.unmatched > 0);
  CHECK_FALSE(check_mutant(forgetful).passed());

  Algorithm boastful = original;  // descending's formula, ascending's program
  boastful.program = [](Node& node, const Call& call) {
    Options ascending = call.options;
    ascending.set("order", "ascending");
    original.program(node, {call.input, call.output, call.arguments, ascending});
  };
  const auto failures = check_mutant(boastful).failures;
  REQUIRE(failures.size() >= 2);
  CHECK_THAT(failures[0], Contains("with contention: counted 7, the formula says 3"));
  CHECK_THAT(failures[1], Contains("link load: counted 4, the formula says 1"));
}
