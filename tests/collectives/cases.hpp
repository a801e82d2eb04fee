// What the tests of collectives share: the networks they walk, and a node that cheats.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/schedule/prove.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace wormcube::cases {

constexpr std::uint64_t seed = 20231;

/// Every kind of network, one node and degenerate dimensions among them.
inline std::vector<Topology> topologies() {
  std::vector<Topology> all;
  const auto add = [&](const std::string& shape, int first, int last) {
    for (int size = first; size <= last; ++size) {
      all.push_back(Topology::parse(shape + ":" + std::to_string(size)));
    }
  };
  add("ring", 1, 8);
  add("line", 1, 7);
  add("hypercube", 0, 6);
  add("complete", 1, 9);
  add("tree", 1, 8);
  for (const char* text : {"ring:16",
                           "ring:31",
                           "line:12",
                           "torus:4x4",
                           "torus:8x8",
                           "torus:8x4",
                           "torus:12x8",
                           "torus:6x6",
                           "torus:2x8",
                           "torus:1x8",
                           "torus:4x4x4",
                           "torus:8x4x4",
                           "mesh:3x5",
                           "mesh:1x4",
                           "mesh:6x5",
                           "mesh:4x4",
                           "mesh:8x8",
                           "mesh:2x3x4",
                           "mesh:2x2x2",
                           "ghc:4x3",
                           "ring:4*line:3",
                           "torus:3x4*line:2",
                           "tree:4*ring:8",
                           "tree:5*line:3",
                           "ring:3*complete:4*tree:2"}) {
    all.push_back(Topology::parse(text));
  }
  all.emplace_back(std::vector{samples::petersen()});
  all.emplace_back(std::vector{Graph::ring(4), samples::scrambled(6)});
  return all;
}

/// Calls f(algorithm, topology) for every registered algorithm on every network above that it
/// admits, of `most_nodes` at most.
template <class F>
void for_each(F f, Rank most_nodes = 1 << 20) {
  for (const Topology& topology : topologies()) {
    if (topology.nodes() > most_nodes) continue;
    for (const Algorithm& algorithm : registry()) {
      if (!refusal(algorithm, topology, {})) f(algorithm, topology);
    }
  }
}

inline std::string title(const Algorithm& algorithm, const Topology& topology) {
  return std::string(to_string(algorithm.operation)).append(" ").append(algorithm.name) + " on " +
         topology.name();
}

/// The smallest block of tags that the algorithm can cut into its parts.
inline Bytes tag_bytes(const Algorithm& algorithm, const Topology& topology) {
  return 8 * static_cast<Bytes>(algorithm.parts(topology));
}

struct Counts {
  ScheduleReport report;
  double startups, transmission_blocks, rearranged_blocks, peak_blocks;
};

inline Counts count(const Algorithm& algorithm, const Topology& topology, const Program& program,
                    Bytes block_bytes) {
  const auto report =
      check(record(topology, program), Routing(topology), algorithm.ports == Ports::all);
  const auto blocks = [&](Bytes bytes) {
    return static_cast<double>(bytes) / static_cast<double>(block_bytes);
  };
  return {report, static_cast<double>(report.startups), blocks(report.transmission),
          blocks(report.rearranged), blocks(report.peak_block_bytes)};
}

inline Counts count(const Algorithm& algorithm, const Topology& topology,
                    const Parameters& parameters = {}) {
  const Bytes bytes = tag_bytes(algorithm, topology);
  return count(algorithm, topology, collective_program(algorithm, parameters, bytes, seed, nullptr),
               bytes);
}

/// A node that passes everything on, but lets a test change it on the way.
class Tampering final : public ForwardingNode {
 public:
  explicit Tampering(Node& node) : ForwardingNode(node) {}

  /// May change the ops of a step.
  std::function<void(int step, std::vector<Op>& ops)> change_step;
  /// Does the work of the i-th rearrangement instead.
  std::function<void(int i, Work work)> change_rearrangement;
  /// The memory that the program holds, in the order of allocation.
  Span held(std::size_t i) const { return memory_[i].span(); }

  using Node::step;
  void step(std::span<const Op> ops) override {
    std::vector<Op> changed(ops.begin(), ops.end());
    if (change_step) change_step(steps_, changed);
    ++steps_;
    ForwardingNode::step(changed);
  }
  int steps() const { return steps_; }

 private:
  void work(Charge charge, Bytes bytes, Work work) override {
    if (charge == Charge::rearrange && bytes > 0 && change_rearrangement) {
      const int i = rearrangements_++;
      ForwardingNode::work(charge, bytes, [&] { change_rearrangement(i, work); });
    } else {
      ForwardingNode::work(charge, bytes, work);
    }
  }
  Span acquire(Bytes bytes, Purpose purpose) override {
    return memory_.emplace_back(node(), bytes, purpose).span();
  }
  void release(Span data, Purpose /*purpose*/) noexcept override {
    const auto it = std::ranges::find(memory_, data.data(), &Memory::data);
    // Memory cannot be assigned, so what is not last stays until the node ends.
    if (it + 1 == memory_.end()) memory_.pop_back();
  }

  std::vector<Memory> memory_;
  int steps_ = 0, rearrangements_ = 0;
};

}  // namespace wormcube::cases
