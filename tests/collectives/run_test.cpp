// Running a collective: measurements, reports and errors, with one process and with several.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/run.hpp"

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/base/units.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

/// A process of two, the other of which has measured: it receives what that found. It runs
/// nothing.
class Elsewhere final : public Multicomputer, public Team {
 public:
  explicit Elsewhere(const char* network) : topology_(Topology::parse(network)) {}

  std::pair<Rank, Rank> here{0, 0};
  Statistics statistics;
  std::vector<std::vector<double>> given, replies;  // to maximum(), call by call; and by it

  const Topology& topology() const override { return topology_; }
  Statistics run(const Program& /*program*/) override { return statistics; }
  Statistics run(const Program& /*program*/, Schedule& /*trace*/) override { return statistics; }
  std::pair<Rank, Rank> nodes_here() const override { return here; }
  bool has_links() const override { return false; }
  Team& team() override { return *this; }

  int process() const override { return 1; }
  int processes() const override { return 2; }
  int processes_here() const override { return 1; }
  void sum(std::span<std::uint64_t> /*values*/) override {}
  void maximum(std::span<double> values) override {
    const std::vector<double>& all = replies.at(given.size());
    given.emplace_back(values.begin(), values.end());
    std::copy_n(all.begin(), std::min(all.size(), values.size()), values.begin());
  }
  std::string first_text(std::string text) override { return text; }
  void join(Span /*array*/, std::size_t /*begin*/, std::size_t /*end*/) override {}
  std::unique_ptr<SharedCounter> counter() override { return team_of_one().counter(); }

 private:
  Topology topology_;
};

Collective preset_of(Operation operation, const char* name) {
  return Collective(find_algorithm(operation, name));
}
Collective sum_by(Operation operation, const char* name) {
  Collective collective = preset_of(operation, name);
  collective.arguments.reduction = find_reduction("sum", "int64");
  return collective;
}

/// One worker: nodes give their core away where they wait, and nowhere else.
const MachineOptions one_worker{.executor = ExecutorKind::fibers, .workers = 1};

}  // namespace

TEST_CASE("a process without nodes has the others' times, and figures of all nodes",
          "[collectives]") {
  Elsewhere machine("ring:4");
  machine.replies = {{4, 1, 3, 2, 10}, {7}};
  machine.statistics.nodes = {{.messages = 3, .parked = 5, .peak_bytes = 10},
                              {.messages = 4, .parked = 6, .peak_bytes = 20},
                              {.messages = 1, .parked = 1, .peak_bytes = 15}};
  machine.statistics.links = {{.link = 0, .bytes = 500, .blocked = 2},
                              {.link = 1, .bytes = 1000, .blocked = 3},
                              {.link = 2, .bytes = 700, .blocked = 4}};
  const RunResult result =
      run_collective(machine, preset_of(operations::alltoall, "shift"),
                     {.block_bytes = 100, .iterations = 5, .warmup = 2, .calls = 3});
  CHECK(machine.given == std::vector<std::vector<double>>{{0, 0, 0, 0, 0}, {0}});
  CHECK(result.times_us == std::vector<double>{4, 1, 3, 2, 10});
  CHECK(std::array{result.min_us, result.quartile1_us, result.median_us, result.quartile3_us,
                   result.max_us} == std::array{1.0, 2.0, 3.0, 4.0, 10.0});
  CHECK(result.back_to_back_us == 7);
  CHECK(result.data_bytes == 400);
  CHECK(*result.algbw_gb_per_s == Approx(0.4 / 3));
  CHECK(*result.busbw_gb_per_s == Approx(0.1));
  CHECK(result.messages == 8);
  CHECK(result.parked == 12);
  CHECK(result.peak_bytes == 20);
  CHECK(result.blocked == 9);
  CHECK(result.link_bytes_max == 100);  // of ten calls
  CHECK_FALSE(result.has_links);
  CHECK(result.wrong == 0U);
}

