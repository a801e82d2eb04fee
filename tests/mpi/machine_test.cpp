// Nodes in MPI processes: delivery, traces, failure, deadlock; every check is on what all processes
// know, so that they stay together.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/mpi/machine.hpp"

#include "wormcube/apps/common/made.hpp"
#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/fft/run.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/matvec/run.hpp"
#include "wormcube/apps/sort/run.hpp"
#include "wormcube/apps/transpose/run.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/collectives/mpi/library.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/tests/apps/damaging.hpp"
#include "wormcube/tests/machine/support.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <limits>
#include <thread>

#include <fmt/core.h>

using namespace machine_tests;
using Catch::Matchers::Contains;

namespace {

/// A small eager limit, so that small tests meet long messages too.
MpiOptions options_with(Bytes eager_limit, bool pack_pieces = true) {
  MpiOptions options;
  options.eager_limit = eager_limit;
  options.pack_pieces = pack_pieces;
  return options;
}

constexpr std::uint64_t data_seed = 20231;

/// Networks of up to 16 nodes of every kind, and some larger ones.
std::vector<Topology> topologies(Rank fewest_nodes, Rank most_nodes) {
  std::vector<Topology> all;
  for (const char* text :
       {"ring:1",    "ring:2",      "line:3",        "ring:4",      "hypercube:2",  "line:5",
        "ring:7",    "hypercube:3", "torus:2x4",     "mesh:3x3",    "complete:5",   "tree:8",
        "mesh:3x4",  "ghc:4x3",     "ring:4*line:3", "ring:13",     "torus:4x4",    "hypercube:4",
        "mesh:4x4",  "complete:16", "ring:16",       "mesh:6x5",    "ring:31",      "torus:6x6",
        "torus:8x8", "mesh:8x8",    "torus:4x4x4",   "hypercube:6", "tree:4*ring:8"}) {
    Topology topology = Topology::parse(text);
    if (fewest_nodes <= topology.nodes() && topology.nodes() <= most_nodes) {
      all.push_back(std::move(topology));
    }
  }
  return all;
}

/// The call of an algorithm with arguments that every operation can use; the last node is the root.
Collective call_of(const Algorithm& algorithm, const Topology& topology) {
  Collective collective(algorithm);
  collective.arguments.root = topology.nodes() - 1;
  collective.arguments.by = 2;
  collective.arguments.sources = {topology.nodes() - 1};
  if (algorithm.operation->reduces) {
    collective.arguments.reduction = algorithm.needs_commutative
                                         ? find_reduction("sum", "int32")
                                         : find_reduction("compose", "affine");
  }
  return collective;
}

/// Until the end of the tests MPI's own collectives are in the registry.
void add_library_algorithms() {
  static const bool added = [] {
    for (const Algorithm& each : mpi_library_algorithms()) add_algorithm(each, "MPI library");
    return true;
  }();
  (void)added;
}

/// What was wrong on all nodes together.
std::uint64_t wrong(MpiMachine& machine, Verification& verification) {
  std::uint64_t sum = 0;
  for (Rank rank = machine.nodes_here().first; rank < machine.nodes_here().second; ++rank) {
    const Findings& findings = verification.of(rank);
    sum += (findings.compared ? 0 : 1) + findings.wrong_bytes + findings.wrong_elements;
  }
  machine.sum({&sum, 1});
  return sum;
}

/// Whether a condition holds in every process.
bool everywhere(MpiMachine& machine, bool condition) {
  std::uint64_t wrong = condition ? 0 : 1;
  machine.sum({&wrong, 1});
  return wrong == 0;
}

TEST_CASE("nodes are spread in blocks of neighbours, and every node lives in one process") {
  for (const Rank nodes : {1, 2, 3, 7, 16, 31}) {
    CAPTURE(nodes);
    MpiMachine machine(Topology::parse("ring:" + std::to_string(nodes)));
    const auto [first, end] = machine.nodes_here();
    std::vector<std::uint64_t> homes(static_cast<std::size_t>(nodes));
    for (Rank rank = first; rank < end; ++rank) ++homes[static_cast<std::size_t>(rank)];
    machine.sum(homes);
    CHECK(std::ranges::all_of(homes, [](std::uint64_t count) { return count == 1; }));
    CHECK(everywhere(machine,
                     end - first <= (nodes + machine.processes() - 1) / machine.processes()));
  }
}

TEST_CASE("messages of all sizes arrive unchanged, in order, one by one and all at once") {
  for (const char* text : {"ring:1", "ring:2", "torus:2x3", "complete:17", "mesh:5x9"}) {
    for (const Bytes eager_limit : {Bytes{0}, Bytes{64}, Bytes{16384}}) {
      CAPTURE(text, eager_limit);
      MpiMachine machine(Topology::parse(text), options_with(eager_limit));
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        CHECK_NOTHROW(machine.run([&](Node& node) {
          exchange(node, seed);
          exchange_at_once(node, seed);
        }));
      }
    }
  }
}

