// Trees on positions, the order of their segments, and the programs that follow them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/trees.hpp"

#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/parts.hpp"
#include "wormcube/collectives/kit/pattern_load.hpp"
#include "wormcube/runtime/base/recently_made.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace wormcube {

namespace {

using Children = std::vector<std::vector<Rank>>;

Children children_in_order(Rank p, Rank root) {
  Children children(static_cast<std::size_t>(p));
  struct Interval {
    Rank first, end, root;
  };
  std::vector<Interval> left{{0, p, root}};
  while (!left.empty()) {
    const auto [first, end, top] = left.back();
    left.pop_back();
    std::vector<Interval> sides;
    if (first < top) sides.push_back({first, top, (first + top) / 2});
    if (top + 1 < end) sides.push_back({top + 1, end, (top + 1 + end) / 2});
    // The larger side begins; of equal ones the left one.
    if (sides.size() == 2 && end - top - 1 > top - first) std::swap(sides[0], sides[1]);
    for (const Interval& side : sides) {
      children[static_cast<std::size_t>(top)].push_back(side.root);
      left.push_back(side);
    }
  }
  return children;
}

Children children_of(TreeShape shape, Rank radix, Rank p) {
  Children children(static_cast<std::size_t>(p));
  const auto add = [&](Rank parent, std::int64_t child) {
    if (child < p) children[static_cast<std::size_t>(parent)].push_back(static_cast<Rank>(child));
  };
  for (Rank x = 0; x < p; ++x) {
    if (shape == TreeShape::chain) {
      add(x, std::int64_t{x} + 1);
    } else if (shape == TreeShape::k_ary) {
      for (Rank i = 1; i <= radix; ++i) add(x, std::int64_t{x} * radix + i);
    } else {
      std::vector<std::int64_t> powers;
      for (std::int64_t power = 1; power < p && x / power % radix == 0; power *= radix) {
        powers.push_back(power);
      }
      for (auto power = powers.rbegin(); power != powers.rend(); ++power) {
        for (Rank d = radix - 1; d > 0; --d) add(x, x + d * *power);
      }
    }
  }
  return children;
}

TreeSchedule schedule_of(const Children& children, Rank root) {
  TreeSchedule schedule;
  schedule.edges.resize(children.size());
  std::vector<std::pair<Rank, Rank>> left{{root, 0}};  // a node, and when it begins
  std::size_t most = 1;
  while (!left.empty()) {
    const auto [node, begin] = left.back();
    left.pop_back();
    Rank first = begin;
    for (const Rank child : children[static_cast<std::size_t>(node)]) {
      schedule.edges[static_cast<std::size_t>(node)].push_back({child, first, 0, true});
      schedule.edges[static_cast<std::size_t>(child)].push_back({node, first, 0, false});
      schedule.last = std::max(schedule.last, first);
      left.emplace_back(child, ++first);
    }
    most = std::max(most, children[static_cast<std::size_t>(node)].size());
  }
  schedule.period = static_cast<Rank>(most);
  return schedule;
}

/// The parent in the tree B(n) on 0 .. n-1, whose root is 0 and whose odd nodes are leaves.
Rank parent_in_b(Rank v, Rank n) {
  const Rank low = v & -v;
  const Rank up = (v ^ low) | (2 * low);
  return up < n ? up : v ^ low;
}

/// Colours the edges of two trees so that the two edges to a child have different colours, and the
/// two edges from a parent too; edges from a root come first. Parents and children are the two
/// sides of a graph of degree 2: chains and even circles, along which the colours alternate.
class Colours {
 public:
  struct Edge {
    Rank parent, child;
    int tree, colour = -1;
  };
  explicit Colours(std::vector<Edge> edges, Rank p) : edges_(std::move(edges)) {
    from_.resize(static_cast<std::size_t>(p));
    to_.resize(static_cast<std::size_t>(p));
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      from_[static_cast<std::size_t>(edges_[e].parent)].push_back(e);
      to_[static_cast<std::size_t>(edges_[e].child)].push_back(e);
    }
  }
  /// \param first  edges that begin, in this order; then all others as given
  std::vector<Edge> paint(const std::vector<std::size_t>& first) {
    for (const std::size_t e : first) begin(e);
    for (std::size_t e = 0; e < edges_.size(); ++e) begin(e);
    return edges_;
  }

