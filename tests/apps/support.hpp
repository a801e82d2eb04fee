// Shared by the tests of the applications: executors without a network, the textbook's sum.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/apps/common/random.hpp"
#include "wormcube/apps/fft/local.hpp"
#include "wormcube/apps/io/complex.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/schedule/prove.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wormcube::apps::testing {

/// Runs programs as proofs: on fibers, step by step, without a network and without statistics.
inline Runner proof(const Topology& topology) {
  return {topology, [topology](const Program& program) {
            prove(topology, program);
            return Statistics{};
          }};
}

/// As proof(), but keeps what every rank did.
inline Runner tracing_proof(const Topology& topology, std::vector<Schedule>& traces) {
  return {
      topology, [topology, &traces](const Program& program) {
        Schedule trace{topology, std::vector<RankLog>(static_cast<std::size_t>(topology.nodes()))};
        prove(topology, [&](Node& node) {
          TracingNode traced(node, trace.ranks[static_cast<std::size_t>(node.rank())]);
          program(traced);
        });
        traces.push_back(std::move(trace));
        return Statistics{};
      }};
}

/// Every alltoall and alltoallv algorithm that the network admits.
inline std::vector<Exchange> exchanges(const Topology& topology) {
  std::vector<Exchange> all;
  for (const Operation operation :
       {Operation(operations::alltoall), Operation(operations::alltoallv)}) {
    for (const Collective& collective : admitted(operation, topology)) {
      if (collective.algorithm->needs_sizes) continue;  // refused
      all.push_back({collective, {}, collective.algorithm->ports});
    }
  }
  return all;
}

/// One alltoall algorithm and one alltoallv algorithm that run everywhere.
inline std::vector<Exchange> plain_exchanges(const Topology& topology) {
  return {find_exchange("shift"), {admitted(operations::alltoallv, topology).at(0)}};
}

/// The trace of a run must be the dry run that follows it: of programs whose messages depend on data.
inline void require_repeated(const Topology& topology,
                             const std::function<void(const Runner&)>& run) {
  std::vector<Schedule> traces;
  Runner runner = tracing_proof(topology, traces);
  const auto trace = runner.run;
  Schedule dry{topology, {}};
  runner.run = [&](const Program& program) {
    Statistics statistics = trace(program);
    dry = record(topology, program);
    return statistics;
  };
  run(runner);
  if (traces.size() != 1 || !(traces[0] == dry)) {
    throw std::logic_error("the dry run is not what the run before it did");
  }
}

/// The sum of the definition, in long double. Backwards divided by the number of elements.
inline std::vector<Complex> transform_by_definition(const std::vector<Complex>& x,
                                                    Direction direction) {
  using Long = std::complex<long double>;
  const std::size_t size = x.size();
  std::vector<Complex> result;
  for (std::size_t k = 0; k < size; ++k) {
    Long sum = 0;
    for (std::size_t n = 0; n < size; ++n) {
      const long double angle = 2 * std::numbers::pi_v<long double> *
                                static_cast<long double>(n * k % size) /
                                static_cast<long double>(size);
      sum += Long(x[n]) * std::polar(1.0L, direction == Direction::forward ? -angle : angle);
    }
    if (direction == Direction::backward) sum /= static_cast<long double>(size);
    result.emplace_back(static_cast<double>(sum.real()), static_cast<double>(sum.imag()));
  }
  return result;
}

inline std::vector<Complex> random_values(std::size_t count, std::uint64_t seed) {
  SplitMix random(seed);
  std::vector<Complex> values(count);
  for (Complex& value : values) {
    const double real = random.symmetric();
    value = {real, random.symmetric()};
  }
  return values;
}

inline const std::string sunspots = WORMCUBE_SOURCE_DIR "/apps/fft/data/sunspots.csv";

}  // namespace wormcube::apps::testing
