// For every operation, programs that send nothing, write a constant, omit a block or put it in the
// wrong place; `check` and `run` must refuse all of them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/tests/collectives/built_in.hpp"
#include "wormcube/tests/collectives/cases.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

/// What the mutants spoil: node programs are plain functions. Set before a run, read by its nodes.
const Algorithm* original = nullptr;

/// This node's output blocks that are not empty.
std::vector<Span> filled_blocks(const Call& call) {
  std::vector<Span> blocks;
  for (Rank b = 0; b < call.output.count(); ++b) {
    if (!call.output[b].empty()) blocks.push_back(call.output[b]);
  }
  return blocks;
}

void sends_nothing(Node& /*node*/, const Call& /*call*/) {}

template <int value>
void writes_a_constant(Node& node, const Call& call) {
  node.local([&] {
    for (const Span block : filled_blocks(call)) std::ranges::fill(block, std::byte{value});
  });
}

/// One element that a program could make up: the combination of all, or node 0's first tag.
void writes_small_numbers(Node& node, const Call& call) {
  node.local([&] {
    for (const Span block : filled_blocks(call)) {
      for (Bytes at = 0; at < block.size(); ++at) {
        block[at] = at % 16 == 4 ? static_cast<std::byte>(node.size()) : std::byte{0};
      }
    }
  });
}

void leaves_out_the_first_block(Node& node, const Call& call) {
  std::vector<std::byte> before;
  node.local([&] {
    if (const auto blocks = filled_blocks(call); !blocks.empty()) {
      before.assign(blocks.front().begin(), blocks.front().end());
    }
  });
  original->program(node, call);
  node.local([&] {
    if (!before.empty()) std::ranges::copy(before, filled_blocks(call).front().begin());
  });
}

/// Of a node that ends with one block: its halves.
void swaps_the_first_two(Node& node, const Call& call) {
  original->program(node, call);
  node.local([&] {
    const auto blocks = filled_blocks(call);
    if (blocks.empty()) return;
    const Span first = blocks.front();
    if (blocks.size() > 1) {
      const Bytes common = std::min(first.size(), blocks[1].size());
      std::ranges::swap_ranges(first.first(common), blocks[1].first(common));
    } else {
      std::ranges::swap_ranges(first.first(first.size() / 2), first.last(first.size() / 2));
    }
  });
}

struct Mutant {
  const char* name;
  void (*program)(Node&, const Call&);
};
const std::vector<Mutant> mutants{{"sends nothing", sends_nothing},
                                  {"writes zeros", writes_a_constant<0>},
                                  {"writes ones", writes_a_constant<0xff>},
                                  {"writes what fresh memory may hold", writes_a_constant<0xA5>},
                                  {"writes small numbers", writes_small_numbers},
                                  {"leaves out the first block", leaves_out_the_first_block},
                                  {"swaps the first two blocks", swaps_the_first_two}};

/// The first one-port algorithm of an operation that a network admits and no option leaves open.
const Algorithm& right_one(Operation operation, const Topology& topology) {
  for (const Algorithm* algorithm : cases::built_in()) {
    if (algorithm->operation != operation || algorithm->ports != Ports::one ||
        algorithm->selection == Selection::any_order || algorithm->settle != nullptr) {
      continue;
    }
    if (!refusal(Collective(*algorithm, cases::plain_arguments(*algorithm)), topology)) {
      return *algorithm;
    }
  }
  throw std::logic_error(std::string(operation->name) + ": none to spoil");
}

/// Root 0 and another; one source, node 0, and others.
std::vector<Arguments> some_calls(const Algorithm& algorithm) {
  std::vector<Arguments> calls{cases::plain_arguments(algorithm)};
  if (algorithm.operation->rooted) {
    calls.push_back(calls.front());
    calls.back().root = 5;
  }
  if (algorithm.operation->has_sources) {
    calls.push_back(calls.front());
    calls.back().sources = {1, 2, 6};
  }
  return calls;
}

/// Without formulas: what a proof finds is not to be hidden behind a wrong count.
Algorithm spoilt(const Algorithm& algorithm) {
  Algorithm copy = algorithm;
  copy.predict = [](const Setting&) { return Prediction{}; };
  return copy;
}

}  // namespace

