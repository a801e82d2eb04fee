// Every registered algorithm on real nodes: delivery, and traces that equal the dry run's record.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/tests/collectives/built_in.hpp"
#include "wormcube/tests/collectives/cases.hpp"
#include "wormcube/tests/machine/support.hpp"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace {

using namespace wormcube;

constexpr Rank most_nodes = sanitized ? 8 : 64;
/// Up to this many nodes every call runs on threads and fibers; on more, tracked elements run on
/// fibers and bytes on threads, so that each number of elements meets both kinds of nodes. The wide
/// test, which takes minutes, leaves nothing out.
constexpr Rank most_on_both = sanitized ? 0 : 8;
/// Options that are not defaults: on more nodes they are proved (algorithms_test.cpp).
constexpr Rank most_of_options = sanitized ? 4 : 12;

/// Short blocks and long ones are kept, or wait at the sender; of fibers the other way round.
MachineOptions options_for(ExecutorKind executor, Bytes elements) {
  MachineOptions options = machine_tests::plain(executor);
  const bool threads = executor == ExecutorKind::threads;
  if (threads == (elements > 1)) return options;
  options.eager_limit = threads ? 0 : 1 << 20;
  options.lock_step = threads;
  return options;
}

/// Real data arrive, and the trace is the record.
void check_run(const cases::Call& call, Machine& machine) {
  Verification verification(call.contract);
  Schedule trace{machine.topology(), {}};
  machine.run(collective_program(call.collective, call.contract, &verification), trace);
  INFO(verification.first());
  CHECK(verification.passed());
  CHECK(trace == record(machine.topology(), call.dry()));
}

/// Runs calls on real nodes, on machines that are kept as long as the network stays the same.
class Runs {
 public:
  explicit Runs(Bytes elements) : elements_(elements) {}

  void check(const cases::Call& call, const Topology& topology, ExecutorKind executor) {
    const bool threads = executor == ExecutorKind::threads,
               all_port = call.collective.algorithm->ports == Ports::all;
    INFO((threads ? "threads" : "fibers")
         << ", blocks of " << call.contract.block_bytes << " bytes");
    std::unique_ptr<Machine>& machine = machines_[threads][all_port];
    if (!machine || machine->topology().name() != topology.name()) {
      MachineOptions options = options_for(executor, elements_);
      options.all_port = all_port;
      machine.reset();
      machine = std::make_unique<Machine>(topology, options);
    }
    check_run(call, *machine);
  }

 private:
  Bytes elements_;
  std::array<std::array<std::unique_ptr<Machine>, 2>, 2> machines_;
};

/// On more nodes threads have each third case, fibers the others: what an algorithm does is the same on both.
constexpr Rank most_on_threads = 16;

/// Each case on threads or fibers, small ones on both. Fibers alone have empty blocks, for what they test is the steps,
/// and single elements on large networks: their threads run in lock step, where each step waits for the slowest.
void check_runs(Bytes elements, Rank both_up_to) {
  Runs runs(elements);
  int large = 0;
  cases::for_each(
      [&](const Collective& collective, const Topology& topology) {
        const bool preset = collective.options.text().empty();
        if (!preset && topology.nodes() > std::max(most_of_options, both_up_to)) return;
        INFO(cases::title(collective, topology));
        const std::vector<cases::Call> calls = cases::calls(collective, topology, elements);
        const bool both = elements > 0 && topology.nodes() <= both_up_to;
        const bool on_threads =
            both || (elements > 1 && (topology.nodes() <= most_on_threads || large++ % 3 == 0));
        runs.check(calls.front(), topology, ExecutorKind::fibers);
        if (on_threads) runs.check(calls.back(), topology, ExecutorKind::threads);
        if (calls.size() == 1) return;
        if (!on_threads || both) runs.check(calls.back(), topology, ExecutorKind::fibers);
        if (both) runs.check(calls.front(), topology, ExecutorKind::threads);
      },
      most_nodes);
}