TEST_CASE("a rate is reported if data moved in any time, however short", "[collectives]") {
  const auto rate = [](const Collective& collective, double us) {
    Elsewhere machine("ring:4");
    machine.replies = {{us}};
    const RunResult result = run_collective(
        machine, collective,
        {.block_bytes = collective.operation()->moves_data ? Bytes{1} : 0, .iterations = 1});
    CHECK(result.busbw_gb_per_s == result.algbw_gb_per_s);
    return result.algbw_gb_per_s;
  };
  const Collective byte = preset_of(operations::broadcast, "halving");
  CHECK(*rate(byte, 0.5) == Approx(0.002));
  CHECK_FALSE(rate(byte, 0).has_value());
  CHECK_FALSE(rate(preset_of(operations::barrier, "tree"), 1).has_value());
  Collective none = preset_of(operations::shift, "direct");
  none.arguments.by = 4;
  CHECK_FALSE(rate(none, 1).has_value());
}

TEST_CASE("what no node has compared is wrong", "[collectives]") {
  Elsewhere machine("ring:4");
  machine.here = {0, 4};
  machine.replies = {{1}};
  const RunResult result = run_collective(machine, preset_of(operations::alltoall, "shift"),
                                          {.block_bytes = 8, .iterations = 1});
  CHECK(result.wrong == 1U);
  CHECK_FALSE(result.passed());
}

namespace {

/// A machine whose nodes are divided among threads that stand for processes.
struct Divided {
  Divided(const Topology& topology, std::vector<Rank> first_nodes)
      : machine(topology, one_worker),
        bounds(std::move(first_nodes)),
        meeting(static_cast<std::ptrdiff_t>(bounds.size()) - 1),
        programs(bounds.size() - 1),
        sums(bounds.size() - 1),
        maxima(bounds.size() - 1),
        texts(bounds.size() - 1) {}

  std::size_t process_of(Rank rank) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(bounds, rank) - bounds.begin()) - 1;
  }

  Machine machine;
  std::vector<Rank> bounds;  // where each one's nodes begin, and where the last one's end
  std::barrier<> meeting;
  std::vector<Program> programs;  // of each process, as all below
  std::vector<std::vector<std::uint64_t>> sums;
  std::vector<std::vector<double>> maxima;
  std::vector<std::string> texts;
  Statistics statistics;
};

class OneOfSeveral final : public Multicomputer, public Team {
 public:
  OneOfSeveral(Divided& all, std::size_t process) : all_(all), process_(process) {}

  const Topology& topology() const override { return all_.machine.topology(); }
  Statistics run(const Program& program) override {
    share(all_.programs, program);
    if (process_ == 0) {
      all_.statistics =
          all_.machine.run([&](Node& node) { all_.programs[all_.process_of(node.rank())](node); });
    }
    all_.meeting.arrive_and_wait();
    return all_.statistics;
  }
  Statistics run(const Program& program, Schedule& /*trace*/) override { return run(program); }
  std::pair<Rank, Rank> nodes_here() const override {
    return {all_.bounds[process_], all_.bounds[process_ + 1]};
  }
  bool has_links() const override { return false; }
  Team& team() override { return *this; }

  int process() const override { return static_cast<int>(process_); }
  int processes() const override { return static_cast<int>(all_.programs.size()); }
  int processes_here() const override { return processes(); }
  void sum(std::span<std::uint64_t> values) override {
    combine(all_.sums, values, [](std::uint64_t a, std::uint64_t b) { return a + b; });
  }
  void maximum(std::span<double> values) override {
    combine(all_.maxima, values, [](double a, double b) { return std::max(a, b); });
  }
  std::string first_text(std::string text) override {
    share(all_.texts, std::move(text));
    const auto found = std::ranges::find_if_not(all_.texts, &std::string::empty);
    std::string first = found == all_.texts.end() ? std::string() : *found;
    all_.meeting.arrive_and_wait();
    return first;
  }
  void join(Span /*array*/, std::size_t /*begin*/, std::size_t /*end*/) override {}
  std::unique_ptr<SharedCounter> counter() override { return nullptr; }

