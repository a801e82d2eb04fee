// Composition: the steps of several programs taken as one step of a node.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"

#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

namespace wormcube {

/// A program for a part of a node's work. It may use the node that it is given, views of that node,
/// and no other node: steps, local() and memory() as everywhere.
using Part = std::function<void(Node&)>;

/// Runs the parts side by side. Their first steps together, with all ops in the order of the parts,
/// are the node's next step; their second steps the one after; and so on until the longest part
/// ends. Parts with fewer steps add nothing to the later ones. Between two steps the parts run one
/// after another, in their order, so the times of their local() add up. Works on every node,
/// including the node of a part.
///
/// All nodes must take together() in the same step, as they take every step. Messages of two parts
/// between the same two nodes need different tags, or an order that both nodes agree on: that of
/// the parts.
///
/// Each part has a stack of its own of 256 KiB while it runs; thread_local data are shared.
///
/// If a part throws, or the node's step does, the other parts are unwound by Stopped where they
/// wait, and the first exception is rethrown.
void together(Node& node, std::span<const Part> parts);
inline void together(Node& node, std::initializer_list<Part> parts) {
  together(node, std::span(parts.begin(), parts.size()));
}

/// The same for part(0, node) .. part(count - 1, node), which is copied into no part.
template <class F>
void together(Node& node, int count, const F& part) {
  std::vector<Part> parts;
  for (int i = 0; i < count; ++i) parts.emplace_back([&part, i](Node& own) { part(i, own); });
  together(node, parts);
}

}  // namespace wormcube
