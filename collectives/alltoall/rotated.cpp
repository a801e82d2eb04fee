// Total exchange on tori with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/torus_handover.hpp"
#include "wormcube/runtime/node/together.hpp"

#include <algorithm>

namespace wormcube {

namespace {

Rank longest_side(const Topology& topology) {
  Rank longest = 1;
  for (const Rank size : topology.sizes()) longest = std::max(longest, size);
  return longest;
}

/// Copy j's part of blocks in one dimension d of n nodes: a node's part for coordinate q there, and
/// the part that came from q, is in place e with e_d = q. The other coordinates of e are of sources
/// in the dimensions done, of destinations in the others.
class RotatedPhase {
 public:
  RotatedPhase(Node& node, int d, int j, int copies)
      : node_(node), d_(d), j_(j), copies_(copies), n_(node.topology().size(d)) {
    const Topology& topology = node.topology();
    for (Rank e = 0; e < topology.nodes(); ++e) {
      if (topology.coordinate(e, d) == 0) across_.push_back(e);
    }
  }

  /// \param steps  of the longest dimension: a dimension that is done sends nothing
  void run(ConstBlocks from, Blocks to, Rank steps) const {
    node_.local([&] {
      for (const Rank e : across_) copy(whole(from[at(e, 0)]), whole(to[at(e, 0)]));
    });
    Way up(*this, +1, from, to), down(*this, -1, from, to);
    for (Rank s = 1; s <= steps; ++s) {
      if (s > n_ / 2) {
        node_.step();
        continue;
      }
      std::vector<Op> ops;
      up.post(s, ops), down.post(s, ops);
      node_.step(ops);
      up.pass(), down.pass();
    }
  }

 private:
  /// The bundles in one direction: before step s that of the node s - 1 back, for s or more hops.
  class Way {
   public:
    Way(const RotatedPhase& phase, int sign, ConstBlocks from, Blocks to)
        : phase_(phase),
          sign_(sign),
          from_(from),
          to_(to),
          first_(phase.node_.memory(bytes(2))),
          second_(phase.node_.memory(bytes(2))),
          going_(first_),
          coming_(second_) {}

    void post(Rank s, std::vector<Op>& ops) {
      out_.clear(), in_.clear();
      if (s == 1) {
        for (Rank x = 1; x <= phase_.reach(); ++x) {
          for (const Rank e : phase_.across_) {
            out_.push_back(only_read(phase_.share(from_[phase_.at(e, sign_ * x)], sign_ * x)));
          }
        }
      } else {
        out_.push_back(going_.first(bytes(s)));
      }
      for (const Rank e : phase_.across_) {
        in_.push_back(phase_.share(to_[phase_.at(e, -sign_ * s)], sign_ * s));
      }
      in_.push_back(coming_.first(bytes(s + 1)));
      ops.push_back(send_pieces(Move{phase_.d_, sign_}, out_));
      ops.push_back(receive_pieces(Move{phase_.d_, -sign_}, in_));
    }
    void pass() { std::swap(going_, coming_); }

   private:
    /// The blocks with s or more hops to go.
    Bytes bytes(Rank s) const {
      Bytes sum = 0;
      for (Rank x = s; x <= phase_.reach(); ++x) {
        sum += phase_.share(from_[0], sign_ * x).size() * phase_.across_.size();
      }
      return sum;
    }

    const RotatedPhase& phase_;
    int sign_;
    ConstBlocks from_;
    Blocks to_;
    Memory first_, second_;
    Span going_, coming_;
    std::vector<Span> out_, in_;
  };

  Rank reach() const { return n_ / 2; }
  /// Place e, with the coordinate x on from this node's.
  Rank at(Rank e, Rank x) const {
    return node_.topology().with(e, d_, mod(node_.coordinate(d_) + x, n_));
  }
  template <class Block>
  Block whole(Block block) const {
    return part(block, j_, copies_);
  }
  /// The part of a block that goes x hops in this direction: half of one for half way round.
  template <class Block>
  Block share(Block block, Rank x) const {
    if (2 * std::abs(x) != n_) return whole(block);
    return part(block, 2 * j_ + (x > 0 ? 0 : 1), 2 * copies_);
  }

