// The laws that every registered algorithm keeps on every network that it admits.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/collectives/cases.hpp"

#include <map>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

void check_prediction(const char* what, std::optional<double> predicted, double counted) {
  if (!predicted) return;
  INFO(what);
  CHECK(counted == *predicted);
}

/// Sum over steps of the largest message times the load of the busiest link, in bytes.
double contended_bytes(const Schedule& schedule) {
  const Routing routing(schedule.topology);
  double sum = 0;
  std::vector<Channel> route;
  for (std::size_t step = 0; step < schedule.steps(); ++step) {
    std::map<Link, int> load;
    Bytes largest = 0;
    int most = 0;
    for (Rank r = 0; r < schedule.topology.nodes(); ++r) {
      for (const OpRecord& op : schedule.ops(r, step)) {
        if (op.kind != Op::Kind::send) continue;
        route.clear();
        if (op.moves > 0) {
          routing.route(r, schedule.moves(r, op), route);
        } else {
          routing.route(r, op.peer, route);
        }
        for (const Channel channel : route) most = std::max(most, ++load[routing.link(channel)]);
        largest = std::max(largest, op.bytes);
      }
    }
    sum += static_cast<double>(largest) * most;
  }
  return sum;
}

}  // namespace

TEST_CASE("counts equal the predictions, and messages match, keep to the ports and cannot deadlock",
          "[collectives]") {
  cases::for_each([](const Algorithm& algorithm, const Topology& topology) {
    INFO(cases::title(algorithm, topology));
    const cases::Counts counts = cases::count(algorithm, topology);
    const Prediction prediction = algorithm.predict(topology, {});
    check_prediction("start-ups", prediction.startups, counts.startups);
    check_prediction("transmission", prediction.transmission_blocks, counts.transmission_blocks);
    check_prediction("rearranged", prediction.rearranged_blocks, counts.rearranged_blocks);
    check_prediction("peak", prediction.peak_blocks, counts.peak_blocks);
    check_prediction("link load", prediction.link_load, counts.report.link_load_max);
    if (algorithm.contention_free) CHECK(counts.report.link_load_max <= 1);
    CHECK(counts.report.matched());
    CHECK(counts.report.port_violations == 0);
    CHECK(counts.report.deadlock_free);
  });
}

TEST_CASE("every tag arrives in its place, exactly once", "[collectives]") {
  cases::for_each([](const Algorithm& algorithm, const Topology& topology) {
    INFO(cases::title(algorithm, topology));
    Verification verification(topology.nodes());
    prove(topology, collective_program(algorithm, {}, 2 * cases::tag_bytes(algorithm, topology),
                                       cases::seed, &verification, Pattern::tags));
    INFO(verification.first());
    CHECK(verification.delivered());
    CHECK(verification.exactly_once());
    CHECK(verification.passed());
  });
}

TEST_CASE("blocks of any number of bytes arrive unchanged", "[collectives]") {
  const Bytes block_bytes = GENERATE(0, 1, 8, 13);
  INFO("blocks of " << block_bytes << " bytes");
  cases::for_each(
      [&](const Algorithm& algorithm, const Topology& topology) {
        INFO(cases::title(algorithm, topology));
        Verification verification(topology.nodes());
        prove(topology, collective_program(algorithm, {}, block_bytes, cases::seed, &verification));
        INFO(verification.first());
        CHECK(verification.passed());
      },
      32);
}

TEST_CASE("a run does what the dry run says", "[collectives]") {
  cases::for_each([](const Algorithm& algorithm, const Topology& topology) {
    INFO(cases::title(algorithm, topology));
    Verification verification(topology.nodes());
    const Program program =
        collective_program(algorithm, {}, 8, cases::seed, &verification, Pattern::tags);
    Schedule trace{topology, std::vector<RankLog>(static_cast<std::size_t>(topology.nodes()))};
    prove(topology, [&](Node& node) {
      TracingNode traced(node, trace.ranks[static_cast<std::size_t>(node.rank())]);
      program(traced);
    });
    CHECK(trace == record(topology, program));
  });
}