TEST_CASE("messages of one source, destination and tag arrive in the order sent") {
  for (const Bytes eager_limit : {Bytes{0}, Bytes{100}}) {
    MpiMachine machine(Topology::parse("ring:5"), options_with(eager_limit));
    CHECK_NOTHROW(machine.run([](Node& node) {
      const Rank p = node.size(), next = mod(node.rank() + 1, p),
                 previous = mod(node.rank() - 1, p);
      constexpr int count = 20;
      std::vector<std::vector<std::byte>> out(count), in(count);
      std::vector<Op> ops;
      for (int i = 0; i < count; ++i) {
        const Bytes bytes = i % 3 == 0 ? 200 : 40;  // long and short ones, mixed
        fill(out[i] = std::vector<std::byte>(bytes), key(1, node.rank(), next, i));
        in[i].resize(bytes);
        ops.push_back(send(next, ConstSpan(out[i]), i % 2));
        ops.push_back(receive(previous, Span(in[i]), i % 2));
      }
      node.step(std::span<const Op>(ops));
      for (int i = 0; i < count; ++i) {
        expect_payload(in[i], key(1, previous, node.rank(), i), "message " + std::to_string(i));
      }
    }));
  }
}

TEST_CASE("tags have any value") {
  MpiMachine machine(Topology::parse("ring:4"));
  CHECK_NOTHROW(machine.run([](Node& node) {
    const Rank next = mod(node.rank() + 1, 4), previous = mod(node.rank() - 1, 4);
    for (const Tag tag :
         {std::numeric_limits<Tag>::min(), -1, 0, std::numeric_limits<Tag>::max()}) {
      std::vector<std::byte> out(30), in(30);
      fill(out, key(2, node.rank(), next, static_cast<std::uint64_t>(tag)));
      node.step({send(next, ConstSpan(out), tag), receive(previous, Span(in), tag)});
      expect_payload(in, key(2, previous, node.rank(), static_cast<std::uint64_t>(tag)), "it");
    }
  }));
}

TEST_CASE("pieces travel as one message, packed or described, and are cut differently") {
  for (const bool packed : {true, false}) {
    for (const Bytes eager_limit : {Bytes{0}, Bytes{1} << 16}) {
      CAPTURE(packed, eager_limit);
      MpiMachine machine(Topology::parse("ring:6"), options_with(eager_limit, packed));
      CHECK_NOTHROW(machine.run([](Node& node) {
        const Rank next = mod(node.rank() + 1, 6), previous = mod(node.rank() - 1, 6);
        std::vector<std::byte> out(3000), in(3000);
        fill(out, key(3, node.rank(), next, 0));
        const std::array<Span, 4> sent{Span(out).subspan(0, 7), Span(out).subspan(7, 0),
                                       Span(out).subspan(7, 1993), Span(out).subspan(2000)};
        const std::array<Span, 2> taken{Span(in).subspan(0, 2999), Span(in).subspan(2999)};
        node.step({send_pieces(next, sent), receive_pieces(previous, taken)});
        expect_payload(in, key(3, previous, node.rank(), 0), "the pieces");
      }));
    }
  }
}

/// Runs every algorithm on every network with this many nodes; returns how many programs ran.
std::uint64_t run_all(Bytes eager_limit, Rank fewest_nodes, Rank most_nodes) {
  add_library_algorithms();
  std::uint64_t programs = 0;
  for (const Topology& topology : topologies(fewest_nodes, most_nodes)) {
    MpiMachine machine(topology, options_with(eager_limit));
    for (const Algorithm* algorithm : registry()) {
      const Collective collective = call_of(*algorithm, topology);
      if (refusal(collective, topology)) continue;
      INFO(algorithm->operation->name << ' ' << collective.text() << " on " << topology.name());
      const Bytes bytes = 16 * static_cast<Bytes>(collective.parts(topology));
      const Contract contract = contract_of(collective, topology.nodes(), bytes, data_seed);
      Verification verification(contract, machine);
      Schedule trace{topology, {}};
      machine.run(collective_program(collective, contract, &verification), trace);
      INFO(machine.first_text(verification.first()));
      CHECK(wrong(machine, verification) == 0);
      if (machine.is_first_process()) {
        CHECK(trace == record(topology, collective_program(collective, contract, nullptr)));
      }
      ++programs;
    }
  }
  return programs;
}

