// Files of links, and pairs of nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/run_links.hpp"

#include "wormcube/apps/cli/options/cluster.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/io/new_file.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {
namespace {

// The flits that have passed, and how many they have found in the lane.
void add_flits(Json& row, const LinkStatistics::Channel& channel) {
  std::uint64_t flits = 0, found = 0;
  for (std::size_t i = 0; i < channel.occupancy.size(); ++i) {
    flits += channel.occupancy[i];
    found += i * channel.occupancy[i];
  }
  const bool any = flits > 0;
  const auto add = [&](const char* key, const Json& value) {
    put(row, key, any ? value : Json(nullptr), "only --transport flits has flit queues");
  };
  add("flits", flits);
  add("occupancy_mean", any ? static_cast<double>(found) / static_cast<double>(flits) : 0.0);
  add("occupancy_max", any ? channel.occupancy.size() - 1 : 0);
  add("waited", channel.waited);
}

// "0->2, 0->6", at most 24 of them.
std::string pairs_text(const std::vector<std::pair<Rank, Rank>>& pairs) {
  constexpr std::size_t most = 24;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, pairs.size()); ++i)
    text += fmt::format("{}{}->{}", i == 0 ? "" : ", ", pairs[i].first, pairs[i].second);
  return pairs.size() <= most ? text : fmt::format("{} and {} more", text, pairs.size() - most);
}

}  // namespace

std::vector<Json> channels_json(const RunResult& result, const Topology& topology) {
  std::vector<Json> rows;
  for (const LinkStatistics& link : result.links) {
    const auto ends = topology.link_ends(link.link);
    for (std::size_t channel = 0; channel < link.channels.size(); ++channel) {
      const LinkStatistics::Channel& of = link.channels[channel];
      if (of.messages == 0 && of.occupancy.empty()) continue;
      Json row{{"topology", result.topology},
               {"operation", result.collective.operation()->name},
               {"algorithm", result.collective.text()},
               {"block_bytes", result.block_bytes},
               {"link", link.link},
               {"link_name", topology.link_name(link.link)}};
      put(row, "from", ends.from < 0 ? Json(nullptr) : Json(ends.from), "a switch");
      put(row, "to", ends.to < 0 ? Json(nullptr) : Json(ends.to), "a switch");
      row["virtual_channel"] = channel;
      row["messages"] = of.messages;
      row["bytes"] = of.bytes;
      add_flits(row, of);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

void write_occupancy(const std::string& file, const RunResult& result, const Topology& topology) {
  apps::NewFile csv(file);
  csv.write("link_name,virtual_channel,occupancy,flits\n");
  for (const LinkStatistics& link : result.links) {
    for (std::size_t channel = 0; channel < link.channels.size(); ++channel) {
      const auto& occupancy = link.channels[channel].occupancy;
      for (std::size_t found = 0; found < occupancy.size(); ++found) {
        csv.write(fmt::format("{},{},{},{}\n", topology.link_name(link.link), channel, found,
                              occupancy[found]));
      }
    }
  }
  csv.finish();
}

void add_link_options(CLI::App& app, std::string& links, std::string& occupancy) {
  app.add_option("--links", links,
                 "Write the traffic of each channel during one extra, untimed call")
      ->type_name("FILE.csv|.json")
      ->check(file_name())
      ->group("Output");
  app.add_option("--occupancy", occupancy,
                 "With --transport flits: write how many flits found how many others in each lane, "
                 "in one extra, untimed call")
      ->type_name("FILE.csv")
      ->check(file_name())
      ->group("Output");
}

void add_wrong_pairs(Json& json, const RunResult& result) {
  Json pairs;
  for (const auto& [from, to] :
       result.wrong_pairs.value_or(decltype(result.wrong_pairs)::value_type()))
    pairs.push_back({{"from", from}, {"to", to}});
  put(json, "wrong_pairs",
      result.wrong_pairs ? Json(pairs.is_null() ? Json::array() : pairs) : Json(nullptr),
      !result.wrong                               ? "--no-verify"
      : !result.has_links                         ? no_links
      : result.collective.operation()->moves_data ? "a result combines the data of several nodes"
                                                  : "a barrier moves no data");
}

void note_wrong_pairs(Results& results, const std::string& title, const RunResult& result) {
  if (!result.wrong_pairs) return;
  results.note(fmt::format("{}: wrong pairs: {}", title, pairs_text(*result.wrong_pairs)));
}

}  // namespace wormcube::cli
