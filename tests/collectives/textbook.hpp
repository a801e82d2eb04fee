// Shared by the tests of textbook collectives: one algorithm checked on one network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/node/forwarding_node.hpp"
#include "wormcube/runtime/schedule/prove.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace textbook {

using namespace wormcube;

/// Checked, and proved up to 64 nodes: a failure of any law or prediction fails the test.
inline CheckResult checked(Operation operation, const std::string& algorithm,
                           const std::string& network, const Arguments& arguments = {}) {
  Collective collective = parse_collective(operation, algorithm, arguments);
  if (operation->reduces) collective.arguments.reduction = find_reduction("sum", "int32");
  CheckOptions options;
  options.all_port = collective.algorithm->ports == Ports::all;
  options.prove_up_to = 64;
  CheckResult result = check_collective(collective, Topology::parse(network), options);
  CAPTURE(operation->name, algorithm, network, result.failures);
  CHECK(result.passed());
  return result;
}

/// Time in lock step for blocks of this many bytes, with ts = 100 us and tw = 1 us per byte.
inline double time(Operation operation, const std::string& algorithm, const std::string& network,
                   Bytes bytes, const Arguments& arguments = {}) {
  const Collective collective = parse_collective(operation, algorithm, arguments);
  CheckOptions options;
  options.all_port = collective.algorithm->ports == Ports::all;
  return lock_step_time(
             check_steps(collective, Topology::parse(network), bytes, options),
             {.startup_us = 100, .transfer_us = 1, .rearrange_us = 0, .combine_us = 0, .hop_us = 0})
      .total_us;
}

inline Arguments by(std::int64_t q) {
  Arguments arguments;
  arguments.by = q;
  return arguments;
}
inline Arguments from(std::vector<Rank> sources) {
  Arguments arguments;
  arguments.sources = std::move(sources);
  return arguments;
}
inline Arguments from_first(Rank k) {
  std::vector<Rank> sources;
  for (Rank source = 0; source < k; ++source) sources.push_back(source);
  return from(std::move(sources));
}

/// Posts nothing in one of the steps.
class Dropping final : public ForwardingNode {
 public:
  Dropping(Node& node, int dropped) : ForwardingNode(node), dropped_(dropped) {}
  using Node::step;
  void step(std::span<const Op> ops) override {
    ForwardingNode::step(steps_++ == dropped_ ? std::span<const Op>{} : ops);
  }

 private:
  int dropped_, steps_ = 0;
};

/// Every step is needed: without it blocks are missing, and the comparison says so.
inline void every_step_matters(Operation operation, const std::string& algorithm,
                               const std::string& network, const Arguments& arguments = {}) {
  const Collective collective = parse_collective(operation, algorithm, arguments);
  const Topology topology = Topology::parse(network);
  const Contract contract = contract_of(collective, topology.nodes(),
                                        unit_block_bytes(collective, topology), 1, Pattern::tags);
  const auto steps = static_cast<int>(check_collective(collective, topology).report.steps);
  for (int dropped = -1; dropped < steps; ++dropped) {
    CAPTURE(operation->name, algorithm, network, dropped);
    Verification verification(contract);
    const auto program = collective_program(collective, contract, &verification);
    prove(topology, [&](Node& node) {
      Dropping mutant(node, dropped);
      program(mutant);
    });
    CHECK(verification.passed() == (dropped < 0));
  }
}

inline std::string sized(const char* shape, long size) {
  return std::string(shape) + ":" + std::to_string(size);
}

}  // namespace textbook