 private:
  template <class T>
  void share(std::vector<T>& everybodys, T mine) {
    everybodys[process_] = std::move(mine);
    all_.meeting.arrive_and_wait();
  }
  template <class T, class Both>
  void combine(std::vector<std::vector<T>>& everybodys, std::span<T> values, Both both) {
    share(everybodys, std::vector<T>(values.begin(), values.end()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (const std::vector<T>& theirs : everybodys) values[i] = both(values[i], theirs.at(i));
      if constexpr (std::is_integral_v<T>) values[i] -= everybodys[process_].at(i);
    }
    all_.meeting.arrive_and_wait();
  }

  Divided& all_;
  std::size_t process_;
};

/// What each of the processes gets.
std::vector<RunResult> results_of_all(Divided& all, const Collective& collective,
                                      const CollectiveRun& run) {
  std::vector<RunResult> results(all.programs.size());
  std::vector<std::exception_ptr> errors(results.size());
  std::vector<std::jthread> threads;
  for (std::size_t process = 0; process < results.size(); ++process) {
    threads.emplace_back([&, process] {
      try {
        OneOfSeveral mine(all, process);
        results[process] = run_collective(mine, collective, run);
      } catch (...) {  // the others go on without this one
        errors[process] = std::current_exception();
        all.meeting.arrive_and_drop();
      }
    });
  }
  threads.clear();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return results;
}

void exchange_by_shift(Node& node, const Call& call) {
  find_algorithm(operations::alltoall, "shift").program(node, call);
}

}  // namespace

TEST_CASE("several processes get one result: the nodes of each are timed and compared there",
          "[collectives]") {
  Algorithm spoilt = find_algorithm(operations::alltoall, "shift");
  spoilt.program = [](Node& node, const Call& call) {
    exchange_by_shift(node, call);
    node.local([&] {
      if (node.rank() > 2) call.output[1][7] ^= std::byte{1};
    });
  };
  const Topology ring = Topology::parse("ring:5");
  for (const bool right : {true, false}) {
    Divided all(ring, {0, 2, 2, 5});  // the second one has no nodes
    std::vector<std::pair<int, int>> reported;
    CollectiveRun run{.block_bytes = 8, .iterations = 2, .warmup = 1, .calls = 2};
    run.progress = [&](int done, int total) { reported.emplace_back(done, total); };
    const std::vector<RunResult> results = results_of_all(
        all, right ? preset_of(operations::alltoall, "shift") : Collective(spoilt), run);
    CHECK(reported == std::vector<std::pair<int, int>>{{1, 2}, {2, 2}});
    for (const RunResult& result : results) {
      CHECK(result.wrong == (right ? 0U : 2U));
      CHECK(result.first_wrong ==
            (right ? "" : "node 3, block 1, byte 7: not from block 3 of node 1"));
      CHECK(result.times_us == results[0].times_us);
      CHECK(result.back_to_back_us == results[0].back_to_back_us);
      for (const double time : result.times_us) CHECK((time > 0 && time < 1e9));
      CHECK((*result.back_to_back_us > 0 && *result.back_to_back_us < 1e9));
    }
  }
}

TEST_CASE("the time of an iteration, and of calls back to back, holds all that the nodes do in it",
          "[collectives]") {
  using Clock = std::chrono::steady_clock;
  // Calls of nodes that wait for nobody, one after the other: when each began and ended, by node.
  static std::array<std::vector<std::pair<Clock::time_point, Clock::time_point>>, 4> made;
  for (auto& by_node : made) by_node.clear();
  Algorithm watched = find_algorithm(operations::alltoall, "shift");
  watched.program = [](Node& node, const Call&) {
    node.local([&] {
      const auto begin = Clock::now();
      auto end = begin;
      while (end == begin) end = Clock::now();
      made[static_cast<std::size_t>(node.rank())].emplace_back(begin, end);
    });
  };
  constexpr int in_a_row = 50, iterations = 8;
  Machine machine(Topology::parse("ring:4"), one_worker);
  const auto begin = Clock::now();
  const RunResult result = run_collective(machine, Collective(watched),
                                          {.block_bytes = 8,
                                           .iterations = iterations,
                                           .warmup = 0,
                                           .calls = in_a_row,
                                           .verify = false});
  const double all_us = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  // From the first node that begins the call `first` to the last one that ends the call `last`.
  const auto passed_us = [](std::size_t first, std::size_t last) {
    auto from = made[0].at(first).first, to = made[0].at(last).second;
    for (const auto& by_node : made) {
      from = std::min(from, by_node.at(first).first);
      to = std::max(to, by_node.at(last).second);
    }
    return std::chrono::duration<double, std::micro>(to - from).count();
  };
  const double back_to_back = *result.back_to_back_us * in_a_row;
  CHECK(back_to_back >= passed_us(0, in_a_row - 1) * (1 - 1e-12));
  REQUIRE(result.times_us.size() == iterations);
  for (std::size_t i = 0; i < iterations; ++i) {
    CHECK(result.times_us[i] >= passed_us(in_a_row + i, in_a_row + i));
  }
  CHECK(std::accumulate(result.times_us.begin(), result.times_us.end(), back_to_back) <= all_us);
}

