// Store and forward along lines.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/pipeline.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <vector>

namespace wormcube {

namespace {

/// One line of the scatter, relative to one of its nodes. In step s = 1 .. n-1 the line's root
/// sends bundle s, which is k hops away in step s + k - 1.
class Pipeline {
 public:
  Pipeline(const Topology& topology, int d, Rank rank, Rank root)
      : topology_(topology), dimension_(d), rank_(rank), graph_(topology.factor(d)) {
    const Rank line_root = topology.coordinate(root, d);
    const Rank n = topology.size(d);
    const auto hops = [&](Rank c) { return graph_.hops(line_root, c); };
    for (Rank c = 0; c < n; ++c) {
      if (c != line_root) order_.push_back({c, hops(c)});
    }
    std::ranges::stable_sort(order_, [](const Bundle& a, const Bundle& b) {
      return std::abs(a.hops) > std::abs(b.hops);
    });
    here_ = hops(topology.coordinate(rank, d));
  }

  struct Bundle {
    Rank coordinate;
    int hops;  // from the line's root
  };
  Rank steps() const { return static_cast<Rank>(order_.size()); }
  bool at_root() const { return here_ == 0; }
  bool is_mine(const Bundle& bundle) const { return bundle.hops == here_; }

  /// The bundle that comes from the root's side, or leaves on the other, in step s; its number s.
  struct Passing {
    Rank number;
    Bundle bundle;
    Move way;  // to the neighbour it comes from, or goes to
  };
  std::optional<Passing> coming(Rank s) const {
    if (at_root()) return std::nullopt;
    return passing(s - std::abs(here_) + 1, std::abs(here_), -1);
  }
  std::optional<Passing> leaving(Rank s) const {
    return passing(s - std::abs(here_), std::abs(here_) + 1, 1);
  }
  Rank first(const Bundle& bundle) const {
    return topology_.with(rank_, dimension_, bundle.coordinate) / stride() * stride();
  }
  Rank stride() const { return topology_.stride(dimension_); }

 private:
  /// Bundle `number` if it goes at least this far on this node's side.
  std::optional<Passing> passing(Rank number, int at_least, int sign) const {
    if (number < 1 || number > steps()) return std::nullopt;
    const Bundle bundle = order_[number - 1];
    const bool this_side = at_root() || (bundle.hops > 0) == (here_ > 0);
    if (!this_side || std::abs(bundle.hops) < at_least) return std::nullopt;
    return Passing{number, bundle, {dimension_, bundle.hops > 0 ? sign : -sign}};
  }

  const Topology& topology_;
  int dimension_;
  Rank rank_;
  const Graph& graph_;
  std::vector<Bundle> order_;
  int here_ = 0;
};

Rank blocks_held(const Topology& topology, Rank rank, Rank root) {
  for (int d = topology.dimensions(); d-- > 0;) {
    if (topology.coordinate(rank, d) != topology.coordinate(root, d)) return topology.stride(d);
  }
  return topology.nodes();
}

/// The steps of one line. A bundle for another node stays in one of two buffers for one step.
void run_line(Node& node, const Pipeline& line, const Holding& held, Way way) {
  const auto last = [&](Rank first) { return first + line.stride(); };
  Bytes most = 0;
  for (Rank s = 1; s <= line.steps() && !line.at_root(); ++s) {
    if (const auto relayed = line.leaving(s)) {
      const Rank first = line.first(relayed->bundle);
      most = std::max(most, held.bytes(first, last(first)));
    }
  }
  const std::array relay{node.memory(most), node.memory(most)};
  const auto place = [&](const Pipeline::Passing& passing) {
    const Rank first = line.first(passing.bundle);
    if (line.at_root() || line.is_mine(passing.bundle)) return held.range(first, last(first));
    return relay[passing.number % 2].subspan(0, held.bytes(first, last(first)));
  };

  std::vector<Op> ops;
  for (Rank t = 1; t <= line.steps(); ++t) {
    const Rank s = way == Way::scatter ? t : line.steps() + 1 - t;
    ops.clear();
    if (const auto coming = line.coming(s)) {
      const Span data = place(*coming);
      ops.push_back(way == Way::scatter ? receive(coming->way, data) : send(coming->way, data));
    }
    if (const auto leaving = line.leaving(s)) {
      const Span data = place(*leaving);
      ops.push_back(way == Way::scatter ? send(leaving->way, data) : receive(leaving->way, data));
    }
    node.step(ops);
  }
}

}  // namespace

void run_pipeline(Node& node, int d, const Holding& held, Rank root, Way way) {
  const Topology& topology = node.topology();
  if (node.rank() % topology.stride(d) == root % topology.stride(d)) {
    run_line(node, Pipeline(topology, d, node.rank(), root), held, way);
  } else {
    node.idle(topology.size(d) - 1);
  }
}

Holding pipeline_holding(Node& node, const Call& call, ConstBlocks all, Span own) {
  const Rank r = node.rank(), count = blocks_held(node.topology(), r, call.arguments.root);
  const Rank first = r / count * count;
  return {node, call, all, own, first, first + count};
}

namespace {

Prediction predict_pipeline(const Setting& setting) {
  const Topology& topology = setting.topology;
  const Rank p = topology.nodes();
  double steps = 0;
  for (const Rank size : topology.sizes()) steps += size - 1;
  // A bundle of the first dimension is the largest; a single block goes to its final place.
  Rank most = 1;
  for (int d = topology.dimensions(); d-- > 0;) {
    if (topology.size(d) > 1) most = topology.stride(d);
  }
  return {.startups = steps,
          .transmission_blocks = p - 1,
          .rearranged_blocks = 0,
          .working_blocks = most > 1 ? most : 0,
          .link_load = p > 1 ? 1 : 0,
          .link_blocks = p - 1};
}

/// With blocks of any sizes only steps and links are known.
Prediction predict_pipeline_uneven(const Setting& setting) {
  const Prediction even = predict_pipeline(setting);
  return {.startups = even.startups, .rearranged_blocks = 0, .link_load = even.link_load};
}

}  // namespace

Registration pipelines(Way way, void (*program)(Node&, const Call&)) {
  const bool gathers = way == Way::gather;
  return with_variant(
      {
          .operation = gathers ? Operation(operations::gather) : operations::scatter,
          .name = "ring",
          .summary = gathers ? "store and forward, nearest first, dimension by dimension; lines, "
                               "rings, meshes, tori"
                             : "store and forward, farthest first, dimension by dimension; lines, "
                               "rings, meshes, tori",
          .source = "Grama, Gupta, Karypis, Kumar, sec. 4.4, problem 4.13",
          .contention_free = true,
          .exactly_once = true,
          .neighbours_only = true,
          .needs = {needs::lines_and_rings()},
          .instead = {"mesh", "halving"},
          .predict = predict_pipeline,
          .program = program,
      },
      [](Algorithm& uneven) {
        const bool is_gather = uneven.operation == operations::gather;
        uneven.operation = is_gather ? Operation(operations::gatherv) : operations::scatterv;
        uneven.predict = predict_pipeline_uneven;
      });
}

}  // namespace wormcube