// Some processes with no node, one node in each, several in each; short and long messages. More
// networks are in the wide test.
TEST_CASE("every algorithm delivers every block, and its trace is its record") {
  const int processes = MpiMachine(Topology::parse("ring:1")).processes();
  const Rank most_nodes = std::clamp(2 * processes, 4, 9);
  CHECK(run_all(0, processes / 2, most_nodes) > (processes > 8 ? 20 : 100));
  CHECK(run_all(16384, std::min(processes, 8), most_nodes) > 20);
}

TEST_CASE("every algorithm on all test networks of up to 64 nodes", "[.][wide]") {
  CHECK(run_all(0, 1, 16) > 500);
  CHECK(run_all(16384, 10, 64) > 500);
}

/// run_collective as the command line calls it.
RunResult measured(Multicomputer& machine, const Collective& collective, Bytes bytes,
                   bool in_place = false) {
  CollectiveRun run;
  run.block_bytes = bytes;
  run.iterations = 3;
  run.in_place = in_place;
  return run_collective(machine, collective, run);
}

TEST_CASE("the MPI library's own collectives give what ours give, in place too") {
  const int processes = MpiMachine(Topology::parse("ring:1")).processes();
  const Topology topology({Graph::complete(processes)});
  MpiMachine machine(topology);
  for (const Algorithm& algorithm : mpi_library_algorithms()) {
    for (const bool in_place : {false, true}) {
      if (in_place && algorithm.operation->place_of_input == nullptr) continue;
      for (const Bytes bytes : {Bytes{0}, Bytes{24}, Bytes{20000}}) {
        // MPICH's own calls spin while they wait: one size where processes are many.
        if (processes > 8 && bytes != 24) continue;
        CAPTURE(algorithm.operation->name, in_place, bytes);
        const RunResult result = measured(machine, call_of(algorithm, topology), bytes, in_place);
        INFO(result.first_wrong);
        CHECK(result.wrong == std::uint64_t{0});
        CHECK(everywhere(machine, result.passed()));
      }
    }
  }
}

TEST_CASE("the library's own collectives need one node in each process") {
  const int processes = MpiMachine(Topology::parse("ring:1")).processes();
  const Topology fits({Graph::complete(processes)}), other({Graph::complete(processes + 1)});
  for (const Algorithm& algorithm : mpi_library_algorithms()) {
    CHECK_FALSE(refusal(call_of(algorithm, fits), fits));
    CHECK_THAT(refusal(call_of(algorithm, other), other).value_or(""),
               Contains(std::to_string(processes + 1) + " nodes, " + std::to_string(processes) +
                        " process"));
  }
}

TEST_CASE("a run's figures are the same in every process, and of all nodes") {
  MpiMachine machine(Topology::parse("ring:5"));
  const RunResult result = measured(machine, parse_collective(operations::allgather, "ring"), 4000);
  CHECK(result.wrong == std::uint64_t{0});
  CHECK_FALSE(result.has_links);
  // 5 nodes send 4 blocks in each of 4 calls, and messages for the barriers.
  CHECK(result.messages > 80);
  std::array<double, 3> times{};
  std::ranges::copy(result.times_us, times.begin());
  machine.maximum(times);
  CHECK(everywhere(machine, std::ranges::equal(times, result.times_us)));
  CHECK(everywhere(machine, result.min_us > 0));
}

TEST_CASE("the time of a call is the slowest process's") {
  MpiMachine machine(Topology::parse("ring:4"));
  static constexpr auto nap = std::chrono::milliseconds(20);
  static const Algorithm slow{
      .operation = operations::barrier,
      .name = "sleeps on node 3",
      .summary = "",
      .source = "",
      .program = [](Node& node, const Call& call) {
        find_algorithm(operations::barrier, "dissemination").program(node, call);
        if (node.rank() == 3) node.local([] { std::this_thread::sleep_for(nap); });
      }};
  const RunResult result = measured(machine, Collective(slow), 0);
  CHECK(everywhere(machine, result.min_us >= 20000));
  CHECK(everywhere(machine, result.wrong == std::uint64_t{0}));
}

