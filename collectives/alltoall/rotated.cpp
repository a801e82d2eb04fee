// Total exchange on tori with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/needs.hpp"
#include "wormcube/collectives/kit/torus_handover.hpp"
#include "wormcube/runtime/node/together.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace wormcube {

namespace {

Rank longest_side(const Topology& topology) {
  Rank longest = 1;
  for (const Rank size : topology.sizes()) longest = std::max(longest, size);
  return longest;
}

bool is_mesh(const Topology& topology) { return !needs::lines().complaint(topology); }

/// In which the longest dimension is done; in the others nodes may have nothing to send in some.
Rank steps_of_dimension(const Topology& topology) {
  const Rank longest = longest_side(topology);
  return is_mesh(topology) ? longest * longest / 4 : longest / 2;
}

/// Copy j's part of blocks in one dimension d of n nodes: a node's part for coordinate q there, and
/// the part that came from q, is in place e with e_d = q. The other coordinates of e are of sources
/// in the dimensions done, of destinations in the others. What a node has for one coordinate is a
/// bundle.
class Phase {
 public:
  Phase(Node& node, int d, int j, int copies)
      : node_(node),
        d_(d),
        j_(j),
        copies_(copies),
        n_(node.topology().size(d)),
        own_(node.coordinate(d)) {
    const Topology& topology = node.topology();
    for (Rank e = 0; e < topology.nodes(); ++e) {
      if (topology.coordinate(e, d) == 0) across_.push_back(e);
    }
  }

 protected:
  void keep_own(ConstBlocks from, Blocks to) const {
    node_.local([&] {
      for (const Rank e : across_) copy(whole(from[at(e, own_)]), whole(to[at(e, own_)]));
    });
  }
  /// Place e, with this coordinate in dimension d.
  Rank at(Rank e, Rank coordinate) const { return node_.topology().with(e, d_, coordinate); }
  template <class Block>
  Block whole(Block block) const {
    return part(block, j_, copies_);
  }

  Node& node_;
  int d_, j_, copies_;
  Rank n_, own_;
  std::vector<Rank> across_;  // one place for each combination of the other coordinates
};

/// On a ring every part takes the shorter direction; parts for half way round are split.
class RingPhase : Phase {
 public:
  using Phase::Phase;

  /// \param steps  of the longest dimension: a dimension that is done sends nothing
  void run(ConstBlocks from, Blocks to, Rank steps) const {
    keep_own(from, to);
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
    Way(const RingPhase& phase, int sign, ConstBlocks from, Blocks to)
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
            out_.push_back(only_read(phase_.share(from_[phase_.ahead(e, sign_ * x)], sign_ * x)));
          }
        }
      } else {
        out_.push_back(going_.first(bytes(s)));
      }
      for (const Rank e : phase_.across_) {
        in_.push_back(phase_.share(to_[phase_.ahead(e, -sign_ * s)], sign_ * s));
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

    const RingPhase& phase_;
    int sign_;
    ConstBlocks from_;
    Blocks to_;
    Memory first_, second_;
    Span going_, coming_;
    std::vector<Span> out_, in_;
  };

  Rank reach() const { return n_ / 2; }
  /// Place e, with the coordinate x on from this node's.
  Rank ahead(Rank e, Rank x) const { return at(e, mod(own_ + x, n_)); }
  /// The part of a block that goes x hops in this direction: half of one for half way round.
  template <class Block>
  Block share(Block block, Rank x) const {
    if (2 * std::abs(x) != n_) return whole(block);
    return part(block, 2 * j_ + (x > 0 ? 0 : 1), 2 * copies_);
  }
};

/// On a line of n nodes a bundle is cut into `parts`, of which a link carries `rate` in a step and
/// direction, those with the farthest destinations first. So no link that has more to send waits.
///
/// Towards higher coordinates, the link from x to x + 1 sends (x + 1)(n - 1 - x) bundles: for n - 1
/// those of x, x - 1, .., 0; then for n - 2, n - 3, .., x + 1 those of 0, 1, .., x each. The next
/// link sends each of them at least a bundle later. Towards lower ones the line is mirrored.
class LinePhase : Phase {
 public:
  LinePhase(Node& node, int d, int j, int copies, Rank longest)
      : Phase(node, d, j, copies),
        parts_(longest / std::gcd(n_, longest)),
        rate_(n_ / std::gcd(n_, longest)) {}

