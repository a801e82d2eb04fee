// Shared by the tests of total exchanges on tori: a checked and counted dry run, and a proof.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/collectives/cases.hpp"

#include <ostream>
#include <string>

#include <catch2/catch.hpp>

namespace torus_exchange {

using namespace wormcube;
using cases::alltoall;

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

/// kim-recursive with this many divisions.
inline std::string divided(int divisions) {
  return "kim-recursive:divisions=" + std::to_string(divisions);
}

inline cases::Call call(std::string_view text, const Topology& topology) {
  return {alltoall(text), topology, block_bytes, Pattern::tags};
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
          whole(prediction.rearranged_blocks), whole(prediction.working_blocks)};
}

inline ScheduleReport dry_check(const Topology& topology, const Program& program) {
  return check(record(topology, program), Routing(topology), false);
}

/// The counts of a dry run that keeps all laws and has no step that is idle on all nodes; equal to
/// the algorithm's own prediction.
inline Counts counted(const std::string& text, const std::string& shape) {
  const Topology topology = Topology::parse(shape);
  const ScheduleReport report = dry_check(topology, call(text, topology).dry());
  CAPTURE(text, shape, report.problems);
  CHECK(report.problems.empty());
  CHECK(report.contention.empty());
  CHECK(report.matched());
  CHECK(report.port_violations == 0);
  CHECK(report.link_load_max == 1);
  CHECK(report.deadlock_free);
  CHECK(report.steps == report.startups);
  CHECK(counts(report) == counts(alltoall(text).predict(topology)));
  return counts(report);
}

/// The counts, after a proof that every block arrives; exactly once, unless the algorithm says that
/// blocks pass their destinations on the way.
inline Counts proved(const std::string& text, const std::string& shape) {
  const Topology topology = Topology::parse(shape);
  const cases::Outcome outcome = cases::outcome(call(text, topology), topology);
  CAPTURE(text, shape, outcome.first);
  CHECK(outcome.delivered);
  CHECK(outcome.counted);
  if (alltoall(text).algorithm->exactly_once) CHECK(outcome.exactly_once());
  return counted(text, shape);
}

}  // namespace torus_exchange
