// Scatter and gather without forwarding.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/direct.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/scatter/require.hpp"

namespace wormcube {

void scatter_direct(Node& node, ConstBlocks out, Span own, Rank root) {
  require_rooted("scatter_direct", node, out, own, root);
  const Rank p = node.size(), r = node.rank();
  if (r == root) node.local([&] { copy(out[r], own); });
  for (Rank t = 1; t < p; ++t) {
    const Rank q = mod(root + t, p);
    if (r == root) {
      node.step({send(q, out[q])});
    } else if (r == q) {
      node.step({receive(root, own)});
    } else {
      node.step();
    }
  }
}

void gather_direct(Node& node, ConstSpan own, Blocks in, Rank root) {
  require_rooted("gather_direct", node, in, own, root);
  const Rank p = node.size(), r = node.rank();
  if (r == root) node.local([&] { copy(own, in[r]); });
  for (Rank t = 1; t < p; ++t) {
    const Rank q = mod(root + t, p);
    if (r == root) {
      node.step({receive(q, in[q])});
    } else if (r == q) {
      node.step({send(root, own)});
    } else {
      node.step();
    }
  }
}

namespace {

Prediction predict_direct(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  return {.startups = p - 1,
          .transmission_blocks = p - 1,
          .rearranged_blocks = 0,
          .working_blocks = 0,
          .link_load = p > 1 ? 1 : 0,
          .contended_blocks = p - 1};
}

Prediction predict_directv(const Setting& setting) {
  const Prediction even = predict_direct(setting);
  return {.startups = even.startups,
          .rearranged_blocks = 0,
          .working_blocks = 0,
          .link_load = even.link_load};
}

void run_scatter_direct(Node& node, const Call& call) {
  scatter_direct(node, call.input, call.output.all(), call.arguments.root);
}

void run_gather_direct(Node& node, const Call& call) {
  gather_direct(node, call.input.all(), call.output, call.arguments.root);
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(scatter_direct){
    .operation = operations::scatter,
    .name = "direct",
    .summary = "the root sends to one node after another; every network",
    .source = "folklore; the baseline of Grama, Gupta, Karypis, Kumar, sec. 4.1",
    .contention_free = true,
    .exactly_once = true,
    .predict = predict_direct,
    .chosen_by_auto = false,
    .program = run_scatter_direct,
};

WORMCUBE_ALGORITHM(scatterv_direct){
    .operation = operations::scatterv,
    .name = "direct",
    .summary = "the root sends to one node after another; every network",
    .source = "folklore; the baseline of Grama, Gupta, Karypis, Kumar, sec. 4.1",
    .contention_free = true,
    .exactly_once = true,
    .predict = predict_directv,
    .chosen_by_auto = false,
    .program = run_scatter_direct,
};

WORMCUBE_ALGORITHM(gather_direct){
    .operation = operations::gather,
    .name = "direct",
    .summary = "the root receives from one node after another; every network",
    .source = "folklore; the baseline of Grama, Gupta, Karypis, Kumar, sec. 4.1",
    .contention_free = true,
    .exactly_once = true,
    .predict = predict_direct,
    .chosen_by_auto = false,
    .program = run_gather_direct,
};

WORMCUBE_ALGORITHM(gatherv_direct){
    .operation = operations::gatherv,
    .name = "direct",
    .summary = "the root receives from one node after another; every network",
    .source = "folklore; the baseline of Grama, Gupta, Karypis, Kumar, sec. 4.1",
    .contention_free = true,
    .exactly_once = true,
    .predict = predict_directv,
    .chosen_by_auto = false,
    .program = run_gather_direct,
};

}  // namespace algorithms

}  // namespace wormcube