TEST_CASE("barriers are around the calls back to back, before each iteration, and around comparing",
          "[collectives]") {
  const Topology ring = Topology::parse("ring:4");
  Machine machine(ring, one_worker);
  const auto messages = [&](const Collective& collective, int in_a_row, bool verify) {
    return run_collective(machine, collective,
                          {.block_bytes = collective.operation()->moves_data ? Bytes{8} : 0,
                           .iterations = 2,
                           .warmup = 1,
                           .calls = in_a_row,
                           .verify = verify})
        .messages;
  };
  constexpr std::uint64_t barrier = 2 * 3, exchange = 4 * 3;
  const Collective shift = preset_of(operations::alltoall, "shift");
  CHECK(messages(shift, 0, false) == 3 * exchange + 3 * barrier);
  CHECK(messages(shift, 0, true) == 3 * exchange + 5 * barrier);
  CHECK(messages(shift, 1, false) == 4 * exchange + 5 * barrier);
  CHECK(messages(shift, 3, true) == 6 * exchange + 7 * barrier);
  CHECK(messages(preset_of(operations::barrier, "tree"), 3, true) == 6 * barrier + 5 * barrier);
}

TEST_CASE("inputs are filled before the first call, after calls back to back, and to be verified",
          "[collectives]") {
  static std::atomic<int> filled;
  Collective sum = sum_by(operations::allreduce, "recursive-doubling");
  sum.arguments.reduction.operands = [inner = sum.arguments.reduction.operands](
                                         std::uint64_t stream, Span data) {
    ++filled;
    inner(stream, data);
  };
  Machine machine(Topology::parse("ring:4"));
  const auto fillings = [&](int in_a_row, bool verify) {
    filled = 0;
    const RunResult result = run_collective(
        machine, sum,
        {.block_bytes = 8, .iterations = 3, .warmup = 2, .calls = in_a_row, .verify = verify});
    CHECK(result.wrong.has_value() == verify);
    return filled / 4;
  };
  // Of each node's operand once more for the oracle's sum, and once to be compared with the input.
  CHECK(fillings(0, false) == 1 + 1);
  CHECK(fillings(2, false) == 1 + 2);
  CHECK(fillings(0, true) == 1 + 3);
  CHECK(fillings(2, true) == 1 + 4);
}

TEST_CASE("a wrong input is one wrong byte, and a barrier's figure the nodes that were missed",
          "[collectives]") {
  Machine machine(Topology::parse("ring:8"), one_worker);
  Algorithm writes = find_algorithm(operations::alltoall, "shift");
  writes.program = [](Node& node, const Call& call) {
    exchange_by_shift(node, call);
    node.local([&] {
      const ConstSpan mine = call.input[0];
      if (node.rank() == 1) const_cast<std::byte*>(mine.data())[0] ^= std::byte{1};
    });
  };
  const RunResult changed = run_collective(machine, Collective(writes), {.block_bytes = 8});
  CHECK(changed.wrong == 1U);
  CHECK(changed.first_wrong == "node 1: its input was changed");

  // One after the other the nodes come and go.
  Algorithm none = find_algorithm(operations::barrier, "dissemination");
  none.program = [](Node&, const Call&) {};
  const RunResult missed =
      run_collective(machine, Collective(none), {.block_bytes = 0, .iterations = 1});
  CHECK(missed.wrong == 7U + 6 + 5 + 4 + 3 + 2 + 1);
  CHECK_THAT(missed.first_wrong, Contains(" of 8 nodes had entered"));
}

