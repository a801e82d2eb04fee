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

void require_elements(std::string_view algorithm, const Reduction& reduction, Bytes bytes) {
  if (bytes % reduction.element_bytes != 0) {
    throw UsageError(fmt::format("{}: {} bytes; {} has elements of {}", algorithm, bytes,
                                 reduction.name, reduction.element_bytes));
  }
}

void require_reduction(std::string_view algorithm, const Node& node, const Reduction& reduction,
                       ConstSpan mine, ConstSpan result) {
  if (mine.size() != result.size()) {
    throw UsageError(fmt::format("{}: node {} has {} bytes to give and room for {}; need one size",
                                 algorithm, node.rank(), mine.size(), result.size()));
  }
  require_elements(algorithm, reduction, mine.size());
}

void require_root(std::string_view algorithm, Rank nodes, Rank root) {
  if (root < 0 || root >= nodes) {
    throw UsageError(fmt::format("{}: root {} of {} nodes; nodes are 0 to {}", algorithm, root,
                                 nodes, nodes - 1));
  }
}

}  // namespace wormcube
