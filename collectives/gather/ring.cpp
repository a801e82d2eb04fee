// Gather by store and forward along lines, dimension by dimension.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/pipeline.hpp"

namespace wormcube {

namespace {

/// Gather: the scatter backwards. Node q's own block ends as block q of the root's `in`, where the
/// root's own may lie from the start.
void gather_ring(Node& node, const Call& call) {
  const ConstSpan own = call.input.all();
  const Holding held = pipeline_holding(node, call, call.output, only_read(own));
  held.put_own(node, own);
  for (int d = node.topology().dimensions(); d-- > 0;) {
    run_pipeline(node, d, held, call.arguments.root, Way::gather);
  }
}

}  // namespace

WORMCUBE_ALGORITHMS(gather_ring) = pipelines(Way::gather, gather_ring);

}  // namespace wormcube
