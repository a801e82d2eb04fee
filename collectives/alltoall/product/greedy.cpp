// Total exchanges of arbitrary graphs, along shortest paths.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/edge_colouring.hpp"
#include "wormcube/collectives/alltoall/product/single.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace wormcube {

namespace {

/// The blocks of an exchange that wait at nodes, in groups of those that may continue over the same
/// links.
class Crowd {
 public:
  struct Group {
    std::vector<Rank> closer;  // the neighbours that are closer to the destinations, ascending
    bool arrives;              // the neighbour is the destination
    /// Packed so that the first has the most hops to go; among these, the least offset, source,
    /// copy.
    std::set<std::uint64_t> blocks = {};
  };

  Crowd(const Adjacency& graph, const Distances& hops, Rank copies)
      : n_(graph.nodes()),
        copies_(copies),
        hops_(hops),
        groups_(static_cast<std::size_t>(n_)),
        group_of_(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_), -1) {
    for (Rank u = 0; u < n_; ++u) {
      for (Rank d = 0; d < n_; ++d) {
        if (u != d) group_of_[u * n_ + d] = find_group(graph, u, d);
      }
    }
    for (Rank s = 0; s < n_; ++s) {
      for (Rank d = 0; d < n_; ++d) {
        for (Rank copy = 0; s != d && copy < copies; ++copy) arrive({s, s, s, d, copy});
      }
    }
  }

  bool empty() const { return waiting_ == 0; }
  std::vector<Group>& at(Rank u) { return groups_[u]; }
  /// The first block of a group leaves.
  BlockMove leave(Rank u, Group& group, Rank to) {
    const auto block = group.blocks.extract(group.blocks.begin()).value();
    --waiting_;
    const auto copy = static_cast<Rank>(block % copies_);
    const auto source = static_cast<Rank>(block / copies_ % n_);
    const auto offset = static_cast<Rank>(block / copies_ / n_ % n_);
    return {u, to, source, mod(source + offset, n_), copy};
  }
  /// A block has arrived at transfer.to.
  void arrive(const BlockMove& transfer) {
    const auto& [from, to, source, destination, copy] = transfer;
    if (to == destination) return;
    std::uint64_t block = n_ - hops_(to, destination);
    block = block * n_ + mod(destination - source, n_);
    block = block * n_ + source;
    groups_[to][group_of_[to * n_ + destination]].blocks.insert(block * copies_ + copy);
    ++waiting_;
  }

 private:
  int find_group(const Adjacency& graph, Rank u, Rank d) {
    std::vector<Rank> closer;
    for (const Rank w : graph.neighbours[u]) {
      if (hops_(w, d) == hops_(u, d) - 1) closer.push_back(w);
    }
    const bool arrives = closer.front() == d;
    std::vector<Group>& groups = groups_[u];
    const auto found = std::ranges::find_if(groups, [&](const Group& group) {
      return group.arrives == arrives && group.closer == closer;
    });
    const auto number = found - groups.begin();
    if (found == groups.end()) groups.push_back({std::move(closer), arrives});
    return static_cast<int>(number);
  }

  Rank n_, copies_;
  const Distances& hops_;
  std::vector<std::vector<Group>> groups_;  // by node
  std::vector<int> group_of_;               // by node and destination
  std::int64_t waiting_ = 0;
};

/// One shortest path for each pair: by the lowest neighbour that is closer.
class Routes {
 public:
  explicit Routes(const Adjacency& graph) : nodes_(graph.nodes()) {
    const Distances hops(graph);
    for (Rank u = 0; u < nodes_; ++u) {
      for (Rank d = 0; d < nodes_; ++d) {
        const auto closer = std::ranges::find_if(
            graph.neighbours[u], [&](Rank w) { return hops(w, d) == hops(u, d) - 1; });
        next_.push_back(u == d ? u : *closer);
      }
    }
  }
  Rank next(Rank u, Rank d) const { return next_[static_cast<std::size_t>(u) * nodes_ + d]; }
  /// Calls f for each node that sends on the path from u to d.
  template <class F>
  void for_senders(Rank u, Rank d, F f) const {
    for (; u != d; u = next(u, d)) f(u);
  }

