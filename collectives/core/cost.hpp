// The cost of a collective: modelled counts, time by a cost model, and lower bounds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"
#include "wormcube/runtime/topology/theory.hpp"

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
  /// Sum over steps of the longest message time: its blocks times the load of the busiest link on
  /// its path. The transmission as time.
  std::optional<double> link_blocks = {};
  /// Reductions: sum over the gaps between steps of the most blocks that one node combines.
  std::optional<double> combined_blocks = {};

  /// Start-ups, transmission and rearrangement are all known.
  bool complete() const { return startups && transmission_blocks && rearranged_blocks; }
};

/// The textbook's constants: a start-up in microseconds, the others in microseconds per byte.
struct CostModel {
  double startup_us = 10;        // ts
  double transfer_us = 0.001;    // tw
  double rearrange_us = 0.0005;  // tr
  double combine_us = 0.0005;    // tc
};

/// ts * startups + tw * m * transmission + tr * m * rearranged + tc * m * combined, a missing term
/// as 0. If links are shared the transmission is link_blocks: k messages on one link take k
/// times as long.
double predicted_us(const Prediction& prediction, const CostModel& model, Bytes block_bytes);

/// The lower bound of any algorithm on this network; empty if no bound is known. Transmission means
/// time: if an algorithm shares links, compare its link_blocks.
struct LowerBound {
  std::optional<double> startups = {}, transmission_blocks = {};
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
