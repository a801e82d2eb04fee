// Several threads check and run collectives at the same time.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

/// Programs of dry runs and proofs that belonged to another algorithm than their own, or to it.
std::atomic<int> misnamed{0}, named{0};

/// Threads of machines, which are not their caller's, have no activity of their own.
void expect_own_name(std::string_view name) {
  const std::string_view now = Activity::prefix();
  if (!now.empty()) ++(now == name ? named : misnamed);
}

/// An all-gather in one step, which asks what its thread does.
void gather(Node& node, const Call& call, std::string_view name) {
  expect_own_name(name);
  const Rank p = node.size(), r = node.rank();
  std::vector<Op> ops;
  for (Rank t = 1; t < p; ++t) {
    ops.push_back(send(mod(r + t, p), call.input[0]));
    ops.push_back(receive(mod(r - t, p), call.output[mod(r - t, p)]));
  }
  node.step(std::span<const Op>(ops));
  node.local([&] { std::ranges::copy(call.input[0], call.output[r].begin()); });
  expect_own_name(name);
}

constexpr int repetitions = sanitized ? 2 : 20;

}  // namespace

TEST_CASE("programs belong to the algorithm of their own thread, whatever other threads do",
          "[collectives][machine][schedule]") {
  const Algorithm one{
      .operation = operations::allgather,
      .name = "one",
      .summary = "",
      .source = "",
      .ports = Ports::all,
      .program = [](Node& node, const Call& call) { gather(node, call, "allgather one: "); }};
  Algorithm two = one;
  two.name = "two";
  two.program = [](Node& node, const Call& call) { gather(node, call, "allgather two: "); };
  misnamed = named = 0;
  std::atomic<int> wrong{0};
  const auto use = [&](const Algorithm& algorithm, const char* network) {
    const Topology topology = Topology::parse(network);
    const Collective collective(algorithm);
    MachineOptions options;
    options.executor = ExecutorKind::fibers;
    options.workers = 2;
    options.all_port = true;
    Machine machine(topology, options);
    for (int i = 0; i < repetitions; ++i) {
      const CheckResult checked = check_collective(collective, topology, {.all_port = true});
      if (checked.delivered != true) ++wrong;
      CollectiveRun run;
      run.block_bytes = 8;
      run.iterations = 2;
      if (!run_collective(machine, collective, run).passed()) ++wrong;
      if (!Activity::prefix().empty()) ++wrong;
    }
  };
  std::thread other([&] { use(two, "complete:7"); });
  use(one, "complete:5");
  other.join();
  CHECK(wrong == 0);
  CHECK(misnamed == 0);
  CHECK(named > repetitions * 2 * (5 + 7));
  CHECK(Activity::prefix().empty());
}

TEST_CASE("threads that check built-in algorithms at the same time count what one thread counts",
          "[collectives][machine][schedule]") {
  struct Case {
    Operation operation;
    const char *name, *network;
  };
  const std::vector<Case> cases{{operations::alltoall, "shift", "torus:4x4"},
                                {operations::allgather, "ring", "torus:5x5"},
                                {operations::allreduce, "recursive-doubling", "hypercube:4"}};
  const auto counts_of = [](const Case& each) {
    Arguments arguments;
    if (each.operation->reduces) arguments.reduction = find_reduction("sum", "int32");
    const Collective collective = parse_collective(each.operation, each.name, arguments);
    const CheckResult result = check_collective(collective, Topology::parse(each.network));
    return std::vector<double>{static_cast<double>(result.report.messages),
                               result.transmission_blocks, result.link_blocks,
                               result.delivered == true ? 1.0 : 0.0};
  };
  std::vector<std::vector<double>> alone;
  for (const Case& each : cases) alone.push_back(counts_of(each));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    threads.emplace_back([&, k] {
      for (int i = 0; i < repetitions; ++i) {
        if (counts_of(cases[k]) != alone[k]) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(Activity::prefix().empty());
}
