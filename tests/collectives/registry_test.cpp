// The registry: finding, choosing, refusing; lower bounds.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/registry.hpp"

#include "wormcube/collectives/allgather/ring.hpp"
#include "wormcube/collectives/alltoall/hypercube_pairwise.hpp"
#include "wormcube/collectives/alltoall/ring.hpp"
#include "wormcube/collectives/alltoall/shift.hpp"
#include "wormcube/tests/collectives/cases.hpp"

#include <set>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

TEST_CASE("operations and algorithms are found by name, unknown ones with the known ones listed",
          "[collectives]") {
  CHECK(parse_operation("alltoallv") == Operation::alltoallv);
  CHECK_THROWS_WITH(parse_operation("alltoal"),
                    "unknown operation 'alltoal'; known are: broadcast allgather alltoall "
                    "alltoallv barrier");
  CHECK(find_algorithm(Operation::alltoallv, "shift").operation == Operation::alltoallv);
  CHECK_THROWS_WITH(find_algorithm(Operation::barrier, "ring"),
                    "barrier has no algorithm 'ring'; known are: dissemination");
  for (const Algorithm& algorithm : registry()) {
    CHECK(parse_operation(to_string(algorithm.operation)) == algorithm.operation);
  }
}

TEST_CASE("every algorithm says what it is, where it comes from, and is called once",
          "[collectives]") {
  std::set<std::pair<Operation, std::string_view>> names;
  for (const Algorithm& algorithm : registry()) {
    INFO(to_string(algorithm.operation) << " " << algorithm.name);
    CHECK(names.emplace(algorithm.operation, algorithm.name).second);
    CHECK_FALSE(algorithm.summary.empty());
    CHECK_FALSE(algorithm.source.empty());
  }
}

TEST_CASE("networks that do not fit are refused in words that help", "[collectives]") {
  struct Refusal {
    Operation operation;
    std::string_view algorithm, topology;
    std::string text;
  };
  const auto exchange = Operation::alltoall;
  for (const auto& [operation, algorithm, topology, text] : std::vector<Refusal>{
           {exchange, "suh-torus", "torus:6x6",
            "suh-torus: every dimension must be a multiple of 4; torus:6x6 has 6; use mesh or "
            "shift"},
           {exchange, "suh-torus", "torus:8x1",
            "suh-torus: every dimension must be a multiple of 4; torus:8x1 has 1; use mesh or "
            "shift"},
           {exchange, "suh-torus", "ring:8",
            "suh-torus: needs a torus of two dimensions or more; ring:8 has 1; use mesh or shift"},
           {exchange, "suh-torus", "mesh:4x4",
            "suh-torus: every dimension must be a ring; mesh:4x4 has line:4; use mesh or shift"},
           {exchange, "ring", "torus:4x4",
            "ring: needs one line or ring; torus:4x4 has 2 dimensions; use mesh or shift"},
           {exchange, "ring", "tree:4",
            "ring: every dimension must be a line or a ring; tree:4 has tree:4; use mesh or shift"},
           {exchange, "mesh", "ring:4*complete:3",
            "mesh: every dimension must be a line or a ring; ring:4*complete:3 has complete:3; "
            "use shift"},
           {exchange, "hypercube-pairwise", "torus:4x4",
            "hypercube-pairwise: needs a hypercube; torus:4x4 is none (16 nodes); use shift"},
           {exchange, "hypercube-all-port", "line:3",
            "hypercube-all-port: needs a hypercube; line:3 is none (3 nodes); use shift"},
           {Operation::alltoallv, "hypercube-pairwise", "complete:12",
            "hypercube-pairwise: needs a hypercube; complete:12 is none (12 nodes); use shift"},
       }) {
    INFO(algorithm << " on " << topology);
    const Topology network = Topology::parse(topology);
    const Algorithm& refused = find_algorithm(operation, algorithm);
    CHECK(refusal(refused, network, {}) == text);
    // The program itself refuses too, on every node, before its first step.
    Rank threw = 0;
    prove(network, [&](Node& node) {
      cases::Tampering watched(node);
      try {
        collective_program(refused, {}, 8, cases::seed, nullptr)(watched);
      } catch (const UsageError&) {
        if (watched.steps() == 0) ++threw;
      }
    });
    CHECK(threw == network.nodes());
  }
}