TEST_CASE("every algorithm takes empty blocks on fibers, and its trace is its record",
          "[machine][collectives]") {
  check_runs(0, most_on_both);
}
TEST_CASE("every algorithm delivers one element on threads and fibers, and its trace is its record",
          "[machine][collectives]") {
  check_runs(1, sanitized ? 4 : most_on_both);
}
TEST_CASE("every algorithm delivers 13 elements on threads and fibers, and its trace is its record",
          "[machine][collectives]") {
  check_runs(13, most_on_both);
}

TEST_CASE("every call runs both on threads and on fibers", "[machine][collectives][.][wide]") {
  check_runs(GENERATE(0, 1, 13), most_nodes);
}

/// Windows, and what nodes live on.
struct WindowKind {
  ExecutorKind executor;
  int workers, window;
};
std::vector<WindowKind> window_kinds() {
  std::vector<WindowKind> all;
  for (const int window : {8, 2, 1}) {
    all.push_back({ExecutorKind::threads, 0, window});
    for (const int workers : {1, 2, 4}) all.push_back({ExecutorKind::fibers, workers, window});
  }
  return all;
}

/// Each case on the next `each` kinds.
void check_windows(std::size_t each, Rank up_to) {
  const std::vector<WindowKind> kinds = window_kinds();
  std::size_t next = 0;
  std::string network;
  std::map<std::pair<std::size_t, bool>, std::unique_ptr<Machine>> machines;  // of this network
  cases::for_each(
      [&](const Collective& collective, const Topology& topology) {
        if (std::exchange(network, topology.name()) != topology.name()) machines.clear();
        INFO(cases::title(collective, topology));
        const bool all_port = collective.algorithm->ports == Ports::all;
        const std::vector<cases::Call> calls = cases::calls(collective, topology, 13);
        for (std::size_t i = 0; i < each; ++i, ++next) {
          const auto& [executor, workers, window] = kinds[next % kinds.size()];
          INFO((executor == ExecutorKind::threads ? "threads" : "fibers")
               << ", " << workers << " workers, window " << window);
          auto& machine = machines[{next % kinds.size(), all_port}];
          if (!machine) {
            MachineOptions options = machine_tests::plain(executor);
            options.workers = workers;
            options.window = window;
            options.all_port = all_port;
            machine = std::make_unique<Machine>(topology, options);
          }
          check_run(calls[next % calls.size()], *machine);
        }
        ++next;  // another one for the next network's same algorithm
      },
      up_to);
}

TEST_CASE("every algorithm delivers with every window, and its trace is its record",
          "[machine][collectives][window]") {
  check_windows(2, sanitized ? 6 : 16);
}
TEST_CASE("every algorithm runs with every window on threads and fibers",
          "[machine][collectives][.][wide][window]") {
  check_windows(window_kinds().size(), most_nodes);
}

TEST_CASE("calls back to back are timed beside the others, whatever the window",
          "[machine][collectives][window]") {
  for (const int window : {1, 8}) {
    MachineOptions options = machine_tests::plain(ExecutorKind::fibers);
    options.window = window;
    Machine machine(Topology::parse("torus:3x3"), options);
    CollectiveRun run;
    run.iterations = 3;
    const auto messages_of = [&](int calls) {
      run.calls = calls;
      const RunResult result = run_collective(machine, cases::alltoall("shift"), run);
      CHECK(result.wrong == 0U);
      CHECK(result.back_to_back_us.has_value() == (calls > 0));
      if (calls > 0) CHECK(*result.back_to_back_us > 0);
      return result.messages;
    };
    // 8 messages of each node in a call; two barriers more, however many calls there are.
    const std::uint64_t none = messages_of(0), one = messages_of(1);
    CHECK(messages_of(10) - one == 9 * 9 * 8);
    CHECK(one > none + 9 * 8);
    run.calls = -1;
    CHECK_THROWS_AS(run_collective(machine, cases::alltoall("shift"), run), UsageError);
  }
}

