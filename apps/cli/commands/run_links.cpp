// The file of `wormcube run --links`.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/run_links.hpp"

#include <cstddef>
#include <utility>

namespace wormcube::cli {

std::vector<Json> channels_json(const RunResult& result, const Topology& topology) {
  std::vector<Json> rows;
  for (const LinkStatistics& link : result.links) {
    const auto ends = topology.link_ends(link.link);
    for (std::size_t channel = 0; channel < link.channels.size(); ++channel) {
      const auto [messages, bytes] = link.channels[channel];
      if (messages == 0) continue;
      Json row{{"topology", result.topology},
               {"operation", result.collective.operation()->name},
               {"algorithm", result.collective.text()},
               {"block_bytes", result.block_bytes},
               {"link", link.link},
               {"link_name", topology.link_name(link.link)}};
      put(row, "from", ends.from < 0 ? Json(nullptr) : Json(ends.from), "a switch");
      put(row, "to", ends.to < 0 ? Json(nullptr) : Json(ends.to), "a switch");
      row["virtual_channel"] = channel;
      row["messages"] = messages;
      row["bytes"] = bytes;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace wormcube::cli
