// Scatter and gather on a hypercube with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/hypercube_all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/scatter/require.hpp"
#include "wormcube/runtime/node/together.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace wormcube {

namespace algorithms {
extern const Algorithm scatter_hypercube_all_port, gather_hypercube_all_port;
}

namespace {

/// Copy j of the tree, seen from one node. Nodes have places such that step t halves intervals of
/// places: bit d-1-t of a place is bit j+t (mod d) of its node.
class RotatedTree {
 public:
  RotatedTree(const Node& node, int j, Rank root)
      : d_(node.topology().dimensions()), j_(j), rank_(node.rank()), is_root_(rank_ == root) {
    mine_ = place(rank_);
    from_root_ = mine_ ^ place(root);
  }

  Rank node_at(Rank place) const {
    Rank label = 0;
    for (int t = 0; t < d_; ++t) label |= (place >> (d_ - 1 - t) & 1) << dimension(t);
    return label;
  }
  Rank partner(int t) const { return rank_ ^ 1 << dimension(t); }

  /// Step t hands over half of the 2^(d-t) places that a holder has.
  Rank half(int t) const { return 1 << (d_ - 1 - t); }
  bool gives(int t) const { return (from_root_ & (2 * half(t) - 1)) == 0; }
  bool takes(int t) const { return (from_root_ & (2 * half(t) - 1)) == half(t); }
  /// The first of the places handed over: those of the taker's half.
  Rank first(int t) const {
    const Rank inside = gives(t) ? mine_ ^ half(t) : mine_;
    return inside / half(t) * half(t);
  }

  /// What this node holds: all places, or those it takes.
  bool is_root() const { return is_root_; }
  Rank held() const { return is_root_ ? 1 << d_ : from_root_ & -from_root_; }
  Rank first_held() const { return mine_ / held() * held(); }
  Rank mine() const { return mine_; }

 private:
  int dimension(int t) const { return (j_ + t) % d_; }
  Rank place(Rank label) const {
    Rank place = 0;
    for (int t = 0; t < d_; ++t) place |= (label >> dimension(t) & 1) << (d_ - 1 - t);
    return place;
  }

  int d_, j_;
  Rank rank_;
  bool is_root_;
  Rank mine_ = 0, from_root_ = 0;
};

/// Part j of the blocks that a node holds, by places. The root's lie in the order of ranks.
class HeldParts {
 public:
  HeldParts(Node& node, const RotatedTree& tree, Blocks all, Span own, int j)
      : tree_(tree), all_(all), own_(own), j_(j), d_(node.topology().dimensions()) {
    if (!tree.is_root() && tree.held() > 1) {
      memory_.emplace(node.memory(tree.held() * own_part().size(), Purpose::blocks));
    }
  }

  Span own_part() const { return part(own_, j_, d_); }
  /// The parts of so many places, as pieces; they are valid until the next call.
  std::span<const Span> pieces(Rank first, Rank count) {
    pieces_.clear();
    if (tree_.is_root()) {
      for (Rank place = first; place < first + count; ++place) {
        pieces_.push_back(part(all_[tree_.node_at(place)], j_, d_));
      }
    } else if (memory_) {
      const Bytes bytes = own_part().size();
      pieces_.push_back(memory_->subspan((first - tree_.first_held()) * bytes, count * bytes));
    } else {
      pieces_.push_back(own_part());
    }
    return pieces_;
  }