  void run(ConstBlocks from, Blocks to, Rank steps) const {
    keep_own(from, to);
    Way up(*this, +1, from, to), down(*this, -1, from, to);
    for (Rank s = 0; s < steps; ++s) {
      std::vector<Op> ops;
      up.post(s, ops), down.post(s, ops);
      node_.step(ops);
      up.pass(), down.pass();
    }
  }

 private:
  /// A part of the bundle of one node for another.
  struct Item {
    Rank from, to, part;
  };

  /// The bundles in one direction. Coordinates are those of the mirrored line, if it is mirrored.
  class Way {
   public:
    Way(const LinePhase& phase, int sign, ConstBlocks from, Blocks to)
        : phase_(phase),
          sign_(sign),
          from_(from),
          to_(to),
          x_(mirrored(phase.own_)),
          bundle_(phase.whole(from[0])) {}

    void post(Rank s, std::vector<Op>& ops) {
      out_.clear(), in_.clear();
      each_item(x_, s, [&](const Item& item) {
        if (item.from == x_) {
          for (const Rank e : phase_.across_)
            out_.push_back(only_read(cut(from_[phase_.at(e, mirrored(item.to))], item.part)));
        } else {
          out_.push_back(kept(item));
          if (item.part == phase_.parts_ - 1) sent_.push_back(item);
        }
      });
      each_item(x_ - 1, s, [&](const Item& item) {
        if (item.to == x_) {
          for (const Rank e : phase_.across_)
            in_.push_back(cut(to_[phase_.at(e, mirrored(item.from))], item.part));
        } else {
          in_.push_back(kept(item));
        }
      });
      if (!out_.empty()) ops.push_back(send_pieces(Move{phase_.d_, sign_}, out_));
      if (!in_.empty()) ops.push_back(receive_pieces(Move{phase_.d_, -sign_}, in_));
    }
    void pass() {
      for (const Item& item : sent_) {
        const auto place = places_.find({item.from, item.to});
        free_.push_back(place->second);
        places_.erase(place);
      }
      sent_.clear();
    }

   private:
    Rank mirrored(Rank x) const { return sign_ > 0 ? x : phase_.n_ - 1 - x; }
    template <class Block>
    Block cut(Block block, Rank index) const {
      return part(phase_.whole(block), index, phase_.parts_);
    }
    /// Calls f(item) for each that the link from x to x + 1 carries in step s.
    template <class F>
    void each_item(Rank x, Rank s, F&& f) const {
      if (x < 0) return;
      const Rank n = phase_.n_, parts = phase_.parts_;
      const std::int64_t sources = x + 1;
      const std::int64_t all = sources * (n - 1 - x) * parts;
      const std::int64_t end = std::min(all, (std::int64_t{s} + 1) * phase_.rate_);
      for (std::int64_t i = std::int64_t{s} * phase_.rate_; i < end; ++i) {
        const std::int64_t bundle = i / parts;
        const auto nearer = static_cast<Rank>(bundle / sources);
        const auto source = static_cast<Rank>(bundle % sources);
        f(Item{nearer == 0 ? x - source : source, n - 1 - nearer, static_cast<Rank>(i % parts)});
      }
    }
    /// Where a part lies between two links.
    Span kept(const Item& item) {
      const auto [place, is_new] = places_.try_emplace({item.from, item.to}, std::size_t{0});
      if (is_new) {
        if (free_.empty()) {
          free_.push_back(memories_.size());
          memories_.push_back(phase_.node_.memory(bundle_.size() * across(), Purpose::blocks));
        }
        place->second = free_.back();
        free_.pop_back();
      }
      const ConstSpan piece = part(bundle_, item.part, phase_.parts_);
      const auto before = static_cast<Bytes>(piece.data() - bundle_.data());
      return memories_[place->second].subspan(before * across(), piece.size() * across());
    }
    Bytes across() const { return phase_.across_.size(); }