 private:
  void begin(std::size_t e) {
    if (edges_[e].colour < 0) along(e, edges_[e].tree);
  }
  void along(std::size_t start, int colour) {
    std::vector<std::pair<std::size_t, int>> left{{start, colour}};
    while (!left.empty()) {
      const auto [e, wanted] = left.back();
      left.pop_back();
      if (edges_[e].colour >= 0) continue;
      edges_[e].colour = wanted;
      for (const auto* const beside : {&from_[static_cast<std::size_t>(edges_[e].parent)],
                                       &to_[static_cast<std::size_t>(edges_[e].child)]}) {
        for (const std::size_t other : *beside) {
          if (other != e) left.emplace_back(other, 1 - wanted);
        }
      }
    }
  }

  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> from_, to_;
};

/// Positions of the second tree: the first one's, renamed.
std::vector<Rank> names_in_second_tree(Rank p, bool roots_differ) {
  std::vector<Rank> names(static_cast<std::size_t>(p), 0);
  for (Rank v = 0; v < p; ++v) {
    Rank& name = names[static_cast<std::size_t>(v)];
    if (roots_differ) {
      name = p % 2 == 0 ? p - 1 - v : (v + 1) % p;
    } else if (v > 0) {
      name = p % 2 == 1 ? p - v : v % (p - 1) + 1;
    }
  }
  return names;
}

TreeSchedule make_double_tree(Rank p, bool roots_differ) {
  TreeSchedule schedule;
  schedule.trees = 2;
  schedule.period = 2;
  schedule.edges.resize(static_cast<std::size_t>(p));
  if (p == 1) return schedule;
  const std::vector<Rank> names = names_in_second_tree(p, roots_differ);
  std::vector<Colours::Edge> edges;
  for (const int tree : {0, 1}) {
    std::vector<Colours::Edge> of_tree;
    for (Rank v = 1; v < p; ++v) {
      const Rank parent = parent_in_b(v, p);
      of_tree.push_back(tree == 0 ? Colours::Edge{parent, v, tree}
                                  : Colours::Edge{names[static_cast<std::size_t>(parent)],
                                                  names[static_cast<std::size_t>(v)], tree});
    }
    std::ranges::sort(of_tree, {}, &Colours::Edge::child);
    edges.insert(edges.end(), of_tree.begin(), of_tree.end());
  }
  const std::array<Rank, 2> roots{0, roots_differ ? names[0] : 0};
  std::vector<std::size_t> at_root;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (edges[e].parent == roots[static_cast<std::size_t>(edges[e].tree)]) at_root.push_back(e);
  }
  edges = Colours(std::move(edges), p).paint(at_root);
  // Downwards from the roots: the first step of an edge's colour after its parent has something.
  for (const int tree : {0, 1}) {
    std::vector<std::vector<const Colours::Edge*>> below(static_cast<std::size_t>(p));
    for (const Colours::Edge& edge : edges) {
      if (edge.tree == tree) below[static_cast<std::size_t>(edge.parent)].push_back(&edge);
    }
    std::vector<std::pair<Rank, Rank>> left{{roots[static_cast<std::size_t>(tree)], -1}};
    while (!left.empty()) {
      const auto [node, received] = left.back();
      left.pop_back();
      for (const Colours::Edge* const edge : below[static_cast<std::size_t>(node)]) {
        Rank first = received + 1;
        if (first % 2 != edge->colour) ++first;
        schedule.edges[static_cast<std::size_t>(node)].push_back({edge->child, first, tree, true});
        schedule.edges[static_cast<std::size_t>(edge->child)].push_back({node, first, tree, false});
        schedule.last = std::max(schedule.last, first);
        left.emplace_back(edge->child, first);
      }
    }
  }
  return schedule;
}

/// The segment that an edge carries in a step; -1: none.
Rank segment_in(const TreeSchedule::Edge& edge, Rank period, Rank segments, Rank step) {
  const Rank since = step - edge.first;
  if (since < 0 || since % period != 0 || since / period >= segments) return -1;
  return since / period;
}