 private:
  const RotatedTree& tree_;
  Blocks all_;
  Span own_;
  int j_, d_;
  std::optional<Memory> memory_;
  std::vector<Span> pieces_;
};

void scatter_part(Node& node, int j, ConstBlocks out, Span own, Rank root) {
  const RotatedTree tree(node, j, root);
  const Blocks all(only_read(out.all()), out.count());
  HeldParts held(node, tree, all, own, j);
  for (int t = 0; t < node.topology().dimensions(); ++t) {
    if (tree.gives(t)) {
      node.step({send_pieces(tree.partner(t), held.pieces(tree.first(t), tree.half(t)))});
    } else if (tree.takes(t)) {
      node.step({receive_pieces(tree.partner(t), held.pieces(tree.first(t), tree.half(t)))});
    } else {
      node.step();
    }
  }
  node.local([&] { copy(held.pieces(tree.mine(), 1)[0], held.own_part()); });
}

void gather_part(Node& node, int j, ConstSpan own, Blocks in, Rank root) {
  const RotatedTree tree(node, j, root);
  HeldParts held(node, tree, in, only_read(own), j);
  node.local([&] { copy(held.own_part(), held.pieces(tree.mine(), 1)[0]); });
  for (int t = node.topology().dimensions(); t-- > 0;) {
    if (tree.gives(t)) {
      node.step({receive_pieces(tree.partner(t), held.pieces(tree.first(t), tree.half(t)))});
    } else if (tree.takes(t)) {
      node.step({send_pieces(tree.partner(t), held.pieces(tree.first(t), tree.half(t)))});
    } else {
      node.step();
    }
  }
}

}  // namespace

void scatter_hypercube_all_port(Node& node, ConstBlocks out, Span own, Rank root) {
  require_network(algorithms::scatter_hypercube_all_port, node.topology());
  require_rooted("scatter_hypercube_all_port", node, out, own, root, {});
  if (node.size() == 1) {
    node.local([&] { copy(out[0], own); });
    return;
  }
  together(node, node.topology().dimensions(),
           [&](int j, Node& part) { scatter_part(part, j, out, own, root); });
}

void gather_hypercube_all_port(Node& node, ConstSpan own, Blocks in, Rank root) {
  require_network(algorithms::gather_hypercube_all_port, node.topology());
  require_rooted("gather_hypercube_all_port", node, in, own, root, {});
  if (node.size() == 1) {
    node.local([&] { copy(own, in[0]); });
    return;
  }
  together(node, node.topology().dimensions(),
           [&](int j, Node& part) { gather_part(part, j, own, in, root); });
}

namespace {

Rank parts(const Setting& setting) { return std::max(1, setting.topology.dimensions()); }

Prediction predict_hypercube_all_port(const Setting& setting) {
  const double p = setting.topology.nodes(), d = parts(setting);
  return {.startups = setting.topology.dimensions(),
          .transmission_blocks = (p - 1) / d,
          .rearranged_blocks = 0,
          // The root's neighbours take 1, 2, .., p/2 parts; a single one goes where it belongs.
          .working_blocks = std::max(0.0, p - 2) / d,
          .link_load = p > 1 ? 1 : 0,
          .contended_blocks = (p - 1) / d};
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(scatter_hypercube_all_port){
    .operation = operations::scatter,
    .name = "hypercube-all-port",
    .summary = "d rotated trees on all links at once; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.7.2",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"4.5", "", "hypercube:6"}},
    .needs = {needs::hypercube()},
    .instead = {"halving"},
    .predict = predict_hypercube_all_port,
    .program =
        [](Node& node, const Call& call) {
          wormcube::scatter_hypercube_all_port(node, call.input, call.output.all(),
                                               call.arguments.root);
        },
    .parts = parts,
};

WORMCUBE_ALGORITHM(gather_hypercube_all_port){
    .operation = operations::gather,
    .name = "hypercube-all-port",
    .summary = "d rotated trees on all links at once; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.7.2",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"4.5", "", "hypercube:6"}},
    .needs = {needs::hypercube()},
    .instead = {"halving"},
    .predict = predict_hypercube_all_port,
    .program =
        [](Node& node, const Call& call) {
          wormcube::gather_hypercube_all_port(node, call.input.all(), call.output,
                                              call.arguments.root);
        },
    .parts = parts,
};

}  // namespace algorithms

}  // namespace wormcube
