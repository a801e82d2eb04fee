// The cost of a collective: modelled counts, time by a cost model, and lower bounds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"
#include "wormcube/runtime/topology/theory.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace wormcube {

/// How many messages a node may send and receive at once: one of each, or one of each per link.
enum class Ports : std::uint8_t { one, all };
std::string_view to_string(Ports ports);

/// Modelled counts (closed form), in start-ups and blocks; empty if there is none.
struct Prediction {
  std::optional<double> startups = {}, transmission_blocks = {}, rearranged_blocks = {};
  /// Most blocks that one node holds besides the call's input and output.
  std::optional<double> working_blocks = {};
  // For algorithms that are not contention-free on all the networks that they admit:
  /// Most messages on one link in a step; 1 if the algorithm is contention-free.
  std::optional<double> link_load = {};
  /// Sum over steps of the blocks on the busiest directed link.
  std::optional<double> link_blocks = {};
  /// Reductions: sum over the gaps between steps of the most blocks that one node combines.
  std::optional<double> combined_blocks = {};
  /// Sum over steps of the links on the longest route.
  std::optional<double> hops = {};
  /// Sum over steps of the most blocks that one node sends. Only a bus between a node and its ports
  /// makes it matter, and no formula gives it.
  std::optional<double> injected_blocks = {};

  /// Start-ups, transmission and rearrangement are all known.
  bool complete() const { return startups && transmission_blocks && rearranged_blocks; }
};

/// The textbook's constants: a start-up and a hop in microseconds, the others in microseconds per
/// byte.
struct CostModel {
  double startup_us = 10;              // ts
  double transfer_us = 0.001;          // tw: at a node's port
  double rearrange_us = 0.0005;        // tr
  double combine_us = 0.0005;          // tc
  std::optional<double> hop_us = {};   // th; empty: a flit's time on a link
  std::optional<double> link_us = {};  // tw on a link; empty: as at a port
  double flit_bytes = 1;               // each message of a step is at least a flit
  /// With all ports: tw on the bus that a node's ports share; empty: there is none.
  std::optional<double> bus_us = {};

  double link_byte_us() const { return link_us.value_or(transfer_us); }
  double link_hop_us() const { return hop_us.value_or(link_byte_us() * flit_bytes); }
};

/// What a call costs, summed over its steps, or over the gaps between them.
struct CallCounts {
  double startups = 0;                              // steps in which some node sends
  double hops = 0;                                  // links on the longest route
  double port_bytes = 0;                            // the largest message
  double link_bytes = 0;                            // on the busiest link; 0: unknown
  double rearranged_bytes = 0, combined_bytes = 0;  // by the node that does most
  double injected_bytes = 0;  // by the node that sends most; 0: unknown, or not over a bus
};

/// What a step waits for: its longest message, or what its busiest link or a node's bus carries.
enum class Limit : std::uint8_t { ports, link, bus };
std::string_view to_string(Limit limit);

/// The modelled time, and its parts.
struct ModelTime {
  double startups_us = 0, hops_us = 0, transfer_us = 0, rearrange_us = 0, combine_us = 0;
  double total_us = 0;
  Limit limit = Limit::ports;
};
/// ts startups + max(th hops + tw port_bytes, th startups + tw' link_bytes, th startups + tw''
/// injected_bytes) + tr rearranged + tc combined: of steps that all nodes take together, either the
/// longest message ends last, or the busiest link or bus works without a pause, one hop after the
/// start-up. All commands multiply here, in picoseconds and in this order.
ModelTime model_time(const CallCounts& counts, const CostModel& model);

/// A missing count is 0, missing hops are one in each step.
CallCounts call_counts(const Prediction& prediction, Bytes block_bytes);
/// The time of these counts.
double predicted_us(const Prediction& prediction, const CostModel& model, Bytes block_bytes);

/// The lower bound of any algorithm on this network; empty if no bound is known. Transmission means
/// time: if an algorithm shares links, compare its link_blocks.
struct LowerBound {
  std::optional<double> startups = {}, transmission_blocks = {};
  /// What a port of some node must carry, at most transmission_blocks. Ports may be slower than
  /// links: this takes the ports' time for a block, transmission_blocks at least the links' time.
  std::optional<double> port_blocks = {};
  /// If each start-up moves one block to a neighbour: the bound on both, unrounded, and its name
  /// ("cut (4)").
  std::optional<Rational> exact = {};
  std::string_view source = {};
  /// The name of the transmission's bound: "ports", "max-flow", "cut".
  std::string_view transmission_source = {};
  /// Some schedule comes arbitrarily close to the transmission, with blocks in parts that are small
  /// enough, on routes of its own choice.
  bool tight = false;
};

/// The kind of lower bound of a collective on a network.
struct Limits {
  double nodes;
  double rounds;     // what a node knows can reach `most ports` more in each step
  int fewest_ports;  // of any node; 1 under one port
  int most_ports;    // of any node; 1 under one port
  const Topology& topology;
  Ports ports;
};
Limits limits(const Topology& topology, Ports ports);

}  // namespace wormcube