TEST_CASE("a wrong byte anywhere is found in every process") {
  MpiMachine machine(Topology::parse("ring:5"));
  static const Algorithm broken = [] {
    Algorithm algorithm = find_algorithm(operations::allgather, "ring");
    algorithm.name = "spoils a byte";
    algorithm.program = [](Node& node, const Call& call) {
      find_algorithm(operations::allgather, "ring").program(node, call);
      if (node.rank() == 3) node.local([&] { call.output[1][0] ^= std::byte{1}; });
    };
    return algorithm;
  }();
  const RunResult result = measured(machine, Collective(broken), 8);
  CHECK(everywhere(machine, result.wrong == std::uint64_t{1}));
  CHECK(everywhere(machine, result.first_wrong.starts_with("node 3, block 1, byte 0")));
}

TEST_CASE("a barrier that is none is found") {
  const int processes = MpiMachine(Topology::parse("ring:1")).processes();
  static const Algorithm none{.operation = operations::barrier,
                              .name = "waits for nobody",
                              .summary = "",
                              .source = "",
                              .program = [](Node&, const Call&) {}};
  // Two nodes in each process: the first leaves before the second has come.
  MpiMachine machine(Topology({Graph::ring(2 * processes)}));
  const RunResult result = measured(machine, Collective(none), 0);
  CHECK(everywhere(machine, result.wrong.value_or(0) > 0));
  CHECK_THAT(result.first_wrong, Contains("nodes had entered"));
}

namespace {

/// Delivers everything, then damages a byte of the last node's block.
apps::Exchange damaging() {
  static const Algorithm algorithm = [] {
    Algorithm damaged = find_algorithm(operations::alltoall, "shift");
    damaged.name = "damaging";
    damaged.program = [](Node& node, const Call& call) {
      find_algorithm(operations::alltoall, "shift").program(node, call);
      node.local([&] {
        if (node.rank() == node.size() - 1) call.output.all()[7] ^= std::byte{1};
      });
    };
    return damaged;
  }();
  return {Collective(algorithm)};
}

}  // namespace

TEST_CASE("every process has its own part of a transform, and all see what is wrong in one") {
  MpiMachine machine(Topology::parse("mesh:3x2"));
  const apps::Runner runner = apps::on(machine);
  const bool alone = machine.processes() == 1;
  for (const auto& shape : std::vector<std::vector<std::size_t>>{{60, 7}, {2820}, {1009}}) {
    for (const bool inverse : {false, true}) {
      if (inverse && shape.size() == 1) continue;
      apps::FftJob job{apps::made_signal(apps::SignalKind::random, shape, 1), {}, {}};
      job.fft.inverse = inverse;
      const apps::FftResult good = apps::run_fft(runner, {}, job);
      CHECK(everywhere(machine, good.verified() && good.passed()));
      CHECK(everywhere(machine, good.bins.measured != alone && good.serial.measured == alone));
      CHECK(apps::sum(runner, good.here.count) == job.signal.elements());
      CHECK(good.output.size() == good.here.count);
      // The same as what one process has in memory.
      const apps::FftResult of_memory = apps::run_fft(
          runner, {}, {apps::generate_signal(apps::SignalKind::random, shape, 1), job.fft, {}});
      CHECK(everywhere(machine, of_memory.output == good.output));
      const apps::FftResult bad = apps::run_fft(runner, damaging(), job);
      CHECK(everywhere(machine, bad.verified() && !bad.inverse.passed() && !bad.passed()));
    }
  }
  const apps::TransposeJob job{apps::made_array(apps::ElementType::int32, {50, 31}, 1), {}};
  const apps::TransposeResult bad = apps::run_transpose(runner, damaging(), job);
  CHECK(everywhere(machine, bad.wrong == std::size_t{1}));
}

TEST_CASE("every process has its own part of sorted keys, and all see what is wrong in one") {
  MpiMachine machine(Topology::parse("ring:7"));
  const apps::Runner runner = apps::on(machine);
  const bool alone = machine.processes() == 1;
  for (const bool rebalance : {false, true}) {
    for (const char* kind : {"uniform", "few", "reverse"}) {
      const apps::SortJob job{
          apps::made_keys(apps::parse_key_kind(kind), apps::ElementType::float64, 1000, 1),
          0,
          rebalance,
          {}};
      const apps::Algorithms automatic("auto", apps::sort_operations());
      const apps::SortResult result = apps::run_sort(runner, automatic, job);
      CHECK(everywhere(machine, result.passed() && result.check.counted == alone));
      CHECK(apps::sum(runner, result.here.count) == 1000);
      CHECK(result.sorted.elements() == result.here.count);
    }
  }
  apps::Algorithms algorithms("auto", apps::sort_operations());
  algorithms.use(apps::testing::damaging<operations::alltoallv, 3>());
  const apps::SortResult bad = apps::run_sort(
      runner, algorithms,
      {apps::made_keys(apps::KeyKind::uniform, apps::ElementType::int64, 1000, 1), 0, false, {}});
  CHECK(everywhere(machine, bad.check.missing == 1 && !bad.passed()));
}

