// The examples in the exchanges' headers: how the block (2,1) -> (3,3) travels on 4 x 4 nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/collectives/cases.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

namespace {

using namespace wormcube;

/// The messages that have a block, in time: "step 2: (2,1) -> (2,3), block 5 of 8".
std::vector<std::string> travels(const char* algorithm, const char* network, Rank from, Rank to) {
  const Topology topology = Topology::parse(network);
  const cases::Call call(cases::alltoall(algorithm), topology, 8, Pattern::tags);
  const std::uint64_t wanted = tag_in(call.contract, from, to, 0);
  const auto name = [&](Rank rank) {
    return fmt::format("({},{})", topology.coordinate(rank, 0), topology.coordinate(rank, 1));
  };
  std::mutex mutex;
  std::vector<std::string> found;
  const auto watch = [&](const Program& program) -> Program {
    return [&, program](Node& node) {
      cases::Tampering watched(node);
      watched.change_step = [&](int step, std::vector<Op>& ops) {
        node.local([] {});  // what earlier steps brought is there
        for (const Op& op : ops) {
          if (!op.is_send()) continue;
          Bytes before = 0;
          for (const Span piece : op.pieces()) {
            for (Bytes at = 0; at < piece.size(); at += 8) {
              std::uint64_t word = 0;
              std::memcpy(&word, piece.data() + at, 8);
              if (word != wanted) continue;
              const std::lock_guard lock(mutex);
              found.push_back(fmt::format(
                  "step {}: {} -> {}, block {} of {}", step, name(node.rank()),
                  name(peer_of(topology, node.rank(), op)), (before + at) / 8, op.bytes() / 8));
            }
            before += piece.size();
          }
        }
      };
      program(watched);
    };
  };
  const cases::Outcome outcome = cases::outcome(call, topology, watch);
  INFO(outcome.first);
  CHECK(outcome.delivered);
  std::ranges::sort(found);
  return found;
}

}  // namespace

TEST_CASE("the block of the headers' examples travels as they say", "[collectives]") {
  const auto on_torus = [](const char* algorithm) {
    return travels(algorithm, "torus:4x4", 9, 15);
  };
  const auto on_mesh = [](const char* algorithm) { return travels(algorithm, "mesh:4x4", 9, 15); };
  using Steps = std::vector<std::string>;
  // Places 7 and 6, of the eight from place 4 on.
  CHECK(on_torus("suh-torus") == Steps{"step 1: (2,1) -> (2,3), block 3 of 8",  //
                                       "step 3: (2,3) -> (3,3), block 2 of 8"});
  // Places 13 and 12, of the second half.
  CHECK(on_torus("tseng-diagonal") ==
        Steps{"step 1: (2,1) -> (2,3), block 5 of 8", "step 3: (2,3) -> (3,3), block 4 of 8"});
  // Place 7 of all 16; place 27, of the second half.
  CHECK(on_torus("kim-a1") ==
        Steps{"step 1: (2,1) -> (3,1), block 7 of 16", "step 2: (3,1) -> (3,3), block 11 of 16"});
  // Place 9, of the last eight; place 5, of those from place 4 on.
  for (const char* algorithm : {"suh-mesh", "suh-mesh:order=parity", "suh-mesh:order=overlap"}) {
    CHECK(on_mesh(algorithm) ==
          Steps{"step 1: (2,1) -> (2,3), block 1 of 8", "step 3: (2,3) -> (3,3), block 1 of 8"});
  }
  // Place 13, of the last part, or of the last two; place 7, of the second part, or of two from it
  // on.
  CHECK(on_mesh("bokhari-quadrant") ==
        Steps{"step 1: (2,1) -> (2,3), block 1 of 4", "step 7: (2,3) -> (3,3), block 3 of 4"});
  CHECK(on_mesh("sundar-cyclic") ==
        Steps{"step 1: (2,1) -> (2,3), block 5 of 8", "step 3: (2,3) -> (3,3), block 3 of 8"});
}
