// What the tests of total exchanges on tori share: a dry run checked and counted, and a proof.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/schedule/prove.hpp"

#include <ostream>
#include <string>

#include <catch2/catch.hpp>

namespace torus_exchange {

using namespace wormcube;

inline constexpr Bytes block_bytes = 8;  // one tag

/// In blocks.
struct Counts {
  std::size_t startups = 0, transmission = 0, rearranged = 0, peak = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Counts& counts) {
    return out << counts.startups << " / " << counts.transmission << " / " << counts.rearranged
               << " / " << counts.peak;
  }
};

inline Parameters divided(int divisions) {
  Parameters parameters;
  parameters.divisions = divisions;
  return parameters;
}

inline const Algorithm& alltoall(std::string_view name) {
  return find_algorithm(Operation::alltoall, name);
}

inline Counts counts(const ScheduleReport& report) {
  return {report.startups, report.transmission / block_bytes, report.rearranged / block_bytes,
          report.peak_block_bytes / block_bytes};
}

inline Counts counts(const Prediction& prediction) {
  const auto whole = [](const std::optional<double>& value) {
    REQUIRE(value.has_value());
    const auto result = static_cast<std::size_t>(*value);
    REQUIRE(static_cast<double>(result) == *value);
    return result;
  };
  return {whole(prediction.startups), whole(prediction.transmission_blocks),
          whole(prediction.rearranged_blocks), whole(prediction.peak_blocks)};
}

inline ScheduleReport dry_check(const Topology& topology, const Program& program) {
  return check(record(topology, program), Routing(topology), false);
}

/// The counts of a dry run that keeps all laws and has no step that is idle on all nodes; equal to
/// the algorithm's own prediction.
inline Counts counted(std::string_view name, const std::string& shape,
                      const Parameters& parameters = {}) {
  const Algorithm& algorithm = alltoall(name);
  const Topology topology = Topology::parse(shape);
  const ScheduleReport report = dry_check(
      topology, collective_program(algorithm, parameters, block_bytes, 0, nullptr, Pattern::tags));
  CAPTURE(name, shape, parameters.divisions, report.problems);
  CHECK(report.problems.empty());
  CHECK(report.matched());
  CHECK(report.port_violations == 0);
  CHECK(report.link_load_max == 1);
  CHECK(report.deadlock_free);
  CHECK(report.steps == report.startups);
  CHECK(counts(report) == counts(algorithm.predict(topology, parameters)));
  return counts(report);
}

/// The counts, after a proof that every block arrives exactly once.
inline Counts proved(std::string_view name, const std::string& shape,
                     const Parameters& parameters = {}) {
  const Topology topology = Topology::parse(shape);
  Verification verification(topology.nodes());
  prove(topology, collective_program(alltoall(name), parameters, block_bytes, 0, &verification,
                                     Pattern::tags));
  CAPTURE(name, shape, parameters.divisions, verification.first());
  CHECK(verification.delivered());
  CHECK(verification.exactly_once());
  CHECK(verification.passed());
  return counted(name, shape, parameters);
}

}  // namespace torus_exchange
