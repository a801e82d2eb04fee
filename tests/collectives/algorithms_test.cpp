// The laws that every registered algorithm obeys on every network that it admits, with every
// combination of its options. Each new algorithm is covered automatically.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/collectives/built_in.hpp"
#include "wormcube/tests/collectives/cases.hpp"
#include "wormcube/tests/collectives/each_operation.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <map>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

void check_prediction(const char* what, std::optional<double> predicted, double counted) {
  if (!predicted) return;
  INFO(what);
  CHECK(counted == Approx(*predicted).epsilon(1e-12));
}

/// Sum over steps of the bytes on the busiest link. Counted here anew, link by link.
double contended_bytes(const Schedule& schedule) {
  const Routing routing(schedule.topology);
  double sum = 0;
  for (std::size_t step = 0; step < schedule.steps(); ++step) {
    std::map<Link, Bytes> load;
    Bytes most = 0;
    for (Rank r = 0; r < schedule.topology.nodes(); ++r) {
      for (const OpRecord& op : schedule.ops(r, step)) {
        if (op.kind != Op::Kind::send) continue;
        std::vector<Channel> path;
        if (op.moves > 0) {
          routing.route(r, schedule.moves(r, op), path);
        } else {
          routing.route(r, op.peer, path);
        }
        most = std::max(most, op.bytes);
        for (const Channel channel : path) {
          most = std::max(most, load[routing.link(channel)] += op.bytes);
        }
      }
    }
    sum += static_cast<double>(most);
  }
  return sum;
}

/// What the schedule of a call shows: its counts are the formulas', and it breaks no law.
void check_schedule(const Collective& collective, const Topology& topology) {
  const cases::Counts counts = cases::count(collective, topology);
  const Prediction prediction = collective.predict(topology);
  check_prediction("start-ups", prediction.startups, counts.startups);
  check_prediction("transmission", prediction.transmission_blocks, counts.transmission_blocks);
  check_prediction("rearranged", prediction.rearranged_blocks, counts.rearranged_blocks);
  check_prediction("combined", prediction.combined_blocks, counts.combined_blocks);
  check_prediction("with contention", prediction.link_blocks, counts.link_blocks);
  check_prediction("working blocks", prediction.working_blocks, counts.working_blocks);
  check_prediction("link load", prediction.link_load, counts.report.link_load_max);
  if (collective.algorithm->contention_free) CHECK(counts.report.link_load_max <= 1);
  CHECK(counts.report.matched());
  CHECK(counts.report.port_violations == 0);
  CHECK(counts.report.deadlock_free);
}

/// Proved on real data.
/// \param change  as of cases::outcome
void check_delivery(const cases::Call& call, const Topology& topology,
                    const std::function<Program(const Program&)>& change = {}) {
  const cases::Outcome outcome = cases::outcome(call, topology, change);
  INFO(outcome.first);
  CHECK(outcome.delivered);
  // Parts that cut an element in two cannot be distinguished.
  const bool whole =
      call.contract.block_bytes % cases::telling_bytes(call.collective, topology) == 0;
  if (call.collective.algorithm->exactly_once && whole) CHECK(outcome.repeated == 0);
  // Blocks of tags are counted, whatever the size.
  const bool moves = !call.collective.operation()->reduces &&
                     call.collective.operation() != Operation(operations::barrier);
  if (call.contract.pattern == Pattern::tags && moves) CHECK(outcome.counted);
}

/// The same, and what the nodes do with data is what they do in a dry run.
void check_run(const cases::Call& call, const Topology& topology) {
  Schedule trace{topology, std::vector<RankLog>(static_cast<std::size_t>(topology.nodes()))};
  check_delivery(call, topology, [&](const Program& program) {
    return [&, program](Node& node) {
      TracingNode traced(node, trace.ranks[static_cast<std::size_t>(node.rank())]);
      program(traced);
    };
  });
  CHECK(trace == record(topology, call.dry()));
}