TEST_CASE("every process has its own part of a product, and all see what is wrong in one") {
  MpiMachine machine(Topology::parse("mesh:3x2"));
  const apps::Runner runner = apps::on(machine);
  const apps::Algorithms automatic("auto", apps::matvec_operations());
  for (const auto& [rows, columns] :
       {std::pair(50, 31), std::pair(1, 40), std::pair(40, 1), std::pair(2, 3)}) {
    for (const auto vectors_on : {apps::VectorsOn::edge, apps::VectorsOn::diagonal}) {
      const auto r = static_cast<std::size_t>(rows), c = static_cast<std::size_t>(columns);
      // Whole numbers: every order of the sum is exact.
      const apps::MatvecJob job{apps::made_array(apps::ElementType::int8, {r, c}, 1),
                                apps::made_array(apps::ElementType::int16, {c}, 2), vectors_on};
      const apps::MatvecResult result = apps::run_matvec(runner, automatic, job);
      CHECK(everywhere(machine, result.passed() && result.check.elements == r));
      CHECK(everywhere(machine, result.serial_wall.has_value() == (machine.processes() == 1)));
      CHECK(apps::sum(runner, result.here.count) == r);
      std::vector<double> wanted(result.here.count);
      const auto matrix = apps::to_doubles(apps::read_all(job.matrix), "matrix"),
                 x = apps::to_doubles(apps::read_all(job.x), "x");
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        for (std::size_t j = 0; j < c; ++j) {
          wanted[i] += matrix[(result.here.first + i) * c + j] * x[j];
        }
      }
      CHECK(everywhere(machine, result.y == wanted));
    }
  }
  // An element of each of the grid's three rows; and what each column multiplies with.
  for (const bool of_broadcast : {false, true}) {
    apps::Algorithms algorithms = automatic;
    algorithms.use(of_broadcast ? apps::testing::damaging<operations::broadcast>()
                                : apps::testing::damaging<operations::reduce>());
    const apps::MatvecResult bad =
        apps::run_matvec(runner, algorithms,
                         {apps::made_array(apps::ElementType::float64, {50, 31}, 1),
                          apps::made_array(apps::ElementType::float64, {31}, 2)});
    CHECK(everywhere(machine, !bad.passed() && bad.check.elements == 50));
    if (!of_broadcast) CHECK(everywhere(machine, bad.check.wrong == 3));
  }
}

TEST_CASE("what one process cannot read, all refuse") {
  MpiMachine machine(Topology::parse("ring:8"));
  const apps::Runner runner = apps::on(machine);
  const auto refused = [&](std::size_t bad) {
    const apps::SignalSource signal({64}, false, "a rule",
                                    [bad](std::size_t first, std::span<apps::Complex> to) {
                                      if (bad >= first && bad - first < to.size())
                                        throw UsageError(fmt::format("cannot read {}", bad));
                                    });
    apps::run_fft(runner, {}, {signal, {}, {}});
  };
  for (const std::size_t bad : {std::size_t{0}, std::size_t{63}}) {
    CHECK_THROWS_WITH(refused(bad), Contains(fmt::format("cannot read {}", bad)));
  }
  // Of a vector, whose blocks lie in some processes only: not a number, at any place.
  for (const std::size_t bad : {std::size_t{0}, std::size_t{6}}) {
    const auto vector =
        apps::made(apps::ElementType::float64, {7}, [bad](std::size_t first, Span to) {
          for (std::size_t at = 0; at < to.size() / sizeof(double); ++at) {
            as<double>(to)[at] = first + at == bad ? std::nan("") : 1;
          }
        });
    CHECK_THROWS_WITH(
        apps::run_matvec(runner, {"auto", apps::matvec_operations()},
                         {apps::made_array(apps::ElementType::float64, {5, 7}, 1), vector}),
        Contains(fmt::format("vector element {} (from 0) is not a number", bad)));
  }
}

TEST_CASE("fft and transpose work with nodes that have no rows") {
  MpiMachine machine(Topology::parse("mesh:3x2"));
  const apps::Runner runner = apps::on(machine);
  apps::FftJob fft{apps::generate_signal(apps::SignalKind::random, {60, 7}, 1), {}, {}};
  const apps::FftResult spectrum = apps::run_fft(runner, {}, fft);
  CHECK(everywhere(machine, spectrum.verified() && spectrum.passed()));
  // More nodes than rows: some have none.
  for (const std::size_t rows : {std::size_t{4}, std::size_t{50}}) {
    const apps::TransposeJob job{apps::generate_matrix(apps::ElementType::float64, rows, 31, 1),
                                 {}};
    const apps::TransposeResult result = apps::run_transpose(runner, {}, job);
    CHECK(everywhere(machine, result.wrong == std::size_t{0}));
    CHECK_FALSE(result.figures.has_links);
  }
}

