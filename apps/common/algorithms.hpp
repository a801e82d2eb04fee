// The algorithms of an application with several collectives: named, or chosen by model or replay.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/choose/ranking.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// What chooses for `auto`, if not the predictions.
using AutoChooser = std::function<Collective(const Choice&)>;

/// The requested algorithms for some of the application's operations; the others are chosen when
/// network and block size are known.
class Algorithms {
 public:
  /// \param text        `auto`, or a list with commas: OPERATION=NAME[:OPTION=VALUE..] for one of
  ///                    the operations, NAME[..] alone for each that has an algorithm of this name
  /// \param operations  those that the application calls
  /// \param ports       the ports that `auto` may use
  /// \param chooser     for `auto`; empty: the cheapest by prediction
  /// Throws UsageError that lists what is available.
  Algorithms(std::string_view text, std::vector<Operation> operations, const CostModel& model = {},
             Ports ports = Ports::one, AutoChooser chooser = {});

  /// The algorithms that were requested by name.
  const std::vector<Collective>& named() const { return named_; }
  /// Whether one of them sends through all ports of a node.
  bool all_port() const;
  /// Requests an algorithm; replaces an earlier request for its operation.
  void use(Collective collective);

  /// The algorithm for a call: the requested one, or the chooser's, or the cheapest by prediction.
  /// An operation with uneven blocks, for which neither knows the time, uses the algorithm whose
  /// namesake for equal blocks is chosen or cheapest. If what was chosen, not requested, does not
  /// suit the application, it is the cheapest by prediction that does. Throws UsageError unless it
  /// applies to this network with these arguments.
  Collective choose(Operation operation, const Topology& topology, Bytes block_bytes,
                    const Arguments& arguments = {},
                    const std::function<bool(const Collective&)>& suits = {}) const;

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