TEST_CASE("no program that sends nothing or writes arbitrary data passes a check",
          "[collectives][mutants]") {
  const Topology cube = Topology::parse("hypercube:3");
  for (const Operation operation : all_operations) {
    original = &right_one(operation, cube);
    for (const Arguments& arguments : some_calls(*original)) {
      CAPTURE(operation->name, original->name, arguments.root);
      const CheckResult right = check_collective(Collective(*original, arguments), cube);
      CAPTURE(right.failures);
      REQUIRE(right.passed());
      REQUIRE(right.delivered == true);
      Algorithm mutant = spoilt(*original);
      for (const Mutant& kind : mutants) {
        if (!operation->moves_data && kind.program != sends_nothing) continue;  // it has no output
        CAPTURE(kind.name);
        mutant.program = kind.program;
        const CheckResult result = check_collective(Collective(mutant, arguments), cube);
        CHECK(result.delivered == false);
        CHECK_FALSE(result.passed());
        if (kind.program == sends_nothing && operation->bound != nullptr) {
          CHECK(std::ranges::any_of(result.failures, [](const std::string& failure) {
            return failure.starts_with("start-ups: counted 0, fewer than the bound ");
          }));
        }
      }
    }
  }
}

TEST_CASE("no such program is right in a run", "[collectives][mutants]") {
  const Topology cube = Topology::parse("hypercube:3");
  Machine machine(cube, {.executor = ExecutorKind::fibers});
  const CollectiveRun run{.block_bytes = 48, .iterations = 1, .warmup = 1};
  for (const Operation operation : all_operations) {
    if (!operation->moves_data) continue;  // barriers: harness_test
    original = &right_one(operation, cube);
    for (const Arguments& arguments : some_calls(*original)) {
      CAPTURE(operation->name, original->name, arguments.root);
      REQUIRE(run_collective(machine, Collective(*original, arguments), run).wrong == 0U);
      Algorithm mutant = spoilt(*original);
      for (const Mutant& kind : mutants) {
        CAPTURE(kind.name);
        mutant.program = kind.program;
        const RunResult result = run_collective(machine, Collective(mutant, arguments), run);
        CHECK(result.wrong.value_or(0) > 0);
        CHECK_FALSE(result.passed());
        // Words do not remember where they come from.
        CHECK_THAT(result.first_wrong, !Catch::Contains("but"));
      }
    }
  }
}

namespace {

/// The right allreduce, then everybody passes its result on round the ring, three times.
void repeats_its_result(Node& node, const Call& call) {
  original->program(node, call);
  const Memory again = node.memory(call.output.bytes());
  for (int turn = 0; turn < 3; ++turn) {
    node.step({send(mod(node.rank() + 1, node.size()), ConstSpan(call.output[0])),
               receive(mod(node.rank() - 1, node.size()), again)});
  }
}

}  // namespace

TEST_CASE("a result of a reduction that comes to a node again is not exactly once",
          "[collectives][mutants]") {
  const Topology ring = Topology::parse("ring:8");
  for (const char* const name : {"ring", "recursive-doubling"}) {
    original = &find_algorithm(operations::allreduce, name);
    const Arguments arguments = cases::plain_arguments(*original);
    const CheckResult once = check_collective(Collective(*original, arguments), ring);
    CAPTURE(name, once.failures);
    CHECK(once.exactly_once == true);
    CHECK(once.arrivals == "each node's arrivals were counted, combination by combination");
    Algorithm mutant = spoilt(*original);
    mutant.contention_free = false;
    mutant.program = repeats_its_result;
    const CheckResult again = check_collective(Collective(mutant, arguments), ring);
    CAPTURE(again.failures);
    CHECK(again.delivered == true);
    CHECK(again.exactly_once == false);
    CHECK(again.passed() == !mutant.exactly_once);
    CHECK_THAT(again.arrivals, Catch::Contains("twice"));
  }
}

TEST_CASE("properties default to not claimed", "[collectives][mutants]") {
  const Algorithm silent{.operation = operations::barrier,
                         .name = "silent",
                         .summary = "says nothing of itself",
                         .source = "a test",
                         .program = sends_nothing};
  CHECK_FALSE(silent.contention_free);
  CHECK_FALSE(silent.exactly_once);
}