TEST_CASE("blocks of many sizes arrive whole, empty ones too", "[machine][collectives]") {
  // Each algorithm takes all sizes, dealt out over the networks that it admits.
  constexpr std::array<Bytes, 6> sizes{0, 5000, 1, 64, 7, 1000};
  std::vector<Topology> networks;
  for (const char* text : {"torus:4x4", "mesh:3x5", "mesh:4x4", "hypercube:4", "ring:7",
                           "complete:5", "tree:8", "torus:5x5"}) {
    networks.push_back(Topology::parse(text));
    if (sanitized && networks.back().nodes() > 8) networks.pop_back();
  }
  for (const Algorithm* algorithm : cases::built_in()) {
    Arguments arguments;
    if (algorithm->operation->reduces) arguments.reduction = find_reduction("sum", "uint8");
    const Collective collective(*algorithm, arguments);
    std::vector<const Topology*> admitting;
    for (const Topology& topology : networks) {
      if (!refusal(collective, topology)) admitting.push_back(&topology);
    }
    INFO(algorithm->operation->name << " " << algorithm->name);
    CHECK((sanitized || !admitting.empty()));
    for (std::size_t i = 0; i < admitting.size(); ++i) {
      const Topology& topology = *admitting[i];
      MachineOptions options;
      options.all_port = algorithm->ports == Ports::all;
      options.any_order = algorithm->selection == Selection::any_order;
      Machine machine(topology, options);
      for (std::size_t size = i; size < sizes.size(); size += admitting.size()) {
        CollectiveRun run;
        run.block_bytes = sizes[size];
        INFO(cases::title(collective, topology) << ", " << run.block_bytes << " bytes");
        run.iterations = 2;
        const RunResult result = run_collective(machine, collective, run);
        CHECK(result.wrong == 0U);
      }
    }
  }
}

TEST_CASE("the options of the complete exchanges run on real nodes", "[machine][collectives]") {
  const auto delivers = [](const char* text, const std::string& called) {
    INFO(called << " on " << text);
    const Topology topology = Topology::parse(text);
    MachineOptions options;
    options.executor = ExecutorKind::fibers;
    Machine machine(topology, options);
    CollectiveRun run;
    run.block_bytes = 24;
    run.iterations = 2;
    CHECK(run_collective(machine, cases::alltoall(called), run).wrong == 0U);
  };
  for (const std::string order : {"paper", "parity", "overlap"}) {
    for (const std::string ring : {"plus", "folded"}) {
      for (const char* mesh : {"mesh:7x5x3", "mesh:8x4x2x2", "mesh:9x7", "line:9"}) {
        delivers(mesh, "suh-mesh:order=" + order + ":ring=" + ring);
      }
    }
  }
  for (const char* const divisions : {"1", "2"}) {
    delivers("torus:8x8", std::string("kim-recursive:divisions=") + divisions);
  }
  for (const Rank root : {0, 3, 11}) {
    Arguments arguments;
    arguments.root = root;
    Machine machine(Topology::parse("mesh:3x4"));
    const auto halving = cases::collective_of(operations::broadcast, "halving", arguments);
    CHECK(run_collective(machine, halving, {}).wrong == 0U);
  }
}

TEST_CASE("every torus exchange of 256 nodes runs on OS threads",
          "[machine][collectives][stress]") {
  if (machine_tests::patience > 1) return;  // too many threads for a sanitizer
  Machine machine(Topology::parse("torus:16x16"));
  for (const Collective& collective : admitted(operations::alltoall, machine.topology())) {
    if (collective.algorithm->ports == Ports::all) continue;
    if (collective.name() == "product-naive") continue;  // 17408 steps of one block
    INFO(collective.text());
    CollectiveRun run;
    run.block_bytes = 40;
    run.iterations = 2;
    CHECK(run_collective(machine, collective, run).wrong == 0U);
  }
}

}  // namespace
