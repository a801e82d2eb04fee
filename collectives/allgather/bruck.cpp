// All-gather on any number of nodes in the fewest steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bruck.hpp"

#include "wormcube/collectives/allgather/programs.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/holding.hpp"
#include "wormcube/collectives/kit/links.hpp"
#include "wormcube/collectives/kit/loads.hpp"
#include "wormcube/collectives/kit/pattern_load.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// A step of the far-first order: the blocks r - e, for these e, go to r + hop.
struct FarStep {
  Rank hop;
  std::vector<Rank> blocks;
};

std::vector<FarStep> far_first_steps(Rank p, Rank bundle) {
  std::vector<FarStep> steps;
  const auto add = [&](Rank hop, Rank first, Rank stride) {
    FarStep step{hop, {}};
    for (Rank e = first; e + hop < p; e += stride) step.blocks.push_back(e);
    if (!step.blocks.empty()) steps.push_back(std::move(step));
  };
  const Rank top = Rank{1} << log2_ceiling(p);
  const Rank low = bundle == 0 ? 1 : std::max(1, top / bundle);  // the values of the low bits
  for (Rank hop = top / 2; hop >= low; hop /= 2) add(hop, 0, 2 * hop);
  // Value v of the low bits comes before its supersets; far ones come first.
  const std::function<void(Rank, Rank)> visit = [&](Rank v, Rank bit) {
    for (Rank hop = bit / 2; hop > 0; hop /= 2) {
      add(hop, v, low);
      visit(v + hop, hop);
    }
  };
  visit(0, low);
  return steps;
}

bool is_near_first(const Options& options) { return options.is("order", "near-first"); }

Rank bruck_bundle(const Options& options) { return static_cast<Rank>(options.number("bundle")); }

void allgather_near_first(Node& node, Blocks all, Rank radix) {
  const Rank p = node.size(), r = node.rank();
  // The blocks first, first+1, .., which may wrap around to the beginning.
  const auto run = [&](Rank first, Rank count) {
    const Rank before_end = std::min(count, p - first);
    return std::array{all.range(first, before_end), all.range(0, count - before_end)};
  };
  // Invariant: this node holds the blocks of r, r+1, .., r+hop-1.
  for_each_hop(p, radix, [&](Rank hop, Rank power) {
    const Rank count = std::min(power, p - hop), from = mod(r + hop, p);
    const auto out = run(r, count), in = run(from, count);
    node.step({send_pieces(mod(r - hop, p), out), receive_pieces(from, in)});
  });
}

/// All-gather: every node's block to every node, in two orders of the same hops (all modulo p).
///
/// near_first: in step t node r sends what it has gathered, the blocks of r, r+1, .., to node r -
/// 2^t: twice as many in each step, the most of them the farthest. To the base k it sends its
/// first k^t blocks to r - k^t, r - 2 k^t, .., r - (k-1) k^t.
///
/// far_first: for k = L-1 .. 0, L = ceil(log2 p), node r sends to r + 2^k the blocks of r - e for
/// e = 0, 2^(k+1), 2 2^(k+1), ..: block r - e comes in the step of the lowest one bit of e, so that
/// one block goes far and many go near. It is reduce_scatter_bruck backwards. With a bundle of 2^j
/// only the top j bits of e are done so; then a message for each value of its other bits follows,
/// depth first, with at most 2^j blocks.
///
/// Network  any, of any p; one-port.
/// Cost     near_first to the base k, p = k^h: (k - 1) h steps. Else ceil(log2 p):
///          ts ceil(log p) + tw m (p - 1) if links are not shared; with
///          bundles j + 2^(L-j) - 1 steps if p = 2^L. Nothing is rearranged, as messages are
///          gathered from several places.
/// Links    every step is a circular shift: free of contention on hypercubes and complete networks.
///          Elsewhere far_first takes less: on a torus of 8 x 8 108 blocks of time, near_first 189.
/// Source   J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby, Efficient Algorithms for
///          All-to-All Communications in Multiport Message-Passing Systems, IEEE TPDS 8(11), 1997;
///          for Eq. 4.4 of Grama, Gupta, Karypis, Kumar if p is not a power of 2. far_first:
///          S. Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale,
///          arXiv 2506.20252, after its abstract and program; NCCL's own sequence of bundles
///          differs in places.
void allgather_bruck(Node& node, const Call& call) {
  keep_own(node, call);
  if (is_near_first(call.options)) {
    allgather_near_first(node, call.output, radix_of(call.options));
  } else {
    allgather_far_first(node, call.output, bruck_bundle(call.options));
  }
}