TEST_CASE("a result says what was run, and what the model makes of its formulas", "[collectives]") {
  Machine machine(Topology::parse("ring:4"));
  const CollectiveRun run{.block_bytes = 100, .model = {10, 0.5, 0.25, 0.125, 0}, .iterations = 1};
  const auto result_by = [&](Prediction (*predict)(const Setting&)) {
    Algorithm algorithm = find_algorithm(operations::alltoall, "shift");
    algorithm.predict = predict;
    RunResult result = run_collective(machine, Collective(algorithm), run);
    CHECK(result.collective.name() == "shift");
    CHECK(result.topology == "ring:4");
    CHECK(result.nodes == 4);
    CHECK(result.block_bytes == 100);
    CHECK(result.has_links);
    CHECK(result.weighed.prediction.startups == 3);
    return result;
  };
  const RunResult by_formula = result_by([](const Setting&) {
    return Prediction{
        .startups = 3, .transmission_blocks = 3, .rearranged_blocks = 2, .link_blocks = 4};
  });
  CHECK(by_formula.model_us == 3 * 10 + 100 * (4 * 0.5 + 2 * 0.25));
  CHECK(by_formula.weighed.contention == Contention::formula);
  const RunResult contended =
      result_by([](const Setting&) { return Prediction{.startups = 3, .link_blocks = 5}; });
  CHECK(contended.model_us == 3 * 10 + 100 * 5 * 0.5);
  // Shift on a ring of 4 takes 1 + 2 + 1 blocks on its busiest links.
  const RunResult counted =
      result_by([](const Setting&) { return Prediction{.startups = 3, .transmission_blocks = 3}; });
  CHECK(counted.model_us == 3 * 10 + 100 * 4 * 0.5);
  CHECK(counted.weighed.contention == Contention::counted);
  CHECK(counted.weighed.transmission == CountedBy::formula);
  // What has no formula is counted.
  const RunResult without = result_by([](const Setting&) { return Prediction{}; });
  CHECK(without.model_us == counted.model_us);
  CHECK(without.weighed.startups == CountedBy::counted);
}

TEST_CASE("the links of a single call are reported, and a traced run makes one more call",
          "[collectives]") {
  Machine machine(Topology::parse("ring:4"));
  const Collective shift = preset_of(operations::alltoall, "shift");
  std::atomic<int> traced = 0;
  CollectiveRun run{.block_bytes = 10, .iterations = 1, .links = true};
  run.traced = [&](const Program& call) -> Program {
    return [&, call](Node& node) {
      ++traced;
      call(node);
    };
  };
  const RunResult result = run_collective(machine, shift, run);
  CHECK(traced == 4);
  Bytes bytes = 0;
  for (const LinkStatistics& link : result.links) bytes += link.bytes;
  CHECK(bytes == 10 * 4 * (1 + 2 + 1));
  Elsewhere without("ring:4");
  without.replies = {{1}};
  CHECK_THROWS_WITH(run_collective(without, shift, {.iterations = 1, .links = true}),
                    "link loads are available for emulated networks only, not for MPI");
}

TEST_CASE("a ring without its second channel is run where cycles are allowed, and says so",
          "[collectives]") {
  Machine machine(Topology::parse("ring:5"), {.virtual_channels = 1, .allow_cycles = true});
  const Collective tree = preset_of(operations::barrier, "tree");
  CHECK_FALSE(run_collective(machine, tree, {.block_bytes = 0, .iterations = 1}).deadlock_free);
}