  Node& node_;
  int d_, j_, copies_;
  Rank n_;
  std::vector<Rank> across_;  // one place for each combination of the other coordinates
};

/// Total exchange: node r's block q ends as node q's block r. D copies, one for each dimension of
/// more than one node, have a D-th part of every block each. Copy j crosses the dimensions j, j+1,
/// .., j-1 (mod D), all copies together. In a dimension bundles travel in both directions, every
/// part in the shorter one; parts for half way round are split. So in every step each link has one
/// message.
///
/// Network  torus or ring of any D, every side 1, or 3 and more; all-port.
/// Cost     with N the longest side: D floor(N/2) steps; p N/8 blocks for even N, p (N^2 - 1)/(8
///          N) for odd N: the bisection bound, or, for odd N, the least that all links of a ring
///          allow. Nothing is rearranged: parts are sent from where they lie and received where
///          they stay. A node holds p blocks between two dimensions.
/// Links    each link carries one message in a step.
/// Source   C. Liu, N. Gu, K. Ren, J. Tao, Optimal All-to-All Personalized Communication in
///          All-Port Tori, IMSCCS 2006; HalfRing and DimRotation of Optimizing All-to-All
///          Collective Communication with Fault Tolerance on Torus Networks, ACM 2025 (abstracts).
///          The algorithm here is ours after them.
void alltoall_rotated(Node& node, const Call& call) {
  const Blocks in = call.output;
  const Topology& topology = node.topology();
  const std::vector<int> wide = wide_dimensions(topology);
  const auto copies = static_cast<int>(wide.size());
  if (copies == 0) {
    node.local([&] { copy(call.input[0], in[0]); });
    return;
  }
  // Between dimensions the blocks lie alternately in `in` and here, in `in` after the last one.
  const Memory memory = node.memory(copies > 1 ? call.input.all().size() : 0, Purpose::blocks);
  const Blocks meanwhile(copies > 1 ? memory.span() : Span(), node.size());
  const Rank steps = longest_side(topology) / 2;
  together(node, copies, [&](int j, Node& own) {
    ConstBlocks from = call.input;
    for (int t = 0; t < copies; ++t) {
      const Blocks to = (copies - t) % 2 == 1 ? in : meanwhile;
      RotatedPhase(own, wide[static_cast<std::size_t>((j + t) % copies)], j, copies)
          .run(from, to, steps);
      from = to;
    }
  });
}

Prediction predict_rotated(const Setting& setting) {
  const Topology& topology = setting.topology;
  const double p = topology.nodes(), dimensions = wide_dimensions(topology).size();
  const Rank side = longest_side(topology);
  const double n = side;
  const double blocks = p * (side % 2 == 0 ? n * n : n * n - 1) / (8 * n);
  return {.startups = dimensions * (side / 2),  // NOLINT(bugprone-integer-division)
          .transmission_blocks = blocks,
          .rearranged_blocks = 0,
          .working_blocks = dimensions > 1 ? p : 0,
          .link_load = p > 1 ? 1 : 0,
          .link_blocks = blocks};
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_rotated){
    .operation = operations::alltoall,
    .name = "rotated",
    .summary =
        "rotated copies send bundles in both directions of each ring, on all links at once; tori",
    .source =
        "Liu, Gu, Ren, Tao 2006 (abstract); HalfRing with DimRotation, ACM 2025 (abstract only; "
        "our details)",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .needs = {needs::rings_of_three()},
    .instead = {"product-multiport-general", "ring-all-port", "shift"},
    .predict = predict_rotated,
    .program = alltoall_rotated,
    .parts =
        [](const Setting& setting) {
          return 2 * std::max(1, static_cast<Rank>(wide_dimensions(setting.topology).size()));
        },
};

}  // namespace wormcube
