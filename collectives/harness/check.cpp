// Record, check, compare, prove.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/check.hpp"

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/routing/routing.hpp"
#include "wormcube/runtime/schedule/prove.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace wormcube {

namespace {

constexpr Bytes tag_bytes = 8;  // the element that remembers where it comes from

/// Most blocks that one node's result holds.
double result_blocks(Operation operation, Rank nodes) {
  const Contract contract{.operation = operation, .nodes = nodes};
  return contract.output_blocks();
}

void count(CheckResult& result) {
  const ScheduleReport& report = result.report;
  const auto blocks = [&](Bytes bytes) {
    return static_cast<double>(bytes) / static_cast<double>(result.block_bytes);
  };
  result.transmission_blocks = blocks(report.transmission);
  result.rearranged_blocks = blocks(report.rearranged);
  result.total_blocks = blocks(report.total_bytes);
  result.block_hops = blocks(report.byte_hops);
  result.working_blocks = blocks(report.peak_block_bytes);
  result.peak_blocks =
      std::max(result_blocks(result.algorithm->operation, result.nodes), result.working_blocks);
}

void compare_formula(CheckResult& result, const char* what, const std::optional<double>& formula,
                     double counted) {
  if (formula && std::abs(*formula - counted) > 1e-6 * std::max(1.0, std::abs(*formula))) {
    result.failures.push_back(
        fmt::format("{}: counted {}, the formula says {}", what, counted, *formula));
  }
}

void compare_formulas(CheckResult& result) {
  const Prediction& predicted = result.predicted;
  compare_formula(result, "start-ups", predicted.startups,
                  static_cast<double>(result.report.startups));
  compare_formula(result, "transmission", predicted.transmission_blocks,
                  result.transmission_blocks);
  compare_formula(result, "rearrangement", predicted.rearranged_blocks, result.rearranged_blocks);
  compare_formula(result, "working blocks", predicted.peak_blocks, result.working_blocks);
  compare_formula(result, "link load", predicted.link_load, result.report.link_load_max);
}

void judge(CheckResult& result) {
  const ScheduleReport& report = result.report;
  auto& failures = result.failures;
  if (!report.matched())
    failures.push_back(fmt::format("{} sends and receives without a partner", report.unmatched));
  if (report.port_violations > 0)
    failures.push_back(
        fmt::format("a port is used twice in a step {} times", report.port_violations));
  if (result.algorithm->contention_free && report.link_load_max > 1) {
    failures.push_back(fmt::format("a link carries {} messages in one step; its source claims 1",
                                   report.link_load_max));
  }
  if (!report.deadlock_free) failures.emplace_back("its routes can wait in a circle");
  if (result.delivered == false) failures.push_back("not delivered: " + result.proof);
  if (result.exactly_once == false && result.algorithm->receives_once)
    failures.push_back("not exactly once: " + result.proof);
  compare_formulas(result);
  // The checker also tells of shared links; without a broken law they are no failure.
  if (!failures.empty())
    failures.insert(failures.end(), report.problems.begin(), report.problems.end());
}

void prove_by_run(CheckResult& result, const Algorithm& algorithm, const Topology& topology,
                  const Parameters& parameters, std::uint64_t seed) {
  Verification verification(topology.nodes());
  try {
    prove(topology, collective_program(algorithm, parameters, result.block_bytes, seed,
                                       &verification, Pattern::tags));
    result.delivered = verification.delivered();
    result.exactly_once = verification.exactly_once();
    result.proof = verification.passed()
                       ? "proved by a run with blocks that remember where they come from"
                       : verification.first();
  } catch (const std::exception& error) {
    result.delivered = false;
    result.proof = error.what();
  }
}

void prove_by_schedule(CheckResult& result, const Schedule& schedule, Rank root) {
  bool once = false;
  if (const auto reached = broadcast_reaches_all(schedule, root, result.block_bytes, once)) {
    result.delivered = reached;
    result.exactly_once = once;
    result.proof = "proved from the schedule: nobody sends what it has not received";
  } else {
    result.proof =
        "not proved: its messages are parts of the block, which a schedule alone does not tell "
        "apart";
  }
}

}  // namespace

std::optional<bool> broadcast_reaches_all(const Schedule& schedule, Rank root, Bytes block_bytes,
                                          bool& exactly_once) {
  std::vector<char> has(schedule.ranks.size(), 0);
  has[root] = 1;
  std::size_t reached = 1;
  exactly_once = true;
  std::vector<Rank> informed;
  for (std::size_t step = 0; step < schedule.steps(); ++step) {
    informed.clear();
    for (Rank rank = 0; rank < static_cast<Rank>(schedule.ranks.size()); ++rank) {
      for (const OpRecord& op : schedule.ops(rank, step)) {
        if (op.bytes != block_bytes) return std::nullopt;
        if (op.kind != Op::Kind::send) continue;
        if (has[rank] == 0) return false;
        informed.push_back(op.peer);
      }
    }
    for (const Rank rank : informed) {
      if (has[rank] != 0) exactly_once = false;
      reached += has[rank] == 0 ? 1 : 0;
      has[rank] = 1;
    }
  }
  return reached == schedule.ranks.size();
}

CheckResult check_collective(const Algorithm& algorithm, const Topology& topology,
                             const Parameters& parameters, const CheckOptions& options) {
  algorithm.require(topology, parameters);
  CheckResult result;
  result.algorithm = &algorithm;
  result.topology = topology.name();
  result.nodes = topology.nodes();
  result.all_port = options.all_port;
  result.block_bytes = tag_bytes * static_cast<Bytes>(algorithm.parts(topology));
  result.predicted = algorithm.predict(topology, parameters);
  result.lower_bound =
      lower_bound(algorithm.operation, topology, options.all_port ? Ports::all : Ports::one);

  const Program program = collective_program(algorithm, parameters, result.block_bytes,
                                             options.seed, nullptr, Pattern::tags);
  const MemoryNeed need = memory_need(topology, program, parameters.root);
  require_available_memory(
      fmt::format("check {} {} on {}: the recorded schedule", to_string(algorithm.operation),
                  algorithm.name, topology.name()),
      need.schedule);
  std::optional<bool> received_once;  // a run that delivers does not tell whether it did so twice
  {
    const Schedule schedule = record(topology, program);
    result.report = check(schedule, Routing(topology, options.virtual_channels), options.all_port);
    if (algorithm.operation == Operation::broadcast) {
      prove_by_schedule(result, schedule, parameters.root);
      received_once = result.exactly_once;
    }
  }
  count(result);

  // A node of a proof beside its memory: touched stack, matching.
  constexpr double fiber_bytes = 48 << 10;
  const double proof_bytes = need.nodes + fiber_bytes * result.nodes;
  if (result.nodes <= options.prove_up_to) {
    const double available = available_memory_bytes();
    if (proof_bytes <= available) {
      prove_by_run(result, algorithm, topology, parameters, options.seed);
      if (received_once == false) result.exactly_once = false;
    } else {
      result.proof = fmt::format("not proved: the run would need {} of memory, {} are available",
                                 gibibytes_text(proof_bytes), gibibytes_text(available));
    }
  } else if (result.proof.empty()) {
    result.proof = fmt::format("not proved: {} nodes, proved up to {} (--prove-up-to)",
                               result.nodes, options.prove_up_to);
  }
  judge(result);
  return result;
}

}  // namespace wormcube
