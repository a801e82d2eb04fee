// Kim et al.: total exchange on a torus that is divided into cells; only masters exchange.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/diagonal_exchange.hpp"
#include "wormcube/collectives/alltoall/kim_places.hpp"
#include "wormcube/collectives/alltoall/torus_exchange.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Phase i of the split stage: n steps. Afterwards masters of level i have the blocks of a cell.
void split(const KimPlaces& places, int i, BlockArray& array) {
  const int n = places.dimensions();
  if (places.level() < i - 1) return array.idle(n);

  for (int d = n - 1; d > 0; --d) {
    const Move partner = places.towards_partner(i, d);
    array.exchange(partner, partner, places.leaving(i, d));
  }
  const Move partner = places.towards_partner(i, 0);
  if (places.level() < i) {  // a slave
    array.send(partner, places.all(i - 1));
  } else {
    array.receive(partner, places.second_half(i));
  }
}

/// Phase i of the merge stage: one step. Afterwards nodes of level i - 1 have the blocks for their
/// cells.
void merge(const KimPlaces& places, int i, BlockArray& array) {
  const Move partner = places.towards_partner(i, places.dimensions() - 1);
  if (places.level() >= i) {
    array.send(partner, places.second_half(i));
  } else if (places.level() == i - 1) {
    array.receive(partner, places.all(i - 1));
  } else {
    array.idle();
  }
}

/// How masters exchange.
enum class Core : std::uint8_t { rings, diagonal };

/// What the options of an algorithm mean.
struct Form {
  int divisions = 1;  // k
  Core core = Core::rings;
  TorusExchange::Signs signs = TorusExchange::Signs::corrected;
};

/// A_k, with the exchange of its masters.
template <class Exchange>
BlockArray plan(int k, const KimPlaces& places, const Exchange& exchange) {
  const int level = places.level();
  BlockArray array(places.blocks(level));

  static const NumberedPhases split_phases("split ", "to the masters of the next level"),
      merge_phases("merge ", "to the slaves of the level");
  array.lay_out(places.before_split(1));
  for (int i = 1; i <= k; ++i) {
    array.phase(k == 1 ? "stage 1: split" : split_phases(i));
    split(places, i, array);
    if (i <= level) {
      array.rearrange(places.after_split(i),
                      i < k ? places.before_split(i + 1) : exchange.before());
    }
  }
  if (level == k) {
    exchange.plan(array, exchange_phases_of_kim());
  } else {
    exchange.sit_out(array, exchange_phases_of_kim());
  }
  for (int i = k; i >= 1; --i) {
    array.phase(k == 1 ? "stage 3: merge" : merge_phases(i));
    if (i <= level) {
      array.rearrange(i < k ? places.after_merge(i + 1) : exchange.after(), places.before_merge(i));
    }
    merge(places, i, array);
  }
  array.deliver(places.after_merge(1));
  return array;
}

BlockArray plan(const Topology& topology, Rank rank, const Form& form) {
  const int k = form.divisions;
  const KimPlaces places(topology, rank, k);
  if (form.core == Core::diagonal) {
    return plan(k, places, DiagonalExchange(topology, rank, k, places.bundle()));
  }
  return plan(k, places, TorusExchange(topology, rank, k, places.bundle(), form.signs));
}

/// Sizes / 2^k all multiples of 4, or all 2.
bool divides(const std::vector<Rank>& sizes, int k) {
  const Rank side = 1 << k;
  return std::ranges::all_of(sizes, [&](Rank size) { return size % (4 * side) == 0; }) ||
         std::ranges::all_of(sizes, [&](Rank size) { return size == 2 * side; });
}

/// The largest k; 0 if there is none. All values from 1 to it are admissible.
int most_divisions(const std::vector<Rank>& sizes) {
  int k = 0;
  while (k < 28 && divides(sizes, k + 1)) ++k;
  return k;
}

/// The k of A_{n-1} for 2^n nodes a side; 0 if the torus has other sides.
int most_of_equal_powers(const std::vector<Rank>& sizes) {
  const int k = most_divisions(sizes);
  return sizes.front() == 2 << k ? k : 0;
}

std::string way_out(const Topology& topology) {
  const auto sizes = topology.sizes();
  const bool multiples_of_4 = std::ranges::all_of(sizes, [](Rank s) { return s % 4 == 0; });
  return multiples_of_4 ? "use suh-torus" : "use mesh or shift";
}

