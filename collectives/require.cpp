// The checks that collectives share, and their words.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/require.hpp"

#include <fmt/core.h>

namespace wormcube {

namespace {

void require_counts(std::string_view algorithm, Rank nodes, ConstBlocks out, ConstBlocks in) {
  if (out.count() != nodes || in.count() != nodes) {
    throw UsageError(fmt::format("{}: {} nodes, but {} blocks to send and {} to receive", algorithm,
                                 nodes, out.count(), in.count()));
  }
}

void require_equal(std::string_view algorithm, Bytes out, Bytes in) {
  if (out != in) {
    throw UsageError(
        fmt::format("{}: a block of {} bytes to send but of {} to receive", algorithm, out, in));
  }
}

}  // namespace

void require_exchange(std::string_view algorithm, Rank nodes, ConstBlocks out, ConstBlocks in) {
  require_counts(algorithm, nodes, out, in);
  if (out.uneven() || in.uneven()) {
    throw UsageError(
        fmt::format("{}: blocks must all have one size; use alltoallv for others", algorithm));
  }
  require_equal(algorithm, out.bytes(), in.bytes());
}

void require_direct_exchange(std::string_view algorithm, const Node& node, ConstBlocks out,
                             ConstBlocks in) {
  require_counts(algorithm, node.size(), out, in);
  require_equal(algorithm, out[node.rank()].size(), in[node.rank()].size());
}

void require_root(std::string_view algorithm, const Topology& topology, Rank root) {
  if (root < 0 || root >= topology.nodes()) {
    throw UsageError(fmt::format("{}: root {} is not a node of {}; nodes are 0 to {}", algorithm,
                                 root, topology.name(), topology.nodes() - 1));
  }
}

void require_line_or_ring(std::string_view algorithm, const Topology& topology,
                          std::string_view instead) {
  if (topology.dimensions() != 1) {
    throw UsageError(fmt::format("{}: needs one line or ring; {} has {} dimensions; {}", algorithm,
                                 topology.name(), topology.dimensions(), instead));
  }
  require_lines_and_rings(algorithm, topology, instead);
}

void require_lines_and_rings(std::string_view algorithm, const Topology& topology,
                             std::string_view instead) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (!topology.factor(d).has_direction()) {
      throw UsageError(fmt::format("{}: every dimension must be a line or a ring; {} has {}; {}",
                                   algorithm, topology.name(), topology.factor(d).name(), instead));
    }
  }
}

void require_hypercube(std::string_view algorithm, const Topology& topology,
                       std::string_view instead) {
  if (!topology.is_hypercube()) {
    throw UsageError(fmt::format("{}: needs a hypercube; {} is none ({} nodes); {}", algorithm,
                                 topology.name(), topology.nodes(), instead));
  }
}

}  // namespace wormcube
