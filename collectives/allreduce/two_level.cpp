// All-reduce in groups, and between them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allreduce/programs.hpp"
#include "wormcube/collectives/broadcast/programs.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/bit_handover.hpp"
#include "wormcube/collectives/kit/halving.hpp"
#include "wormcube/collectives/kit/links.hpp"
#include "wormcube/collectives/kit/parts.hpp"
#include "wormcube/collectives/kit/ring.hpp"
#include "wormcube/collectives/reduce/programs.hpp"
#include "wormcube/runtime/node/views.hpp"

#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

enum class LevelForm : std::uint8_t { parts, leader };
enum class InnerLevel : std::uint8_t { ring, halving };
enum class OuterLevel : std::uint8_t { doubling, ring, halving };

/// Node g n + i is member i of group g: all that agree in the dimensions before the split.
struct TwoLevels {
  LevelForm form;
  InnerLevel inner;
  OuterLevel outer;
  Rank groups = 1, members = 1;

  TwoLevels(const Topology& topology, const Options& options)
      : form(options.choice<LevelForm>("form")),
        inner(options.choice<InnerLevel>("inner")),
        outer(options.choice<OuterLevel>("outer")) {
    const int split = split_of(topology, options);
    for (int d = 0; d < topology.dimensions(); ++d) {
      (d < split ? groups : members) *= topology.size(d);
    }
  }
  static int split_of(const Topology& topology, const Options& options) {
    const auto split = static_cast<int>(options.number("split"));
    return split > 0 ? split : topology.dimensions() - 1;
  }
  int outer_doublings() const {
    return is_power_of_two(groups) ? log2_ceiling(groups) : log2_ceiling(groups) + 1;
  }
};

/// `count` ranks from `first` on, `stride` apart.
std::vector<Rank> every_nth(Rank first, Rank count, Rank stride) {
  std::vector<Rank> ranks;
  for (Rank i = 0; i < count; ++i) ranks.push_back(first + i * stride);
  return ranks;
}

std::vector<HandoverPlan> halving_plan(Node& view) {
  const Topology& complete = view.topology();
  std::vector<HandoverPlan> plans;
  plans.emplace_back(bit_handovers(complete, bits_ascending(complete), RingTies::plus), view.size(),
                     view.rank());
  return plans;
}

void allreduce_between_groups(Node& view, const Call& call, OuterLevel outer, Span part) {
  const Reduction& reduction = call.arguments.reduction;
  if (outer == OuterLevel::doubling) {
    allreduce_recursive_doubling(view, call.with(ConstBlocks(part, 1), Blocks(part, 1)));
  } else if (outer == OuterLevel::ring) {
    allreduce_on_ring(view, Positions(view.topology(), false), reduction, part, part);
  } else {
    allreduce_copies(view, halving_plan(view), reduction, part, part);
  }
}

/// All nodes' vectors combined, on every node, with the same bits on all, in two levels: groups of
/// n nodes that agree in the dimensions before the split, and N groups.
///
/// parts   reduce-scatter of n parts in the group; all-reduce of each part with the equals in the
///         other groups; all-gather in the group.
/// leader  reduce by halving to the group's first node; recursive doubling among these; broadcast
///         by halving.
///
/// Network  two dimensions or more, of any sizes; one-port. With parts the operator must commute.
///          inner=halving needs n = 2^j, outer=halving N = 2^j.
/// Cost     parts: 2 S_in + S_out steps, 2 (n - 1)/n + T_out/n vectors. S_in = n - 1 (ring), log2 n
///          (halving). Doubling: S_out = T_out = floor(log2 N), + 2 if N is no power of 2. Ring:
///          S_out = 2 (N - 1); halving: 2 log2 N; both T_out = 2 (N - 1)/N. leader: 2 ceil(log2 n)
///          + S_out of doubling, steps and vectors.
/// Links    counted. Rings along one dimension share no link.
/// Source   M. Cho, U. Finkler, D. Kung, H. Hunter, BlueConnect, MLSys 2019 (parts); MPICH's smp
///          (leader).
void allreduce_two_level(Node& node, const Call& call) {
  const TwoLevels levels(node.topology(), call.options);
  const Reduction& reduction = call.arguments.reduction;
  const Rank n = levels.members, i = node.rank() % n, group = node.rank() / n;
  const std::vector<Rank> mates = every_nth(group * n, n, 1),
                          equals = every_nth(i, levels.groups, n);
  const Span result = call.output.all();
  GroupView inside = node.group(mates);
  if (levels.form == LevelForm::leader) {
    reduce_halving(inside, call, 0);
    if (i == 0) {
      GroupView leaders = node.group(equals);
      allreduce_between_groups(leaders, call, OuterLevel::doubling, result);
    } else {
      for (int t = 0; t < levels.outer_doublings(); ++t) node.step();
    }
    broadcast_halving(inside, result, 0);
    return;
  }
  const std::vector<Bytes> offsets = part_offsets(result.size(), reduction.element_bytes, n);
  const ConstBlocks mine(call.input.all(), offsets);
  const Blocks parts(result, offsets);
  const Positions ring(inside.topology(), false);
  const bool halves = levels.inner == InnerLevel::halving;
  const std::vector<HandoverPlan> halving =
      halves ? halving_plan(inside) : std::vector<HandoverPlan>();
  if (halves) {
    reduce_scatter_copies(inside, halving, reduction, mine, parts[i]);
  } else {
    reduce_scatter_on_ring(inside, ring, reduction, mine, parts[i]);
  }
  GroupView across = node.group(equals);
  allreduce_between_groups(across, call, levels.outer, parts[i]);
  if (halves) {
    allgather_copies(inside, halving, parts, reduction.element_bytes);
  } else {
    allgather_on_ring(inside, ring, parts);
  }
}