void require_divisible(const Topology& topology, std::string_view algorithm) {
  if (divides(topology.sizes(), 1)) return;
  throw UsageError(fmt::format("{}: dimensions must be multiples of 8, or {}; {} is not; {}",
                               algorithm, topology.dimensions() == 2 ? "4x4" : "all 4",
                               topology.name(), way_out(topology)));
}

/// k of A_k; 0 requests the most.
int resolved_divisions(const Topology& topology, int divisions) {
  return divisions > 0 ? divisions : most_of_equal_powers(topology.sizes());
}
bool is_recursive(const Options& options) { return options.declared().front().name == "divisions"; }
Form form_of(const Setting& setting) {
  const Options& options = setting.options;
  if (is_recursive(options)) {
    return {resolved_divisions(setting.topology, static_cast<int>(options.number("divisions")))};
  }
  return {1, options.choice<Core>("core"), options.choice<TorusExchange::Signs>("phases")};
}

void require_recursive(const Topology& topology, int asked) {
  require_divisible(topology, "kim-recursive");
  const int most = most_divisions(topology.sizes());
  const std::string admissible = most > 1 ? fmt::format("1 to {}", most) : "1";
  if (asked > most) {
    throw UsageError(fmt::format(
        "kim-recursive: {} divisions of {}; its sizes / 2^divisions must all be multiples of 4, or "
        "all 2: use kim-recursive:divisions={}",
        asked, topology.name(), admissible));
  }
  if (resolved_divisions(topology, asked) == 0) {
    throw UsageError(
        fmt::format("kim-recursive: to divide down to 2 nodes a side (divisions=0), all dimensions "
                    "must be one power of 2; {} is not; use kim-recursive:divisions={}",
                    topology.name(), admissible));
  }
}

void require_a1(const Setting& setting) {
  require_divisible(setting.topology, "kim-a1");
  const Form form = form_of(setting);
  const bool printed = form.signs == TorusExchange::Signs::printed;
  if (form.core == Core::rings && !printed) return;
  if (setting.topology.dimensions() != 2) {
    throw UsageError(fmt::format(
        "kim-a1: core=diagonal and phases=printed are for two dimensions; {} has {}; use kim-a1",
        setting.topology.name(), setting.topology.dimensions()));
  }
  if (form.core == Core::diagonal && printed) {
    throw UsageError(
        "kim-a1: phases=printed concerns the phases of core=rings; choose one of the two");
  }
}

Prediction predict(const Topology& topology, const Form& form) {
  const int divisions = form.divisions;
  const Prediction core = form.core == Core::diagonal
                              ? DiagonalExchange::predict(topology, divisions)
                              : TorusExchange::predict(topology, divisions);
  const double p = topology.nodes(), n = topology.dimensions(), s = 1 << divisions;
  const double bundle = std::pow(s, n + 1);
  return {.startups = divisions * (n + 1) + *core.startups,
          .transmission_blocks = *core.transmission_blocks * bundle + (n + 3) * (s - 1) / 2 * p,
          .rearranged_blocks = *core.rearranged_blocks * bundle + 4 * (s - 1) * p,
          .working_blocks = s * p,
          .hops = (n + 1) * (s - 1) + *core.hops};
}

/// Total exchange by A_k, the torus divided k times: node r's block q ends as node q's block r.
///
/// Level i divides the torus into cells of 2^i nodes a side. Its masters are the nodes whose
/// coordinates' low i bits add up to 0 bit by bit (two dimensions: row = column modulo 2^i), one
/// half of those of level i-1; the other half are slaves of phase i. Every line meets one master of
/// each cell only, so the tori that masters form share no link.
///
///   split, i = 1..k    the masters of level i-1 send along the last dimension, .., dimension 1
///                      what belongs on the other side; slaves then send all along dimension 0.
///                      Before: a master holds the blocks of its level i-1 cell for its level i-1
///                      delegators. After: the same with i; twice as many
///   exchange           TorusExchange among the masters of level k, hops of 2^k; kim-a1 also by
///                      DiagonalExchange (core=diagonal)
///   merge, i = k..1    each master of level i sends its slave along the last dimension the half
///                      that is for the slave's side
///
/// A block's delegate at level i is the master in the destination's level i cell that agrees with
/// the destination in all coordinates but the last, so one step of merge per level is enough.
///
/// Network  torus of n >= 2 dimensions (n > 2: our extension), sizes / 2^k all multiples of 4, or
///          all 2; one-port. kim-a1 is k = 1: sizes are multiples of 8, or all 4.
/// Cost     core(k) is TorusExchange's, in bundles of 2^(k(n+1)) blocks. k(n+1) + core steps;
///          (n+3)(2^k-1) p/2 + core blocks; 4(2^k-1) p + core rearranged: after each split phase
///          and before each merge phase. N x N, V = N/2^k >= 8: 3k + V/2 + 2 steps,
///          N^3/4 + N^2 (7 2^k - 5)/2 blocks, N^2 (7 2^k - 4) rearranged (V = 4: 5 for 7).
///          kim-a1 by diagonals: as many steps and blocks, (N/2 + 6) N^2 rearranged.
///          A_{n-1} of N = 2^n: 3n - 1 steps, (7N^3 - 10N^2)/4 blocks, 2N^3 - 4N^2 rearranged.
/// Space    2^k p blocks; A_{n-1}: N^3/2.
/// Links    no link carries two messages in a step.
/// Source   S. Kim et al., "Complete Exchange Algorithms in Wormhole-Routed Torus Networks", sec.
///          2.2 (A_{n-1}), 2.3 (A_1). Phases 3, 4 of A_1 and the costs are printed wrongly there.
void alltoall_kim(Node& node, const Call& call) {
  const Topology& topology = node.topology();
  const Form form = form_of({topology, call.arguments, call.options});
  const auto& planned = node.plan<BlockArray>(
      "kim", {form.divisions, static_cast<int>(form.core), static_cast<int>(form.signs)},
      [&] { return plan(topology, node.rank(), form); });
  planned.run(node, call.input, call.output);
}