TEST_CASE("every process gets what the others have written to an array") {
  MpiMachine machine(Topology::parse("ring:11"));
  const auto [first, end] = machine.nodes_here();
  std::vector<std::byte> all(11);
  for (Rank rank = first; rank < end; ++rank) {
    all[static_cast<std::size_t>(rank)] = static_cast<std::byte>(rank + 1);
  }
  machine.join(all, static_cast<std::size_t>(first), static_cast<std::size_t>(end));
  bool right = true;
  for (int i = 0; i < 11; ++i)
    right = right && all[static_cast<std::size_t>(i)] == std::byte(i + 1);
  CHECK(everywhere(machine, right));
}

TEST_CASE("no node leaves a barrier before all have entered it") {
  for (const char* text : {"ring:2", "hypercube:3", "ring:13"}) {
    MpiMachine machine(Topology::parse(text));
    const auto counter = machine.counter();
    const Collective barrier = parse_collective(operations::barrier, "dissemination");
    const auto enter_and_leave = [&](Node& node, bool barred) {
      node.local([&] { counter->add_one(); });
      if (barred) {
        barrier.algorithm->program(
            node, {{ConstSpan(), 0}, {Span(), 0}, barrier.arguments, barrier.options});
      }
      node.local([&] {
        expect(counter->value() >= static_cast<std::uint64_t>(node.size()), "left too early");
      });
    };
    CHECK_NOTHROW(machine.run([&](Node& node) { enter_and_leave(node, true); }));
    // The counter does notice: on a fresh one, nobody may leave without a barrier.
    const auto fresh = machine.counter();
    CHECK_THROWS_AS(machine.run([&](Node& node) {
      node.local([&] {
        fresh->add_one();
        expect(node.rank() != 0 || fresh->value() > static_cast<std::uint64_t>(node.size()),
               "left too early");
      });
    }),
                    NodeFailure);
  }
}

TEST_CASE("statistics are of all nodes, in every process") {
  MpiMachine machine(Topology::parse("ring:7"));
  const Statistics statistics = machine.run([](Node& node) {
    const Rank r = node.rank();
    const Memory out = node.memory(100 + static_cast<Bytes>(r), Purpose::blocks);
    const Memory in = node.memory(50);
    node.step({send(mod(r + 1, 7), out.subspan(0, 9)), receive(mod(r - 1, 7), in.subspan(0, 9))});
    for (Rank i = 0; i < r; ++i)
      node.step({send(r, out.subspan(0, 3)), receive(r, in.subspan(0, 3))});
  });
  bool right = statistics.nodes.size() == 7 && statistics.wall.count() > 0;
  for (Bytes r = 0; r < statistics.nodes.size(); ++r) {
    const NodeStatistics& node = statistics.nodes[r];
    right = right && node.steps == r + 1 && node.messages == r + 1 && node.bytes == 9 + 3 * r &&
            node.peak_bytes == 150 + r && node.peak_block_bytes == 100 + r;
  }
  CHECK(everywhere(machine, right));
}

TEST_CASE("a message that nobody receives is an error at the end") {
  MpiMachine machine(Topology::parse("ring:3"));
  CHECK(message_of<UsageError>([&] {
          machine.run([](Node& node) {
            std::vector<std::byte> data(12);
            if (node.rank() == 2) node.step({send(0, ConstSpan(data), 5)});
          });
        }) == "node 0 never received a message of 12 bytes from node 2 with tag 5");
}

TEST_CASE("a node that throws stops the machine, which says so in every process and runs again") {
  for (const Bytes eager_limit : {Bytes{0}, Bytes{500}, Bytes{16384}}) {
    MpiMachine machine(Topology::parse("torus:2x3"), options_with(eager_limit));
    for (int when = 0; when < 6; ++when) {
      CAPTURE(eager_limit, when);
      std::atomic<int> alive{0};
      const std::string text = message_of<NodeFailure>([&] {
        machine.run([&](Node& node) {
          const Alive one(alive);
          for (int step = 0; step < 6; ++step) {
            if (node.rank() == 4 && step == when) throw std::out_of_range("gave up");
            exchange_at_once(node, static_cast<std::uint64_t>(step));
          }
        });
      });
      CHECK(text == "node 4: gave up");
      CHECK(everywhere(machine, alive == 0));
      CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 9); }));
    }
  }
}

