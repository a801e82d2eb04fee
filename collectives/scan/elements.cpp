// Prefix reduction over the elements of a distributed array.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scan/elements.hpp"

#include "wormcube/collectives/scan/programs.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/node/views.hpp"

#include <fmt/core.h>

namespace wormcube {

namespace {

void require_counts(const Node& node, const Reduction& reduction, ConstSpan elements,
                    std::span<const Bytes> counts) {
  const auto r = static_cast<std::size_t>(node.rank());
  if (counts.size() != static_cast<std::size_t>(node.size())) {
    throw UsageError(fmt::format("scan_elements: {} counts for {} nodes; give one for each",
                                 counts.size(), node.size()));
  }
  if (counts[r] * reduction.element_bytes != elements.size()) {
    throw UsageError(
        fmt::format("scan_elements: node {} has {} bytes; its count says {} elements of {}", r,
                    elements.size(), counts[r], reduction.element_bytes));
  }
}

}  // namespace

void scan_elements(Node& node, const Reduction& reduction, Span elements,
                   std::span<const Bytes> counts) {
  require_counts(node, reduction, elements, counts);
  std::vector<Rank> members;  // with elements
  for (Rank q = 0; q < node.size(); ++q) {
    if (counts[static_cast<std::size_t>(q)] > 0) members.push_back(q);
  }
  if (elements.empty()) {
    node.idle(members.empty() ? 0 : log2_ceiling(static_cast<Rank>(members.size())));
    return;
  }

  const Bytes size = reduction.element_bytes, count = elements.size() / size;
  const auto element = [&](Bytes i) { return elements.data() + i * size; };
  node.combine(elements.size() - size, [&] {
    for (Bytes i = 1; i < count; ++i) reduction.apply(element(i - 1), element(i), element(i), 1);
  });
  GroupView group = node.group(members);
  const Memory before = node.memory(size);
  scan_across_bits(group, reduction, elements.last(size), before, Prefix::exclusive);
  if (group.rank() == 0) return;
  node.combine(elements.size(), [&] {
    for (Bytes i = 0; i < count; ++i) reduction.apply(before.data(), element(i), element(i), 1);
  });
}

}  // namespace wormcube
