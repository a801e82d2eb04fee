// Total exchange on products of complete graphs with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/torus_handover.hpp"
#include "wormcube/runtime/node/together.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

Need complete_dimensions() {
  return {"every dimension must be a complete graph",
          [](const Topology& topology) -> std::optional<std::string> {
            for (const int d : wide_dimensions(topology)) {
              const Graph& graph = topology.factor(d);
              if (graph.shape() == Shape::complete || graph.nodes() == 2) continue;
              return fmt::format("{} has {}", topology.name(), graph.name());
            }
            return std::nullopt;
          }};
}

/// Part j of every block. A held part is named by the label e with its source's coordinates in the
/// dimensions done and its destination's in the others: what goes to coordinate y and what comes
/// from there have the same labels.
void exchange_copy(Node& node, std::span<const int> wide, int j, ConstBlocks out, Blocks in) {
  const Topology& topology = node.topology();
  const Rank p = node.size(), r = node.rank();
  const auto copies = static_cast<Rank>(wide.size());
  const Bytes bytes = p * part(out[0], j, copies).size();
  const Memory first = node.memory(bytes, Purpose::blocks), second = node.memory(bytes);
  Blocks held(first, p), coming(second, p);
  node.local([&] {
    for (Rank e = 0; e < p; ++e) copy(part(out[e], j, copies), held[e]);
  });
  for (Rank t = 0; t < copies; ++t) {
    const int d = wide[static_cast<std::size_t>((j + t) % copies)];
    const Rank n = topology.size(d), x = topology.coordinate(r, d);
    std::vector<std::vector<Span>> going(static_cast<std::size_t>(n)), arriving(going.size());
    for (Rank e = 0; e < p; ++e) {
      const auto y = static_cast<std::size_t>(topology.coordinate(e, d));
      going[y].push_back(held[e]), arriving[y].push_back(coming[e]);
    }
    std::vector<Op> ops;
    for (Rank y = 0; y < n; ++y) {
      if (y == x) continue;
      const auto at = static_cast<std::size_t>(y);
      ops.push_back(send_pieces(topology.with(r, d, y), going[at]));
      ops.push_back(receive_pieces(topology.with(r, d, y), arriving[at]));
    }
    node.step(ops);
    node.local([&] {
      for (std::size_t i = 0; i < going[static_cast<std::size_t>(x)].size(); ++i) {
        copy(going[static_cast<std::size_t>(x)][i], arriving[static_cast<std::size_t>(x)][i]);
      }
    });
    std::swap(held, coming);
  }
  node.local([&] {
    for (Rank e = 0; e < p; ++e) copy(held[e], part(in[e], j, copies));
  });
}

/// Total exchange: node r's block q ends as node q's block r. Every block is cut into D parts; part
/// j crosses the dimensions in the order j, j + 1, .., j - 1 (mod D), in each in one step to all
/// nodes there, so that the copies use links of different dimensions in every step.
///
/// Network  every dimension a complete graph; all-port.
/// Cost     D steps; equal sides n: p/n blocks, the bound. Else each step lasts as long as its
///          largest message.
/// Links    each carries one message in a step.
/// Source   ours; on hypercubes hypercube-all-port.
void alltoall_all_port(Node& node, const Call& call) {
  const std::vector<int> wide = wide_dimensions(node.topology());
  if (wide.empty()) return node.local([&] { copy(call.input[0], call.output[0]); });
  together(node, static_cast<int>(wide.size()),
           [&](int j, Node& own) { exchange_copy(own, wide, j, call.input, call.output); });
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_all_port){
    .operation = operations::alltoall,
    .name = "all-port",
    .summary =
        "rotated copies send to all nodes of a dimension at once; products of complete graphs",
    .source = "ours",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .needs = {complete_dimensions()},
    .instead = {"shift", "product-multiport", "direct-product"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const std::vector<int> wide = wide_dimensions(topology);
      const double p = topology.nodes(), copies = static_cast<double>(wide.size());
      // In every step each dimension has a copy.
      double largest = 0;
      for (const int d : wide) largest = std::max(largest, p / (topology.size(d) * copies));
      return {copies, copies * largest, 0, wide.empty() ? 0 : p};
    },
    .program = alltoall_all_port,
    .parts =
        [](const Setting& setting) {
          return std::max(1, static_cast<Rank>(wide_dimensions(setting.topology).size()));
        },
};

}  // namespace wormcube