TEST_CASE("of several nodes that throw at once the lowest is reported") {
  MpiMachine machine(Topology::parse("ring:6"));
  CHECK(message_of<NodeFailure>([&] {
          machine.run([](Node& node) {
            if (node.rank() > 1) throw std::logic_error("no");
          });
        }).substr(0, 5) == "node ");
  CHECK(message_of<UsageError>([&] {
          machine.run([](Node&) { throw UsageError("all say the same"); });
        }) == "all say the same");
}

TEST_CASE("a usage error of one node names it, in every process") {
  MpiMachine machine(Topology::parse("ring:5"), options_with(64));
  for (int run = 0; run < 3; ++run) {
    CHECK(message_of<UsageError>([&] {
            machine.run([](Node& node) {
              if (node.rank() != 2) return node.step({send(Rank{2}, ConstSpan{})});
              node.step(
                  {receive(0, Span{}), receive(1, Span{}), receive(3, Span{}), receive(4, Span{})});
              throw UsageError("3 blocks, need 4");  // the others have ended
            });
          }) == "node 2: 3 blocks, need 4");
  }
  CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
}

TEST_CASE("the cores' time is the run's, in parts, in every process") {
  MpiOptions options = options_with(64);
  options.timing = true;
  MpiMachine machine(Topology::parse("ring:6"), options);
  for (int run = 0; run < 2; ++run) {
    const Statistics statistics = machine.run([](Node& node) {
      exchange(node, 1);
      node.rearrange(1, [] {
        const auto start = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(1)) {
        }
      });
      exchange(node, 2);
    });
    const CoreTimes& cores = statistics.cores;
    CHECK(cores.cores == machine.processes());
    CHECK(cores.rearranging >= std::chrono::milliseconds(6));
    CHECK(cores.moving_data.count() > 0);
    CHECK(cores.network.count() > 0);
    CHECK(cores.idle.count() >= 0);
    CHECK(cores.computing + cores.rearranging + cores.combining + cores.moving_data +
              cores.network + cores.idle ==
          cores.cores * statistics.wall);
  }
}

TEST_CASE("what a step refuses names node and step") {
  MpiMachine machine(Topology::parse("line:5"));
  const auto refusal_of = [&](const Op& op) {
    return message_of<UsageError>([&] {
      machine.run([&](Node& node) {
        node.step();
        node.step();
        if (node.rank() == 1) node.step({op});
      });
    });
  };
  CHECK(refusal_of(receive(7, Span{})) == "node 1, step 2: line:5: peer 7 out of range [0, 5)");
  CHECK_THAT(refusal_of(send(Move{0, 4}, ConstSpan{})),
             Contains("node 1, step 2: line:5: node 1 cannot move +4"));
  CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 9); }));
}

TEST_CASE("options at the ends of their ranges work, and beyond are refused") {
  for (const Bytes eager_limit : {Bytes{2147483616}, Bytes{1} << 31, ~Bytes{0}}) {
    CHECK(message_of<UsageError>([&] {
            MpiMachine(Topology::parse("ring:3"), options_with(eager_limit));
          }) == "eager limit over MPI: " + std::to_string(eager_limit) +
                    " bytes, need 2147483615 or fewer");
  }
  MpiOptions options;
  options.time_limit = options.grace = std::chrono::milliseconds::max();
  options.stack_bytes = 0;
  MpiMachine patient(Topology::parse("ring:5"), options);
  CHECK_NOTHROW(patient.run([](Node& node) {
    node.local([] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); });
    exchange(node, 1);
  }));
  CHECK(message_of<NodeFailure>([&] {
          patient.run([](Node& node) {
            exchange(node, 1);
            if (node.rank() == 2) throw std::out_of_range("gave up");
            exchange(node, 2);
          });
        }) == "node 2: gave up");
}

TEST_CASE("a message of another size than its receive is an error") {
  for (const Bytes eager_limit : {Bytes{0}, Bytes{16384}}) {
    for (const bool late : {false, true}) {
      MpiMachine machine(Topology::parse("ring:4"), options_with(eager_limit));
      CHECK(message_of<UsageError>([&] {
              machine.run([&](Node& node) {
                std::vector<std::byte> data(64);
                if (node.rank() == 3) node.step({send(0, ConstSpan(data).first(20), 7)});
                if (node.rank() == 0) {
                  if (late)
                    node.local([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
                  node.step({receive(3, Span(data).first(16), 7)});
                }
                exchange_at_once(node, 1);
              });
            }) == "node 0 receives 16 bytes from node 3 with tag 7, but the message has 20");
      CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 9); }));
    }
  }
}

