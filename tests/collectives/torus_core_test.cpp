// suh-torus and its core: the published costs, and that its signs and rearrangements are needed.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/torus_exchange.hpp"
#include "wormcube/tests/collectives/cases.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <cstring>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

Collective suh_torus() { return cases::alltoall("suh-torus"); }

/// Of one tag a block.
cases::Call suh_torus_call(const Topology& topology) {
  return {suh_torus(), topology, 8, Pattern::tags};
}

}  // namespace

TEST_CASE("suh-torus has the costs of the literature, free links, and delivers",
          "[collectives][torus]") {
  struct Row {
    const char* topology;
    double startups, transmission, rearranged;
  };
  for (const Row& row : {
           // N x N: N/2 + 2, (N^3 + 4N^2)/4, 3N^2 (4x4: N^2); Kim et al., Table 1
           Row{"torus:4x4", 4, 32, 16},
           Row{"torus:8x8", 6, 192, 192},
           Row{"torus:12x12", 8, 576, 432},
           Row{"torus:16x16", 10, 1280, 768},
           Row{"torus:20x20", 12, 2400, 1200},
           Row{"torus:32x32", 18, 9216, 3072},
           // R x C, a = max(R, C): a/2 + 2, RC(a/4 + 1), 3RC
           Row{"torus:4x8", 6, 96, 96},
           Row{"torus:8x4", 6, 96, 96},
           Row{"torus:8x12", 8, 384, 288},
           Row{"torus:20x8", 12, 960, 480},
           // n dimensions of a: n(a/4 + 1), nT(a + 4)/8, (n + 1)T (a = 4: T)
           Row{"torus:4x4x4", 6, 192, 64},
           Row{"torus:8x8x8", 9, 2304, 2048},
           Row{"torus:4x4x4x4", 8, 1024, 256},
           // unequal: two ring phases, 8 -> 1 hop; three, 12 -> 2 hops, 8 -> 1, 12 -> 2
           Row{"torus:8x4x4", 8, 512, 384},
           Row{"torus:12x8x4", 11, 2112, 1536},
       }) {
    INFO(row.topology);
    const Topology topology = Topology::parse(row.topology);
    if (sanitized && topology.nodes() > 256) continue;
    const cases::Counts counts = cases::count(suh_torus(), topology);
    CHECK(counts.startups == row.startups);
    CHECK(counts.transmission_blocks == row.transmission);
    CHECK(counts.rearranged_blocks == row.rearranged);
    CHECK(counts.working_blocks == topology.nodes());
    CHECK(counts.report.link_load_max == 1);
    CHECK(counts.report.port_violations == 0);
    const Prediction prediction = suh_torus().predict(topology);
    CHECK(prediction.startups == row.startups);
    CHECK(prediction.transmission_blocks == row.transmission);
    CHECK(prediction.rearranged_blocks == row.rearranged);

    const cases::Outcome outcome = cases::outcome(suh_torus_call(topology), topology);
    INFO(outcome.first);
    CHECK(outcome.delivered);
    CHECK(outcome.exactly_once());
  }
}

TEST_CASE(
    "a message of suh-torus is one slice in two dimensions, up to 2^(n-2) in n, of two arrays",
    "[collectives][torus]") {
  const auto [name, most] = GENERATE(std::pair("torus:8x8", 1), std::pair("torus:8x12", 1),
                                     std::pair("torus:4x4x4", 2), std::pair("torus:4x4x4x4", 4));
  const Topology topology = Topology::parse(name);
  std::size_t pieces = 0;
  prove(topology, cases::tampered(suh_torus_call(topology).dry(), [&](cases::Tampering& node) {
          node.change_step = [&](int /*step*/, std::vector<Op>& ops) {
            for (const Op& op : ops) pieces = std::max(pieces, op.pieces().size());
          };
        }));
  CHECK(pieces <= 2 * static_cast<std::size_t>(most));
}

TEST_CASE("a router that chose the direction at half a ring would load links twice",
          "[collectives][torus]") {
  const Topology topology = Topology::parse("torus:8x8");
  const auto program = cases::tampered(suh_torus_call(topology).dry(), [&](cases::Tampering& node) {
    node.change_step = [&](int /*step*/, std::vector<Op>& ops) {
      for (Op& op : ops) {
        if (!op.is_send()) continue;
        op = send_pieces(peer_of(topology, node.rank(), op), op.pieces(), op.tag());
      }
    };
  });
  const cases::Counts counts = cases::count(topology, program, 8);
  CHECK(counts.report.matched());
  CHECK(counts.report.link_load_max == 2);
}

TEST_CASE("without any one of its rearrangements suh-torus does not deliver",
          "[collectives][torus]") {
  const std::string name = GENERATE("torus:8x8", "torus:4x4", "torus:8x4", "torus:4x4x4");
  const Topology topology = Topology::parse(name);
  const int rearrangements =
      static_cast<int>(*suh_torus().predict(topology).rearranged_blocks / topology.nodes());
  for (int left_out = -1; left_out < rearrangements; ++left_out) {
    INFO(name << " without rearrangement " << left_out);
    const cases::Outcome outcome =
        cases::outcome(suh_torus_call(topology), topology, [&](const Program& program) {
          return cases::tampered(program, [=](cases::Tampering& node) {
            node.change_rearrangement = [=, &node](int i, FunctionRef work) {
              // Output and input come first, then the two arrays, in turn.
              const Span from = node.held(2 + i % 2), to = node.held(3 - i % 2);
              if (i == left_out) {
                copy(from, to);
              } else {
                work();
              }
            };
          });
        });
    // Without its rearrangement the wrong blocks travel, some to where they were before.
    CHECK(outcome.delivered == (left_out == -1));
  }
}

