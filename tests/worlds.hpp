// A node program in every execution mode: the dry run, the proof, and the machine on
// threads and on fibers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/schedule/prove.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <array>
#include <functional>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

namespace worlds {

using namespace wormcube;

inline MachineOptions machine(ExecutorKind executor, bool all_port = false) {
  MachineOptions options;
  options.executor = executor;
  options.all_port = all_port;
  options.stack_bytes = Bytes{256} << 10;
  return options;
}

using World = std::function<void(const Topology&, const Program&)>;
inline const std::array<std::pair<const char*, World>, 4> all{
    {{"dry run",
      [](const Topology& topology, const Program& program) { record(topology, program); }},
     {"proof", [](const Topology& topology, const Program& program) { prove(topology, program); }},
     {"threads",
      [](const Topology& topology, const Program& program) {
        Machine(topology, machine(ExecutorKind::threads)).run(program);
      }},
     {"fibers", [](const Topology& topology, const Program& program) {
        Machine(topology, machine(ExecutorKind::fibers)).run(program);
      }}}};

/// The program is refused everywhere, with a UsageError that says so.
inline void refused(const std::string& topology, const Program& program, const std::string& text) {
  for (const auto& [name, run] : all) {
    CAPTURE(name, topology);
    CHECK_THROWS_AS(run(Topology::parse(topology), program), UsageError);
    CHECK_THROWS_WITH(run(Topology::parse(topology), program), Catch::Matchers::Contains(text));
  }
}

/// The program runs everywhere, and the traces of real runs equal the dry run, which is returned.
inline Schedule runs(const std::string& text, const Program& program) {
  const Topology topology = Topology::parse(text);
  CAPTURE(text);
  const Schedule dry = record(topology, program);
  CHECK_NOTHROW(prove(topology, program));
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    for (const bool all_port : {false, true}) {
      CAPTURE(executor, all_port);
      Machine emulator(topology, machine(executor, all_port));
      Schedule trace{topology, {}};
      for (int repetition = 0; repetition < 2; ++repetition) {  // the second finds its plans made
        CHECK_NOTHROW(emulator.run(program, trace));
        CHECK(trace == dry);
      }
    }
  }
  return dry;
}

}  // namespace worlds
