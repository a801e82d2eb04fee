// The table of what ranks wait for, cycles in it, and advice.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/run/waiting_ranks.hpp"

#include "wormcube/apps/mpi/abi/function.hpp"
#include "wormcube/apps/mpi/abi/functions.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

using NeedKind = Need::Kind;

/// How a table names the rank that another one waits for.
enum class PeerAs : std::uint8_t { itself, distance, exclusive_or };

std::string peer_text(const Need& need, PeerAs as) {
  if (need.self < 0 || need.peer < 0 || as == PeerAs::itself) return std::to_string(need.peer);
  if (need.peer == need.self) return "itself";
  if (as == PeerAs::exclusive_or) return fmt::format("rank xor {}", need.self ^ need.peer);
  int distance = need.peer - need.self;
  if (distance > need.size / 2) distance -= need.size;
  if (distance <= -((need.size + 1) / 2)) distance += need.size;
  return fmt::format("rank {} {}", distance < 0 ? '-' : '+', distance < 0 ? -distance : distance);
}

std::string waits_text(const Need& need, PeerAs as) {
  switch (need.kind) {
    case NeedKind::message:
      return fmt::format("{}, {}", need.any ? "any source" : "source " + peer_text(need, as),
                         tag_text(need.tag));
    case NeedKind::receive:
      return fmt::format("receive by dest {}, tag {}", peer_text(need, as), need.tag);
    case NeedKind::collective:
    case NeedKind::other:
      break;
  }
  return need.text;
}

std::string bytes_text(std::int64_t bytes) { return bytes > 0 ? std::to_string(bytes) : ""; }

struct Row {
  std::vector<Rank> ranks;
  std::string call, waits, bytes, on, at;
};

/// With few ranks: a row for each need, the call in the first one.
std::vector<Row> single_rows(std::span<const WaitingRank> ranks) {
  std::vector<Row> rows;
  for (const WaitingRank& one : ranks) {
    if (one.needs.empty()) {
      rows.push_back({{one.rank}, one.call, one.ended ? "" : "-", "", "", one.at});
      continue;
    }
    bool first = true;
    for (const Need& need : one.needs) {
      rows.push_back({{one.rank},
                      first ? one.call : "",
                      waits_text(need, PeerAs::itself),
                      bytes_text(need.bytes),
                      need.communicator,
                      first ? one.at : ""});
      first = false;
    }
    if (one.more_needs > 0)
      rows.push_back({{one.rank}, "", fmt::format("and {} more", one.more_needs), "", "", ""});
  }
  return rows;
}

/// The needs of one kind at one call site.
using Entries = std::vector<std::pair<Rank, const Need*>>;

void add_rank(std::vector<Rank>& ranks, Rank rank) {
  if (ranks.empty() || ranks.back() != rank) ranks.push_back(rank);
}

/// The rows of one call site, in the form that needs fewest; many different ones become one row
/// that lists peers, tags and bytes.
void add_rows_of(const Entries& entries, const Row& site, std::vector<Row>& rows) {
  using Rows = std::map<std::pair<std::string, std::int64_t>, std::vector<Rank>>;
  Rows fewest;
  for (const PeerAs as : {PeerAs::itself, PeerAs::distance, PeerAs::exclusive_or}) {
    Rows here;
    for (const auto& [rank, need] : entries)
      add_rank(here[{waits_text(*need, as), need->bytes}], rank);
    if (fewest.empty() || here.size() < fewest.size()) fewest = std::move(here);
  }
  const NeedKind kind = entries.front().second->kind;
  constexpr std::size_t most_different = 4;
  if (fewest.size() <= most_different || (kind != NeedKind::message && kind != NeedKind::receive)) {
    for (auto& [key, who] : fewest)
      rows.push_back(
          {std::move(who), site.call, key.first, bytes_text(key.second), site.on, site.at});
    return;
  }
  std::set<Rank> peers;
  std::set<Rank> tags;
  std::int64_t least = entries.front().second->bytes, most = least;
  Row row = site;
  for (const auto& [rank, need] : entries) {
    add_rank(row.ranks, rank);
    peers.insert(need->peer);
    tags.insert(need->tag);
    least = std::min(least, need->bytes);
    most = std::max(most, need->bytes);
  }
  const auto list = [](const std::set<Rank>& all) {
    return rank_list(std::vector<Rank>(all.begin(), all.end()));
  };
  const auto tag = *tags.begin() == *tags.rbegin() ? tag_text(*tags.begin()) : "tag " + list(tags);
  const auto peer = entries.front().second->any ? "any source" : "source " + list(peers);
  row.waits = kind == NeedKind::message ? fmt::format("{}, {}", peer, tag)
                                        : fmt::format("receive by dest {}, {}", list(peers), tag);
  row.bytes = least == most ? bytes_text(most) : fmt::format("{}-{}", least, most);
  rows.push_back(std::move(row));
}