Prediction predict_kim(const Setting& setting) {
  return predict(setting.topology, form_of(setting));
}

/// Masters by subnetwork, slaves; the cells of the highest level.
NodeSets masters(const Setting& setting) {
  const Topology& topology = setting.topology;
  const int k = form_of(setting).divisions;
  NodeSets sets{{"masters", "slaves"}, {}, {}};
  const bool two_subnetworks = k == 1 && topology.dimensions() == 2;
  if (two_subnetworks)
    sets.names = {"masters of subnetwork 0", "masters of subnetwork 1", "slaves"};
  const int slaves = static_cast<int>(sets.names.size()) - 1;
  for (Rank r = 0; r < topology.nodes(); ++r) {
    const bool is_master = KimPlaces(topology, r, k).level() == k;
    sets.set_of.push_back(!is_master        ? slaves
                          : two_subnetworks ? topology.coordinate(r, 0) % 2
                                            : 0);
    Rank cell = 0;
    for (int d = 0; d < topology.dimensions(); ++d) {
      cell += (topology.coordinate(r, d) >> k << k) * topology.stride(d);
    }
    sets.cell_of.push_back(cell);
  }
  return sets;
}

}  // namespace

WORMCUBE_ALGORITHMS(alltoall_kim) = with_variant(
    {
        .operation = operations::alltoall,
        .name = "kim-recursive",
        .summary = "the torus is divided k times; masters exchange blocks for all nodes",
        .source = "Kim et al., sec. 2.2 (A_{n-1}, the default) and 2.3",
        .contention_free = true,
        .exactly_once = false,  // a block may pass its destination on the way to a master
        .remark = "A_k between A_1 and A_{n-1}, n > 2 dimensions: our extension",
        .options = {{.name = "divisions",
                     .least = 0,
                     .most = 28,
                     .help = "k of A_k; 0: divide down to 2 nodes per side, the paper's A_{n-1}"}},
        .needs = {needs::dimensions_at_least(2), needs::rings()},
        .instead = {"mesh", "shift"},
        .require =
            [](const Setting& setting) {
              require_recursive(setting.topology,
                                static_cast<int>(setting.options.number("divisions")));
            },
        .predict = predict_kim,
        .program = alltoall_kim,
        .node_sets = masters,
    },
    [](Algorithm& a1) {
      a1.name = "kim-a1";
      a1.summary =
          "masters of 2x2 cells exchange blocks for all nodes; tori with sizes of 8, 16, .., or "
          "all 4";
      a1.source = "Kim et al., sec. 2.3, with phases 3 and 4 corrected";
      a1.exactly_once = true;
      a1.remark = "n > 2 dimensions: our extension";
      a1.options = {{.name = "core",
                     .choices = {"rings", "diagonal"},
                     .help = "how masters exchange: as suh-torus, or as tseng-diagonal"},
                    {.name = "phases",
                     .choices = {"corrected", "printed"},
                     .help = "printed: phases 3 and 4 of stage 2 with the printed signs, with "
                             "which delivery fails (errata kim-5, kim-6)",
                     .by_name = true}};
      a1.require = require_a1;
    });

}  // namespace wormcube
