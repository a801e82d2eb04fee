// Splits by max-flows, and their least loads by Newton's method.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bfb_split.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/max_flow.hpp"

#include <bit>
#include <optional>

namespace wormcube {

namespace {

constexpr int most_ports = most_bfb_ports;

/// From the blocks of each set of neighbours, through these, to a node.
class Split {
 public:
  Split(std::span<const BfbArrivals> arrivals, std::int64_t of_block, std::int64_t of_link)
      : network_(static_cast<Rank>(2 + arrivals.size() + most_ports)),
        first_neighbour_(static_cast<Rank>(2 + arrivals.size())) {
    std::uint64_t neighbours = 0;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      const auto blocks = static_cast<Rank>(2 + i);
      network_.add(source, blocks, arrivals[i].blocks * of_block);
      wanted_ += arrivals[i].blocks * of_block;
      neighbours |= arrivals[i].from;
      std::vector<std::optional<std::size_t>>& arcs = arcs_.emplace_back(most_ports);
      for (int w = 0; w < most_ports; ++w) {
        if ((arrivals[i].from >> w & 1U) != 0)
          arcs[static_cast<std::size_t>(w)] =
              network_.add(blocks, first_neighbour_ + w, theory::unlimited);
      }
    }
    for (int w = 0; w < most_ports; ++w) {
      if ((neighbours >> w & 1U) != 0) network_.add(first_neighbour_ + w, sink, of_link);
    }
  }

  bool works() { return network_.flow(source, sink) == wanted_; }
  /// Of the neighbours that limit it, a bit each.
  std::uint64_t tight() const {
    std::uint64_t set = 0;
    for (int w = 0; w < most_ports; ++w) {
      if (network_.on_source_side(first_neighbour_ + w)) set |= std::uint64_t{1} << w;
    }
    return set;
  }
  std::int64_t from(std::size_t arrivals, std::size_t neighbour) const {
    const auto& arc = arcs_[arrivals][neighbour];
    return arc ? network_.flow_on(*arc) : 0;
  }

 private:
  static constexpr Rank source = 0, sink = 1;
  theory::FlowNetwork network_;
  Rank first_neighbour_;
  std::int64_t wanted_ = 0;
  std::vector<std::vector<std::optional<std::size_t>>> arcs_;
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
  std::vector<std::vector<std::int64_t>> found;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    for (std::size_t w = 0; w < most_ports; ++w) {
      if (w == 0) found.emplace_back();
      found.back().push_back(split.from(i, w));
    }
  }
  return found;
}

}  // namespace wormcube