 private:
  Rank nodes_;
  std::vector<Rank> next_;
};

/// The next hop of each block of a layer: to a neighbour that is closer to its destination, chosen
/// so that the largest number of blocks that a node receives is as small as possible. Blocks with
/// one choice take it; the others go to the neighbour with the fewest so far. Then blocks with a
/// choice are moved along chains from the fullest node to one with two less, until there is no such
/// chain.
class BalancedHops {
 public:
  BalancedHops(const Adjacency& graph, const Distances& hops) : graph_(graph), hops_(hops) {}

  void choose(std::vector<BlockMove>& layer) {
    const auto n = static_cast<std::size_t>(graph_.nodes());
    received_.assign(n, {});
    layer_ = &layer;
    closer_.clear();
    for (const BlockMove& hop : layer) {
      std::vector<Rank>& closer = closer_.emplace_back();
      for (const Rank w : graph_.neighbours[hop.from]) {
        if (hops_(w, hop.destination) == hops_(hop.from, hop.destination) - 1) closer.push_back(w);
      }
    }
    for (const bool chooses : {false, true}) {
      for (std::size_t block = 0; block < layer.size(); ++block) {
        if ((closer_[block].size() > 1) == chooses) {
          give(block,
               *std::ranges::min_element(closer_[block], {}, [&](Rank w) { return load(w); }));
        }
      }
    }
    while (relieve(fullest())) {
    }
  }

 private:
  std::size_t load(Rank w) const { return received_[w].size(); }
  Rank fullest() const {
    return static_cast<Rank>(
        std::ranges::max_element(received_, {}, &std::vector<std::size_t>::size) -
        received_.begin());
  }
  void give(std::size_t block, Rank to) {
    (*layer_)[block].to = to;
    received_[to].push_back(block);
  }
  /// Moves one block from this node, and others from those that get it, to a node with two less.
  bool relieve(Rank full) {
    constexpr std::size_t none = ~std::size_t{0};
    std::vector<std::size_t> by(received_.size(), none);  // the block that would arrive here
    std::vector<Rank> reached{full};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const Rank v = reached[i];
      if (load(v) + 2 <= load(full)) {
        for (Rank at = v; at != full;) {
          const std::size_t block = by[at];
          const Rank from = (*layer_)[block].to;
          std::erase(received_[from], block);
          give(block, at);
          at = from;
        }
        return true;
      }
      for (const std::size_t block : received_[v]) {
        for (const Rank w : closer_[block]) {
          if (w == full || by[w] != none) continue;
          by[w] = block;
          reached.push_back(w);
        }
      }
    }
    return false;
  }

  const Adjacency& graph_;
  const Distances& hops_;
  std::vector<BlockMove>* layer_ = nullptr;
  std::vector<std::vector<Rank>> closer_;           // by block of the layer
  std::vector<std::vector<std::size_t>> received_;  // by node
};

}  // namespace

ExchangeTemplate greedy_all_port(const Adjacency& graph, Rank copies) {
  const Rank n = graph.nodes();
  const Distances hops(graph);
  Crowd crowd(graph, hops, copies);
  std::vector<std::vector<BlockMove>> steps;
  while (!crowd.empty()) {
    std::vector<BlockMove>& step = steps.emplace_back();
    for (Rank u = 0; u < n; ++u) {
      std::vector<Crowd::Group*> groups;
      for (Crowd::Group& group : crowd.at(u)) {
        if (!group.blocks.empty()) groups.push_back(&group);
      }
      std::vector<Rank> free_links = graph.neighbours[u];
      while (!groups.empty()) {
        const auto first = std::ranges::min_element(
            groups, {}, [](const Crowd::Group* group) { return *group->blocks.begin(); });
        Crowd::Group& group = **first;
        const auto link = std::ranges::find_first_of(free_links, group.closer);
        if (link != free_links.end()) {
          step.push_back(crowd.leave(u, group, *link));
          free_links.erase(link);
        }
        if (link == free_links.end() || group.blocks.empty()) groups.erase(first);
      }
    }
    for (const BlockMove& transfer : step) crowd.arrive(transfer);
  }
  return {n, copies, steps};
}

