// Prefix reduction across the labels' bits: Algorithm 4.9.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/loads.hpp"
#include "wormcube/collectives/kit/partial.hpp"
#include "wormcube/collectives/scan/programs.hpp"

namespace wormcube {

/// The blocks of the lower ranks combined in their order, at each node: partners across one bit,
/// lowest first, swap the combinations of all nodes that agree with them above it; the upper one of
/// the two combines it in front of its result.
///
/// Network  any, of any p (partners beyond p are skipped); one-port.
/// Cost     c = ceil(log2 p) steps of one block: (ts + tw m) c. In a step a node combines at most
///          two blocks: 2^d nodes tc m (2 log p - 1), exclusive tc m 2 (log p - 1).
/// Links    free of contention on hypercubes and complete networks; on a line 2^i messages share a
///          link in step i, tw m (p - 1) in total.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.3, Algorithm 4.9, Fig. 4.13. That appends on the
///          right; the order of ranks is ours.
void scan_across_bits(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                      Prefix prefix) {
  const Rank p = node.size(), r = node.rank();
  const Memory incoming = node.memory(mine.size()), group = node.memory(mine.size());
  // Of the nodes that agree with this one from the step's bit on: all, and those up to this one.
  Partial all(node, reduction, mine, group), lower(node, reduction, mine, result);
  bool has_lower = prefix == Prefix::inclusive;
  const auto is_sent_later = [&](Rank bit) {
    while ((bit *= 2) < p) {
      if ((r ^ bit) < p) return true;
    }
    return false;
  };
  for (Rank bit = 1; bit < p; bit *= 2) {
    const Rank partner = r ^ bit;
    if (partner >= p) {
      node.step();
      continue;
    }
    const bool upper = partner < r;
    // The first part of an exclusive result goes to its place.
    const Span coming = upper && !has_lower ? result : incoming.span();
    node.step(exchange(partner, all.value(), coming));
    if (is_sent_later(bit)) all.join(coming, upper);
    if (!upper) continue;
    if (has_lower) {
      lower.after(coming);
    } else {
      lower = Partial(node, reduction, result, result);
      has_lower = true;
    }
  }
  if (prefix == Prefix::inclusive) lower.settle();
}

namespace {

template <Prefix prefix>
void scan_hypercube(Node& node, const Call& call) {
  scan_across_bits(node, call.arguments.reduction, call.input.all(), call.output.all(), prefix);
}

template <Prefix prefix>
Prediction predict_scan_hypercube(const Setting& setting) {
  const Topology& topology = setting.topology;
  const Rank p = topology.nodes();
  const double steps = log2_ceiling(p);
  Prediction prediction{steps, steps, 0};
  double combined = 0;
  std::vector<Messages> messages;
  for (Rank bit = 1; bit < p; bit *= 2) {
    // Node 3 bit has the step's bit and the next; if exclusive it has no result yet, the one after
    // it has. Node 0 combines what it sends to 2 bit.
    const Rank first = prefix == Prefix::inclusive ? bit : bit + 1;
    const bool late = prefix == Prefix::exclusive && bit == 1;
    if (late) {
      combined += p > 2 ? 1 : 0;
    } else {
      combined += p > first + 2 * bit ? 2 : p > first ? 1 : 0;
    }
    Messages& step = messages.emplace_back();
    for (Rank r = 0; r < p; ++r) {
      if ((r ^ bit) < p) step.push_back({r, r ^ bit});
    }
  }
  prediction.combined_blocks = combined;
  predict_contention(prediction, topology, messages);
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHMS(scan_hypercube) = with_variant(
    {
        .operation = operations::scan,
        .name = "hypercube",
        .summary =
            "partners whose ranks differ in one bit swap their groups' results; every network",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3, Algorithm 4.9",
        .exactly_once = true,
        .remark = "free of contention on hypercubes and complete networks",
        .predict = predict_scan_hypercube<Prefix::inclusive>,
        .program = scan_hypercube<Prefix::inclusive>,
    },
    [](Algorithm& exclusive) {
      exclusive.operation = operations::exscan;
      exclusive.source = "Grama, Gupta, Karypis, Kumar, sec. 4.3, Algorithm 4.9, problem 4.10";
      exclusive.predict = predict_scan_hypercube<Prefix::exclusive>;
      exclusive.program = scan_hypercube<Prefix::exclusive>;
    });

}  // namespace wormcube