/// Segment j of a tree's part of the message.
class Segments {
 public:
  Segments(const TreeSchedule& trees, Rank segments, Bytes bytes, Bytes element_bytes)
      : segments_(segments),
        offsets_(part_offsets(bytes, element_bytes, segments * static_cast<Rank>(trees.trees))) {}
  template <class S>
  S operator()(S data, int tree, Rank segment) const {
    const auto part = static_cast<std::size_t>(tree * segments_ + segment);
    return data.subspan(offsets_[part], offsets_[part + 1] - offsets_[part]);
  }
  Bytes largest() const {
    Bytes most = 0;
    for (std::size_t i = 1; i < offsets_.size(); ++i) {
      most = std::max(most, offsets_[i] - offsets_[i - 1]);
    }
    return most;
  }

 private:
  Rank segments_;
  std::vector<Bytes> offsets_;
};

}  // namespace

std::shared_ptr<const TreeSchedule> tree_schedule(TreeShape shape, Rank radix, Rank p, Rank root) {
  static RecentlyMade<std::tuple<TreeShape, Rank, Rank, Rank>, TreeSchedule> kept;
  return kept({shape, radix, p, root}, [&] {
    return schedule_of(
        shape == TreeShape::in_order ? children_in_order(p, root) : children_of(shape, radix, p),
        root);
  });
}

std::shared_ptr<const TreeSchedule> double_tree_schedule(Rank p, bool roots_differ) {
  static RecentlyMade<std::pair<Rank, bool>, TreeSchedule> kept;
  return kept({p, roots_differ}, [&] { return make_double_tree(p, roots_differ); });
}

void broadcast_on_trees(Node& node, const TreeSchedule& trees, const Positions& places,
                        Rank segments, Bytes element_bytes, Span data) {
  const auto& edges = trees.edges[static_cast<std::size_t>(places.position(node.rank()))];
  const Segments segment(trees, segments, data.size(), element_bytes);
  std::vector<Op> ops;
  for (Rank t = 0; t < trees.steps(segments); ++t) {
    ops.clear();
    for (const TreeSchedule::Edge& edge : edges) {
      const Rank j = segment_in(edge, trees.period, segments, t);
      if (j < 0) continue;
      const Rank peer = places.node(edge.peer);
      ops.push_back(edge.to_child ? send(peer, segment(ConstSpan(data), edge.tree, j))
                                  : receive(peer, segment(data, edge.tree, j)));
    }
    node.step(ops);
  }
}

void reduce_on_trees(Node& node, const TreeSchedule& trees, const Positions& places, Rank segments,
                     const Reduction& reduction, ConstSpan mine, Span sum) {
  const Rank own = places.position(node.rank());
  const auto& edges = trees.edges[static_cast<std::size_t>(own)];
  const Segments segment(trees, segments, mine.size(), reduction.element_bytes);
  std::vector<Bytes> at_once(static_cast<std::size_t>(trees.period), 0);  // arrivals of a step
  for (const TreeSchedule::Edge& edge : edges) {
    if (edge.to_child) ++at_once[static_cast<std::size_t>(edge.first % trees.period)];
  }
  const Memory memory = node.memory(segment.largest() * *std::ranges::max_element(at_once));
  node.local([&] { copy(mine, sum); });
  struct Arrival {
    Span other, to;
    bool is_before;
  };
  std::vector<Arrival> arrivals;
  std::vector<Op> ops;
  const Rank steps = trees.steps(segments);
  for (Rank t = 0; t < steps; ++t) {
    ops.clear(), arrivals.clear();
    Bytes used = 0;
    for (const TreeSchedule::Edge& edge : edges) {
      const Rank j = segment_in(edge, trees.period, segments, steps - 1 - t);
      if (j < 0) continue;
      const Rank peer = places.node(edge.peer);
      const Span place = segment(sum, edge.tree, segments - 1 - j);
      if (edge.to_child) {
        const Span other = memory.subspan(std::exchange(used, used + place.size()), place.size());
        arrivals.push_back({other, place, edge.peer < own});
        ops.push_back(receive(peer, other));
      } else {
        ops.push_back(send(peer, ConstSpan(place)));
      }
    }
    node.step(ops);
    for (const auto& [other, to, is_before] : arrivals) {
      combine(node, reduction, is_before ? other : to, is_before ? to : other, to);
    }
  }
}

