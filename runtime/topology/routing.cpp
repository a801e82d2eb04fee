// Routes along one dimension after another; the dateline; cycles of the channel dependency graph.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/routing.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include <fmt/core.h>

namespace wormcube {
namespace {

bool repeats_dimension(std::span<const Move> moves) {
  bool repeats = false;
  for (std::size_t i = 1; i < moves.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      repeats = repeats || moves[k].dimension == moves[i].dimension;
    }
  }
  return repeats;
}

}  // namespace

Routing::Routing(Topology topology, int virtual_channels)
    : topology_(std::move(topology)),
      virtual_channels_(virtual_channels),
      is_hypercube_(topology_.is_hypercube()) {
  if (virtual_channels < 1 || virtual_channels > 2) {
    throw UsageError(fmt::format("{}: {} virtual channels; expected 2 (dateline) or 1 (none)",
                                 topology_.name(), virtual_channels));
  }
  for (int d = 0; d < topology_.dimensions(); ++d) {
    const Graph& graph = topology_.factor(d);
    const int lanes = graph.wraps() ? virtual_channels : 1;
    dimensions_.push_back({.base = channels_,
                           .first_link = topology_.first_link(d),
                           .links = graph.links(),
                           .lanes = lanes,
                           .is_cable = graph.has_direction() && graph.nodes() == 2,
                           .wraps = graph.wraps(),
                           .has_direction = graph.has_direction(),
                           .size = Divisor(graph.nodes())});
    channels_ += (topology_.first_link(d + 1) - topology_.first_link(d)) * lanes;
  }
}

/// A route's links, one after the other, as channels.
struct Routing::ChannelPath {
  std::vector<Channel>& path;

  void one(const Dimension& dimension, Rank line, std::int64_t link) const {
    path.push_back(dimension.channel(line, link, 0));
  }
  void along(const Dimension& dimension, Rank line, Rank from, int hops) const {
    if (dimension.is_cable) {
      if (hops != 0) path.push_back(dimension.channel(line, from, 0));
      return;
    }
    const Rank n = dimension.size.value();
    int vc = 0;
    const bool plus = hops > 0;
    const Rank closing = plus ? n - 1 : 0;  // the dateline is the link that leaves this node
    const std::int64_t first_link = dimension.first_of(plus);
    for (int i = std::abs(hops); i > 0; --i) {
      if (from == closing) vc = dimension.lanes - 1;
      path.push_back(dimension.channel(line, first_link + from, vc));
      from = plus ? (from + 1 == n ? 0 : from + 1) : (from == 0 ? n - 1 : from - 1);
    }
  }
};

/// The same as runs of links. A way round a ring is cut where the numbers begin again.
struct Routing::Runs {
  std::vector<LinkRun>& runs;

  void one(const Dimension& dimension, Rank line, std::int64_t link) const {
    runs.push_back({dimension.link(line, link), 1, 1});
  }
  void along(const Dimension& dimension, Rank line, Rank from, int hops) const {
    if (hops == 0) return;
    if (dimension.is_cable) return one(dimension, line, from);
    const bool plus = hops > 0;
    const int count = std::abs(hops), step = plus ? 1 : -1;
    const Rank n = dimension.size.value();
    const int until_end = std::min(count, plus ? n - from : from + 1);
    const Link first = dimension.link(line, dimension.first_of(plus));
    runs.push_back({first + from, until_end, step});
    if (count > until_end) runs.push_back({plus ? first : first + n - 1, count - until_end, step});
  }
};

// Bit b of a rank is its coordinate in the b-th dimension from the end. Only those that differ are
// visited: which they are is random, so to test every bit would cost branches that the processor
// cannot predict.
template <class Path>
void Routing::visit_in_hypercube(Rank from, Rank to, Path path) const {
  const int last = topology_.dimensions() - 1;
  for (auto at = static_cast<unsigned>(from), left = at ^ static_cast<unsigned>(to); left != 0;) {
    const int bit = std::countr_zero(left);
    const unsigned inside = (1U << static_cast<unsigned>(bit)) - 1;
    const auto line = static_cast<Rank>((at >> 1U & ~inside) | (at & inside));
    path.one(dimensions_[last - bit], line, at >> static_cast<unsigned>(bit) & 1U);
    at ^= left & -left;
    left &= left - 1;
  }
}

