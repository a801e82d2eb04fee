// Compares the bits that nodes end with.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/brackets.hpp"

#include "wormcube/runtime/base/hash.hpp"
#include "wormcube/runtime/schedule/prove.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace wormcube {

namespace {

using Key = std::tuple<Rank, Rank, Rank>;
Key key(const Content& content) { return {content.first, content.last, content.block}; }

/// Combinations that several nodes end with.
std::set<Key> shared_results(const Contract& contract) {
  std::set<Key> seen, shared;
  for (Rank rank = 0; rank < contract.nodes; ++rank) {
    for (Rank block = 0; block < contract.ends_with(rank); ++block) {
      const Content content = contract.result(rank, block);
      const bool is_combined = content.last - content.first > 1;
      if (is_combined && !seen.insert(key(content)).second) shared.insert(key(content));
    }
  }
  return shared;
}

}  // namespace

Reduction bracketing_reduction(bool commutes) {
  return elementwise<std::uint64_t>(
      "bracketing",
      [commutes](std::uint64_t x, std::uint64_t y) {
        return mixed((commutes ? x + y : x + 3 * y) + 0x9e3779b97f4a7c15U);
      },
      commutes);
}

std::optional<bool> ends_alike(const Collective& collective, const Topology& topology,
                               const Contract& contract) {
  const std::set<Key> shared = shared_results(contract);
  if (shared.empty()) return std::nullopt;
  Verification verification(contract);
  std::map<Key, std::vector<std::byte>> results;
  bool alike = true;
  // One fiber at a time: the map needs no lock.
  prove(topology, [&](Node& node) {
    CollectiveNode call(node, collective, contract, &verification);
    node.local([&] { call.prepare(); });
    call();
    node.local([&] {
      const Offsets offsets = contract.output_offsets(node.rank());
      for (Rank block = 0; block < contract.ends_with(node.rank()); ++block) {
        const Content content = contract.result(node.rank(), block);
        if (!shared.contains(key(content))) continue;
        const ConstSpan mine =
            call.output().subspan(offsets[static_cast<std::size_t>(block)], contract.size(content));
        const auto [first, is_first] = results.try_emplace(key(content), mine.begin(), mine.end());
        alike = alike && (is_first || std::ranges::equal(first->second, mine));
      }
    });
  });
  return alike;
}

}  // namespace wormcube