ExchangeTemplate greedy_one_port(const Adjacency& graph) {
  const Rank n = graph.nodes();
  const Distances hops(graph);
  const Routes routes(graph);
  Crowd crowd(graph, hops, 1);
  // What every node still has to send, if blocks follow the routes.
  std::vector<int> load(static_cast<std::size_t>(n), 0);
  const auto change_load = [&](Rank from, Rank to, int by) {
    routes.for_senders(from, to, [&](Rank v) { load[v] += by; });
  };
  for (Rank s = 0; s < n; ++s) {
    for (Rank d = 0; d < n; ++d) change_load(s, d, 1);
  }

  // The busier of this node and the next, and this node's load, largest first; then the block.
  using Urgency = std::tuple<int, int, std::uint64_t>;
  struct Candidate {
    Urgency urgency;
    Rank node;
    Crowd::Group* group;
  };
  std::vector<std::vector<BlockMove>> steps;
  while (!crowd.empty()) {
    std::vector<Candidate> candidates;
    for (Rank u = 0; u < n; ++u) {
      for (Crowd::Group& group : crowd.at(u)) {
        if (group.blocks.empty()) continue;
        const int next = group.arrives ? 0 : load[group.closer.front()];
        candidates.push_back(
            {{-std::max(load[u], next), -load[u], *group.blocks.begin()}, u, &group});
      }
    }
    std::ranges::sort(candidates, {}, &Candidate::urgency);
    std::vector<bool> sends(static_cast<std::size_t>(n)), receives(static_cast<std::size_t>(n));
    std::vector<BlockMove>& step = steps.emplace_back();
    for (const auto& [urgency, u, group] : candidates) {
      if (sends[u]) continue;
      const auto to = std::ranges::find_if(group->closer, [&](Rank w) { return !receives[w]; });
      if (to == group->closer.end()) continue;
      sends[u] = receives[*to] = true;
      step.push_back(crowd.leave(u, *group, *to));
    }
    for (const BlockMove& transfer : step) {
      crowd.arrive(transfer);
      change_load(transfer.from, transfer.destination, -1);
      change_load(transfer.to, transfer.destination, 1);
    }
  }
  return {n, 1, steps};
}

ExchangeTemplate layered_one_port(const Adjacency& graph) {
  const Rank n = graph.nodes();
  const Distances hops(graph);
  BalancedHops next(graph, hops);
  std::vector<BlockMove> layer;  // the next hop of every block under way
  for (Rank s = 0; s < n; ++s) {
    for (Rank d = 0; d < n; ++d) {
      if (s != d) layer.push_back({s, s, s, d});
    }
  }
  std::vector<std::vector<BlockMove>> steps;
  while (!layer.empty()) {
    next.choose(layer);
    std::vector<std::pair<Rank, Rank>> edges;
    for (const BlockMove& hop : layer) edges.emplace_back(hop.from, hop.to);
    const EdgeColouring colouring = colour_edges(n, n, edges);
    const std::size_t first = steps.size();
    steps.resize(first + colouring.colours);
    for (std::size_t i = 0; i < layer.size(); ++i) {
      steps[first + colouring.colour[i]].push_back(layer[i]);
    }
    std::erase_if(layer, [](const BlockMove& hop) { return hop.to == hop.destination; });
    for (BlockMove& hop : layer) hop.from = hop.to;
  }
  return {n, 1, steps};
}

ExchangeTemplate serial_exchange(const Adjacency& graph) {
  const Rank n = graph.nodes();
  const Routes routes(graph);
  std::vector<std::vector<BlockMove>> steps;
  for (Rank s = 0; s < n; ++s) {
    for (Rank d = 0; d < n; ++d) {
      routes.for_senders(s, d, [&](Rank u) {
        steps.push_back(std::vector{BlockMove{u, routes.next(u, d), s, d}});
      });
    }
  }
  return {n, 1, steps};
}

}  // namespace wormcube
