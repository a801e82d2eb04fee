// The operations: the conditions on their arguments, and their lower bounds.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/operations.hpp"

#include "wormcube/runtime/topology/flows.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube {

Rank Instance::sources_below(Rank rank) const {
  if (arguments.sources.empty()) return rank > 0 ? 1 : 0;
  return static_cast<Rank>(std::ranges::lower_bound(arguments.sources, rank) -
                           arguments.sources.begin());
}

bool Instance::is_source(Rank rank) const {
  return arguments.sources.empty() ? rank == 0
                                   : std::ranges::binary_search(arguments.sources, rank);
}

namespace {

void require_root(std::string_view operation, Rank nodes, Rank root) {
  if (root < 0 || root >= nodes) {
    throw UsageError(fmt::format("{}: root {} of {} nodes; nodes are 0 to {}", operation, root,
                                 nodes, nodes - 1));
  }
}

void require_ascending(std::string_view operation, std::string_view what, Rank nodes,
                       std::span<const Rank> members) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i] < 0 || members[i] >= nodes) {
      throw UsageError(fmt::format("{}: {} {} of {} nodes; nodes are 0 to {}", operation, what,
                                   members[i], nodes, nodes - 1));
    }
    if (i > 0 && members[i - 1] >= members[i]) {
      throw UsageError(fmt::format("{}: {}s must ascend; {} precedes {}", operation, what,
                                   members[i - 1], members[i]));
    }
  }
}

void require_operator(std::string_view operation, const Reduction& reduction) {
  if (!reduction.apply) {
    throw UsageError(fmt::format("{}: needs a reduction operator", operation));
  }
  if (reduction.element_bytes == 0) {
    throw UsageError(
        fmt::format("{}: {} has elements of {} bytes; give it the size of one, 1 or more",
                    operation, reduction.name, reduction.element_bytes));
  }
}

}  // namespace

void require_arguments(Operation operation, Rank nodes, const Arguments& arguments) {
  if (operation->rooted) require_root(operation->name, nodes, arguments.root);
  if (operation->permutes) arguments.permutation.require(operation->name, nodes);
  if (operation->has_sources) {
    require_ascending(operation->name, "source", nodes, arguments.sources);
  }
  if (operation->reduces) require_operator(operation->name, arguments.reduction);
}

namespace operations::detail {

namespace {

/// The larger of two limits in blocks: one port of a node, and the links with all ports. A port's
/// bound is met wherever the links' bound is, which takes less time.
LowerBound of_ports_and_links(const Limits& on, double one_port, const theory::LinkBound& links) {
  if (on.ports == Ports::one && one_port >= links.blocks) {
    return {.startups = on.rounds,
            .transmission_blocks = one_port,
            .transmission_source = "ports",
            .tight = links.tight};
  }
  return {.startups = on.rounds,
          .transmission_blocks = links.blocks,
          .transmission_source = links.source,
          .tight = links.tight};
}

}  // namespace

LowerBound one_block(const Limits& on, const Instance&) {
  return of_ports_and_links(on, on.nodes > 1 ? 1 : 0, theory::broadcast_bound(on.topology));
}

LowerBound prefixes(const Limits& on, const Instance& in) {
  LowerBound bound = one_block(on, in);
  bound.tight = false;
  return bound;
}

LowerBound all_combined(const Limits& on, const Instance&) {
  LowerBound bound =
      of_ports_and_links(on, 2 * (on.nodes - 1) / on.nodes, theory::allreduce_bound(on.topology));
  bound.tight = bound.tight && on.ports == Ports::all;
  return bound;
}

LowerBound all_blocks(const Limits& on, const Instance&) {
  return of_ports_and_links(on, on.nodes - 1, theory::allgather_bound(on.topology));
}

LowerBound blocks_at_root(const Limits& on, const Instance& in) {
  const std::vector<std::int64_t> each(in.nodes, 1);
  return of_ports_and_links(on, on.nodes - 1,
                            theory::gathering_bound(on.topology, each, in.root()));
}

LowerBound exchange(const Limits& on, const Instance&) {
  return of_ports_and_links(on, on.nodes - 1, theory::exchange_bound(on.topology));
}

/// A node that is not a source gets all; a source does not need its own.
LowerBound source_blocks_in(const Limits& on, const Instance& in) {
  std::vector<std::int64_t> each(in.nodes, 0);
  for (Rank i = 0; i < in.sources(); ++i) each[in.source(i)] = 1;
  const double k = in.sources();
  return of_ports_and_links(on, k < on.nodes ? k : k - 1,
                            theory::gathering_bound(on.topology, each));
}

/// Of each source alone: what the others use of the same links is not charged.
LowerBound blocks_at_sources(const Limits& on, const Instance& in) {
  int fewest = on.most_ports;
  if (on.ports == Ports::all) {
    for (Rank i = 0; i < in.sources(); ++i) {
      fewest = std::min(fewest, on.topology.ports(in.source(i)));
    }
  }
  return {.startups = on.rounds,
          .transmission_blocks = (on.nodes - 1) / fewest,
          .transmission_source = "ports"};
}

}  // namespace operations::detail

LowerBound lower_bound(Operation operation, const Topology& topology, Ports ports,
                       const Arguments& arguments) {
  if (operation->bound == nullptr) return {};
  if (topology.nodes() == 1) {
    return {
        .startups = 0, .transmission_blocks = 0, .transmission_source = "one node", .tight = true};
  }
  return operation->bound(limits(topology, ports), {topology.nodes(), arguments});
}

}  // namespace wormcube
