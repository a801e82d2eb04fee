// Collectives that damage the delivered data, which a check must detect.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/collectives/core/registry.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace wormcube::apps::testing {

/// An exchange that delivers everything, then damages one byte on node 0: what a check must find.
inline Exchange damaging_exchange() {
  static const Algorithm damaging = [] {
    Algorithm algorithm = find_algorithm(operations::alltoall, "shift");
    algorithm.name = "damaging";
    algorithm.program = [](Node& node, const Call& call) {
      find_algorithm(operations::alltoall, "shift").program(node, call);
      node.local([&] {
        // The top byte of the first element: its sign and exponent.
        if (node.rank() == 0) call.output.all()[sizeof(double) - 1] ^= std::byte{0x01};
      });
    };
    return algorithm;
  }();
  return {Collective(damaging)};
}

/// An algorithm of an operation that delivers everything, then damages a byte on every node of this
/// rank, its own or a view's: the sign and exponent of the first double, the top byte of the first
/// int64.
template <const OperationRow& row, Rank rank = 0>
Collective damaging() {
  static const auto healthy = [] {
    Arguments sum;
    sum.reduction = find_reduction("sum", "double");
    const std::vector<Collective> all = admitted(row, Topology::parse("complete:3"), sum);
    // Runs everywhere; the MPI library's own does not.
    return std::ranges::find_if(all,
                                [](const Collective& each) {
                                  return is_chosen_by_auto(*each.algorithm) &&
                                         each.algorithm->needs.empty();
                                })
        ->algorithm;
  };
  static const Algorithm damaging = [] {
    Algorithm algorithm = *healthy();
    algorithm.name = "damaging";
    algorithm.program = [](Node& node, const Call& call) {
      healthy()->program(node, call);
      node.local([&] {
        const Span output = call.output.all();
        if (node.rank() == rank && output.size() >= 8) output[7] ^= std::byte{0x01};
      });
    };
    return algorithm;
  }();
  return Collective(damaging);
}

}  // namespace wormcube::apps::testing