TEST_CASE("numbers of calls that are none are refused", "[collectives]") {
  Machine machine(Topology::parse("ring:2"));
  const auto refused = [&](int iterations, int warmup, int in_a_row, const char* text) {
    CHECK_THROWS_WITH(
        run_collective(machine, preset_of(operations::alltoall, "shift"),
                       {.iterations = iterations, .warmup = warmup, .calls = in_a_row}),
        text + std::string("; need at least 1, 0 and 0"));
  };
  refused(0, 0, 0, "0 timed calls, 0 before them to warm up, 0 back to back");
  refused(1, -1, 0, "1 timed calls, -1 before them to warm up, 0 back to back");
  refused(1, 0, -1, "1 timed calls, 0 before them to warm up, -1 back to back");
}

TEST_CASE("what an algorithm needs of its network is refused first, on a real network too",
          "[collectives]") {
  // Neither its program nor a dry run of it would notice.
  Algorithm idle = find_algorithm(operations::alltoall, "hypercube-all-port");
  idle.program = [](Node&, const Call&) {};
  const Collective collective(idle);
  const char* const text =
      "hypercube-all-port: needs a hypercube; ring:5 is not one (5 nodes); use shift";
  Machine ring(Topology::parse("ring:5"));
  CHECK_THROWS_WITH(run_collective(ring, collective, {}), text);
  Elsewhere real("ring:5");
  CHECK_THROWS_WITH(run_collective(real, collective, {}), text);
}

namespace {

/// Each node of a square sends to the one opposite, clockwise: a cycle of turns if two steps may
/// meet, or all at once.
template <bool at_once>
void round_a_square(Node& node, const Call& call) {
  if (call.input.all().size() % 3 != 0) throw UsageError("dry runs are of whole parts");
  static constexpr std::array<std::array<Move, 2>, 4> turns{
      {{{{1, 1}, {0, 1}}}, {{{0, 1}, {1, -1}}}, {{{0, -1}, {1, 1}}}, {{{1, -1}, {0, -1}}}}};
  const Rank r = node.rank(), opposite = 3 - r;
  const Op out = send(turns[static_cast<std::size_t>(r)], call.input.all()),
           in = receive(opposite, call.output.all());
  if (at_once) return node.step({out, in});
  for (Rank sender = 0; sender < 4; ++sender) {
    if (sender == r) {
      node.step({out});
    } else if (sender == opposite) {
      node.step({in});
    } else {
      node.step();
    }
  }
}

}  // namespace

TEST_CASE("routes in any order are run if their machine takes them and they cannot wait in a cycle",
          "[collectives]") {
  // Its dry runs are of blocks that are whole elements and whole parts.
  Algorithm free = find_algorithm(operations::allreduce, "recursive-doubling");
  free.selection = Selection::any_order;
  free.parts = [](const Setting&) { return Rank{3}; };
  Arguments arguments;
  arguments.reduction = find_reduction("sum", "int64");
  const Topology square = Topology::parse("mesh:2x2");
  const auto on = [&](const MachineOptions& options) {
    Machine machine(square, options);
    const CollectiveRun run{.block_bytes = 24, .iterations = 1, .verify = false};
    return run_collective(machine, Collective(free, arguments), run).times_us.size();
  };
  const auto refusal_says = StartsWith(
      "allreduce recursive-doubling on mesh:2x2: its routes can deadlock: a cycle of 4 channels: ");
  const auto way_out =
      EndsWith("; the routes of each step alone cannot: use lock step (--lockstep)");
  free.program = round_a_square<false>;
  CHECK_THROWS_WITH(
      on({}),
      "allreduce recursive-doubling: its messages take the dimensions in any order, which this "
      "machine refuses (MachineOptions::any_order)");
  CHECK_THROWS_WITH(on({.any_order = true}), refusal_says && way_out);
  CHECK(on({.lock_step = true, .any_order = true}) == 1);
  free.program = round_a_square<true>;
  CHECK_THROWS_WITH(on({.any_order = true}), refusal_says && !way_out);
  CHECK_THROWS_WITH(on({.lock_step = true, .any_order = true}), refusal_says && !way_out);
}

namespace {

/// What a run would need, as its refusal says it.
std::string memory_needed(const Collective& collective, const char* network,
                          const CollectiveRun& run) {
  try {
    require_memory_to_run(collective, Topology::parse(network), run);
  } catch (const UsageError& error) {
    const std::string text = error.what();
    const std::size_t begin = text.find(" needs ") + 7;
    return text.substr(begin, text.find(" of memory") - begin);
  }
  return "what there is";
}

}  // namespace

