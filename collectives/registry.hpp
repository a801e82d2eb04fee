// The registry: every algorithm with the networks it admits, its ports, its predicted costs and its
// source. Tests, benches, the command line and the selection walk it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/runtime/node.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

enum class Operation { broadcast, allgather, alltoall, alltoallv, barrier };

/// How many messages a node may send and receive at once: one of each, or one of each per link.
enum class Ports { one, all };

std::string_view to_string(Operation operation);
std::string_view to_string(Ports ports);
/// Throws UsageError that lists the known ones.
Operation parse_operation(std::string_view text);

/// The order of the ring phases of suh-mesh (n dimensions); `best` is the cheapest by formula.
enum class MeshOrder { best, paper, parity, overlap };
/// The ring over the cells of a mesh line in suh-mesh: 0,1,2,.. and back, or 0,2,4,..,5,3,1.
enum class MeshRing { plus, folded };

/// The arguments of a collective call beside its data, the same on every node. An algorithm ignores
/// what is not its own.
struct Parameters {
  Rank root = 0;                      // broadcast
  bool once = false, mirror = false;  // broadcast wang-tseng
  int packets = 1, period = 0;        // broadcast on tori; period 0: one packet after the other
  int divisions = 0;                  // kim-recursive: k of A_k; 0 = n-1, the paper's A_{n-1}
  MeshOrder order = MeshOrder::best;  // suh-mesh
  MeshRing ring = MeshRing::plus;     // suh-mesh
  // For choosing only (`auto`, `best`):
  double startup_us = 10;        // ts, microseconds per message
  double transfer_us = 0.001;    // tw, microseconds per byte
  double rearrange_us = 0.0005;  // tr, microseconds per byte
  Bytes block_bytes = 1024;      // m
};

/// One node's side of a collective call.
struct Call {
  /// alltoall(v): p blocks, block q is for node q. allgather: this node's one block.
  ConstBlocks input;
  /// alltoall(v), allgather: p blocks, block q comes from node q. broadcast: the block, in place.
  Blocks output;
  Parameters parameters;
};

/// What the paper's formulas say, in start-ups and blocks; empty where there is no formula.
struct Prediction {
  std::optional<double> startups, transmission_blocks, rearranged_blocks;
  /// Most blocks that one node holds beside the call's input and output.
  std::optional<double> peak_blocks = {};
  // For algorithms that are not contention-free on all the networks that they admit:
  /// Most messages on one link in a step; 1 where they are.
  std::optional<double> link_load = {};
  /// Sum over steps of the largest message times the busiest link's load: the transmission as time.
  std::optional<double> contended_blocks = {};
};

struct Algorithm {
  Operation operation;
  std::string_view name;
  std::string_view summary;  // one line: what it does, and its networks
  std::string_view source;   // authors, year, section
  Ports ports = Ports::one;
  bool contention_free = true;  // the source claims that no link carries two messages in a step
  bool receives_once = true;    // the source claims that nothing reaches a node twice
  /// Messages take dimensions in an order of their own: `auto` never chooses it, and a machine runs
  /// it only after a check of its routes.
  bool any_order = false;
  std::string_view remark = {};  // "reconstruction", "our extension", .. shown with all results

  /// Throws UsageError, with both numbers and the way out, unless the algorithm can run here.
  void (*require)(const Topology&, const Parameters&);
  Prediction (*predict)(const Topology&, const Parameters&);
  /// The node program.
  void (*program)(Node&, const Call&);
  /// Into how many parts it cuts a block: dry runs and proofs use blocks that this divides.
  Rank (*parts)(const Topology&) = [](const Topology&) { return Rank{1}; };
};

/// All algorithms, operation by operation, in the order of design and documentation.
std::span<const Algorithm> registry();
/// The algorithm of this name; throws UsageError that lists the operation's algorithms.
const Algorithm& find_algorithm(Operation operation, std::string_view name);
/// The algorithms of an operation that this network admits.
std::vector<const Algorithm*> admitted(Operation operation, const Topology& topology,
                                       const Parameters& parameters);
/// Whether require() accepts; the reason otherwise.
std::optional<std::string> refusal(const Algorithm& algorithm, const Topology& topology,
                                   const Parameters& parameters);
/// The cheapest admissible algorithm that needs no more than these ports, by predicted_us. One
/// whose formulas are incomplete is chosen only where no complete one is admitted; the first of the
/// table then.
/// Throws UsageError when the network admits none.
const Algorithm& cheapest(Operation operation, const Topology& topology,
                          const Parameters& parameters, Ports ports);
/// ts * startups + tw * m * transmission + tr * m * rearranged, a missing term as 0. Where links
/// are shared the transmission is contended_blocks: k messages on one link take k times as long.
double predicted_us(const Prediction& prediction, const Parameters& parameters);

/// What no algorithm can beat on this network; empty where no bound is known. Transmission is meant
/// as time: where an algorithm shares links, compare its contended_blocks.
struct LowerBound {
  std::optional<double> startups, transmission_blocks;
};
LowerBound lower_bound(Operation operation, const Topology& topology, Ports ports);

/// An algorithm of two buffers as a table's program.
template <void (*algorithm)(Node&, ConstBlocks, Blocks)>
void call(Node& node, const Call& call) {
  algorithm(node, call.input, call.output);
}

/// The tables that registry() joins, one per operation, each in its operation's folder.
std::span<const Algorithm> broadcast_algorithms();
std::span<const Algorithm> allgather_algorithms();
std::span<const Algorithm> alltoall_algorithms();
std::span<const Algorithm> alltoallv_algorithms();
std::span<const Algorithm> barrier_algorithms();

}  // namespace wormcube