// Proofs with blocks of each number of elements, from each root.
constexpr Rank most_nodes = sanitized ? 6 : 16;
// All else, once; sanitizers take combinations of options on small networks only.
constexpr Rank most_in_walk = sanitized ? 8 : 1 << 20, most_of_options = sanitized ? 4 : 1 << 20;
bool is_taken(const Collective& collective, const Topology& topology) {
  return topology.nodes() <= most_of_options || collective.options.text().empty();
}

void check_runs(std::optional<Operation> operation, Rank most = most_nodes,
                cases::Walk walk = cases::Walk::usual) {
  cases::for_each(
      [&](const Collective& collective, const Topology& topology) {
        // Beyond this with defaults alone; the walk over tags has all options everywhere.
        constexpr Rank most_of_runs = sanitized ? 4 : 12;
        const bool preset = collective.options.text().empty();
        if (walk == cases::Walk::usual && !preset && topology.nodes() > most_of_runs) return;
        INFO(cases::title(collective, topology));
        for (const cases::Call& call : cases::calls(collective, topology, 13)) {
          INFO("blocks of " << call.contract.block_bytes << " bytes");
          check_run(call, topology);
        }
      },
      most, walk, operation);
}

void check_counts(Operation operation) {
  cases::for_each(
      [](const Collective& collective, const Topology& topology) {
        if (!is_taken(collective, topology)) return;
        INFO(cases::title(collective, topology));
        check_schedule(collective, topology);
      },
      most_in_walk, cases::Walk::usual, operation);
}

void check_tags(Operation operation) {
  cases::for_each(
      [](const Collective& collective, const Topology& topology) {
        if (!is_taken(collective, topology)) return;
        INFO(cases::title(collective, topology));
        const Bytes bytes = 2 * cases::telling_bytes(collective, topology);
        check_run({collective, topology, bytes, Pattern::tags}, topology);
      },
      most_in_walk, cases::Walk::usual, operation);
}

// Empty blocks and blocks of one element: on real nodes, tests/machine/collectives_test.cpp.
void check_runs_of(Operation operation) { check_runs(operation); }

void check_all_calls(std::optional<Operation> operation, Rank most, cases::Walk walk) {
  cases::for_each_call(
      [](const Collective& collective, const Topology& topology) {
        if (!is_taken(collective, topology)) return;
        INFO(cases::title(collective, topology));
        check_schedule(collective, topology);
        check_delivery({collective, topology}, topology);
      },
      most, walk, operation);
}
void check_many_calls(Operation operation) {
  check_all_calls(operation, sanitized ? 6 : 16, cases::Walk::usual);
}
TEST_CASE("from every root, with every shift and choice of sources, on up to 64 nodes",
          "[collectives][.][wide]") {
  check_all_calls({}, 64, cases::Walk::everything);
}
TEST_CASE("blocks of 13 elements arrive with all numbers among the options, on up to 64 nodes",
          "[collectives][.][wide]") {
  check_runs({}, 64, cases::Walk::everything);
}

void check_in_place(Operation operation) {
  if (operation->place_of_input == nullptr) return;
  cases::for_each_call(
      [](const Collective& collective, const Topology& topology) {
        if (!is_taken(collective, topology)) return;
        INFO(cases::title(collective, topology));
        const cases::Call call(collective, topology, true);
        check_delivery(call, topology);
        // The same messages as out of place.
        const cases::Call apart(collective, topology);
        const ScheduleReport in_place = cases::count(topology, call.dry(), 1).report,
                             out_of_place = cases::count(topology, apart.dry(), 1).report;
        CHECK(in_place.startups == out_of_place.startups);
        CHECK(in_place.transmission == out_of_place.transmission);
        CHECK(in_place.total_bytes == out_of_place.total_bytes);
      },
      sanitized ? 6 : 9, cases::Walk::usual, operation);
}

}  // namespace

WORMCUBE_TEST_EACH_OPERATION(check_counts,
                             "counts equal the predictions, and messages match, keep to the ports "
                             "and cannot deadlock",
                             "[collectives]");
WORMCUBE_TEST_EACH_OPERATION(check_tags,
                             "every tag arrives, exactly once where that is claimed, and a run "
                             "does what its dry run says",
                             "[collectives]");
WORMCUBE_TEST_EACH_OPERATION(check_runs_of,
                             "blocks of 13 elements arrive, and are combined in order, as the dry "
                             "run says",
                             "[collectives]");
