// All-gather on any number of nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/bruck.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allgather/own_block.hpp"
#include "wormcube/collectives/links.hpp"
#include "wormcube/collectives/pattern_load.hpp"

#include <algorithm>
#include <array>
#include <functional>

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
  // Value v of the low bits, before v with smaller bits, the far one of these first.
  const std::function<void(Rank, Rank)> visit = [&](Rank v, Rank bit) {
    for (Rank hop = bit / 2; hop > 0; hop /= 2) {
      add(hop, v, low);
      visit(v + hop, hop);
    }
  };
  visit(0, low);
  return steps;
}

void require_bundle(Rank bundle) {
  if (bundle == 0 || is_power_of_two(bundle)) return;
  throw UsageError(fmt::format("bruck: bundle={}; need a power of 2, or 0 for all", bundle));
}

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

void allgather_near_first(Node& node, Blocks all) {
  const Rank p = node.size(), r = node.rank();
  // The blocks of first, first+1, .., which may go on from the beginning.
  const auto run = [&](Rank first, Rank count) {
    const Rank before_end = std::min(count, p - first);
    return std::array{all.range(first, before_end), all.range(0, count - before_end)};
  };
  // Invariant: this node holds the blocks of r, r+1, .., r+held-1.
  for (Rank held = 1; held < p; held *= 2) {
    const Rank count = std::min(held, p - held), from = mod(r + held, p);
    const auto out = run(r, count), in = run(from, count);
    node.step({send_pieces(mod(r - held, p), out), receive_pieces(from, in)});
  }
}

}  // namespace

void allgather_bruck(Node& node, ConstBlocks mine, Blocks all, BruckOrder order, Rank bundle) {
  require_bundle(bundle);
  require_allgather("allgather_bruck", node, mine, all);
  keep_own(node, mine, all);
  if (order == BruckOrder::near_first) {
    allgather_near_first(node, all);
  } else {
    allgather_far_first(node, all, bundle);
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

namespace {

BruckOrder bruck_order(const Options& options) { return options.choice<BruckOrder>("order"); }
Rank bruck_bundle(const Options& options) { return static_cast<Rank>(options.number("bundle")); }

Prediction predict_allgather_bruck(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  PatternSteps loads(setting.topology);
  Prediction prediction{.startups = log2_ceiling(p),
                        .transmission_blocks = p - 1,
                        .rearranged_blocks = 0,
                        .working_blocks = 0};
  if (bruck_order(setting.options) == BruckOrder::near_first) {
    for (Rank held = 1; held < p; held *= 2) {
      loads.add_permutation(std::min(held, p - held), [=](Rank r) { return mod(r - held, p); });
    }
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

namespace algorithms {

WORMCUBE_ALGORITHM(allgather_bruck){
    .operation = operations::allgather,
    .name = "bruck",
    .summary = "hops of 2^t ranks, near or far ones first; every network",
    .source =
        "Bruck et al. 1997; Grama, Gupta, Karypis, Kumar, Eq. 4.4 for any p; far-first: "
        "Jeaugey, arXiv 2506.20252",
    .exactly_once = true,
    .remark = "free of contention on hypercubes and complete networks",
    .options = {{.name = "order",
                 .choices = {"near-first", "far-first"},
                 .help = "near-first: most blocks travel farthest; far-first: one does, which "
                         "shares fewer links"},
                {.name = "bundle",
                 .preset = 0,
                 .least = 0,
                 .most = 1 << 20,
                 .help = "far-first: most blocks in a message, a power of 2; 0: all there are"}},
    .rows = {{"2.5", "", "complete:7"}, {"2.5", "", "hypercube:4"}, {"2.12", "", "complete:9"}},
    .require =
        [](const Setting& setting) {
          const Rank bundle = bruck_bundle(setting.options);
          require_bundle(bundle);
          if (bundle > 0 && bruck_order(setting.options) == BruckOrder::near_first) {
            throw UsageError(
                fmt::format("bruck: bundle={} with order=near-first, which has none; use "
                            "order=far-first",
                            bundle));
          }
        },
    .predict = predict_allgather_bruck,
    .program =
        [](Node& node, const Call& call) {
          wormcube::allgather_bruck(node, call.input, call.output, bruck_order(call.options),
                                    bruck_bundle(call.options));
        },
};

}  // namespace algorithms

}  // namespace wormcube