/// Sums up steps that occur in all groups, or between all equals, at once.
class LevelLoads {
 public:
  LevelLoads(const Topology& topology, const TwoLevels& levels)
      : loads_(topology), levels_(levels) {}

  /// Messages among the members of one group, `times` times.
  void inside(const Messages& messages, double times) {
    Messages all;
    for (Rank g = 0; g < levels_.groups; ++g) {
      for (const Message& m : messages) {
        const Rank first = g * levels_.members;
        all.push_back({first + m.from, first + m.to, m.blocks});
      }
    }
    add(all, times);
  }
  /// Messages among the groups, from one of these members each.
  void between(const Messages& messages, Rank members, double times) {
    Messages all;
    for (Rank i = 0; i < members; ++i) {
      for (const Message& m : messages) {
        all.push_back({m.from * levels_.members + i, m.to * levels_.members + i, m.blocks});
      }
    }
    add(all, times);
  }
  Prediction sum() const {
    Prediction prediction = sum_;
    if (!known_) prediction.link_load = prediction.link_blocks = std::nullopt;
    return prediction;
  }

 private:
  void add(const Messages& messages, double times) {
    if (messages.empty() || times == 0) return;
    double largest = 0;
    for (const Message& m : messages) largest = std::max(largest, m.blocks);
    *sum_.startups += times;
    *sum_.transmission_blocks += times * largest;
    const auto load = loads_(messages);
    known_ = known_ && load;
    if (!load) return;
    sum_.link_load = std::max<double>(*sum_.link_load, load->link_load);
    *sum_.link_blocks += times * load->link_blocks;
  }

  PatternLoads loads_;
  const TwoLevels& levels_;
  bool known_ = true;
  Prediction sum_{.startups = 0,
                  .transmission_blocks = 0,
                  .rearranged_blocks = 0,
                  .link_load = 0,
                  .link_blocks = 0};
};

/// A message from each of n nodes to the next, round.
Messages round_messages(Rank n, double blocks) {
  Messages messages;
  for (Rank x = 0; x < n && n > 1; ++x) messages.push_back({x, mod(x + 1, n), blocks});
  return messages;
}

/// Messages of halving a vector of this size among n nodes, and of the way back: f(messages).
template <class F>
void for_each_halving(Rank n, double vector, F f) {
  for (Rank bit = 1; bit < n; bit *= 2) {
    Messages messages;
    for (Rank x = 0; x < n; ++x) messages.push_back({x, x ^ bit, vector / (2 * bit)});
    f(messages);
  }
}

void add_between(LevelLoads& loads, const TwoLevels& levels, OuterLevel outer, Rank members,
                 double vector) {
  const Rank groups = levels.groups;
  if (outer == OuterLevel::doubling) {
    for (Messages messages : recursive_doubling_messages(groups)) {
      for (Message& m : messages) m.blocks = vector;
      loads.between(messages, members, 1);
    }
  } else if (outer == OuterLevel::ring) {
    loads.between(round_messages(groups, vector / groups), members, 2.0 * (groups - 1));
  } else {
    for_each_halving(groups, vector,
                     [&](const Messages& messages) { loads.between(messages, members, 2); });
  }
}

