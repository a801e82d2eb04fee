// The checks that collectives share, and their words.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/require.hpp"

#include <algorithm>

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
  require_even(algorithm, out, in, "use alltoallv for others");
  require_equal(algorithm, out.bytes(), in.bytes());
}

void require_direct_exchange(std::string_view algorithm, const Node& node, ConstBlocks out,
                             ConstBlocks in) {
  require_counts(algorithm, node.size(), out, in);
  require_equal(algorithm, out[node.rank()].size(), in[node.rank()].size());
}

void require_even(std::string_view algorithm, ConstBlocks out, ConstBlocks in,
                  std::string_view instead) {
  if (!out.uneven() && !in.uneven()) return;
  throw UsageError(fmt::format("{}: blocks must all have one size; {}", algorithm, instead));
}

void require_operator(std::string_view algorithm, const Reduction& reduction) {
  if (!reduction.apply) {
    throw UsageError(fmt::format("{}: needs a reduction operator", algorithm));
  }
  if (reduction.element_bytes == 0) {
    throw UsageError(
        fmt::format("{}: {} has elements of {} bytes; give it the size of one, 1 or more",
                    algorithm, reduction.name, reduction.element_bytes));
  }
}

void require_elements(std::string_view algorithm, const Reduction& reduction, Bytes bytes) {
  require_operator(algorithm, reduction);
  if (bytes % reduction.element_bytes != 0) {
    throw UsageError(fmt::format("{}: {} bytes; {} has elements of {}", algorithm, bytes,
                                 reduction.name, reduction.element_bytes));
  }
}

void require_blocks_of_elements(std::string_view algorithm, const Reduction& reduction,
                                ConstBlocks blocks) {
  const Rank sizes = blocks.uneven() ? blocks.count() : std::min(blocks.count(), 1);
  for (Rank b = 0; b < sizes; ++b) require_elements(algorithm, reduction, blocks[b].size());
}

void require_reduction(std::string_view algorithm, const Node& node, const Reduction& reduction,
                       ConstSpan mine, ConstSpan result) {
  if (mine.size() != result.size()) {
    throw UsageError(fmt::format("{}: node {} has {} bytes to give and room for {}; need one size",
                                 algorithm, node.rank(), mine.size(), result.size()));
  }
  require_elements(algorithm, reduction, mine.size());
}

void require_reduction_to_root(std::string_view algorithm, const Node& node,
                               const Reduction& reduction, ConstSpan mine, ConstSpan result,
                               Rank root) {
  require_root(algorithm, node.size(), root);
  require_elements(algorithm, reduction, mine.size());
  if (node.rank() == root) require_reduction(algorithm, node, reduction, mine, result);
}

void require_root(std::string_view algorithm, Rank nodes, Rank root) {
  if (root < 0 || root >= nodes) {
    throw UsageError(fmt::format("{}: root {} of {} nodes; nodes are 0 to {}", algorithm, root,
                                 nodes, nodes - 1));
  }
}

void require_ascending(std::string_view algorithm, std::string_view what, Rank nodes,
                       std::span<const Rank> members) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i] < 0 || members[i] >= nodes) {
      throw UsageError(fmt::format("{}: {} {} of {} nodes; nodes are 0 to {}", algorithm, what,
                                   members[i], nodes, nodes - 1));
    }
    if (i > 0 && members[i - 1] >= members[i]) {
      throw UsageError(fmt::format("{}: {}s must ascend; {} stands before {}", algorithm, what,
                                   members[i - 1], members[i]));
    }
  }
}

}  // namespace wormcube
