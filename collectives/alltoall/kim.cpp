// Kim et al.: split, exchange among the masters, merge.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/kim.hpp"

#include "wormcube/collectives/alltoall/kim_array.hpp"
#include "wormcube/collectives/alltoall/torus_core.hpp"
#include "wormcube/collectives/require.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Phase i of the split stage: n steps. Afterwards masters of level i have the blocks of a cell.
void split(Node& node, KimArray& array, int i) {
  if (array.level() < i - 1) {
    for (int d = array.dimensions() - 1; d >= 0; --d) node.step();
    return;
  }
  for (int d = array.dimensions() - 1; d > 0; --d) {
    const std::vector<Span> going = array.leaving(i, d), coming = array.opposite(going);
    node.step({send_pieces(array.towards_partner(i, d), going),
               receive_pieces(array.partner(i, d), coming)});
    node.local([&] {
      for (std::size_t piece = 0; piece < going.size(); ++piece) copy(coming[piece], going[piece]);
    });
  }
  if (array.level() < i) {  // a slave
    node.step({send(array.towards_partner(i, 0), array.all(i - 1))});
  } else {
    node.step({receive(array.partner(i, 0), array.second_half(i))});
    array.rearrange_after_split(i);
  }
}

void exchange(Node& node, KimArray& array, int divisions) {
  const TorusCore core(node.topology(), node.rank(), divisions);
  if (array.level() < divisions) {
    core.idle(node);
  } else {
    core.exchange(node, array.held(), array.spare());
  }
}

/// Phase i of the merge stage: one step. Afterwards nodes of level i - 1 have what is for theirs.
void merge(Node& node, KimArray& array, int i) {
  const int last = array.dimensions() - 1;
  if (array.level() >= i) {
    array.rearrange_for_merge(i);
    node.step({send(array.towards_partner(i, last), array.second_half(i))});
  } else if (array.level() == i - 1) {
    node.step({receive(array.partner(i, last), array.all(i - 1))});
  } else {
    node.step();
  }
}

/// A_k.
void run(Node& node, const Call& call, int divisions) {
  KimArray array(node, call.input.bytes(), divisions);
  array.lay_out(call.input);
  for (int i = 1; i <= divisions; ++i) split(node, array, i);
  exchange(node, array, divisions);
  for (int i = divisions; i >= 1; --i) merge(node, array, i);
  array.deliver(call.output);
}

/// Sizes / 2^k all multiples of 4, or all 2.
bool divides(const std::vector<Rank>& sizes, int k) {
  const Rank side = 1 << k;
  return std::ranges::all_of(sizes, [&](Rank size) { return size % (4 * side) == 0; }) ||
         std::ranges::all_of(sizes, [&](Rank size) { return size == 2 * side; });
}

/// The largest k; 0 if there is none. All from 1 to this one are admissible.
int most_divisions(const std::vector<Rank>& sizes) {
  int k = 0;
  while (k < 28 && divides(sizes, k + 1)) ++k;
  return k;
}

/// The k of A_{n-1} for 2^n nodes a side; 0 if the torus is not of that kind.
int most_of_equal_powers(const std::vector<Rank>& sizes) {
  const int k = most_divisions(sizes);
  return sizes.front() == 2 << k ? k : 0;
}

std::string way_out(const Topology& topology) {
  const auto sizes = topology.sizes();
  const bool multiples_of_4 = std::ranges::all_of(sizes, [](Rank s) { return s % 4 == 0; });
  return multiples_of_4 ? "use suh-torus" : "use mesh or shift";
}

/// Two rings or more that can be divided at least once.
void require_divisible(std::string_view algorithm, const Topology& topology) {
  if (topology.dimensions() < 2) {
    throw UsageError(
        fmt::format("{}: needs a torus of two dimensions or more; {} has {}; use mesh or shift",
                    algorithm, topology.name(), topology.dimensions()));
  }
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.factor(d).shape() != Shape::ring) {
      throw UsageError(
          fmt::format("{}: every dimension must be a ring; {} has {}; use mesh or shift", algorithm,
                      topology.name(), topology.factor(d).name()));
    }
  }
  if (!divides(topology.sizes(), 1)) {
    throw UsageError(fmt::format("{}: dimensions must be multiples of 8, or {}; {} is not; {}",
                                 algorithm, topology.dimensions() == 2 ? "4x4" : "all 4",
                                 topology.name(), way_out(topology)));
  }
}

Prediction predict(const Topology& topology, int divisions) {
  const Prediction core = TorusCore::predict(topology, divisions);
  const double p = topology.nodes(), n = topology.dimensions(), s = 1 << divisions;
  const double bundle = std::pow(s, n + 1);
  return {.startups = divisions * (n + 1) + *core.startups,
          .transmission_blocks = *core.transmission_blocks * bundle + (n + 3) * (s - 1) / 2 * p,
          .rearranged_blocks = *core.rearranged_blocks * bundle + 4 * (s - 1) * p,
          .peak_blocks = s * p};
}

int resolved_divisions(const Topology& topology, const Parameters& parameters) {
  return parameters.divisions > 0 ? parameters.divisions : most_of_equal_powers(topology.sizes());
}

}  // namespace

void alltoall_kim_recursive(Node& node, const Call& call) {
  require_alltoall_kim_recursive(node.topology(), call.parameters);
  require_exchange("kim-recursive", node.size(), call.input, call.output);
  run(node, call, resolved_divisions(node.topology(), call.parameters));
}

void alltoall_kim_a1(Node& node, const Call& call) {
  require_alltoall_kim_a1(node.topology());
  require_exchange("kim-a1", node.size(), call.input, call.output);
  run(node, call, 1);
}

void require_alltoall_kim_recursive(const Topology& topology, const Parameters& parameters) {
  require_divisible("kim-recursive", topology);
  const int most = most_divisions(topology.sizes()), asked = parameters.divisions;
  const std::string admissible = most > 1 ? fmt::format("1 to {}", most) : "1";
  if (asked < 0 || asked > most) {
    throw UsageError(fmt::format(
        "kim-recursive: {} divisions of {}; its sizes / 2^divisions must be all multiples of 4, or "
        "all 2: use --divisions {}",
        asked, topology.name(), admissible));
  }
  if (resolved_divisions(topology, parameters) == 0) {
    throw UsageError(fmt::format(
        "kim-recursive: divided down to 2 nodes a side (divisions 0) dimensions must be one power "
        "of 2; {} is not such; use --divisions {}",
        topology.name(), admissible));
  }
}

Prediction predict_alltoall_kim_recursive(const Topology& topology, const Parameters& parameters) {
  return predict(topology, resolved_divisions(topology, parameters));
}

void require_alltoall_kim_a1(const Topology& topology, const Parameters& /*parameters*/) {
  require_divisible("kim-a1", topology);
}

Prediction predict_alltoall_kim_a1(const Topology& topology, const Parameters& /*parameters*/) {
  return predict(topology, 1);
}

}  // namespace wormcube