Prediction predict_two_level(const Setting& setting) {
  const TwoLevels levels(setting.topology, setting.options);
  const Rank n = levels.members;
  LevelLoads loads(setting.topology, levels);
  double combined = 0;
  if (levels.form == LevelForm::leader) {
    for (const Messages& messages : reduce_broadcast_messages(n)) loads.inside(messages, 1);
    add_between(loads, levels, OuterLevel::doubling, 1, 1);
    combined = log2_ceiling(n) + log2_ceiling(levels.groups);
  } else {
    const double part = 1.0 / n;
    if (levels.inner == InnerLevel::ring) {
      loads.inside(round_messages(n, part), 2.0 * (n - 1));
    } else {
      for_each_halving(n, 1, [&](const Messages& messages) { loads.inside(messages, 2); });
    }
    add_between(loads, levels, levels.outer, n, part);
    const Rank groups = levels.groups;
    combined =
        (n - 1) * part + part * (levels.outer == OuterLevel::doubling ? log2_ceiling(groups)
                                                                      : (groups - 1.0) / groups);
  }
  Prediction prediction = loads.sum();
  prediction.combined_blocks = combined;
  return prediction;
}

void require_two_levels(const Setting& setting) {
  const TwoLevels levels(setting.topology, setting.options);
  const auto refuse = [](std::string_view why) {
    throw UsageError(fmt::format("two-level: {}", why));
  };
  const int split = TwoLevels::split_of(setting.topology, setting.options);
  if (split >= setting.topology.dimensions()) {
    refuse(fmt::format("split={}; {} has {} dimensions; use split=1 to {}", split,
                       setting.topology.name(), setting.topology.dimensions(),
                       setting.topology.dimensions() - 1));
  }
  if (levels.form == LevelForm::leader) {
    if (levels.inner != InnerLevel::ring || levels.outer != OuterLevel::doubling) {
      refuse("inner and outer apply to form=parts only");
    }
    return;
  }
  if (!setting.arguments.reduction.commutative) {
    refuse(
        fmt::format("{} does not commute, and parts are combined in another order; use "
                    "form=leader",
                    setting.arguments.reduction.name));
  }
  const auto require_power = [&](bool halves, const char* level, Rank count, const char* use) {
    if (!halves || is_power_of_two(count)) return;
    refuse(fmt::format("{}=halving needs a power of 2, got {}; use {}", level, count, use));
  };
  require_power(levels.inner == InnerLevel::halving, "inner", levels.members, "inner=ring");
  require_power(levels.outer == OuterLevel::halving, "outer", levels.groups,
                "outer=doubling or ring");
}

/// The groups as cells; with form=leader their leaders.
NodeSets groups_of_nodes(const Setting& setting) {
  const TwoLevels levels(setting.topology, setting.options);
  const bool has_leaders = levels.form == LevelForm::leader;
  NodeSets sets;
  if (has_leaders) sets.names = {"leaders"};
  for (Rank r = 0; r < setting.topology.nodes(); ++r) {
    sets.set_of.push_back(has_leaders && r % levels.members == 0 ? 0 : -1);
    sets.cell_of.push_back(r / levels.members);
  }
  return sets;
}

}  // namespace

WORMCUBE_ALGORITHM(allreduce_two_level){
    .operation = operations::allreduce,
    .name = "two-level",
    .summary =
        "reduction within groups of the last dimensions, then between groups; 2 dimensions or more",
    .source = "BlueConnect: Cho, Finkler, Kung, Hunter, MLSys 2019; leader: MPICH, smp",
    .exactly_once = true,
    .options = {{.name = "form",
                 .choices = {"parts", "leader"},
                 .help = "between groups, each node reduces one part, or the first node of each "
                         "group reduces everything"},
                {.name = "inner",
                 .choices = {"ring", "halving"},
                 .help = "for form=parts, within a group: a ring of ranks, or recursive halving"},
                {.name = "outer",
                 .choices = {"doubling", "ring", "halving"},
                 .help = "for form=parts, between groups: whole parts, or parts of them by a ring "
                         "or by halving"},
                {.name = "split",
                 .least = 0,
                 .most = 64,
                 .help = "N: nodes that agree in the first N dimensions form a group; 0: all "
                         "dimensions but the last"}},
    .needs = {needs::dimensions_at_least(2)},
    .instead = {"ring", "reduce-scatter-allgather"},
    .require = require_two_levels,
    .predict = predict_two_level,
    .program = allreduce_two_level,
    .parts =
        [](const Setting& setting) {
          const TwoLevels levels(setting.topology, setting.options);
          if (levels.form == LevelForm::leader) return Rank{1};
          return levels.members * (levels.outer == OuterLevel::doubling ? 1 : levels.groups);
        },
    .node_sets = groups_of_nodes,
};

}  // namespace wormcube
