// The choice by work: what is counted, and that the least is taken.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/work.hpp"

#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/choose.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/operations.hpp"

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

Schedule recorded(const Collective& collective, const Topology& topology, Bytes block_bytes) {
  return record(
      topology,
      collective_program(collective,
                         contract_of(collective, topology.nodes(), block_bytes, 1, Pattern::tags),
                         nullptr),
      collective.name());
}

}  // namespace

TEST_CASE("work of a message, of its links and bytes, counted by hand") {
  const Topology line = Topology::parse("line:3");
  const Routing routing(line);
  // Node 0 sends 16 bytes over one link to each of the others in turn: of 1 and of 2 links.
  const Collective naive = parse_collective(parse_operation("broadcast"), "naive");
  const Schedule schedule = recorded(naive, line, 16);
  const double fixed = 2 * work_of_message + 3 * work_of_link;
  CHECK(work_of(schedule, routing) == fixed + 2 * 16);
  CHECK(work_of(schedule, routing, 100) == fixed + 2 * 1600);
}

TEST_CASE("the choice by work is the least of what dry runs of the whole call count") {
  for (const Topology& topology : {Topology::parse("torus:4x4"), Topology::parse("hypercube:4"),
                                   Topology::parse("mesh:3x5")}) {
    const Routing routing(topology);
    for (const std::string_view name :
         {"broadcast", "reduce", "allgather", "allreduce", "reduce_scatter", "alltoall", "scan"}) {
      for (const Bytes bytes : {Bytes{960}, Bytes{960 * 64}}) {
        CAPTURE(topology.name(), name, bytes);
        const Operation asked = parse_operation(name);
        Arguments arguments;
        if (asked->reduces) arguments.reduction = find_reduction("sum", "double");
        const Collective chosen = least_work(asked, topology, bytes, Ports::one, arguments);
        const double work = work_of(recorded(chosen, topology, bytes), routing);
        for (const Priced& other :
             ranking(asked, topology, CostModel(), bytes, Ports::one, arguments)) {
          if (!is_chosen_by_auto(*other.collective.algorithm)) continue;
          CAPTURE(chosen.text(), other.collective.text());
          // Blocks that do not divide evenly are counted as if they did.
          CHECK(work <= 1.02 * work_of(recorded(other.collective, topology, bytes), routing));
        }
      }
    }
  }
}

TEST_CASE("long exchanges are weighed by formula, and the choice still runs") {
  const Topology topology = Topology::parse("torus:20x20");
  const Collective chosen = least_work(parse_operation("alltoall"), topology, 64, Ports::one);
  // 399 messages of each node are the most that anything takes; combining ones need some ten.
  CHECK(*chosen.predict(topology).startups < 100);
  const Collective of_long = least_work(parse_operation("alltoall"), topology, 1 << 20, Ports::one);
  CHECK(*of_long.predict(topology).startups >= 399);
}
