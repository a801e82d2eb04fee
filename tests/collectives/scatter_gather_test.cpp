// Scatter and gather: the rows of the textbook's ledger, step by step and in time; mutants.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/halving_tree.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/forwarding_node.hpp"
#include "wormcube/tests/collectives/ledger.hpp"
#include "wormcube/tests/sanitized.hpp"
#include "wormcube/tests/worlds.hpp"

#include <array>

#include <fmt/core.h>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

/// A row of scatter and of its dual, checked against their own formulas and the ledger's.
void row(const std::string& algorithm, const std::string& network, Rank root, double startups,
         double blocks) {
  const double p = Topology::parse(network).nodes();
  for (const Operation operation :
       {Operation(operations::scatter), Operation(operations::gather)}) {
    const ledger::Case on{operation, algorithm, network, root};
    const CheckResult result = ledger::check(on);
    INFO(on.text());
    CHECK(static_cast<double>(result.report.startups) == startups);
    CHECK(result.transmission_blocks == Approx(blocks));
    CHECK(result.link_blocks == Approx(blocks));
    CHECK(result.report.link_load_max == (p > 1 ? 1 : 0));
    REQUIRE(result.predicted.link_blocks);
    REQUIRE(result.predicted.link_load);
    CHECK(*result.predicted.startups == startups);
    CHECK(*result.predicted.link_blocks == Approx(blocks));
    ledger::check_time(on, startups, blocks);
  }
}

std::string on(std::string_view shape, int size) { return fmt::format("{}:{}", shape, size); }

constexpr std::array movements{operations::scatter.name, operations::scatterv.name,
                               operations::gather.name, operations::gatherv.name};

}  // namespace

TEST_CASE("scatter and gather rows on 2^d nodes take the ledger's steps, loads and time",
          "[scatter]") {
  for (int d = 0; d <= most_dimensions; ++d) {
    const Rank p = 1 << d, root = 5 * p / 8;
    row("hypercube", on("hypercube", d), root, d, p - 1);  // 4.1
    for (const char* shape : {"line", "ring", "tree", "complete"}) {
      row("hypercube", on(shape, p), root, d, p - 1);  // 4.2
    }
    row("halving", on("line", p), root, d, p - 1);                                     // 4.3
    if (d > 0) row("hypercube-all-port", on("hypercube", d), root, d, (p - 1.0) / d);  // 4.5
    row("ring", on("ring", p), root, p - 1, p - 1);                                    // 4.6
    row("direct", on("ring", p), root, p - 1, p - 1);
  }
  row("hypercube-all-port", "hypercube:0", 0, 0, 0);
}

TEST_CASE("scatter and gather rows on meshes take the ledger's steps, loads and time",
          "[scatter]") {
  for (int k = 1; k <= 5; ++k) {
    const Rank s = 1 << k, p = s * s, root = p / 2 + 1;
    for (const std::string shape : {"mesh", "torus"}) {
      const std::string square = fmt::format("{}:{}x{}", shape, s, s);
      row("hypercube", square, root, 2 * k, p - 1);   // 4.2
      row("halving", square, root, 2 * k, p - 1);     // 4.3
      row("mesh", square, root, 2 * k, p - 1);        // 4.4
      row("ring", square, root, 2 * (s - 1), p - 1);  // 4.6
    }
  }
  for (int n = 1; n <= 6; ++n) {  // 4.6
    for (const std::string shape : {"mesh", "torus"}) {
      row("ring", fmt::format("{0}:{1}x{1}x{1}", shape, n), n * n * n / 2, 3 * (n - 1),
          n * n * n - 1);
    }
  }
  for (Rank root = 0; root < 60; ++root) {
    row("mesh", "mesh:3x4x5", root, 7, 59);
    row("mesh", "torus:3x4x5", root, 7, 59);
    row("ring", "mesh:3x4x5", root, 9, 59);
  }
}

TEST_CASE("halving scatters p - 1 blocks in ceil(log2 p) steps from every root of up to 40 nodes",
          "[scatter]") {
  for (int p = 1; p <= (sanitized ? 17 : 40); ++p) {
    for (Rank root = 0; root < p; ++root) {
      row("halving", on("line", p), root, log2_ceiling(p), p - 1);
      row("halving", on("ring", p), root, log2_ceiling(p), p - 1);
    }
  }
}

TEST_CASE("store and forward takes p - 1 steps of one block and one hop from every root",
          "[scatter]") {
  for (int p = 1; p <= 17; ++p) {
    for (Rank root = 0; root < p; ++root) {
      for (const char* shape : {"line", "ring"}) {
        row("ring", on(shape, p), root, p - 1, p - 1);
        CHECK(ledger::check({operations::scatter, "ring", on(shape, p), root}).report.max_hops <=
              1);
      }
    }
  }
}

TEST_CASE("scatters and gathers deliver blocks of any sizes, in place too", "[scatter]") {
  for (const char* network :
       {"hypercube:3", "hypercube:0", "ring:5", "line:6", "mesh:3x4", "torus:2x3x4", "tree:6"}) {
    const Topology topology = Topology::parse(network);
    for (Rank root = 0; root < topology.nodes(); root += 3) {
      Arguments arguments;
      arguments.root = root;
      for (const std::string_view name : movements) {
        const Operation operation = parse_operation(name);
        for (const Collective& admitted : admitted(operation, topology, arguments)) {
          for (const Bytes bytes : {0, 1, 7, 29}) {
            ledger::Case on{operation, std::string(admitted.name()), network, root};
            CHECK(ledger::delivers(on, bytes));
            on.in_place = operation == operations::gather;
            if (on.in_place) CHECK(ledger::delivers(on, bytes));
          }
        }
      }
    }
  }
}

