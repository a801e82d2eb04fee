// The products' exchanges with real payloads on threads and fibers.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/tests/machine/support.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace wormcube;

void runs(const Topology& topology, const char* name, NodesAs nodes_as) {
  const Collective collective(find_algorithm(operations::alltoall, name));
  if (refusal(collective, topology)) return;
  INFO(name << " on " << topology.name());
  MachineOptions options = machine_tests::plain(nodes_as);
  options.all_port = collective.algorithm->ports == Ports::all;
  Machine machine(topology, options);
  const Contract contract = contract_of(collective, topology.nodes(), 24, 20231, Pattern::tags);
  Verification verification(contract);
  Schedule trace{topology, {}};
  machine.run(collective_program(collective, contract, &verification), trace);
  INFO(verification.first());
  CHECK(verification.passed());
  CHECK(trace == record(topology, collective_program(collective, contract, nullptr)));
}

constexpr const char* exchanges[] = {"product", "product-multiport", "product-multiport-general"};

}  // namespace

TEST_CASE("product exchanges deliver on threads and fibers, and their traces are their records",
          "[machine][product]") {
  const NodesAs nodes_as = GENERATE(NodesAs::threads, NodesAs::fibers);
  std::vector<Topology> networks{
      Topology({samples::petersen(), Graph::ring(4)}),
      Topology({samples::scrambled(6), samples::star(5)}),
      Topology({samples::petersen()}),
  };
  for (const char* text :
       {"ring:5*complete:4*line:3", "torus:6x6", "mesh:3x3", "torus:3x3x3x3", "hypercube:4",
        "ghc:4x4", "line:2*ring:6", "torus:1x4x2", "ccc:3", "butterfly:2*line:3"}) {
    networks.push_back(Topology::parse(text));
  }
  for (const Topology& topology : networks) {
    for (const char* name : exchanges) runs(topology, name, nodes_as);
    if (topology.nodes() <= 32) runs(topology, "product-naive", nodes_as);
  }
}

TEST_CASE("product exchanges of 256 nodes deliver on threads and fibers",
          "[.wide][machine][product]") {
  const NodesAs nodes_as = GENERATE(NodesAs::fibers, NodesAs::threads);
  for (const char* text : {"torus:16x16", "hypercube:8", "torus:4x4x4x4", "mesh:16x16",
                           "ring:8*complete:8*line:4", "ccc:3*ring:5"}) {
    for (const char* name : exchanges) runs(Topology::parse(text), name, nodes_as);
  }
}