TEST_CASE("deadlock is diagnosed: every process has the table") {
  for (const Bytes eager_limit : {Bytes{0}, Bytes{16384}}) {
    MpiMachine machine(Topology::parse("ring:6"), options_with(eager_limit));
    const std::string text = message_of<Deadlock>([&] {
      machine.run([](Node& node) {
        std::vector<std::byte> data(24);
        exchange_at_once(node, 1);
        if (node.rank() == 5) return;
        if (node.rank() == 1) node.step({send(2, ConstSpan(data), 8)});  // 2 waits for tag 9
        node.step({receive(mod(node.rank() - 1, 6), Span(data), 9)});
      });
    });
    CHECK_THAT(text,
               Contains("deadlock: 5 of 6 nodes wait, 1 have finished, nothing is in flight"));
    CHECK_THAT(text, Contains("a message of 24 bytes from node 5 (tag 9)"));
    CHECK_THAT(text, Contains(eager_limit == 0 ? "node 2 to receive 24 bytes (tag 8)"
                                               : "a message of 24 bytes from node 0 (tag 9)"));
    CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 9); }));
  }
}

TEST_CASE("slow is not deadlock") {
  MpiMachine machine(Topology::parse("ring:4"));
  CHECK_NOTHROW(machine.run([](Node& node) {
    std::vector<std::byte> data(24);
    for (int i = 0; i < 3; ++i) {
      if (node.rank() == 3) {
        node.local([] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); });
        node.step({send(0, ConstSpan(data))});
      }
      if (node.rank() == 0) node.step({receive(3, Span(data))});
    }
  }));
}

TEST_CASE("the time limit ends a run") {
  MpiOptions options;
  options.time_limit = std::chrono::milliseconds(50);
  MpiMachine machine(Topology::parse("ring:4"), options);
  CHECK(message_of<TimeLimit>([&] {
          machine.run([](Node& node) {
            for (;;) exchange_at_once(node, 1);
          });
        }) == "not finished after 50 ms, the time limit");
}

TEST_CASE("steps that need not wait let others run, and end with the time limit") {
  MpiOptions options;
  options.time_limit = std::chrono::milliseconds(200);
  MpiMachine machine(Topology::parse("ring:16"), options);
  CHECK(message_of<TimeLimit>([&] {
          machine.run([](Node& node) {
            while (node.rank() == 0) node.step();
          });
        }) == "not finished after 200 ms, the time limit");
  const std::string text = message_of<NodeFailure>([&] {
    machine.run([](Node& node) {
      if (node.rank() == 15) throw std::out_of_range("gave up");
      for (;;) node.step();
    });
  });
  CHECK(text == "node 15: gave up");
  std::atomic<int> others{0};
  CHECK_NOTHROW(machine.run([&](Node& node) {
    const auto [first, end] = machine.nodes_here();
    if (node.rank() == first) {
      while (others < end - first - 1) node.step();
    } else {
      ++others;
    }
  }));
}

TEST_CASE("a prime number of nodes, and thousands of them in few processes") {
  struct Case {
    const char* network;
    Operation operation;
    const char* algorithm;
  };
  for (const Case& each : {Case{"ring:31", operations::alltoall, "ring"},
                           Case{"ring:127", operations::allgather, "ring"},
                           Case{"mesh:64x64", operations::broadcast, "halving"}}) {
    MpiMachine machine(Topology::parse(each.network), options_with(16384));
    if (machine.processes() > 3) continue;
    CAPTURE(each.network, machine.processes());
    const RunResult result =
        measured(machine, parse_collective(each.operation, each.algorithm), 16);
    CHECK(result.wrong == std::uint64_t{0});
  }
}

// Run by the script `ends`, one at a time: these end the job.
TEST_CASE("one process is killed", "[.]") {
  MpiMachine machine(Topology::parse("ring:8"));
  machine.run([](Node& node) {
    exchange(node, 1);
    if (node.rank() == 2) std::raise(SIGKILL);
    exchange(node, 2);
  });
}

TEST_CASE("one process does not listen", "[.]") {
  MpiOptions options;
  options.grace = std::chrono::milliseconds(500);
  MpiMachine machine(Topology::parse("ring:8"), options);
  machine.run([](Node& node) {
    if (node.rank() == 1) throw std::out_of_range("gave up");
    if (node.rank() == 7) {
      for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    exchange(node, 2);
  });
}

}  // namespace
