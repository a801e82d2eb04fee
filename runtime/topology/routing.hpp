// Routes: node pair or moves -> the channels of a worm; the dateline; the channel dependency graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace wormcube {

/// One virtual channel of one link.
using Channel = std::int64_t;

/// Links that a route takes one after another: first, first + step, .. with a step of 1 or -1.
struct LinkRun {
  Link first;
  std::int32_t count, step;
  Link last() const { return first + Link{step} * (count - 1); }
};

/// Deterministic dimension-ordered routing, last coordinate first (X first; on hypercubes e-cube).
///
/// Ring dimensions of 3 or more nodes have two virtual channels (the dateline): a worm starts on
/// channel 0 and moves to channel 1 on the link that closes the ring (n-1 -> 0 going '+', 0 -> n-1
/// going '-'). Channel 0 alone is then a line, channel 1 is left before the dateline comes round
/// again, so neither can close a cycle. With `virtual_channels` = 1 every link has one channel and
/// the rings are cyclic: dependency_cycle() finds that.
///
/// Source: W. J. Dally, C. L. Seitz, Deadlock-Free Message Routing in Multiprocessor
/// Interconnection Networks, IEEE Trans. Computers C-36(5), 1987.
///
/// Pure functions of an immutable value: any thread may call them.
class Routing {
 public:
  /// \param virtual_channels  channels per ring link: 2 (dateline) or 1 (none)
  explicit Routing(Topology topology, int virtual_channels = 2);

  const Topology& topology() const { return topology_; }
  int virtual_channels() const { return virtual_channels_; }
  std::int64_t channels() const { return channels_; }

  /// Appends the channels from one node to another, in the order in which a header reserves them.
  void route(Rank from, Rank to, std::vector<Channel>& path) const;
  /// Appends the channels of explicit moves, in the order given, and returns where they end.
  /// Throws UsageError for a dimension without direction, a move beyond a line's end, or once round
  /// a ring; and for moves that need one channel twice, as such a worm would wait for itself.
  /// dependency_cycle() covers moves in dimension order, each dimension once; others are at the
  /// caller's risk.
  Rank route(Rank from, std::span<const Move> moves, std::vector<Channel>& path) const;

  /// The links of these routes.
  void runs(Rank from, Rank to, std::vector<LinkRun>& runs) const;
  Rank runs(Rank from, std::span<const Move> moves, std::vector<LinkRun>& runs) const;

  Link link(Channel channel) const;
  int virtual_channel(Channel channel) const;
  /// "3->4", with " vc 1" if the link has two channels.
  std::string channel_name(Channel channel) const;

  /// The turns that dimension-ordered routes may take inside one dimension's graph (any sign, up to
  /// once round): pairs of channels relative to that graph. Between dimensions turns only go from a
  /// later one to an earlier one, so these cycles are the only ones possible. A graph has
  /// about links x ports of them: dependency_cycle() works without them.
  std::vector<std::pair<Channel, Channel>> turns(int dimension) const;

 private:
  // What a worm needs from a dimension, side by side.
  struct Dimension {
    Channel base;  // its first channel
    Link first_link;
    std::int64_t links;  // of one line
    int lanes;           // channels per link
    bool is_cable;       // two nodes: either sign leads over it
    bool wraps;
    bool has_direction;
    Divisor size;

    Channel channel(Rank line, std::int64_t link, int vc) const {
      return base + (line * links + link) * lanes + vc;
    }
    Link link(Rank line, std::int64_t number) const { return first_link + line * links + number; }
    /// Of a line's links, the first that leads '+', or '-'.
    std::int64_t first_of(bool plus) const {
      return plus ? 0 : wraps ? size.value() : size.value() - 2;
    }
  };
  const Dimension& dimension_of(Channel channel) const;
  struct ChannelPath;
  struct Runs;
  template <class Path>
  void visit(Rank from, Rank to, Path path) const;
  template <class Path>
  Rank visit(Rank from, std::span<const Move> moves, Path path) const;
  template <class Path>
  void visit_in_hypercube(Rank from, Rank to, Path path) const;

  Topology topology_;
  int virtual_channels_;
  std::vector<Dimension> dimensions_;
  std::int64_t channels_ = 0;
  bool is_hypercube_;
};

/// A cycle among dependencies (first must be held while second is waited for), as the channels
/// along it; nothing if the graph is acyclic. Channels are numbered 0 .. count-1.
std::optional<std::vector<Channel>> find_cycle(
    std::int64_t count, std::span<const std::pair<Channel, Channel>> dependencies);

/// The same if a worm may turn from link a to link b unless a goes down and b up: up*/down*
/// routing. Linear in links, in memory and time: no route turns from down to up, so a cycle
/// consists of ups alone or of downs alone; and all ups (downs) that arrive at a vertex depend on
/// the same links, so each vertex gets a helper between them. If the links that go up lead to
/// earlier vertices in some order, and the others to later ones, there is no cycle.
std::optional<std::vector<Channel>> find_up_down_cycle(std::span<const Graph::Ends> links,
                                                       const std::vector<bool>& goes_up);

/// The channel dependency graph's cycle as text ("0->1, 1->2, 2->0"), or nothing: the network is
/// deadlock free.
std::optional<std::string> dependency_cycle(const Routing& routing);

}  // namespace wormcube
