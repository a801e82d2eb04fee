// Total exchange between neighbours on meshes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"

#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

namespace wormcube {

namespace {

/// What node z of a line has for node w: one block for each line of its dimension.
struct LineBundle {
  Rank z, w;
  std::vector<Span> blocks;
};

int steps_of_line(Rank n) { return n == 1 ? 0 : n - 1 + n % 2; }

/// The exchange along one line, as one of its nodes sees it.
class LineExchange {
 public:
  LineExchange(Node& node, int dimension, const std::vector<ConstSpan>& held, Blocks target)
      : node_(node),
        d_(dimension),
        n_(node.topology().size(dimension)),
        x_(node.topology().coordinate(node.rank(), dimension)),
        held_(held),
        target_(target),
        cells_(static_cast<std::size_t>(n_)),
        memories_{buffer(), buffer()} {
    for (Rank e = 0; e < node.size(); ++e) {
      cells_[static_cast<std::size_t>(node.topology().coordinate(e, d_))].push_back(e);
    }
  }

  void run() {
    for (const Rank e : cells_[static_cast<std::size_t>(x_)]) {
      node_.local([&] { copy(held_[static_cast<std::size_t>(e)], target_[e]); });
    }
    for (int i = 0; i < steps_of_line(n_); ++i) step(i);
  }

 private:
  Memory buffer() {
    // Two bundles for all nodes beyond.
    const Rank blocks = 2 * (n_ - 1) * (node_.size() / n_);
    return node_.memory(static_cast<Bytes>(blocks) * held_[0].size(), Purpose::blocks);
  }
  static Rank partner(Rank x, int i) { return (x + i) % 2 == 0 ? x + 1 : x - 1; }
  bool exists(Rank z) const { return z >= 0 && z < n_; }

  /// The nodes whose bundles node `from` passes on to `to` in step i: what came last, and in the
  /// first two steps its own.
  std::vector<Rank> origins(Rank from, Rank to, int i) const {
    const Rank back = from - to;
    std::vector<Rank> all;
    for (const Rank z : {from + back * i, from + back * (i - 1)}) {
      if (exists(z) && (i > 0 || z == from)) all.push_back(z);
    }
    return all;
  }

  void step(int i) {
    const Rank y = partner(x_, i);
    std::vector<LineBundle> came = std::exchange(passing_, {});
    if (!exists(y)) return node_.step();
    const Rank outwards = y - x_;
    std::vector<Span> going, coming;
    for (const Rank z : origins(x_, y, i)) {
      for (Rank w = y; exists(w); w += outwards) {
        const std::vector<Span> own = z == x_ ? own_for(w) : std::vector<Span>();
        for (const Span block : z == x_ ? own : blocks_of(came, z, w)) going.push_back(block);
      }
    }
    const Memory& memory = memories_[static_cast<std::size_t>(i % 2)];
    Bytes used = 0;
    for (const Rank z : origins(y, x_, i)) {
      for (Rank w = x_; exists(w); w -= outwards) {
        LineBundle bundle{z, w, {}};
        for (const Rank e : cells_[static_cast<std::size_t>(z)]) {
          const Bytes bytes = target_[e].size();
          bundle.blocks.push_back(w == x_ ? target_[e] : memory.subspan(used, bytes));
          if (w != x_) used += bytes;
        }
        coming.insert(coming.end(), bundle.blocks.begin(), bundle.blocks.end());
        if (w != x_) passing_.push_back(std::move(bundle));
      }
    }
    // At the end of a line a node may have nothing to pass on, and its partner knows that.
    const Rank partner = node_.topology().with(node_.rank(), d_, y);
    std::vector<Op> ops;
    if (!going.empty()) ops.push_back(send_pieces(partner, going));
    if (!coming.empty()) ops.push_back(receive_pieces(partner, coming));
    node_.step(ops);
  }

  std::vector<Span> own_for(Rank w) const {
    std::vector<Span> blocks;
    for (const Rank e : cells_[static_cast<std::size_t>(w)]) {
      blocks.push_back(only_read(held_[static_cast<std::size_t>(e)]));
    }
    return blocks;
  }
  static const std::vector<Span>& blocks_of(const std::vector<LineBundle>& came, Rank z, Rank w) {
    for (const LineBundle& bundle : came) {
      if (bundle.z == z && bundle.w == w) return bundle.blocks;
    }
    throw std::logic_error("neighbour-exchange: a bundle has not come");
  }

  Node& node_;
  int d_;
  Rank n_, x_;
  const std::vector<ConstSpan>& held_;  // by the coordinate of its destination
  Blocks target_;                       // by the coordinate of its source
  std::vector<std::vector<Rank>> cells_;
  std::array<Memory, 2> memories_;
  std::vector<LineBundle> passing_;
};

/// Total exchange: node r's block q ends as node q's block r. In the lines of one dimension after
/// another neighbours exchange, in one step on the one side, in the next on the other. Of each
/// bundle that crosses goes what is for the partner's coordinate and beyond. A block is named by
/// its source's coordinates in the dimensions done, its destination's in the others.
///
/// Network  meshes; one-port.
/// Cost     sum of n - 1 + (n mod 2) steps, p/n ((n - 1)^2 + (n mod 2)) blocks for each dimension.
/// Links    each carries one message in a step, to a neighbour.
/// Source   ours, after the all-gather of J. Chen, Y. Zhang, L. Zhang, W. Yuan, HPCASIA 2005.
void alltoall_neighbour_exchange(Node& node, const Call& call) {
  const Rank p = node.size();
  std::vector<int> dimensions;
  for (int d = node.topology().dimensions() - 1; d >= 0; --d) {
    if (node.topology().size(d) > 1) dimensions.push_back(d);
  }
  if (dimensions.empty()) return node.local([&] { copy(call.input[0], call.output[0]); });
  const Bytes bytes = static_cast<Bytes>(p) * call.input[0].size();
  const Memory first = node.memory(dimensions.size() > 1 ? bytes : 0, Purpose::blocks),
               second = node.memory(dimensions.size() > 2 ? bytes : 0, Purpose::blocks);
  std::vector<ConstSpan> held;
  for (Rank e = 0; e < p; ++e) held.push_back(call.input[e]);
  for (std::size_t k = 0; k < dimensions.size(); ++k) {
    const bool last = k + 1 == dimensions.size();
    const Blocks target = last ? call.output : Blocks(k % 2 == 0 ? first.span() : second.span(), p);
    LineExchange(node, dimensions[k], held, target).run();
    for (Rank e = 0; e < p; ++e) held[static_cast<std::size_t>(e)] = target[e];
  }
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_neighbour_exchange){
    .operation = operations::alltoall,
    .name = "neighbour-exchange",
    .summary = "bundles move between neighbours on both sides in turn, back and forth; meshes",
    .source = "ours, after Chen, Zhang, Zhang, Yuan, HPCASIA 2005",
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::lines()},
    .instead = {"mesh", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const double p = setting.topology.nodes();
      Prediction sum{0, 0, 0};
      for (const Rank n : setting.topology.sizes()) {
        *sum.startups += steps_of_line(n);
        *sum.transmission_blocks += n > 1 ? p / n * ((n - 1.0) * (n - 1) + n % 2) : 0;
      }
      return sum;
    },
    .program = alltoall_neighbour_exchange,
};

}  // namespace wormcube