TEST_CASE("one bundle out of order on one node is noticed", "[collectives][torus]") {
  const Topology topology = Topology::parse("torus:8x8");
  const cases::Outcome outcome =
      cases::outcome(suh_torus_call(topology), topology, [](const Program& program) {
        return cases::tampered(program, [](cases::Tampering& node) {
          node.change_rearrangement = [&node](int i, FunctionRef work) {
            work();
            if (i != 1 || node.rank() != 21) return;
            const Span to = node.held(2);
            std::ranges::swap_ranges(to.first(8), to.last(8));
          };
        });
      });
  CHECK_FALSE(outcome.delivered);
  CHECK(outcome.wrong_bytes > 0);
}

namespace {

/// Total exchange of one word among the virtual nodes of each subnetwork of a divided torus; nodes
/// that belong to none (an odd sum of coordinates) stay idle.
void exchange_in_subnetworks(Node& node, int divisions, std::uint64_t& wrong) {
  const Topology& topology = node.topology();
  const TorusExchange exchange(topology, node.rank(), divisions);
  const Rank spacing = 1 << divisions, p = topology.nodes();
  Rank low_bits = 0, cells = 1;
  for (int d = 0; d < topology.dimensions(); ++d) {
    low_bits ^= topology.coordinate(node.rank(), d) % spacing;
    cells *= topology.size(d) / spacing;
  }
  if (low_bits != 0) {
    node.idle(static_cast<int>(exchange.steps()));
    return;
  }
  /// The node of a cell that is so far from its corner.
  const auto member = [&](Rank cell, bool corner) {
    std::vector<Rank> x = topology.coordinates(node.rank());
    for (int d = topology.dimensions() - 1; d >= 0; --d) {
      const Rank size = topology.size(d) / spacing;
      x[d] = cell % size * spacing + (corner ? 0 : x[d] % spacing);
      cell /= size;
    }
    return topology.rank(x);
  };
  // A cell's bundle has the number of its corner.
  const Memory out = node.memory(8 * static_cast<Bytes>(p)), in = node.memory(out.size());
  node.local([&] {
    for (Rank b = 0; b < cells; ++b) {
      const Rank word[2] = {node.rank(), member(b, false)};
      std::memcpy(Blocks(out, p)[member(b, true)].data(), word, 8);
    }
  });
  BlockArray array(cells);
  array.lay_out(exchange.before());
  exchange.plan(array, exchange_phases());
  array.deliver(exchange.after());
  array.run(node, ConstBlocks(out, p), Blocks(in, p));
  node.local([&] {
    for (Rank a = 0; a < cells; ++a) {
      const Rank word[2] = {member(a, false), node.rank()};
      if (std::memcmp(Blocks(in, p)[member(a, true)].data(), word, 8) != 0) ++wrong;
    }
  });
}

}  // namespace

TEST_CASE("the core of a divided torus exchanges inside its subnetworks, on links of their own",
          "[collectives][torus]") {
  struct Row {
    const char* topology;
    int divisions;
    double startups, transmission, rearranged;
  };
  for (const Row& row : {
           Row{"torus:8x8", 1, 4, 32, 16},
           Row{"torus:16x16", 1, 6, 192, 192},
           Row{"torus:8x16", 1, 6, 96, 96},
           Row{"torus:16x16", 2, 4, 32, 16},
           Row{"torus:32x32", 2, 6, 192, 192},
           Row{"torus:8x8", 2, 2, 4, 0},  // V = 2: only the 1-hop phase
           Row{"torus:4x4", 1, 2, 4, 0},
           Row{"torus:8x8x8", 1, 6, 192, 64},
           Row{"torus:4x4x4", 1, 3, 12, 0},
       }) {
    INFO(row.topology << " divided " << row.divisions << " times");
    const Topology topology = Topology::parse(row.topology);
    std::uint64_t wrong = 0;
    const auto program = [&](Node& node) { exchange_in_subnetworks(node, row.divisions, wrong); };
    prove(topology, program);
    CHECK(wrong == 0);
    const cases::Counts counts = cases::count(topology, program, 8);
    CHECK(counts.startups == row.startups);
    CHECK(counts.transmission_blocks == row.transmission);
    CHECK(counts.rearranged_blocks == row.rearranged);
    CHECK(counts.report.link_load_max == 1);
    CHECK(counts.report.port_violations == 0);
    CHECK(counts.report.matched());
    CHECK(TorusExchange(topology, 0, row.divisions).steps() == row.startups);
    const Prediction prediction = TorusExchange::predict(topology, row.divisions);
    CHECK(prediction.startups == row.startups);
    CHECK(prediction.transmission_blocks == row.transmission);
    CHECK(prediction.rearranged_blocks == row.rearranged);
  }
}
