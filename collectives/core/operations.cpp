// The operations: the conditions on their arguments, and their lower bounds.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/operations.hpp"

#include "wormcube/runtime/topology/flows.hpp"

#include <algorithm>
#include <utility>

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
      if (std::cmp_equal(i, nodes)) {  // all nodes before it: what is too large is the number
        throw UsageError(fmt::format("{}: {} {}s of {} nodes; give up to {}", operation,
                                     members.size(), what, nodes, nodes));
      }
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

/// The larger of two limits in blocks: what a port of some node carries, and the links with all
/// ports. One port's bound is met wherever the links' bound is, which takes less time.
LowerBound of_ports_and_links(const Limits& on, double port, const theory::LinkBound& links) {
  const bool by_ports = on.ports == Ports::one && port >= links.blocks;
  return {.startups = on.rounds,
          .transmission_blocks = by_ports ? port : links.blocks,
          .port_blocks = port,
          .transmission_source = by_ports ? "ports" : links.source,
          .tight = links.tight};
}

int ports_of(const Limits& on, Rank rank) {
  return on.ports == Ports::one ? 1 : on.topology.ports(rank);
}

}  // namespace

LowerBound by_ports(double startups, double blocks) {
  return {.startups = startups,
          .transmission_blocks = blocks,
          .port_blocks = blocks,
          .transmission_source = "ports"};
}

LowerBound one_block(const Limits& on, const Instance&) {
  return of_ports_and_links(on, 1.0 / on.fewest_ports, theory::broadcast_bound(on.topology));
}

LowerBound prefixes(const Limits& on, const Instance& in) {
  LowerBound bound = one_block(on, in);
  bound.tight = false;
  return bound;
}

/// 2 (p - 1) blocks leave nodes in total, and each node sends and receives at least one.
LowerBound all_combined(const Limits& on, const Instance&) {
  double ports = 0;
  for (Rank v = 0; v < on.topology.nodes(); ++v) ports += ports_of(on, v);
  LowerBound bound =
      of_ports_and_links(on, std::max(2 * (on.nodes - 1) / ports, 1.0 / on.fewest_ports),
                         theory::allreduce_bound(on.topology));
  bound.tight = bound.tight && on.ports == Ports::all;
  return bound;
}

LowerBound all_blocks(const Limits& on, const Instance&) {
  return of_ports_and_links(on, (on.nodes - 1) / on.fewest_ports,
                            theory::allgather_bound(on.topology));
}

LowerBound blocks_at_root(const Limits& on, const Instance& in) {
  const std::vector<std::int64_t> each(in.nodes, 1);
  return of_ports_and_links(on, (on.nodes - 1) / ports_of(on, in.root()),
                            theory::gathering_bound(on.topology, each, in.root()));
}

LowerBound exchange(const Limits& on, const Instance&) {
  return of_ports_and_links(on, (on.nodes - 1) / on.fewest_ports,
                            theory::exchange_bound(on.topology));
}

/// A node that is not a source gets all; a source does not need its own.
LowerBound source_blocks_in(const Limits& on, const Instance& in) {
  std::vector<std::int64_t> each(in.nodes, 0);
  for (Rank i = 0; i < in.sources(); ++i) each[in.source(i)] = 1;
  double port = 0;
  for (Rank v = 0; v < in.nodes; ++v) {
    const auto lacking = static_cast<double>(in.sources() - each[v]);
    port = std::max(port, lacking / ports_of(on, v));
  }
  return of_ports_and_links(on, port, theory::gathering_bound(on.topology, each));
}

/// Of each source alone: what the others use of the same links is not charged.
LowerBound blocks_at_sources(const Limits& on, const Instance& in) {
  int fewest = on.most_ports;
  for (Rank i = 0; i < in.sources(); ++i) fewest = std::min(fewest, ports_of(on, in.source(i)));
  return by_ports(on.rounds, (on.nodes - 1) / fewest);
}

}  // namespace operations::detail

LowerBound lower_bound(Operation operation, const Topology& topology, Ports ports,
                       const Arguments& arguments) {
  if (operation->bound == nullptr) return {};
  if (topology.nodes() == 1) {
    return {.startups = 0,
            .transmission_blocks = 0,
            .port_blocks = 0,
            .transmission_source = "one node",
            .tight = true};
  }
  return operation->bound(limits(topology, ports), {topology.nodes(), arguments});
}

std::string arguments_text(Operation operation, const Arguments& arguments) {
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (operation->rooted) add(fmt::format("root {}", arguments.root));
  if (operation->shifts) add(fmt::format("distance {}", arguments.by));
  if (operation->permutes) add(arguments.permutation.short_text());
  if (operation->reduces) {
    add(fmt::format("{} on {}", arguments.reduction.name, arguments.reduction.type));
  }
  if (operation->has_sources) {
    const std::size_t count = arguments.sources.size();
    std::string ends = fmt::format("{} {}{}:", count, operation->sources_get ? "target" : "source",
                                   count == 1 ? "" : "s");
    for (const Rank source : arguments.sources) ends += fmt::format(" {}", source);
    add(ends);
  }
  return text;
}

}  // namespace wormcube
