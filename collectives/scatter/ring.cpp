// Scatter by store and forward along lines, dimension by dimension.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/pipeline.hpp"

namespace wormcube {

namespace {

/// Scatter by nearest neighbours: block q of the root's input ends as node q's own.
///
/// Dimension by dimension the root of a line sends a bundle for each other coordinate, the farthest
/// first, in the shorter direction; each is passed on hop by hop, one step behind another.
///
/// Network  lines, rings, meshes and tori of any sizes; one-port.
/// Cost     sum of (n_d - 1) steps, p - 1 blocks: on one ring (ts + tw m) (p - 1). At most n - s
///          nodes of a line are s or more hops away, so all bundles arrive by the last step.
/// Links    every message takes one hop, on a link of its own.
void scatter_ring(Node& node, const Call& call) {
  const Holding held = pipeline_holding(node, call, call.input, call.output.all());
  for (int d = 0; d < node.topology().dimensions(); ++d) {
    run_pipeline(node, d, held, call.arguments.root, Way::scatter);
  }
  held.get_own(node);
}

}  // namespace

WORMCUBE_ALGORITHMS(scatter_ring) = pipelines(Way::scatter, scatter_ring);

}  // namespace wormcube
