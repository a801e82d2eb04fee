// The algorithms of an application with several collectives: named, or chosen by formula or replay.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// Who chooses for `auto`, if not the formulas.
using AutoChooser = std::function<Collective(Operation, const Topology&, const CostModel&,
                                             Bytes block_bytes, Ports, const Arguments&)>;

/// What was asked for: an algorithm for some of the application's operations; the others are chosen
/// when network and size of the block are known.
class Algorithms {
 public:
  /// \param text        `auto`, or a list with commas: OPERATION=NAME[:OPTION=VALUE..] for one of
  ///                    the operations, NAME[..] alone for each that has an algorithm of this name
  /// \param operations  those that the application calls
  /// \param ports       what `auto` may choose
  /// \param chooser     for `auto`; empty: the cheapest by formula
  /// Throws UsageError that lists what there is.
  Algorithms(std::string_view text, std::vector<Operation> operations, const CostModel& model = {},
             Ports ports = Ports::one, AutoChooser chooser = {});

  /// Those that were asked for by name.
  const std::vector<Collective>& named() const { return named_; }
  /// Whether one of them sends through all ports of a node.
  bool all_port() const;
  /// Asks for one; replaces what was asked for its operation.
  void use(Collective collective);

  /// The algorithm for a call: the one named, or what the chooser takes, or the cheapest by
  /// formula. An operation with uneven blocks, of which neither knows the time, takes the one whose
  /// namesake for equal blocks is taken, or is the cheapest.
  /// Throws UsageError unless it runs on this network with these arguments.
  Collective choose(Operation operation, const Topology& topology, Bytes block_bytes,
                    const Arguments& arguments = {}) const;

 private:
  void add(std::string_view word);
  Collective cheapest_uneven(Operation operation, const Topology& topology, Bytes block_bytes,
                             const Arguments& arguments) const;

  std::vector<Operation> operations_;
  CostModel model_;
  Ports ports_;
  AutoChooser chooser_;
  std::vector<Collective> named_;
};

}  // namespace wormcube::apps
