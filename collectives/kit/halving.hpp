// Interval halving, as reductions and gathers use it: from the leaves to the root.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/kit/loads.hpp"

#include <vector>

namespace wormcube {

/// One level of interval halving as one of its nodes sees it: `holder` is in one half of the
/// interval, `heir` is the first node of the other, lower .. upper-1. In an interval of one node
/// they are the same.
struct Halving {
  Rank holder, heir;
  Rank lower, upper;  // the heir's half
  bool heir_is_higher() const { return heir > holder; }
  bool alone() const { return holder == heir; }
};

/// The levels of one of p nodes: the whole first. The root's half keeps the odd node, so that
/// no heir's half is larger than that of the root's interval.
std::vector<Halving> halvings(Rank p, Rank root, Rank rank);

/// All messages from heirs to holders, the smallest intervals' step first. `blocks` is for one
/// node; a gather's message has the blocks of the heir's whole half.
std::vector<Messages> halving_messages(Rank p, Rank root, bool gathers, double blocks = 1);

}  // namespace wormcube
