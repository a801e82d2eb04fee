// Shared by the tests of the textbook's rows: an algorithm on a network, checked and timed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/schedule/prove.hpp"

#include <string>

#include <catch2/catch.hpp>

namespace wormcube::ledger {

/// One case: "recursive-doubling:order=ascending" on "ring:8".
struct Case {
  Operation operation;
  std::string algorithm, network;
  Rank root = 0;
  bool in_place = false;

  Topology topology() const { return Topology::parse(network); }
  Collective collective() const {
    Arguments arguments;
    arguments.root = root;
    return parse_collective(operation, algorithm, arguments);
  }
  std::string text() const {
    return std::string(operation->name) + " " + algorithm + " on " + network + ", root " +
           std::to_string(root);
  }
};

/// Checked, all laws and formulas; delivery too on few nodes, and of broadcasts of whole messages.
inline CheckResult check(const Case& on, Rank prove_up_to = 16) {
  CheckOptions options;
  const Collective collective = on.collective();
  options.all_port = collective.algorithm->ports == Ports::all;
  options.in_place = on.in_place;
  options.prove_up_to = prove_up_to;
  CheckResult result = check_collective(collective, on.topology(), options);
  INFO(on.text());
  CAPTURE(result.failures);
  CHECK(result.passed());
  return result;
}

constexpr CostModel model{.startup_us = 7, .transfer_us = 0.25, .hop_us = 0};

/// Steps x ts + contended x tw, of a message or block that all parts divide, counted step by step.
inline void check_time(const Case& on, double startups, double link_blocks) {
  const Collective collective = on.collective();
  const Topology topology = on.topology();
  CheckOptions options;
  options.all_port = collective.algorithm->ports == Ports::all;
  const Bytes block = 24 * static_cast<Bytes>(collective.parts(topology));
  const ScheduleReport report = check_steps(collective, topology, block, options);
  INFO(on.text());
  CHECK(report.startups == static_cast<std::size_t>(startups));
  CHECK(lock_step_time(report, model).total_us ==
        Approx(model.startup_us * startups +
               model.transfer_us * static_cast<double>(block) * link_blocks));
}

/// Real data in blocks of this many bytes, whatever parts they are cut into.
inline bool delivers(const Case& on, Bytes block_bytes) {
  const Collective collective = on.collective();
  const Topology topology = on.topology();
  const Contract contract =
      contract_of(collective, topology.nodes(), block_bytes, 11, Pattern::words, on.in_place);
  Verification verification(contract);
  prove(topology, collective_program(collective, contract, &verification));
  INFO(on.text() << ", " << block_bytes << " bytes: " << verification.first());
  return verification.passed();
}

/// The messages on the busiest link, step by step.
inline std::vector<int> loads(const Case& on) {
  const ScheduleReport report =
      check_steps(on.collective(), on.topology(), unit_block_bytes(on.collective(), on.topology()));
  std::vector<int> loads;
  for (std::size_t t = 0; t < report.steps; ++t) loads.push_back(report.per_step[t].link_load);
  return loads;
}

}  // namespace wormcube::ledger
