// A node's part in a broadcast: when the message arrives, from whom, and what it sends on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace wormcube {

/// Cuts a message into packets that go one after another through the same tree.
struct Packets {
  int count = 1;
  /// A packet starts this many steps after the previous one; 0: when that one has arrived
  /// everywhere. A number below the tree's steps is correct only if packets then meet at no port
  /// and no link, which the checker tests. The trees here keep a port of the root busy in nearly
  /// all steps, so there is little to gain.
  int period = 0;

  int gap(int tree_steps) const { return period > 0 ? period : tree_steps; }
  /// The total number of steps, including idle ones between packets, for a tree of `tree_steps`; a
  /// tree of none (one node) has none.
  std::int64_t steps(int tree_steps) const {
    return tree_steps > 0 ? tree_steps + (std::int64_t{count} - 1) * gap(tree_steps) : 0;
  }
};

/// The options `packets` and `period` of these broadcasts, and their values.
Option packets_option();
Option period_option();
Packets packets_of(const Options& options);

/// What one node does in a broadcast on a torus, computed by that node alone, from coordinates.
///
/// Axis 0 is the dimension that messages travel first (the topology's last one, the papers' X);
/// dimensions of one node are not axes. Algorithms are phases: each serves parts of the network
/// with one informed node in each, and leaves smaller parts to the next. A displacement is one
/// signed number of hops per axis, travelled in the order of the axes.
class Itinerary {
 public:
  struct Arrival {
    int step;
    Rank from;
  };
  struct Departure {
    int step;
    std::uint32_t first, count;  // in legs()
  };

  /// \param root  the node that has the message
  Itinerary(const Topology& topology, Rank root, Rank rank);

  int axes() const { return static_cast<int>(sizes_.size()); }
  Rank size(int axis) const { return sizes_[axis]; }
  std::span<const Rank> sizes() const { return sizes_; }
  int dimension(int axis) const { return dimensions_[axis]; }

  /// This node relative to the informed node of its part: 0 .. size-1 along each axis.
  std::vector<Rank> position;

  /// In this step of the phase the message arrives by this displacement, or from this node.
  void arrive(int step, std::span<const int> by);
  void arrive_from(int step, Rank from) { arrivals_.push_back({phase_ + step, from}); }
  /// In this step of the phase the message is sent by this displacement, or along these moves of
  /// axes in any order.
  void depart(int step, std::span<const int> by);
  void depart_along(int step, std::span<const Move> axis_moves);
  void end_phase(int steps) { phase_ += steps; }
  /// Names the steps of the phase from this one on: a literal. In ascending order.
  void name(int step, std::string_view text) { names_.push_back({phase_ + step, text}); }

  /// In the order of steps.
  std::span<const Arrival> arrivals() const { return arrivals_; }
  std::span<const Departure> departures() const { return departures_; }
  std::span<const Move> legs(const Departure& departure) const {
    return std::span(legs_).subspan(departure.first, departure.count);
  }
  int steps() const { return phase_; }

  struct Name {
    int step;
    std::string_view text;
  };
  std::span<const Name> names() const { return names_; }

 private:
  const Topology& topology_;
  Rank rank_;
  std::vector<Rank> sizes_;
  std::vector<int> dimensions_;
  std::vector<Arrival> arrivals_;
  std::vector<Departure> departures_;
  std::vector<Move> legs_;
  std::vector<Name> names_;
  int phase_ = 0;  // the step that the current phase starts with
};

/// The node program of all algorithms that have an itinerary.
/// Throws UsageError, before any message, for more steps than an int counts.
void travel(Node& node, const Call& call, const Itinerary& itinerary);

/// The axes' sizes, axis 0 first.
std::vector<Rank> axis_sizes(const Topology& topology);

/// The least t with base^t >= n.
int rounds(Rank n, Rank base);

/// Rings in all dimensions, and packets in no more steps than an int counts.
/// Throws UsageError in the algorithm's name.
void require_torus_broadcast(std::string_view algorithm, const Setting& setting);
/// The packets alone, for a tree of this many steps.
void require_packets(std::string_view algorithm, const Packets& packets, int tree_steps = 1);

/// For the entries of the algorithms: a packet is a part.
Rank packet_parts(const Setting& setting);

/// One message of the whole block (or packet) on each link in every step.
Prediction predict_tree(int tree_steps, const Options& options);

}  // namespace wormcube