TEST_CASE("a root that is no node is refused", "[collectives]") {
  const Algorithm& halving = find_algorithm(Operation::broadcast, "halving");
  const Topology network = Topology::parse("ring:5");
  Parameters parameters;
  parameters.root = GENERATE(-1, 5);
  CHECK(refusal(halving, network, parameters) == "halving: root " +
                                                     std::to_string(parameters.root) +
                                                     " is not a node of ring:5; nodes are 0 to 4");
  CHECK_THROWS_AS(record(network, collective_program(halving, parameters, 8, 0, nullptr)),
                  UsageError);
}

TEST_CASE("blocks that do not fit are refused before any message", "[collectives]") {
  const auto thrown = [](const char* topology, auto call) -> std::string {
    std::string text;
    prove(Topology::parse(topology), [&](Node& node) {
      cases::Tampering watched(node);
      const Memory memory = watched.memory(64);
      try {
        call(watched, memory.span());
      } catch (const UsageError& error) {
        if (watched.steps() == 0) text = error.what();
      }
    });
    return text;
  };
  CHECK(thrown("ring:4", [](Node& node, Span data) {
          alltoall_ring(node, ConstBlocks(data.first(24), 3), Blocks(data.last(32), 4));
        }) == "alltoall_ring: 4 nodes, but 3 blocks to send and 4 to receive");
  CHECK(thrown("ring:4", [](Node& node, Span data) {
          alltoall_ring(node, ConstBlocks(data.first(32), 4), Blocks(data.last(16), 4));
        }) == "alltoall_ring: a block of 8 bytes to send but of 4 to receive");
  CHECK(thrown("ring:2", [](Node& node, Span data) {
          const std::vector<Bytes> offsets{0, 3, 8};
          alltoall_ring(node, ConstBlocks(data.first(8), offsets), Blocks(data.last(8), offsets));
        }) == "alltoall_ring: blocks must all have one size; use alltoallv for others");
  CHECK(thrown("ring:2", [](Node& node, Span data) {
          const std::vector<Bytes> out{0, 3, 8}, in{0, 5, 9};
          alltoall_shift(node, ConstBlocks(data.first(8), out), Blocks(data.last(9), in));
        }) == "alltoall_shift: a block of 5 bytes to send but of 4 to receive");
  CHECK(thrown("hypercube:2", [](Node& node, Span data) {
          alltoall_hypercube_pairwise(node, ConstBlocks(data.first(32), 4),
                                      Blocks(data.last(32), 2));
        }) == "alltoall_hypercube_pairwise: 4 nodes, but 4 blocks to send and 2 to receive");
  CHECK_THAT(thrown("ring:4",
                    [](Node& node, Span data) {
                      allgather_ring(node, ConstBlocks(data.first(4), 1), Blocks(data.last(32), 4));
                    }),
             Contains("allgather_ring: 4 nodes; 1 blocks of 4 bytes to give, 4 of 8"));
}

TEST_CASE("the cheapest algorithm is admitted, keeps to the ports, and no other is cheaper",
          "[collectives]") {
  const Ports ports = GENERATE(Ports::one, Ports::all);
  const Bytes bytes = GENERATE(0, 64, 1 << 20);
  Parameters parameters;
  parameters.block_bytes = bytes;
  for (const Topology& topology : cases::topologies()) {
    for (const Operation operation :
         {Operation::broadcast, Operation::alltoall, Operation::alltoallv, Operation::barrier}) {
      INFO(to_string(operation) << " on " << topology.name() << " with " << bytes << " bytes");
      const Algorithm& best = cheapest(operation, topology, parameters, ports);
      CHECK_FALSE(refusal(best, topology, parameters));
      CHECK((ports == Ports::all || best.ports == Ports::one));
      const double best_us = predicted_us(best.predict(topology, parameters), parameters);
      for (const Algorithm* other : admitted(operation, topology, parameters)) {
        const Prediction prediction = other->predict(topology, parameters);
        if (ports == Ports::one && other->ports == Ports::all) continue;
        if (!prediction.transmission_blocks || !prediction.rearranged_blocks) continue;
        INFO(best.name << " or " << other->name);
        CHECK(best_us <= predicted_us(prediction, parameters));
      }
    }
  }
}

