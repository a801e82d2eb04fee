// The route of one block.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/follow_block.hpp"

#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/prove.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

std::pair<Rank, Rank> parse_block(std::string_view text, const Topology& topology) {
  const auto number = [&](std::string_view word) {
    Rank rank = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), rank);
    if (error != std::errc{} || end != word.data() + word.size() || rank < 0) {
      throw UsageError(
          fmt::format("--block '{}': expected two nodes, from and to, as in 0,10", text));
    }
    if (rank >= topology.nodes()) {
      throw UsageError(fmt::format("--block '{}': out of range; {} has nodes 0 to {}", text,
                                   topology.name(), topology.nodes() - 1));
    }
    return rank;
  };
  const std::size_t comma = text.find(',');
  return {number(text.substr(0, comma)),
          number(comma == std::string_view::npos ? "" : text.substr(comma + 1))};
}

BlockWay follow_block(const Collective& collective, const Topology& topology, Rank from, Rank to,
                      bool in_place) {
  const Operation operation = collective.operation();
  if (operation->reduces) {
    throw UsageError(
        fmt::format("--block: {} combines blocks, so none can be followed", operation->name));
  }
  const Contract contract =
      contract_of(collective, topology.nodes(), unit_block_bytes(collective, topology), 1,
                  Pattern::words, in_place);
  std::optional<Content> wanted;
  for (Rank block = 0; block < contract.ends_with(to) && !wanted; ++block) {
    const Content content = contract.result(to, block);
    if (content.first == from && content.last == from + 1) wanted = content;
  }
  if (!wanted || contract.size(*wanted) == 0) {
    throw UsageError(fmt::format("--block {},{}: {} sends nothing from node {} to node {}", from,
                                 to, operation->name, from, to));
  }
  Verification verification(contract);
  std::vector<std::byte> block(contract.size(*wanted));
  verification.oracle.write(*wanted, block);
  constexpr Bytes word_bytes = sizeof(std::uint64_t);
  std::vector<std::uint64_t> words(block.size() / word_bytes);
  std::memcpy(words.data(), block.data(), words.size() * word_bytes);
  std::ranges::sort(words);
  BlockWay way{words.size(), {}};
  const auto listen = [&](const Delivery& delivery) {
    BlockHop hop{delivery.step, delivery.from, delivery.to, 0, 0, 0};
    for (const Span piece : delivery.pieces) {
      hop.bytes += piece.size();
      for (Bytes at = 0; at + word_bytes <= piece.size(); at += word_bytes) {
        std::uint64_t word = 0;
        std::memcpy(&word, &piece[at], word_bytes);
        if (std::ranges::binary_search(words, word)) ++hop.words;
      }
    }
    if (hop.words == 0) return;
    hop.block_bytes = hop.words * word_bytes;
    way.hops.push_back(hop);
  };
  prove(topology, collective_program(collective, contract, &verification), listen,
        ProofThreads::all);
  return way;
}

Json print_way(const OutputOptions& output, const BlockWay& way, Rank from, Rank to) {
  print_setting(output, "block", fmt::format("from node {} to node {}", from, to));
  Table table({{.head = "step"},
               {.head = "from"},
               {.head = "to"},
               {.head = "part", .unit = "block"},
               {.head = "message", .unit = "blocks"}});
  Json hops = Json::array();
  const auto blocks = [&way](double words) { return words / static_cast<double>(way.words); };
  constexpr double word_bytes = 8;
  for (const BlockHop& hop : way.hops) {
    const double part = blocks(static_cast<double>(hop.words)),
                 message = blocks(static_cast<double>(hop.bytes) / word_bytes);
    table.add({std::to_string(hop.step), std::to_string(hop.from), std::to_string(hop.to),
               cell(part), cell(message)});
    hops.push_back({{"step", hop.step},
                    {"from", hop.from},
                    {"to", hop.to},
                    {"part", json_value(part)},
                    {"message_blocks", json_value(message)}});
  }
  print_table(output, table);
  if (from == to && way.hops.empty())
    print_note(output,
               "the node keeps this block: no message "
               "carries it");
  return {{"from", from}, {"to", to}, {"hops", std::move(hops)}};
}

}  // namespace wormcube::cli
