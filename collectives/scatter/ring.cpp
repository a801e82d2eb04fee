// Scatter and gather by store and forward along lines, dimension by dimension.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/pipeline.hpp"

namespace wormcube {

namespace {

/// Scatter by nearest neighbours: block q of the root's input ends as node q's own. Gather: the
/// scatter backwards; the root's own block may lie in its place from the start.
///
/// Dimension by dimension the root of a line sends a bundle for each other coordinate, the farthest
/// first, in the shorter direction; each is passed on hop by hop, one step behind another.
///
/// Network  lines, rings, meshes and tori of any sizes; one-port.
/// Cost     sum of (n_d - 1) steps, p - 1 blocks: on one ring (ts + tw m) (p - 1). At most n - s
///          nodes of a line are s or more hops away, so all bundles arrive by the last step.
/// Links    every message takes one hop, on a link of its own.
template <Way way>
void along_lines(Node& node, const Call& call) {
  const Reversible blocks(way, call);
  const Holding held = pipeline_holding(node, call, blocks.all, blocks.own.all());
  const int dimensions = node.topology().dimensions();
  if (way == Way::gather) held.put_own(node);
  for (int i = 0; i < dimensions; ++i) {
    const int d = way == Way::scatter ? i : dimensions - 1 - i;
    run_pipeline(node, d, held, call.arguments.root, way);
  }
  if (way == Way::scatter) held.get_own(node);
}

}  // namespace

WORMCUBE_ALGORITHMS(scatter_ring) = pipelines(Way::scatter, along_lines<Way::scatter>);
WORMCUBE_ALGORITHMS(gather_ring) = pipelines(Way::gather, along_lines<Way::gather>);

}  // namespace wormcube