TEST_CASE("no prediction is below the lower bound", "[collectives]") {
  cases::for_each([](const Algorithm& algorithm, const Topology& topology) {
    INFO(cases::title(algorithm, topology));
    const Prediction prediction = algorithm.predict(topology, {});
    const LowerBound bound = lower_bound(algorithm.operation, topology, algorithm.ports);
    if (bound.startups && prediction.startups) CHECK(*prediction.startups >= *bound.startups);
    const auto time =
        prediction.contended_blocks ? prediction.contended_blocks : prediction.transmission_blocks;
    const bool links_known = algorithm.contention_free || prediction.contended_blocks;
    if (bound.transmission_blocks && time && links_known) {
      CHECK(*time >= *bound.transmission_blocks);
    }
  });
}

TEST_CASE("contended blocks are what messages and routes add up to", "[collectives]") {
  cases::for_each([](const Algorithm& algorithm, const Topology& topology) {
    const Prediction prediction = algorithm.predict(topology, {});
    if (!prediction.contended_blocks) return;
    INFO(cases::title(algorithm, topology));
    const Bytes bytes = cases::tag_bytes(algorithm, topology);
    const Schedule schedule =
        record(topology, collective_program(algorithm, {}, bytes, cases::seed, nullptr));
    CHECK(contended_bytes(schedule) / static_cast<double>(bytes) == *prediction.contended_blocks);
  });
}

TEST_CASE("a broadcast keeps its promises from every root", "[collectives]") {
  cases::for_each(
      [](const Algorithm& algorithm, const Topology& topology) {
        if (algorithm.operation != Operation::broadcast) return;
        // Of large networks every seventh root: all coordinates come up, and it takes no minute.
        const Rank stride = topology.nodes() > 16 ? 7 : 1;
        for (Parameters parameters; parameters.root < topology.nodes(); parameters.root += stride) {
          INFO(cases::title(algorithm, topology) << " from " << parameters.root);
          if (refusal(algorithm, topology, parameters)) continue;
          const cases::Counts counts = cases::count(algorithm, topology, parameters);
          const Prediction prediction = algorithm.predict(topology, parameters);
          check_prediction("start-ups", prediction.startups, counts.startups);
          check_prediction("transmission", prediction.transmission_blocks,
                           counts.transmission_blocks);
          check_prediction("link load", prediction.link_load, counts.report.link_load_max);
          if (algorithm.contention_free) CHECK(counts.report.link_load_max <= 1);
          Verification verification(topology.nodes());
          prove(topology,
                collective_program(algorithm, parameters, cases::tag_bytes(algorithm, topology),
                                   cases::seed, &verification, Pattern::tags));
          INFO(verification.first());
          CHECK(verification.passed());
        }
      },
      64);
}

namespace {

/// Whether every node has heard from every other, each step passing on what was known before it.
bool all_know_all(const Schedule& schedule, std::size_t steps) {
  const auto p = static_cast<std::size_t>(schedule.topology.nodes());
  std::vector<std::vector<bool>> knows(p, std::vector<bool>(p));
  for (std::size_t r = 0; r < p; ++r) knows[r][r] = true;
  for (std::size_t step = 0; step < steps; ++step) {
    const auto before = knows;
    for (std::size_t r = 0; r < p; ++r) {
      for (const OpRecord& op : schedule.ops(static_cast<Rank>(r), step)) {
        if (op.kind != Op::Kind::receive) continue;
        const auto& heard = before[static_cast<std::size_t>(op.peer)];
        for (std::size_t q = 0; q < p; ++q) knows[r][q] = knows[r][q] || heard[q];
      }
    }
  }
  return std::ranges::all_of(
      knows, [](const auto& known) { return std::ranges::find(known, false) == known.end(); });
}

}  // namespace

TEST_CASE("who leaves a barrier has heard from all who enter it", "[collectives]") {
  cases::for_each([](const Algorithm& algorithm, const Topology& topology) {
    if (algorithm.operation != Operation::barrier) return;
    INFO(cases::title(algorithm, topology));
    const Schedule schedule =
        record(topology, collective_program(algorithm, {}, 0, cases::seed, nullptr));
    CHECK(all_know_all(schedule, schedule.steps()));
    // One step less is none: the check would notice.
    if (topology.nodes() > 1) CHECK_FALSE(all_know_all(schedule, schedule.steps() - 1));
  });
}
