// `best --bound`: how far above the lower bound the winners are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/collectives/choose/contest.hpp"

#include <optional>
#include <string>

namespace wormcube::cli {

/// The blocks on the winner's busiest link beside the operation's lower bound.
struct BoundRatio {
  std::optional<double> blocks = {};
  LowerBound bound = {};
  const char* reason = "--bound was not given";  ///< why one of them is missing

  std::optional<double> ratio() const;
  void add_json(Json& json) const;
};

/// The ratios of an operation on a network: its bound is computed once.
class BoundOfCell {
 public:
  /// \param wanted  else all ratios are missing
  BoundOfCell(Operation operation, const Topology& topology, Ports ports, bool wanted)
      : operation_(operation), topology_(topology), ports_(ports), wanted_(wanted) {}
  BoundRatio of(const Contest& contest);

 private:
  Operation operation_;
  const Topology& topology_;
  Ports ports_;
  bool wanted_;
  std::optional<LowerBound> bound_;
};

/// "12 of 40 cells are more than 2 % above the bound; the largest ratio is 1.54 (..)"
class BoundRatios {
 public:
  void add(const BoundRatio& ratio, const std::string& where);
  std::string text() const;

 private:
  int cells_ = 0, above_ = 0;
  double largest_ = 0;
  std::string where_;
};

}  // namespace wormcube::cli