// The ranks are divided from the last coordinate on, until the quotients are equal.
template <class Path>
void Routing::visit(Rank from, Rank to, Path path) const {
  WORMCUBE_ASSERT(from >= 0 && from < topology_.nodes() && to >= 0 && to < topology_.nodes());
  if (is_hypercube_) return visit_in_hypercube(from, to, path);
  Rank left = from, left_to = to;
  for (int d = topology_.dimensions() - 1; left != left_to; --d) {
    const Dimension& dimension = dimensions_[d];
    const Rank outer = dimension.size.quotient(left), outer_to = dimension.size.quotient(left_to);
    Rank at = left - outer * dimension.size.value();
    const Rank target = left_to - outer_to * dimension.size.value();
    if (at != target) {
      // The later coordinates are already those of the destination.
      const Rank stride = topology_.stride(d), line = outer * stride + (to - left_to * stride);
      if (dimension.is_cable) {
        path.one(dimension, line, at);
      } else if (dimension.has_direction) {
        path.along(dimension, line, at, topology_.factor(d).hops(at, target));
      } else {
        const Graph& graph = topology_.factor(d);
        for (bool up = true; at != target;) {
          const std::int64_t link = graph.next(at, target, up);
          path.one(dimension, line, link);
          at = graph.ends(link).to;
        }
      }
    }
    left = outer;
    left_to = outer_to;
  }
}

template <class Path>
Rank Routing::visit(Rank from, std::span<const Move> moves, Path path) const {
  for (const auto [d, hops] : moves) {
    const Rank to = topology_.neighbour(from, d, hops);
    const Rank line = topology_.line(from, d), at = topology_.coordinate(from, d);
    const Dimension& dimension = dimensions_[d];
    if (dimension.has_direction) {
      path.along(dimension, line, at, hops);
    } else if (to != from) {
      bool up = true;
      const Graph& graph = topology_.factor(d);
      path.one(dimension, line, graph.next(at, topology_.coordinate(to, d), up));
    }
    from = to;
  }
  return from;
}

void Routing::route(Rank from, Rank to, std::vector<Channel>& path) const {
  visit(from, to, ChannelPath{path});
}

Rank Routing::route(Rank from, std::span<const Move> moves, std::vector<Channel>& path) const {
  const auto start = static_cast<std::ptrdiff_t>(path.size());
  const Rank to = visit(from, moves, ChannelPath{path});
  if (repeats_dimension(moves)) {  // a worm that needs a channel twice would wait for itself
    std::vector<Channel> sorted(path.begin() + start, path.end());
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
      throw UsageError(fmt::format("{}: the moves of a message pass link {} twice",
                                   topology_.name(), channel_name(*twice)));
    }
  }
  return to;
}

void Routing::runs(Rank from, Rank to, std::vector<LinkRun>& runs) const {
  visit(from, to, Runs{runs});
}

Rank Routing::runs(Rank from, std::span<const Move> moves, std::vector<LinkRun>& runs) const {
  if (repeats_dimension(moves)) {
    std::vector<Channel> refused;
    route(from, moves, refused);  // throws
  }
  return visit(from, moves, Runs{runs});
}

const Routing::Dimension& Routing::dimension_of(Channel channel) const {
  constexpr std::size_t few = 4;  // a search's branches cannot be predicted
  if (dimensions_.size() > few) {
    return *(std::ranges::upper_bound(dimensions_, channel, {}, &Dimension::base) - 1);
  }
  std::size_t d = 0;
  while (d + 1 < dimensions_.size() && channel >= dimensions_[d + 1].base) ++d;
  return dimensions_[d];
}

Link Routing::link(Channel channel) const {
  const Dimension& dimension = dimension_of(channel);
  return dimension.first_link + ((channel - dimension.base) >> (dimension.lanes - 1));  // 1 or 2
}

int Routing::virtual_channel(Channel channel) const {
  const Dimension& dimension = dimension_of(channel);
  return static_cast<int>((channel - dimension.base) % dimension.lanes);
}

std::string Routing::channel_name(Channel channel) const {
  std::string name = topology_.link_name(link(channel));
  if (dimension_of(channel).lanes > 1) name += fmt::format(" vc {}", virtual_channel(channel));
  return name;
}

std::vector<std::pair<Channel, Channel>> Routing::turns(int dimension) const {
  const Graph& graph = topology_.factor(dimension);
  if (!graph.has_direction()) return graph.turns();
  const Rank n = graph.nodes();
  const int lanes = dimensions_[dimension].lanes;
  std::vector<std::pair<Channel, Channel>> turns;
  if (n <= 2) return turns;

  // Link number i on the path, counted from the dateline: 0->1 is the first for '+', n-1 -> n-2 for
  // '-'.
  for (const bool plus : {true, false}) {
    const auto on_way = [&](Rank i, int vc) -> Channel {
      const Rank from = plus ? i : n - 1 - i;
      const std::int64_t link = plus ? from : (graph.wraps() ? n : n - 2) + from;
      return link * lanes + vc;
    };
    const int high = lanes - 1;
    for (Rank i = 0; i + 2 < n; ++i) turns.emplace_back(on_way(i, 0), on_way(i + 1, 0));
    if (!graph.wraps()) continue;
    turns.emplace_back(on_way(n - 2, 0), on_way(n - 1, high));
    turns.emplace_back(on_way(n - 1, high), on_way(0, high));
    // After the dateline at most n-2 more hops: the last turn is into link n-3.
    for (Rank i = 0; high > 0 && i + 3 < n; ++i) {
      turns.emplace_back(on_way(i, high), on_way(i + 1, high));
    }
  }
  return turns;
}