    const LinePhase& phase_;
    int sign_;
    ConstBlocks from_;
    Blocks to_;
    Rank x_;
    ConstSpan bundle_;                                     // one block's share of it
    std::map<std::pair<Rank, Rank>, std::size_t> places_;  // of bundles that are kept
    std::vector<std::size_t> free_;
    std::vector<Memory> memories_;
    std::vector<Item> sent_;
    std::vector<Span> out_, in_;
  };

  Rank parts_, rate_;
};

/// Total exchange: node r's block q ends as node q's block r. D copies, one for each dimension of
/// more than one node, have a D-th part of every block each. Copy j crosses the dimensions j, j+1,
/// .., j-1 (mod D), all copies together. In a dimension bundles travel in both directions, on rings
/// every part in the shorter one. So in every step each link has one message.
///
/// Network  torus or ring of any D, every side 1, or 3 and more; mesh or line of any D; all-port.
/// Cost     with N the longest side, on tori: D floor(N/2) steps; p N/8 blocks for even N, p (N^2 -
///          1)/(8 N) for odd N: the bisection bound, or, for odd N, the least that all links of a
///          ring allow. On meshes: D floor(N^2/4) steps; p floor(N^2/4)/N blocks, the bisection
///          bound. Nothing is rearranged: parts are sent from where they lie and received where
///          they stay. A node holds p blocks between two dimensions; on a mesh also those that
///          wait for the next link.
/// Links    each link carries one message in a step.
/// Source   C. Liu, N. Gu, K. Ren, J. Tao, Optimal All-to-All Personalized Communication in
///          All-Port Tori, IMSCCS 2006; HalfRing and DimRotation of Optimizing All-to-All
///          Collective Communication with Fault Tolerance on Torus Networks, ACM 2025 (abstracts).
///          The algorithm here is ours after them; so is its exchange of a line.
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
  const Rank longest = longest_side(topology), steps = steps_of_dimension(topology);
  together(node, copies, [&](int j, Node& own) {
    ConstBlocks from = call.input;
    for (int t = 0; t < copies; ++t) {
      const Blocks to = (copies - t) % 2 == 1 ? in : meanwhile;
      const int d = wide[static_cast<std::size_t>((j + t) % copies)];
      if (is_mesh(topology)) {
        LinePhase(own, d, j, copies, longest).run(from, to, steps);
      } else {
        RingPhase(own, d, j, copies).run(from, to, steps);
      }
      from = to;
    }
  });
}

Prediction predict_rotated(const Setting& setting) {
  const Topology& topology = setting.topology;
  const double p = topology.nodes(), dimensions = wide_dimensions(topology).size();
  const Rank side = longest_side(topology);
  const double n = side, steps = steps_of_dimension(topology);
  const bool mesh = is_mesh(topology);
  const double blocks = mesh ? p * steps / n : p * (side % 2 == 0 ? n * n : n * n - 1) / (8 * n);
  return {.startups = dimensions * steps,
          .transmission_blocks = blocks,
          .rearranged_blocks = 0,
          .working_blocks = mesh ? std::nullopt : std::optional(dimensions > 1 ? p : 0),
          .link_load = p > 1 ? 1 : 0,
          .link_blocks = blocks};
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_rotated){
    .operation = operations::alltoall,
    .name = "rotated",
    .summary =
        "rotated copies send bundles in both directions of each ring or line, on all links at "
        "once; "
        "tori and meshes",
    .source =
        "Liu, Gu, Ren, Tao 2006 (abstract); HalfRing with DimRotation, ACM 2025 (abstract only; "
        "our details)",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .needs = {needs::rings_of_three_or_lines()},
    .instead = {"product-multiport-general", "ring-all-port", "shift"},
    .predict = predict_rotated,
    .program = alltoall_rotated,
    .parts =
        [](const Setting& setting) {
          const Topology& topology = setting.topology;
          Rank parts = 2;
          if (is_mesh(topology)) {
            parts = 1;
            const Rank longest = longest_side(topology);
            for (const int d : wide_dimensions(topology))
              parts = std::lcm(parts, longest / std::gcd(topology.size(d), longest));
          }
          return parts * std::max(1, static_cast<Rank>(wide_dimensions(topology).size()));
        },
};

}  // namespace wormcube
