// Splits by max-flows, and their least loads by Newton's method.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bfb_split.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/max_flow.hpp"

#include <bit>
#include <cstddef>

namespace wormcube {

namespace {

/// From the blocks of each set of neighbours, through these, to a node.
class Split {
 public:
  Split(std::span<const BfbArrivals> arrivals, std::int64_t of_block, std::int64_t of_link)
      : neighbours_(neighbours_of(arrivals)),
        first_neighbour_(static_cast<Rank>(2 + arrivals.size())),
        network_(first_neighbour_ + neighbours_) {
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const auto blocks = static_cast<Rank>(2 + i);
      network_.add(source, blocks, arrivals[i].blocks * of_block);
      wanted_ += arrivals[i].blocks * of_block;
      for (int w = 0; w < neighbours_; ++w) {
        if ((arrivals[i].from >> w & 1U) == 0) continue;
        arcs_.push_back({i, w, network_.add(blocks, first_neighbour_ + w, theory::unlimited)});
      }
    }
    for (int w = 0; w < neighbours_; ++w) network_.add(first_neighbour_ + w, sink, of_link);
  }

  bool works() { return network_.flow(source, sink) == wanted_; }
  /// Of the neighbours that limit it, a bit each.
  std::uint64_t tight() const {
    std::uint64_t set = 0;
    for (int w = 0; w < neighbours_; ++w) {
      if (network_.on_source_side(first_neighbour_ + w)) set |= std::uint64_t{1} << w;
    }
    return set;
  }
  /// [arrivals][neighbour]
  std::vector<std::vector<std::int64_t>> parts(std::size_t arrivals) const {
    std::vector<std::vector<std::int64_t>> found(
        arrivals, std::vector<std::int64_t>(static_cast<std::size_t>(neighbours_), 0));
    for (const Arc& arc : arcs_)
      found[arc.arrivals][static_cast<std::size_t>(arc.neighbour)] = network_.flow_on(arc.number);
    return found;
  }

 private:
  static int neighbours_of(std::span<const BfbArrivals> arrivals) {
    std::uint64_t all = 0;
    for (const BfbArrivals& each : arrivals) all |= each.from;
    return std::bit_width(all);
  }
  struct Arc {
    std::size_t arrivals;
    int neighbour;
    std::size_t number;
  };
  static constexpr Rank source = 0, sink = 1;
  const int neighbours_;
  const Rank first_neighbour_;
  theory::FlowNetwork network_;
  std::int64_t wanted_ = 0;
  std::vector<Arc> arcs_;
};

}  // namespace

// By Newton's method: a split with too low a load names the neighbours that it is too low for.
BfbLoad bfb_load(std::span<const BfbArrivals> arrivals) {
  std::uint64_t set = 0;
  for (const BfbArrivals& each : arrivals) set |= each.from;
  for (;;) {
    BfbLoad load{0, std::popcount(set)};
    for (const BfbArrivals& each : arrivals) {
      if ((each.from & ~set) == 0) load.blocks += each.blocks;
    }
    Split split(arrivals, load.links, load.blocks);
    if (split.works()) return load;
    set = split.tight();
  }
}

std::vector<std::vector<std::int64_t>> bfb_split(std::span<const BfbArrivals> arrivals,
                                                 std::int64_t parts, std::int64_t most) {
  Split split(arrivals, parts, most);
  [[maybe_unused]] const bool works = split.works();
  WORMCUBE_ASSERT(works);
  return split.parts(arrivals.size());
}

}  // namespace wormcube