TEST_CASE("what a run needs: its nodes' blocks, those of the oracle, tables and times",
          "[collectives]") {
  const Collective exchange = preset_of(operations::alltoall, "shift");
  // 4 nodes of 4 blocks in and 4 out.
  CHECK(memory_needed(exchange, "ring:4", {.block_bytes = Bytes{1} << 40}) == "32.0 TiB");
  CHECK(memory_needed(exchange, "ring:4", {.block_bytes = Bytes{1} << 40, .share_here = 0.25}) ==
        "8.00 TiB");
  // A block in, one out and one that arrives, and the oracle's sums of 1, 2, 3 and 4 operands.
  CHECK(memory_needed(sum_by(operations::scan, "hypercube"), "hypercube:2",
                      {.block_bytes = Bytes{1} << 40}) == "20.0 TiB");
  // Two times of each node's calls.
  const Collective barrier = preset_of(operations::barrier, "tree");
  CHECK(memory_needed(barrier, "ring:1024",
                      {.block_bytes = 0, .iterations = 3, .share_here = 0x1p40}) == "48.0 PiB");
  CHECK_THROWS_WITH(
      require_memory_to_run(exchange, Topology::parse("ring:4"),
                            {.block_bytes = Bytes{1} << 40, .iterations = 1}),
      StartsWith("alltoall shift on ring:4 with blocks of 1099511627776 bytes, 1 timed call needs "
                 "32.0 TiB of memory, ") &&
          EndsWith("; use fewer nodes, smaller blocks (--bytes) or fewer iterations"));
  CHECK_THROWS_WITH(require_memory_to_run(exchange, Topology::parse("ring:4"),
                                          {.block_bytes = Bytes{1} << 40, .iterations = 2}),
                    Contains(" bytes, 2 timed calls needs "));
}

TEST_CASE("what a run needs: channels, their queues, and buffers of early messages",
          "[collectives]") {
  const Collective exchange = preset_of(operations::alltoall, "shift");
  const Topology ring = Topology::parse("ring:4");
  NetworkMemory network{.capacity = 64};
  const Contract contract = contract_of(exchange, 4, 64, 1);
  network.scale = 10;
  const MemoryNeed need =
      memory_need(ring, collective_program(exchange, contract, nullptr), 0, &network);
  REQUIRE(need.early > 0);
  REQUIRE(need.channels > 0);
  REQUIRE(need.queues > 0);
  const double bytes = 4 * 8 * 640 + 4 * 2 * 8 + need.channels + need.queues + need.early;
  CHECK(memory_needed(exchange, "ring:4",
                      {.block_bytes = 640,
                       .iterations = 1,
                       .warmup = 2,
                       .calls = 3,
                       .share_here = 0x1p40,
                       .network = NetworkMemory{.capacity = 64}}) == memory_text(bytes * 0x1p40));
}

TEST_CASE("a machine's queues that no memory has are refused", "[collectives]") {
  Machine machine(Topology::parse("complete:64"),
                  {.executor = ExecutorKind::fibers,
                   .transport = Transport::flits,
                   .channel_capacity = MachineOptions::most_channel_capacity});
  CHECK_THROWS_WITH(
      run_collective(machine, preset_of(operations::alltoall, "shift"), {.block_bytes = 1000}),
      StartsWith("alltoall shift on complete:64: memory for queues of 1048576 flits each needs "));
}

TEST_CASE("a network too large to route in is refused before anything is estimated",
          "[collectives]") {
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank r = 0; r < 9000; ++r) edges.emplace_back(r, (r + 1) % 9000);
  const Topology large({Graph::arbitrary(9000, edges, "long ring")});
  CHECK_THROWS_WITH(require_memory_to_run(preset_of(operations::barrier, "tree"), large, {}),
                    StartsWith("long ring: 9000 nodes and 18000 links; ") &&
                        Contains("messages are routed in graphs of up to 8192 nodes"));
}
