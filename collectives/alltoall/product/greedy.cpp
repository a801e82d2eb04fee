// Total exchanges of arbitrary graphs, along shortest paths.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/edge_colouring.hpp"
#include "wormcube/collectives/alltoall/product/single.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace wormcube {

namespace {

/// A block at a node of an all-port exchange, in the order in which a node serves its blocks.
struct Waiting {
  int hops;  // to go
  Rank offset, source, copy, destination;
  friend bool operator<(const Waiting& a, const Waiting& b) {
    return std::tuple(-a.hops, a.offset, a.source, a.copy) <
           std::tuple(-b.hops, b.offset, b.source, b.copy);
  }
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

/// The one-port greedy: which block moves is decided by what nodes still have to send.
class LoadGreedy {
 public:
  explicit LoadGreedy(const Adjacency& graph)
      : graph_(graph),
        n_(graph.nodes()),
        hops_(graph),
        routes_(graph),
        load_(static_cast<std::size_t>(n_), 0) {
    for (Rank s = 0; s < n_; ++s) {
      for (Rank d = 0; d < n_; ++d) {
        at_.push_back(s);
        if (s == d) continue;
        undelivered_.push_back(static_cast<std::uint32_t>(s * n_ + d));
        change_load(s, d, 1);
      }
    }
  }

  ExchangeTemplate run() {
    std::vector<std::vector<Transfer>> steps;
    while (!undelivered_.empty()) {
      steps.push_back(next_step());
      for (const Transfer& moved : steps.back()) {
        at_[moved.source * n_ + moved.destination] = moved.to;
        change_load(moved.from, moved.destination, -1);
        change_load(moved.to, moved.destination, 1);
      }
      std::erase_if(undelivered_, [&](std::uint32_t block) {
        return at_[block] == static_cast<Rank>(block) % n_;
      });
    }
    return {n_, 1, steps};
  }

 private:
  void change_load(Rank from, Rank to, int by) {
    routes_.for_senders(from, to, [&](Rank v) { load_[v] += by; });
  }

  /// All in one number, so that blocks sort fast: the busier of this node and the next, this
  /// node's load, hops to go (all three largest first), then offset and source.
  std::uint64_t key(Rank source, Rank destination) const {
    const auto n = static_cast<std::uint64_t>(n_), most = n * n;
    const Rank u = at_[source * n_ + destination], w = routes_.next(u, destination);
    const auto here = static_cast<std::uint64_t>(load_[u]);
    const auto next = w == destination ? 0 : static_cast<std::uint64_t>(load_[w]);
    const auto to_go = static_cast<std::uint64_t>(hops_(u, destination));
    std::uint64_t number = most - std::max(here, next);
    number = number * (most + 1) + (most - here);
    number = number * n + (n - 1 - to_go);
    number = number * n + mod(destination - source, n_);
    return number * n + source;
  }

  std::vector<Transfer> next_step() {
    keys_.clear();
    for (const std::uint32_t block : undelivered_) {
      const auto number = static_cast<Rank>(block);
      keys_.push_back(key(number / n_, number % n_));
    }
    std::ranges::sort(keys_);
    std::vector<Transfer> step;
    std::vector<bool> sends(static_cast<std::size_t>(n_)), receives(static_cast<std::size_t>(n_));
    for (const std::uint64_t number : keys_) {
      const auto source = static_cast<Rank>(number % n_);
      const auto destination = mod(source + static_cast<Rank>(number / n_ % n_), n_);
      const Rank u = at_[source * n_ + destination];
      if (sends[u]) continue;
      for (const Rank w : graph_.neighbours[u]) {
        if (receives[w] || hops_(w, destination) != hops_(u, destination) - 1) continue;
        sends[u] = receives[w] = true;
        step.push_back({u, w, source, destination});
        break;
      }
    }
    return step;
  }

  const Adjacency& graph_;
  Rank n_;
  Distances hops_;
  Routes routes_;
  std::vector<int> load_;  // blocks that this node has still to send
  std::vector<Rank> at_;   // by source and destination
  std::vector<std::uint32_t> undelivered_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace

ExchangeTemplate greedy_all_port(const Adjacency& graph, Rank copies) {
  const Rank n = graph.nodes();
  const Distances hops(graph);
  std::vector<std::set<Waiting>> waiting(static_cast<std::size_t>(n));
  std::int64_t undelivered = 0;
  for (Rank copy = 0; copy < copies; ++copy) {
    for (Rank s = 0; s < n; ++s) {
      for (Rank d = 0; d < n; ++d) {
        if (s == d) continue;
        waiting[s].insert({hops(s, d), mod(d - s, n), s, copy, d});
        ++undelivered;
      }
    }
  }

  std::vector<std::vector<Transfer>> steps;
  while (undelivered > 0) {
    std::vector<Transfer>& step = steps.emplace_back();
    std::vector<std::pair<Rank, Waiting>> moved;
    for (Rank u = 0; u < n; ++u) {
      std::vector<Rank> free_links = graph.neighbours[u];
      for (auto block = waiting[u].begin(); block != waiting[u].end() && !free_links.empty();) {
        const auto closer = std::ranges::find_if(free_links, [&](Rank w) {
          return hops(w, block->destination) == block->hops - 1;
        });
        if (closer == free_links.end()) {
          ++block;
          continue;
        }
        step.push_back({u, *closer, block->source, block->destination, block->copy});
        moved.emplace_back(*closer, *block);
        free_links.erase(closer);
        block = waiting[u].erase(block);
      }
    }
    for (auto& [node, block] : moved) {
      if (--block.hops == 0) {
        --undelivered;
      } else {
        waiting[node].insert(block);
      }
    }
  }
  return {n, copies, steps};
}

ExchangeTemplate greedy_one_port(const Adjacency& graph) { return LoadGreedy(graph).run(); }

ExchangeTemplate layered_one_port(const Adjacency& graph) {
  const Rank n = graph.nodes();
  const Routes routes(graph);
  std::vector<Transfer> layer;  // the next hop of every block under way
  for (Rank s = 0; s < n; ++s) {
    for (Rank d = 0; d < n; ++d) {
      if (s != d) layer.push_back({s, routes.next(s, d), s, d});
    }
  }
  std::vector<std::vector<Transfer>> steps;
  while (!layer.empty()) {
    std::vector<std::pair<Rank, Rank>> edges;
    for (const Transfer& hop : layer) edges.emplace_back(hop.from, hop.to);
    const EdgeColouring colouring = colour_edges(n, n, edges);
    const std::size_t first = steps.size();
    steps.resize(first + colouring.colours);
    for (std::size_t i = 0; i < layer.size(); ++i) {
      steps[first + colouring.colour[i]].push_back(layer[i]);
    }
    std::erase_if(layer, [](const Transfer& hop) { return hop.to == hop.destination; });
    for (Transfer& hop : layer) {
      hop.from = std::exchange(hop.to, routes.next(hop.to, hop.destination));
    }
  }
  return {n, 1, steps};
}

ExchangeTemplate serial_exchange(const Adjacency& graph) {
  const Rank n = graph.nodes();
  const Routes routes(graph);
  std::vector<std::vector<Transfer>> steps;
  for (Rank s = 0; s < n; ++s) {
    for (Rank d = 0; d < n; ++d) {
      routes.for_senders(s, d, [&](Rank u) {
        steps.push_back(std::vector{Transfer{u, routes.next(u, d), s, d}});
      });
    }
  }
  return {n, 1, steps};
}

}  // namespace wormcube