/// With many ranks: those at one call site together.
std::vector<Row> grouped_rows(std::span<const WaitingRank> ranks) {
  using Site = std::tuple<std::string, std::string, std::string, NeedKind, bool>;
  std::map<Site, Entries> sites;
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<Rank>> without_needs;
  for (const WaitingRank& one : ranks) {
    if (one.needs.empty())
      without_needs[{one.call, one.at, one.ended ? "" : "-"}].push_back(one.rank);
    for (const Need& need : one.needs)
      sites[{one.call, one.at, need.communicator, need.kind, need.any}].emplace_back(one.rank,
                                                                                     &need);
    if (one.more_needs > 0)
      without_needs[{one.call, one.at, fmt::format("and {} more", one.more_needs)}].push_back(
          one.rank);
  }
  std::vector<Row> rows;
  for (const auto& [site, entries] : sites)
    add_rows_of(entries, {{}, std::get<0>(site), "", "", std::get<2>(site), std::get<1>(site)},
                rows);
  for (auto& [key, who] : without_needs)
    rows.push_back({std::move(who), std::get<0>(key), std::get<2>(key), "", "", std::get<1>(key)});
  std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.ranks.front(); });
  return rows;
}

bool all_wait_for(NeedKind kind, std::span<const WaitingRank> ranks, std::span<const Rank> cycle) {
  return !cycle.empty() && std::ranges::all_of(cycle, [&](Rank rank) {
    const auto& needs = ranks[static_cast<std::size_t>(rank)].needs;
    return !needs.empty() &&
           std::ranges::all_of(needs, [&](const Need& need) { return need.kind == kind; });
  });
}

std::string call_text(const WaitingRank& rank) {
  return rank.at.empty() ? rank.call : fmt::format("{} at {}", rank.call, rank.at);
}

/// A collective that fewest ranks have not called.
std::string collective_advice(std::span<const WaitingRank> ranks) {
  const std::string_view last = name_of(Function::MPI_Finalize);
  const Need* found = nullptr;
  for (const WaitingRank& rank : ranks) {
    for (const Need& need : rank.needs) {
      if (need.kind != NeedKind::collective || need.ranks.empty() || need.collective == last)
        continue;
      if (found == nullptr || need.ranks.size() < found->ranks.size()) found = &need;
    }
  }
  if (found == nullptr) return "";
  const WaitingRank& first = ranks[static_cast<std::size_t>(found->ranks.front())];
  const bool one = found->ranks.size() == 1;
  return fmt::format("every rank of {} must call {}: rank{} {} ha{} not (rank {}: {})",
                     found->communicator, found->collective, one ? "" : "s",
                     rank_list(found->ranks), one ? "s" : "ve", first.rank, call_text(first));
}

/// A receive without a send. \param from_ended  only from ranks that can no longer send
std::string receive_advice(std::span<const WaitingRank> ranks, bool from_ended) {
  const std::string_view last = name_of(Function::MPI_Finalize);
  for (const WaitingRank& rank : ranks) {
    for (const Need& need : rank.needs) {
      if (need.kind != NeedKind::message || (need.any && from_ended)) continue;
      if (need.any)
        return fmt::format("no rank sends the message that rank {} waits for: {}", rank.rank,
                           call_text(rank));
      if (need.ranks.empty()) continue;
      const WaitingRank& source = ranks[static_cast<std::size_t>(need.ranks.front())];
      if (from_ended && !source.ended && source.call != last) continue;
      return fmt::format("rank {} never sends the message that rank {} waits for: it {}{}",
                         source.rank, rank.rank, source.ended ? "" : "is in ", call_text(source));
    }
  }
  return "";
}