std::optional<std::vector<Channel>> find_cycle(
    std::int64_t count, std::span<const std::pair<Channel, Channel>> dependencies) {
  if (dependencies.empty()) return std::nullopt;
  // The dependencies of channel c are after[first[c]] .. after[first[c+1] - 1].
  std::vector<std::size_t> first(static_cast<std::size_t>(count) + 1, 0);
  for (const auto& [held, wanted] : dependencies) {
    WORMCUBE_ASSERT(held >= 0 && held < count && wanted >= 0 && wanted < count);
    ++first[held + 1];
  }
  for (std::int64_t c = 0; c < count; ++c) first[c + 1] += first[c];
  std::vector<Channel> after(dependencies.size());
  std::vector<std::size_t> next(first.begin(), first.end() - 1);
  for (const auto& [held, wanted] : dependencies) after[next[held]++] = wanted;
  std::copy(first.begin(), first.end() - 1, next.begin());

  // Depth first. Each channel on the path depends on the next; a finished channel is on no cycle.
  enum class State : std::uint8_t { unseen, on_path, finished };
  std::vector<State> state(static_cast<std::size_t>(count), State::unseen);
  std::vector<Channel> path;
  for (Channel root = 0; root < count; ++root) {
    if (state[root] != State::unseen) continue;
    path.push_back(root);
    state[root] = State::on_path;
    while (!path.empty()) {
      const Channel at = path.back();
      if (next[at] == first[at + 1]) {
        state[at] = State::finished;
        path.pop_back();
        continue;
      }
      const Channel wanted = after[next[at]++];
      if (state[wanted] == State::on_path) {
        return std::vector<Channel>(std::ranges::find(path, wanted), path.end());
      }
      if (state[wanted] == State::unseen) {
        state[wanted] = State::on_path;
        path.push_back(wanted);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::vector<Channel>> find_up_down_cycle(std::span<const Graph::Ends> links,
                                                       const std::vector<bool>& goes_up) {
  const auto count = static_cast<Channel>(links.size());
  // After the links come two helpers of each vertex: one for ups, one for downs.
  Rank vertices = 0;
  for (const auto& [from, to] : links) vertices = std::max({vertices, from + 1, to + 1});
  std::vector<std::pair<Channel, Channel>> dependencies;
  dependencies.reserve(2 * links.size());
  for (Channel link = 0; link < count; ++link) {
    const auto [from, to] = links[link];
    const Channel helpers = count + (goes_up[link] ? 0 : 1);
    dependencies.emplace_back(link, helpers + 2 * Channel{to});
    dependencies.emplace_back(helpers + 2 * Channel{from}, link);
  }
  auto cycle = find_cycle(count + 2 * Channel{vertices}, dependencies);
  if (cycle) std::erase_if(*cycle, [&](Channel channel) { return channel >= count; });
  return cycle;
}

namespace {

/// The cycle of one dimension's graph.
std::optional<std::vector<Channel>> cycle_in(const Routing& routing, int dimension) {
  const Graph& graph = routing.topology().factor(dimension);
  if (graph.shape() != Shape::tree && graph.shape() != Shape::graph) {
    const int lanes = graph.wraps() ? routing.virtual_channels() : 1;
    return find_cycle(graph.links() * lanes, routing.turns(dimension));
  }
  std::vector<Graph::Ends> links;
  std::vector<bool> goes_up;
  for (std::int64_t link = 0; link < graph.links(); ++link) {
    links.push_back(graph.ends(link));
    goes_up.push_back(graph.goes_up(link));
  }
  return find_up_down_cycle(links, goes_up);
}

}  // namespace

std::optional<std::string> dependency_cycle(const Routing& routing) {
  const Topology& topology = routing.topology();
  Channel base = 0;  // the first channel of line 0 of the dimension
  for (int d = 0; d < topology.dimensions(); ++d) {
    const Graph& graph = topology.factor(d);
    const int lanes = graph.wraps() ? routing.virtual_channels() : 1;
    if (const auto cycle = cycle_in(routing, d)) {
      std::string text;
      for (const Channel channel : *cycle) {
        if (!text.empty()) text += ", ";
        text += routing.channel_name(base + channel);
      }
      return text;
    }
    base += (topology.first_link(d + 1) - topology.first_link(d)) * lanes;
  }
  return std::nullopt;
}

}  // namespace wormcube