WORMCUBE_TEST_EACH_OPERATION(check_many_calls,
                             "from many roots, with every shift and choice of sources, all of this "
                             "holds",
                             "[collectives]");
WORMCUBE_TEST_EACH_OPERATION(check_in_place,
                             "where the operation offers it, the input may lie in the output",
                             "[collectives]");

TEST_CASE("no prediction is below the lower bound", "[collectives]") {
  cases::for_each(
      [](const Collective& collective, const Topology& topology) {
        INFO(cases::title(collective, topology));
        const Prediction prediction = collective.predict(topology);
        const LowerBound bound = lower_bound(collective.operation(), topology,
                                             collective.algorithm->ports, collective.arguments);
        if (bound.startups && prediction.startups) CHECK(*prediction.startups >= *bound.startups);
        const auto time =
            prediction.link_blocks ? prediction.link_blocks : prediction.transmission_blocks;
        const bool links_known = collective.algorithm->contention_free || prediction.link_blocks;
        if (bound.transmission_blocks && time && links_known) {
          CHECK(*time >= *bound.transmission_blocks * (1 - 1e-12));
        }
      },
      sanitized ? 16 : 1 << 20);
}

TEST_CASE("nothing that is counted is below the bounds of networks without a shape", "[flows]") {
  int counted = 0;
  for (const char* const network :
       {"star:6", "petersen", "ccc:3", "twisted:4x8", "bubble-sort:3", "line:3*star:4",
        "torus:4x4~0-1~5", "mesh:3x4~0-1", "hypercube:3~7", "tree:4*ring:3"}) {
    const Topology topology = Topology::parse(network);
    for (const Algorithm* algorithm : cases::built_in()) {
      const Collective collective(*algorithm, cases::plain_arguments(*algorithm));
      if (refusal(collective, topology)) continue;
      for (const bool all_port : {false, true}) {
        if (algorithm->ports == Ports::all && !all_port) continue;
        INFO(cases::title(collective, topology) << (all_port ? ", all ports" : ""));
        const CheckResult result =
            check_collective(collective, topology, {.all_port = all_port, .prove_up_to = 0});
        CHECK(result.failures == std::vector<std::string>{});
        ++counted;
      }
    }
  }
  CHECK(counted > 500);
}

TEST_CASE("contended blocks are what messages and routes add up to", "[collectives]") {
  cases::for_each(
      [](const Collective& collective, const Topology& topology) {
        const Prediction prediction = collective.predict(topology);
        if (!prediction.link_blocks || !is_taken(collective, topology)) return;
        INFO(cases::title(collective, topology));
        const cases::Call call(collective, topology);
        const double blocks = contended_bytes(record(topology, call.dry())) /
                              static_cast<double>(call.contract.block_bytes);
        CHECK(blocks == Approx(*prediction.link_blocks).epsilon(1e-12));
      },
      most_in_walk);
}

namespace {

/// The networks that the program names in its help, and some of their kind.
std::vector<Topology> networks_of_the_program() {
  std::vector<Topology> networks;
  try {
    Topology::parse("");
  } catch (const UsageError& error) {
    std::istringstream words(error.what());
    for (std::string word; words >> word;) {
      while (word.ends_with(',') || word.ends_with(';')) word.pop_back();
      try {
        networks.push_back(Topology::parse(word));
      } catch (const std::exception&) {  // not one of them, or a file
      }
    }
  }
  REQUIRE(networks.size() >= 16);
  for (const char* const text : {"torus:5x3", "mesh:3x3x3", "tree:5", "tree:5*line:3", "ccc:4",
                                 "star:5*ring:3", "petersen*line:2", "ring:5*star:3"}) {
    networks.push_back(Topology::parse(text));
  }
  return networks;
}

}  // namespace