/// A receive whose message went to a receive from any source, and whose source sends no other: it
/// has ended, or waits in a collective.
std::string taken_advice(std::span<const WaitingRank> ranks) {
  for (const WaitingRank& rank : ranks) {
    for (const Need& need : rank.needs) {
      if (need.taken.empty()) continue;
      const WaitingRank& source = ranks[static_cast<std::size_t>(need.ranks.front())];
      const auto is_collective = [](const Need& its) { return its.kind == NeedKind::collective; };
      if (source.ended || std::ranges::any_of(source.needs, is_collective)) return need.taken;
    }
  }
  return "";
}

}  // namespace

std::string tag_text(int tag) {
  return tag == MPI_ANY_TAG ? std::string("any tag") : fmt::format("tag {}", tag);
}

std::string rank_list(std::span<const Rank> ranks) {
  constexpr std::size_t widest = 24;
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (text.size() >= widest) return text + fmt::format(",.. ({})", ranks.size());
    text += (text.empty() ? "" : ",") + std::to_string(ranks[i]);
    if (last > i) text += (last == i + 1 ? "," : "-") + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

std::string wait_table(std::span<const WaitingRank> ranks) {
  constexpr std::size_t most_single = 8;
  const std::vector<Row> rows =
      ranks.size() > most_single ? grouped_rows(ranks) : single_rows(ranks);
  std::size_t ranks_width = 6, call = 4, waits = 9, on = 12;
  for (const Row& row : rows) {
    ranks_width = std::max(ranks_width, rank_list(row.ranks).size());
    call = std::max(call, row.call.size());
    waits = std::max(waits, row.waits.size());
    on = std::max(on, row.on.size());
  }
  std::string text;
  const auto add_line = [&](const Row& row, const std::string& who) {
    std::string line = fmt::format("{:>{}}  {:<{}}  {:<{}}  {:>10}  {:<{}}  {}", who, ranks_width,
                                   row.call, call, row.waits, waits, row.bytes, row.on, on, row.at);
    line.erase(line.find_last_not_of(' ') + 1);
    text += (text.empty() ? "" : "\n") + line;
  };
  add_line({{}, "call", "waits for", "bytes", "communicator", "at"}, "rank");
  constexpr std::size_t most_rows = 64;
  for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i)
    add_line(rows[i], rank_list(rows[i].ranks));
  if (rows.size() > most_rows) text += fmt::format("\nand {} more rows", rows.size() - most_rows);
  return text;
}

std::vector<Rank> cycle_of(const std::vector<std::vector<Rank>>& waits_for) {
  enum Mark : std::uint8_t { fresh, open, closed };
  std::vector<Mark> marks(waits_for.size(), fresh);
  std::vector<std::pair<Rank, std::size_t>> path;
  for (Rank start = 0; start < static_cast<Rank>(waits_for.size()); ++start) {
    if (marks[static_cast<std::size_t>(start)] != fresh) continue;
    path.assign(1, {start, 0});
    marks[static_cast<std::size_t>(start)] = open;
    while (!path.empty()) {
      const Rank at = path.back().first;
      const auto& next = waits_for[static_cast<std::size_t>(at)];
      if (path.back().second == next.size()) {
        marks[static_cast<std::size_t>(at)] = closed;
        path.pop_back();
        continue;
      }
      const Rank to = next[path.back().second++];
      Mark& mark = marks[static_cast<std::size_t>(to)];
      if (mark == open) {
        std::vector<Rank> cycle;
        for (auto i = std::ranges::find(path, to, &std::pair<Rank, std::size_t>::first);
             i != path.end(); ++i) {
          cycle.push_back(i->first);
        }
        return cycle;
      }
      if (mark == fresh) {
        mark = open;
        path.emplace_back(to, 0);
      }
    }
  }
  return {};
}

std::string advice(std::span<const WaitingRank> ranks, std::span<const Rank> cycle,
                   bool is_near_miss) {
  if (all_wait_for(NeedKind::receive, ranks, cycle))
    return "the sends of this cycle wait for each other: the program relies on buffering; use "
           "MPI_Sendrecv or MPI_Isend, or let some ranks receive first";
  if (is_near_miss)
    return "an unreceived message almost matches: compare tag and communicator of its send and "
           "of the receive";
  if (std::string text = taken_advice(ranks); !text.empty()) return text;
  if (std::string text = receive_advice(ranks, true); !text.empty()) return text;
  if (std::string text = collective_advice(ranks); !text.empty()) return text;
  if (all_wait_for(NeedKind::message, ranks, cycle))
    return "every rank of this cycle receives before it sends: let one of them send first, or use "
           "MPI_Sendrecv";
  return receive_advice(ranks, false);
}

}  // namespace wormcube::mpi
