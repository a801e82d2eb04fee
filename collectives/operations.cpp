// The operations: what their arguments must be, and what bounds them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/operations.hpp"

#include "wormcube/collectives/require.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/core.h>

namespace wormcube {

namespace {

Rank square_root(Rank nodes) { return static_cast<Rank>(std::lround(std::sqrt(nodes))); }

}  // namespace

std::string_view to_string(Permutation permutation) {
  switch (permutation) {
    case Permutation::complement:
      return "complement";
    case Permutation::bit_reversal:
      return "bit-reversal";
    case Permutation::transpose:
      return "transpose";
  }
  return "?";
}

Rank permuted(Permutation permutation, Rank rank, Rank nodes) {
  switch (permutation) {
    case Permutation::complement:
      return nodes - 1 - rank;
    case Permutation::bit_reversal: {
      Rank reversed = 0;
      for (Rank bit = 1; bit < nodes; bit *= 2) {
        reversed = 2 * reversed + ((rank & bit) != 0 ? 1 : 0);
      }
      return reversed;
    }
    case Permutation::transpose: {
      const Rank side = square_root(nodes);
      return rank % side * side + rank / side;
    }
  }
  return rank;
}

bool is_identity(Permutation permutation, Rank nodes) {
  for (Rank rank = 0; rank < nodes; ++rank) {
    if (permuted(permutation, rank, nodes) != rank) return false;
  }
  return true;
}

void require_permutation(std::string_view algorithm, Permutation permutation, Rank nodes) {
  const bool reverses = permutation == Permutation::bit_reversal,
             transposes = permutation == Permutation::transpose;
  if (reverses && !std::has_single_bit(static_cast<unsigned>(nodes))) {
    throw UsageError(fmt::format(
        "{}: bit-reversal needs a power of 2 of nodes, not {}; use complement", algorithm, nodes));
  }
  if (transposes && square_root(nodes) * square_root(nodes) != nodes) {
    throw UsageError(
        fmt::format("{}: transpose needs s x s nodes, not {}; use complement", algorithm, nodes));
  }
}

Rank Instance::sources_below(Rank rank) const {
  if (arguments.sources.empty()) return rank > 0 ? 1 : 0;
  return static_cast<Rank>(std::ranges::lower_bound(arguments.sources, rank) -
                           arguments.sources.begin());
}

bool Instance::is_source(Rank rank) const {
  return arguments.sources.empty() ? rank == 0
                                   : std::ranges::binary_search(arguments.sources, rank);
}

void require_arguments(Operation operation, Rank nodes, const Arguments& arguments) {
  if (operation->rooted) require_root(operation->name, nodes, arguments.root);
  if (operation->permutes) require_permutation(operation->name, arguments.permutation, nodes);
  if (operation->has_sources) {
    require_ascending(operation->name, "source", nodes, arguments.sources);
  }
  if (operation->reduces) require_operator(operation->name, arguments.reduction);
}

LowerBound lower_bound(Operation operation, const Topology& topology, Ports ports,
                       const Arguments& arguments) {
  if (operation->bound == nullptr) return {};
  if (topology.nodes() == 1) return {0, 0};
  return operation->bound(limits(topology, ports), {topology.nodes(), arguments});
}

}  // namespace wormcube