TEST_CASE("model and count are one, for every operation and algorithm on every network named",
          "[collectives]") {
  const CostModel model{10, 0.001, 0.0005, 0.0005, 0};
  constexpr Bytes m = 4096;
  std::map<Contention, int> known;
  for (const Topology& topology : networks_of_the_program()) {
    for (const Algorithm* algorithm : cases::built_in()) {
      if (!cases::is_tested(*algorithm)) continue;
      Collective collective(*algorithm, cases::plain_arguments(*algorithm));
      if (refusal(collective, topology)) continue;
      collective.settle(topology, model, m);
      INFO(cases::title(collective, topology));
      if (algorithm->operation->sizes != Sizes::equal) continue;  // counted at the call's own sizes
      const Weighed weighed = weigh(collective, topology);
      ++known[weighed.contention];
      CHECK(weighed.contention != Contention::unknown);
      const cases::Counts counted = cases::count(collective, topology);
      // Each message of a step is at least a flit of one byte.
      const double link_bytes = std::max(counted.startups, m * counted.link_blocks);
      const double counted_us =
          model.startup_us * counted.startups + model.transfer_us * link_bytes +
          static_cast<double>(m) * (model.rearrange_us * counted.rearranged_blocks +
                                    model.combine_us * counted.combined_blocks);
      CHECK(predicted_us(weighed.prediction, model, m) == Approx(counted_us).epsilon(1e-9));
      CHECK(weighed.hops != CountedBy::unknown);
    }
  }
  if (!cases::all_are_tested()) return;
  CHECK(known[Contention::none] > 0);
  CHECK(known[Contention::formula] > 0);
  CHECK(known[Contention::counted] > 0);
}

TEST_CASE("auto counts contention that no formula knows, and does not trust what it cannot count",
          "[collectives]") {
  const auto chosen = [](Operation operation, const char* text) {
    const Topology topology = Topology::parse(text);
    Arguments arguments;
    if (operation->reduces) arguments.reduction = find_reduction("sum", "double");
    return cheapest({.operation = operation,
                     .topology = topology,
                     .block_bytes = 4096,
                     .arguments = arguments});
  };
  // Modelled without contention, pairwise and shift would be the cheapest.
  CHECK(chosen(operations::reduce_scatter, "ccc:3").name() == "ring");
  CHECK(chosen(operations::alltoall, "circulant:12+1+3").name() == "bruck");
  CHECK(chosen(operations::alltoall, "ccc:3").name() == "shortest-paths-one-port");
  // Of 896 nodes shift would be 800 000 messages.
  const Topology large = Topology::parse("ccc:7");
  const Weighed shift = weigh(Collective(find_algorithm(operations::alltoall, "shift")), large);
  CHECK(shift.contention == Contention::unknown);
  CHECK_FALSE(shift.prediction.link_blocks.has_value());
  CHECK(weigh(chosen(operations::alltoall, "ccc:7"), large).contention != Contention::unknown);
  // What claims that no link is shared is not counted.
  const Weighed claimed = weigh(cases::alltoall("suh-torus"), Topology::parse("torus:4x4"));
  CHECK(claimed.contention == Contention::none);
  CHECK(claimed.prediction.link_blocks == claimed.prediction.transmission_blocks);
}

TEST_CASE("every built-in algorithm has formulas", "[collectives]") {
  cases::for_each(
      [](const Collective& collective, const Topology& topology) {
        INFO(cases::title(collective, topology));
        if (collective.name() == "two-phase") return;  // the sizes decide its steps, too
        Collective settled = collective;
        settled.settle(topology, CostModel{}, 1024);
        const Prediction prediction = settled.predict(topology);
        CHECK(prediction.startups.has_value());
        if (collective.operation()->sizes != Sizes::equal) return;  // the sizes decide the rest
        CHECK(prediction.transmission_blocks.has_value());
        CHECK(prediction.rearranged_blocks.has_value());
      },
      16);
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
  cases::for_each([](const Collective& collective, const Topology& topology) {
    if (collective.operation() != Operation(operations::barrier)) return;
    INFO(cases::title(collective, topology));
    const Schedule schedule =
        record(topology, cases::Call(collective, topology, 0, Pattern::words).dry());
    CHECK(all_know_all(schedule, schedule.steps()));
    // One step less is none: the check would notice.
    if (topology.nodes() > 1) CHECK_FALSE(all_know_all(schedule, schedule.steps() - 1));
  });
}
