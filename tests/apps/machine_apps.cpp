// The applications on the machine: the same results as without a network, and measured figures.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/run.hpp"
#include "wormcube/apps/transpose/run.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/tests/apps/support.hpp"

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::apps;
using namespace wormcube::apps::testing;

namespace {

void check_measured(const RunFigures& figures) {
  CHECK(figures.measured);
  CHECK(figures.wall.count() > 0);
  CHECK(figures.messages > 0);
  CHECK(figures.bytes_moved > 0);
  CHECK(figures.links_used > 0);
  CHECK(figures.link_messages_max > 0);
  CHECK(figures.peak_bytes > 0);
  const CoreTimes& cores = figures.cores;
  CHECK(cores.moving_data.count() > 0);
  CHECK(cores.network.count() > 0);
  // What the cores did is the run.
  CHECK(cores.computing + cores.rearranging + cores.combining + cores.moving_data + cores.network +
            cores.idle + figures.host ==
        cores.cores * figures.wall);
  REQUIRE(figures.schedule);
  CHECK(figures.schedule->messages == figures.messages);
  CHECK(figures.schedule->total_bytes == figures.bytes_moved);
}

}  // namespace

TEST_CASE("a machine transposes with every registered exchange", "[apps][transpose][machine]") {
  const auto topology = Topology::parse(GENERATE("torus:4x4", "mesh:3x2", "hypercube:3"));
  const auto executor = GENERATE(ExecutorKind::threads, ExecutorKind::fibers);
  for (const Exchange& exchange : exchanges(topology)) {
    CAPTURE(topology.name(), exchange.collective.text());
    Machine machine(
        topology, {.executor = executor, .all_port = exchange.ports == Ports::all, .timing = true});
    const TransposeResult result =
        run_transpose(machine, exchange, {generate_matrix(ElementType::float64, 50, 33, 1), {}});
    CHECK(result.passed());
    check_measured(result.figures);
  }
}

TEST_CASE("a machine with more nodes than rows transposes", "[apps][transpose][machine]") {
  Machine machine(Topology::parse("torus:8x8"), {.executor = ExecutorKind::fibers});
  for (const Exchange& exchange : plain_exchanges(machine.topology())) {
    CHECK(run_transpose(machine, exchange, {generate_matrix(ElementType::complex128, 5, 3, 1), {}})
              .passed());
    CHECK(run_transpose(machine, exchange, {generate_matrix(ElementType::float32, 1, 200, 1), {}})
              .passed());
  }
}

TEST_CASE("machines of every shape find the same spectrum of the sunspot record",
          "[apps][fft][machine]") {
  const Signal record = read_signal(sunspots, "sunspots");
  Machine alone(Topology::parse("complete:1"));
  const FftResult wanted = run_fft(alone, find_exchange("auto"), {record, {}, {}});
  CHECK(wanted.passed());
  for (const char* const name : {"torus:8x8", "mesh:5x3", "hypercube:4"}) {
    Machine machine(Topology::parse(name), {.timing = true});
    const FftResult result = run_fft(machine, find_exchange("auto"), {record, {}, {}});
    CAPTURE(name, result.figures.collectives.at(0).algorithm);
    CHECK(result.passed());
    check_measured(result.figures);
    CHECK(relative_error(result.output, wanted.output) < 1e-12);
    CHECK(strongest_frequency(result.output).period == Approx(130).margin(5));
  }
}

TEST_CASE("a machine transforms lengths without factors, and images", "[apps][fft][machine]") {
  Machine machine(Topology::parse("torus:4x4"), {.timing = true});
  for (const auto& shape :
       std::vector<std::vector<std::size_t>>{{10007}, {65536}, {256, 256}, {100, 7}}) {
    for (const Exchange& exchange : plain_exchanges(machine.topology())) {
      const FftResult result =
          run_fft(machine, exchange, {generate_signal(SignalKind::random, shape, 1), {}, {}});
      CHECK(result.passed());
      check_measured(result.figures);
    }
  }
}

TEST_CASE("the figures are those of the median run", "[apps][transpose][machine]") {
  Machine machine(Topology::parse("ring:4"), {.timing = true});
  const TransposeJob job{generate_matrix(ElementType::float64, 64, 64, 1),
                         {.warmup = 1, .iterations = 5}};
  const TransposeResult result = run_transpose(machine, find_exchange("shift"), job);
  CHECK(result.passed());
  check_measured(result.figures);
}