TEST_CASE("choosing weighs start-ups against bytes, and shared links against free ones",
          "[collectives]") {
  const auto choice = [](const char* topology, Bytes bytes, Ports ports = Ports::one) {
    Parameters parameters;
    parameters.block_bytes = bytes;
    parameters.rearrange_us = 0;
    return cheapest(Operation::alltoall, Topology::parse(topology), parameters, ports).name;
  };
  CHECK(choice("ring:8", 1 << 20) == "shift");  // 16 blocks of time; ring: 28
  CHECK(choice("ring:8", 0) == "ring");         // as many start-ups, and the first of the table
  CHECK(choice("hypercube:4", 1 << 20) == "hypercube-pairwise");
  CHECK(choice("hypercube:4", 1 << 20, Ports::all) == "hypercube-all-port");
  CHECK(choice("complete:9", 8) == "shift");
  CHECK_THROWS_WITH(
      cheapest(Operation::allgather, Topology({samples::petersen()}), {}, Ports::one),
      Contains("allgather has no one-port algorithm for petersen; wormcube list shows what"));
}

TEST_CASE("predicted time is the sum of its terms", "[collectives]") {
  Parameters parameters;
  parameters.startup_us = 3;
  parameters.transfer_us = 0.5;
  parameters.rearrange_us = 0.25;
  parameters.block_bytes = 8;
  Prediction prediction{10, 20, 30};
  CHECK(predicted_us(prediction, parameters) == 3 * 10 + 0.5 * 8 * 20 + 0.25 * 8 * 30);
  prediction.contended_blocks = 40;
  CHECK(predicted_us(prediction, parameters) == 3 * 10 + 0.5 * 8 * 40 + 0.25 * 8 * 30);
  CHECK(predicted_us({}, parameters) == 0);
}

TEST_CASE("lower bounds on paper", "[collectives]") {
  struct Bound {
    Operation operation;
    const char* topology;
    Ports ports;
    double startups, transmission_blocks;
  };
  const auto exchange = Operation::alltoall;
  for (const Bound& bound : {
           Bound{exchange, "ring:1", Ports::one, 0, 0},
           Bound{exchange, "ring:2", Ports::one, 1, 1},
           Bound{exchange, "ring:8", Ports::one, 3, 8},         // 4*4 over 2 links
           Bound{exchange, "ring:7", Ports::one, 3, 6},         // the ports; 3*4 over 2 links
           Bound{exchange, "line:8", Ports::one, 3, 16},        // 4*4 over 1 link
           Bound{exchange, "torus:8x8", Ports::one, 6, 64},     // 32*32 over 16 links
           Bound{exchange, "torus:16x16", Ports::one, 8, 512},  // p^1.5/8
           Bound{exchange, "mesh:16x16", Ports::one, 8, 1024},  // p^1.5/4
           Bound{exchange, "hypercube:4", Ports::one, 4, 15},
           Bound{exchange, "hypercube:4", Ports::all, 2, 8},  // p/2; start-ups: fivefold each
           Bound{exchange, "complete:9", Ports::all, 1, 1},
           Bound{exchange, "tree:8", Ports::all, 3, 16},
           Bound{Operation::broadcast, "ring:9", Ports::one, 4, 1},
           Bound{Operation::broadcast, "ring:9", Ports::all, 2, 0.5},
           Bound{Operation::allgather, "ring:9", Ports::one, 4, 8},
           Bound{Operation::allgather, "ring:9", Ports::all, 2, 4},
           Bound{Operation::barrier, "line:9", Ports::one, 4, 0},
       }) {
    INFO(to_string(bound.operation) << " on " << bound.topology << " " << to_string(bound.ports));
    const LowerBound lower =
        lower_bound(bound.operation, Topology::parse(bound.topology), bound.ports);
    CHECK(lower.startups == bound.startups);
    CHECK(lower.transmission_blocks == bound.transmission_blocks);
  }
  CHECK_FALSE(lower_bound(Operation::alltoallv, Topology::parse("ring:8"), Ports::one).startups);
}