Prediction predict_allgather_bruck(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  PatternSteps loads(setting.topology);
  Prediction prediction{.startups = log2_ceiling(p),
                        .transmission_blocks = p - 1,
                        .rearranged_blocks = 0,
                        .working_blocks = 0};
  if (is_near_first(setting.options)) {
    prediction.startups = 0;
    for_each_hop(p, radix_of(setting.options), [&](Rank hop, Rank power) {
      *prediction.startups += 1;
      loads.add_permutation(std::min(power, p - hop), [=](Rank r) { return mod(r - hop, p); });
    });
    return loads.with_loads(prediction);
  }
  const std::vector<FarStep> steps = far_first_steps(p, bruck_bundle(setting.options));
  prediction.startups = static_cast<double>(steps.size());
  for (const FarStep& step : steps) {
    loads.add_permutation(static_cast<double>(step.blocks.size()),
                          [&](Rank r) { return mod(r + step.hop, p); });
  }
  return loads.with_loads(prediction);
}

}  // namespace

void allgather_far_first(Node& node, Blocks all, Rank bundle) {
  const Rank p = node.size(), r = node.rank();
  std::vector<Span> going, coming;
  for (const auto& [hop, blocks] : far_first_steps(p, bundle)) {
    going.clear(), coming.clear();
    for (const Rank e : blocks) {
      going.push_back(all[mod(r - e, p)]);
      coming.push_back(all[mod(r - hop - e, p)]);
    }
    node.step({send_pieces(mod(r + hop, p), going), receive_pieces(mod(r - hop, p), coming)});
  }
}

std::vector<Messages> far_first_messages(Rank p, double blocks) {
  std::vector<Messages> steps;
  for (const FarStep& step : far_first_steps(p, 0)) {
    Messages& messages = steps.emplace_back();
    for (Rank r = 0; r < p; ++r) {
      messages.push_back(
          {r, mod(r + step.hop, p), blocks * static_cast<double>(step.blocks.size())});
    }
  }
  return steps;
}

WORMCUBE_ALGORITHMS(allgather_bruck) = with_variant(
    {
        .operation = operations::allgather,
        .name = "bruck",
        .summary = "data travels in hops of 2^t ranks, nearest or farthest first; every network",
        .source = "Bruck et al. 1997; Grama, Gupta, Karypis, Kumar, Eq. 4.4 for any p; far-first: "
                  "Jeaugey, arXiv 2506.20252",
        .exactly_once = true,
        .remark = "free of contention on hypercubes and complete networks",
        .options =
            {{.name = "order",
              .choices = {"near-first", "far-first"},
              .help = "near-first: most blocks travel farthest; far-first: only one does, which "
                      "shares fewer links"},
             {.name = "bundle",
              .preset = 0,
              .least = 0,
              .most = 1 << 20,
              .help = "far-first: maximum number of blocks in a message, a power of 2; 0: all"},
             bruck_radix()},
        .require =
            [](const Setting& setting) {
              const Rank bundle = bruck_bundle(setting.options);
              if (bundle != 0 && !is_power_of_two(bundle)) {
                throw UsageError(
                    fmt::format("bruck: bundle={}; need a power of 2, or 0 for all", bundle));
              }
              if (bundle > 0 && is_near_first(setting.options)) {
                throw UsageError(
                    fmt::format("bruck: bundle={} with order=near-first, which has no bundles; use "
                                "order=far-first",
                                bundle));
              }
              if (radix_of(setting.options) > 2 && !is_near_first(setting.options)) {
                throw UsageError(
                    "bruck: order=far-first goes by bits; use radix=2 or order=near-first");
              }
            },
        .predict = predict_allgather_bruck,
        .program = allgather_bruck,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::allgatherv;
      uneven.summary =
          "each step doubles the data, which comes from 2^t ranks ahead; every network";
      uneven.source = "Grama, Gupta, Karypis, Kumar, Eq. 4.4 for any p; Bruck et al. 1997";
      uneven.options = {};
      uneven.require = nullptr;
      uneven.predict = [](const Setting& setting) {
        return Prediction{.startups = log2_ceiling(setting.topology.nodes())};
      };
      uneven.program = [](Node& node, const Call& call) {
        keep_own(node, call);
        allgather_near_first(node, call.output, 2);
      };
    });

}  // namespace wormcube
