// Templates as plain data, and their checker.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/exchange_template.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

Adjacency Adjacency::of(const Graph& graph) {
  Adjacency adjacency;
  adjacency.neighbours.resize(static_cast<std::size_t>(graph.nodes()));
  for (Rank v = 0; v < graph.nodes(); ++v) {
    std::vector<Rank>& list = adjacency.neighbours[v];
    for (int port = 0; port < graph.ports(v); ++port) {
      list.push_back(graph.ends(graph.link(v, port)).to);
    }
    std::ranges::sort(list);
  }
  return adjacency;
}

bool Adjacency::adjacent(Rank u, Rank v) const {
  return std::ranges::binary_search(neighbours[u], v);
}

Distances::Distances(const Adjacency& graph)
    : nodes_(graph.nodes()),
      hops_(static_cast<std::size_t>(nodes_) * static_cast<std::size_t>(nodes_), -1) {
  std::vector<Rank> queue;
  for (Rank source = 0; source < nodes_; ++source) {
    std::int16_t* const hops = &hops_[static_cast<std::size_t>(source) * nodes_];
    queue.assign(1, source);
    hops[source] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const Rank next : graph.neighbours[queue[i]]) {
        if (hops[next] >= 0) continue;
        hops[next] = static_cast<std::int16_t>(hops[queue[i]] + 1);
        queue.push_back(next);
      }
    }
  }
}

std::int64_t Distances::status(Rank v) const {
  const auto row = hops_.begin() + static_cast<std::ptrdiff_t>(v) * nodes_;
  return std::accumulate(row, row + nodes_, std::int64_t{0});
}

std::int64_t Distances::total() const {
  return std::accumulate(hops_.begin(), hops_.end(), std::int64_t{0});
}

ExchangeTemplate::ExchangeTemplate(Rank nodes, Rank copies,
                                   const std::vector<std::vector<BlockMove>>& steps)
    : nodes_(nodes), copies_(copies), ends_{0} {
  for (const std::vector<BlockMove>& step : steps) {
    if (step.empty()) continue;
    transfers_.insert(transfers_.end(), step.begin(), step.end());
    ends_.push_back(static_cast<std::uint32_t>(transfers_.size()));
  }
  sent_ = indexed(&BlockMove::from);
  received_ = indexed(&BlockMove::to);
}

ExchangeTemplate::Index ExchangeTemplate::indexed(Rank BlockMove::*end) const {
  Index index;
  index.ends.assign(static_cast<std::size_t>(nodes_) * steps() + 1, 0);
  const auto each = [&](auto f) {
    for (std::size_t t = 0; t < steps(); ++t) {
      for (std::uint32_t i = ends_[t]; i < ends_[t + 1]; ++i) {
        f(static_cast<std::size_t>(transfers_[i].*end) * steps() + t, i);
      }
    }
  };
  each([&](std::size_t at, std::uint32_t) { ++index.ends[at + 1]; });
  std::partial_sum(index.ends.begin(), index.ends.end(), index.ends.begin());
  index.items.resize(transfers_.size());
  std::vector<std::uint32_t> next(index.ends.begin(), index.ends.end() - 1);
  each([&](std::size_t at, std::uint32_t i) { index.items[next[at]++] = i; });
  return index;
}

std::string fault(const ExchangeTemplate& exchange, const Adjacency& graph, Ports ports) {
  const Rank n = graph.nodes();
  if (exchange.nodes() != n) {
    return fmt::format("a template of {} nodes for a graph of {}", exchange.nodes(), n);
  }
  const auto block = [&](const BlockMove& transfer) {
    return (static_cast<std::size_t>(transfer.copy) * n + transfer.source) * n +
           transfer.destination;
  };
  constexpr std::size_t never = -1;
  const std::size_t blocks = static_cast<std::size_t>(exchange.copies()) * n * n;
  std::vector<Rank> at(blocks);
  std::vector<std::size_t> moved(blocks, never);
  std::vector<std::size_t> sent(n, never), received(n, never);  // the last step, one-port
  std::vector<std::size_t> used(static_cast<std::size_t>(n) * n, never);
  for (std::size_t b = 0; b < blocks; ++b) at[b] = static_cast<Rank>(b / n % n);

  for (std::size_t t = 0; t < exchange.steps(); ++t) {
    for (const BlockMove& transfer : exchange.step(t)) {
      const Rank from = transfer.from, to = transfer.to, copy = transfer.copy;
      const Rank source = transfer.source, destination = transfer.destination;
      const auto wrong = [&](std::string_view what) {
        return fmt::format("step {}: {} -> {} of the block {} -> {}, copy {}: {}", t, from, to,
                           source, destination, copy, what);
      };
      for (const Rank v : {from, to, source, destination}) {
        if (v < 0 || v >= n) return wrong("no such node");
      }
      if (copy < 0 || copy >= exchange.copies()) return wrong("no such copy");
      if (!graph.adjacent(from, to)) return wrong("not neighbours");
      if (source == destination) return wrong("a block for its own node");
      const std::size_t b = block(transfer);
      if (moved[b] == t) return wrong("moved twice in the step");
      if (at[b] != from) return wrong(fmt::format("the block is at {}", at[b]));
      if (from == destination) return wrong("it had already arrived");
      std::size_t& link = used[static_cast<std::size_t>(from) * n + to];
      if (std::exchange(link, t) == t) return wrong("a second block on the link");
      if (ports == Ports::one) {
        if (std::exchange(sent[from], t) == t) return wrong("a second send of the node");
        if (std::exchange(received[to], t) == t) return wrong("a second receive of the node");
      }
      moved[b] = t;
      at[b] = to;
    }
  }
  for (std::size_t b = 0; b < blocks; ++b) {
    const auto source = static_cast<Rank>(b / n % n), destination = static_cast<Rank>(b % n);
    if (at[b] != destination) {
      return fmt::format("the block {} -> {}, copy {}, ends at {}", source, destination, b / n / n,
                         at[b]);
    }
  }
  return {};
}

}  // namespace wormcube