Prediction trees_cost(const Topology& topology, const TreeSchedule& trees, const Positions& places,
                      Rank segments, bool to_root, LinksOfTrees links) {
  const double steps = trees.steps(segments);
  const double each = 1.0 / (static_cast<double>(segments) * trees.trees);
  Prediction prediction{steps, steps * each, 0};
  // Between the first and the last segments the same messages repeat, period by period.
  PatternSteps beginning(topology), period(topology), end(topology);
  const Rank all = trees.steps(segments), steady_end = (segments - 1) * trees.period + 1;
  const Rank steady = std::min(trees.last + 1, steady_end);  // from here on every edge has begun
  const Rank periods = std::max(0, (steady_end - steady) / trees.period);
  struct Sent {
    Rank first;
    PatternMessage message;
  };
  std::vector<Sent> sent;
  for (std::size_t v = 0; v < trees.edges.size(); ++v) {
    for (const TreeSchedule::Edge& edge : trees.edges[v]) {
      if (!edge.to_child) continue;
      const Rank parent = places.node(static_cast<Rank>(v)), child = places.node(edge.peer);
      sent.push_back({edge.first, to_root ? PatternMessage{child, parent, each}
                                          : PatternMessage{parent, child, each}});
    }
  }
  std::ranges::stable_sort(sent, {}, &Sent::first);
  std::vector<PatternMessage> messages;
  double combined = 0;
  std::vector<int> arrivals(trees.edges.size());
  for (Rank t = 0; t < all; ++t) {
    const bool is_steady = t >= steady && t < steady + periods * trees.period;
    if (is_steady && t >= steady + trees.period) {
      t = steady + periods * trees.period - 1;
      continue;
    }
    messages.clear();
    const Rank oldest = t - (segments - 1) * trees.period;  // first steps whose last segment it is
    for (auto at = std::ranges::lower_bound(sent, oldest, {}, &Sent::first);
         at != sent.end() && at->first <= t; ++at) {
      if ((t - at->first) % trees.period == 0) messages.push_back(at->message);
    }
    if (to_root) {
      std::ranges::fill(arrivals, 0);
      int most = 0;
      for (const PatternMessage& message : messages) {
        most = std::max(most, ++arrivals[static_cast<std::size_t>(message.to)]);
      }
      combined += most * each * (is_steady ? periods : 1);
    }
    if (links == LinksOfTrees::own) continue;
    (t < steady ? beginning : is_steady ? period : end).add(messages);
  }
  prediction.combined_blocks = combined;
  if (links == LinksOfTrees::own) {
    prediction.link_load = all > 0 ? 1 : 0;
    prediction.link_blocks = prediction.transmission_blocks;
    return prediction;
  }
  std::array<Prediction, 3> parts;
  for (const auto& [sum, part] : {std::pair(&beginning, &parts[0]), std::pair(&period, &parts[1]),
                                  std::pair(&end, &parts[2])}) {
    *part = sum->with_loads({});
    if (!part->link_load || !part->link_blocks) return prediction;
  }
  prediction.link_load = std::max({*parts[0].link_load, *parts[1].link_load, *parts[2].link_load});
  prediction.link_blocks =
      *parts[0].link_blocks + periods * *parts[1].link_blocks + *parts[2].link_blocks;
  prediction.hops = *parts[0].hops + periods * *parts[1].hops + *parts[2].hops;
  return prediction;
}

Prediction both(Prediction first, const Prediction& second) {
  const auto add = [](std::optional<double>& sum, const std::optional<double>& other) {
    sum = sum && other ? std::optional(*sum + *other) : std::nullopt;
  };
  add(first.startups, second.startups);
  add(first.transmission_blocks, second.transmission_blocks);
  add(first.link_blocks, second.link_blocks);
  add(first.hops, second.hops);
  if (first.link_load && second.link_load) {
    first.link_load = std::max(*first.link_load, *second.link_load);
  }
  return first;
}

}  // namespace wormcube