TEST_CASE("in a halving tree every node but the root takes once, and hands on less", "[scatter]") {
  for (const auto& [tree, network] :
       std::vector<std::pair<HalvingTree, const char*>>{{HalvingTree::first, "line:13"},
                                                        {HalvingTree::image, "line:16"},
                                                        {HalvingTree::dimensions, "mesh:3x4x5"}}) {
    const Topology topology = Topology::parse(network);
    for (const Rank root : {0, 6}) {
      for (Rank r = 0; r < topology.nodes(); ++r) {
        INFO(network << ", root " << root << ", node " << r);
        int taken = 0;
        Rank first = 0, last = r == root ? topology.nodes() : 0;  // held
        for (const Handover& step : handovers(tree, topology, r, root)) {
          if (step.kind == Handover::Kind::takes) {
            ++taken;
            first = step.first, last = step.last;
            CHECK((first <= r && r < last));
          } else if (step.kind == Handover::Kind::gives) {
            CHECK((first <= step.first && step.last <= last));
            CHECK_FALSE((step.first <= r && r < step.last));
            CHECK((step.first <= step.peer && step.peer < step.last));
          }
        }
        CHECK(taken == (r == root ? 0 : 1));
      }
    }
  }
}

TEST_CASE("scatters refuse unsupported calls and suggest alternatives", "[scatter]") {
  const auto refuse = [](const char* algorithm, const char* network) {
    const ledger::Case on{operations::scatter, algorithm, network};
    return refusal(on.collective(), on.topology()).value_or("");
  };
  CHECK(refuse("hypercube", "ring:6") ==
        "hypercube: the number of nodes must be a power of 2; ring:6 has 6; use halving");
  CHECK(refuse("ring", "complete:4") ==
        "ring: every dimension must be a line or a ring; complete:4 has complete:4; use mesh or "
        "halving");
  CHECK(refuse("hypercube-all-port", "ring:8") ==
        "hypercube-all-port: needs a hypercube; ring:8 is not one (8 nodes); use halving");
}

namespace {

/// Node 4, which spoils what it passes on.
template <class Spoil>
class Spoiler : public ForwardingNode {
 public:
  using ForwardingNode::ForwardingNode;
  using Node::step;
  void step(std::span<const Op> ops) override {
    std::vector<Op> changed(ops.begin(), ops.end());
    for (Op& op : changed) {
      if (op.is_send() && rank() == 4 && op.pieces()[0].size() > 0) op = Spoil::change(op);
    }
    ForwardingNode::step(changed);
  }
};

/// Its last block stays behind.
struct KeepsABlock {
  static Op change(const Op& op) {
    const Span data = op.pieces()[0];
    return send(op.peer(), data.first(data.size() - sizeof(std::uint64_t)));
  }
};
/// As many blocks as expected, from one place too early: the last stays behind.
struct KeepsTheLast {
  static Op change(const Op& op) {
    const Span data = op.pieces()[0];
    return send(op.peer(), Span(data.data() - sizeof(std::uint64_t), data.size()));
  }
};

template <class Spoil>
CheckResult check_mutant() {
  static const Algorithm& halving = find_algorithm(operations::scatter, "halving");
  Algorithm mutant = halving;
  mutant.program = [](Node& node, const Call& call) {
    Spoiler<Spoil> spoiler(node);
    halving.program(spoiler, call);
  };
  return check_collective(Collective(mutant), Topology::parse("line:8"));
}

}  // namespace

TEST_CASE("a scatter that keeps a block is caught", "[scatter]") {
  struct Nothing {
    static Op change(const Op& op) { return op; }
  };
  CHECK(check_mutant<Nothing>().passed());
  CHECK_FALSE(check_mutant<KeepsABlock>().passed());
  CHECK(check_mutant<KeepsABlock>().report.unmatched > 0);
  const CheckResult wrong = check_mutant<KeepsTheLast>();
  CHECK_FALSE(wrong.passed());
  CHECK(wrong.report.matched());
  CHECK(wrong.delivered == false);
}

TEST_CASE("a Bine tree's nodes hold what is for an heir in one piece", "[scatter]") {
  const Topology topology = Topology::parse("torus:8x8");
  Arguments arguments;
  arguments.root = 21;
  for (const char* name : {"scatter", "gather"}) {
    const Collective bine = parse_collective(parse_operation(name), "bine", arguments);
    const Schedule schedule = record(
        topology, collective_program(bine, contract_of(bine, topology.nodes(), 8, 1, Pattern::tags),
                                     nullptr));
    for (Rank rank = 0; rank < topology.nodes(); ++rank) {
      CAPTURE(name, rank);
      const RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
      const std::uint64_t pieces = schedule.pieces[static_cast<std::size_t>(rank)];
      // One for each heir; its own, and all heirs' as one, in the message from or to where it
      // hangs.
      if (rank != arguments.root) CHECK(pieces <= log.ops.size() + 1);
      if (rank == arguments.root) CHECK(pieces == 63);
    }
  }
}
