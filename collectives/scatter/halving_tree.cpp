// The trees of interval halving.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/halving_tree.hpp"

#include "wormcube/collectives/kit/links.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

namespace wormcube {

namespace {

using Kind = Handover::Kind;

/// Appends the handovers of place `me` of n places.
void halve(Rank n, Rank me, Rank root, bool to_image, std::vector<Handover>& steps) {
  // Invariant: `holder` has the blocks of places low .. high-1, `me` among them.
  Rank low = 0, high = n, holder = root;
  for (int t = 0; t < log2_ceiling(n); ++t) {
    Handover& step = steps.emplace_back();
    const Rank width = high - low;
    if (width == 1) continue;
    const Rank larger = (width + 1) / 2;
    const bool holder_below = holder < low + larger;
    const Rank middle = low + (holder_below ? larger : width - larger);
    const Rank first = holder_below ? middle : low, last = holder_below ? high : middle;
    const Rank heir = to_image ? holder ^ (width / 2) : first;
    if (me == holder) step = {Kind::gives, heir, first, last};
    if (me == heir) step = {Kind::takes, holder, first, last};
    (me < middle ? high : low) = middle;
    if (first <= me && me < last) holder = heir;
  }
}

/// The same along one dimension, where a place represents all nodes with its coordinate that agree
/// with this one in the dimensions before.
void halve_along(const Topology& topology, int d, Rank rank, Rank root,
                 std::vector<Handover>& steps) {
  const Rank n = topology.size(d), stride = topology.stride(d);
  const std::size_t done = steps.size();
  if (rank % stride != root % stride) {  // the blocks are not on this line yet
    steps.resize(done + log2_ceiling(n));
    return;
  }
  halve(n, topology.coordinate(rank, d), topology.coordinate(root, d), false, steps);
  const Rank base = rank / (n * stride) * (n * stride);
  for (Handover& step : std::span(steps).subspan(done)) {
    step.peer = topology.with(rank, d, step.peer);
    step.first = base + step.first * stride;
    step.last = base + step.last * stride;
  }
}

}  // namespace

Handover taken(std::span<const Handover> steps, Rank nodes) {
  for (const Handover& step : steps) {
    if (step.kind == Kind::takes) return step;
  }
  return {Kind::takes, 0, 0, nodes};
}

std::vector<Handover> handovers(HalvingTree tree, const Topology& topology, Rank rank, Rank root) {
  std::vector<Handover> steps;
  if (tree == HalvingTree::dimensions) {
    for (int d = 0; d < topology.dimensions(); ++d) halve_along(topology, d, rank, root, steps);
  } else {
    halve(topology.nodes(), rank, root, tree == HalvingTree::image, steps);
  }
  return steps;
}

Prediction predict_halving(HalvingTree tree, const Topology& topology) {
  const Rank p = topology.nodes();
  const bool by_dimension = tree == HalvingTree::dimensions;
  // The first transfer is the largest; a single block goes to its final place.
  Rank most = p / 2;
  for (int d = 0; by_dimension && d < topology.dimensions(); ++d) {
    if (topology.size(d) == 1) continue;
    most = topology.size(d) / 2 * topology.stride(d);
    break;
  }
  Prediction prediction{.startups = by_dimension ? halvings(topology) : log2_ceiling(p),
                        .transmission_blocks = p - 1,
                        .rearranged_blocks = 0,
                        .working_blocks = most > 1 ? most : 0};
  if (by_dimension ? intervals_are_apart_by_dimension(topology) : intervals_are_apart(topology)) {
    prediction.link_load = p > 1 ? 1 : 0;
    prediction.link_blocks = p - 1;
  }
  return prediction;
}

Algorithm halving_algorithm(HalvingTree tree, Operation operation) {
  Algorithm algorithm{
      .operation = operation, .name = {}, .summary = {}, .source = {}, .exactly_once = true};
  switch (tree) {
    case HalvingTree::first:
      algorithm.name = "halving";
      algorithm.summary = "interval halving, for any number of nodes; every network";
      algorithm.source = "Grama, Gupta, Karypis, Kumar, sec. 4.4, problem 4.1";
      algorithm.remark = "free of contention in one dimension, and if all sizes are powers of two";
      break;
    case HalvingTree::image:
      algorithm.name = "hypercube";
      algorithm.summary =
          operation == operations::gather
              ? "along the hypercube's tree, lowest bit first; every network of 2^d nodes"
              : "along the hypercube's tree, highest bit first; every network of 2^d nodes";
      algorithm.source =
          "Grama, Gupta, Karypis, Kumar, sec. 4.4, Fig. 4.15, Eq. 4.6, problems 4.7, 4.24, 4.26";
      algorithm.remark = "free of contention except on arbitrary graphs";
      algorithm.needs = {needs::nodes_power_of_two()};
      algorithm.instead = {"halving"};
      break;
    case HalvingTree::dimensions:
      algorithm.name = "mesh";
      algorithm.summary = "interval halving in one dimension after another; every network";
      algorithm.source = "Grama, Gupta, Karypis, Kumar, sec. 4.4, problem 4.7";
      algorithm.remark =
          "free of contention except on arbitrary graphs, and trees without 2^d leaves";
  }
  return algorithm;
}

}  // namespace wormcube
