// Who waits for whom, in MPI's terms, and what is left at the end.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/run/deadlock.hpp"

#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/collectives/nonblocking_collective.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/one_sided/window.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

using Waits = CurrentCall::Waits;

std::string source_text(int source) {
  return source == MPI_ANY_SOURCE ? std::string("any source") : fmt::format("source {}", source);
}
std::string tag_text(int tag) {
  return tag == MPI_ANY_TAG ? std::string("any tag") : fmt::format("tag {}", tag);
}

/// One thing that a rank waits for: a message from, or a receive by, a rank of the world; or
/// anybody.
struct Need {
  std::string text;
  std::vector<Rank> ranks;
  bool any = false;      ///< one of the ranks is enough
  bool receive = false;  ///< a message
  int source = 0, tag = 0;
  std::int64_t bytes = 0;
  const Communicator* on = nullptr;
};

std::vector<Rank> others(const Communicator& on, Rank self) {
  std::vector<Rank> all;
  for (const Rank rank : on.peers().members()) {
    if (rank != self) all.push_back(rank);
  }
  return all;
}

Need receive_need(const RankState& rank, const Communicator& on, int source, int tag,
                  std::int64_t bytes, std::string_view what = "") {
  Need need{fmt::format("{}{}, {}", what, source_text(source), tag_text(tag)),
            {},
            false,
            true,
            source,
            tag,
            bytes,
            &on};
  if (source == MPI_ANY_SOURCE) {
    need.ranks = others(on, rank.rank);
    need.any = true;
  } else {
    need.ranks = {on.world_rank(source)};
  }
  return need;
}
Need send_need(const Communicator& on, int to, int tag, std::int64_t bytes) {
  return {fmt::format("receive of dest {}, tag {}", to, tag),
          {on.world_rank(to)},
          false,
          false,
          to,
          tag,
          bytes,
          &on};
}

/// How far a rank has come in a communicator's collective of that number: 0: not yet; 1: called,
/// or, of a persistent one, 1 more than its starts.
std::uint64_t stage_of(const RankState& rank, const Communicator& on, std::uint64_t number,
                       bool is_persistent) {
  const auto is_it = [&](const Communicator& each) {
    return each.shared != nullptr && (each.shared == on.shared || each.shared == on.remote);
  };
  bool came = false;
  const auto look = [&](const Communicator& each) {
    came = came || (is_it(each) && each.collectives > number);
  };
  look(rank.world);
  look(rank.self);
  for (const auto& each : rank.communicators) look(*each);
  if (!came || !is_persistent) return came ? 1 : 0;
  std::uint64_t starts = 0;
  rank.pool.each([&](const RequestObject& object) {
    if (object.program && object.program->number() == number && is_it(*object.communicator))
      starts = object.program->starts();
  });
  return 1 + starts;
}

/// Those of a collective, the communicator's of that number, that have not come. \param program  of
/// a persistent one
Need collective_need(const Job& job, const Communicator& on, std::uint64_t number,
                     std::int64_t bytes, const NonblockingCollective* program = nullptr) {
  Need need;
  need.on = &on;
  need.bytes = bytes;
  std::vector<Rank> members = on.shared->members();
  if (on.remote)
    members.insert(members.end(), on.remote->members().begin(), on.remote->members().end());
  const std::uint64_t stage = program == nullptr ? 1 : 1 + program->starts();
  bool all_came = true;
  for (const Rank member : members) {
    const std::uint64_t its = stage_of(job.rank(member), on, number, program != nullptr);
    if (its < stage) need.ranks.push_back(member);
    all_came = all_came && its > 0;
  }
  if (need.ranks.empty()) {
    need.text = "the others' messages";
    return need;
  }
  constexpr std::size_t most = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(need.ranks.size(), most); ++i) {
    const Rank here = on.shared->rank_of(need.ranks[i]);
    names += (i == 0 ? "" : ", ") +
             (here >= 0 ? std::to_string(here)
                        : fmt::format("{} of the other group", on.remote->rank_of(need.ranks[i])));
  }
  if (need.ranks.size() > most) names += fmt::format(", .. ({} in all)", need.ranks.size());
  need.text = fmt::format("rank{} {}, who ha{} not {}", need.ranks.size() == 1 ? "" : "s", names,
                          need.ranks.size() == 1 ? "s" : "ve", all_came ? "started it" : "come");
  return need;
}

/// A call of the others of an epoch, or the end of a lock.
Need window_need(const CurrentCall& call) {
  Need need;
  need.on = call.communicator;
  need.ranks = call.lock != nullptr ? call.lock->holders() : call.whom;
  std::string names;
  for (const Rank world : need.ranks) {
    const Rank member = call.communicator->shared->rank_of(world);
    names += (names.empty() ? "" : ", ") + std::to_string(member);
  }
  need.text = call.lock != nullptr ? fmt::format("a lock that rank {} has", names)
                                   : fmt::format("{} of rank{} {}", call.what,
                                                 need.ranks.size() == 1 ? "" : "s", names);
  return need;
}

std::vector<Need> needs_of(const Job& job, const RankState& rank) {
  const CurrentCall& call = rank.call;
  std::vector<Need> needs;
  if (!call.inside) return needs;  // what it named may be gone
  if (call.communicator == nullptr && call.waits != Waits::requests) return needs;
  switch (call.waits) {
    case Waits::not_at_all:
      break;
    case Waits::receive:
    case Waits::probe:
      needs.push_back(receive_need(rank, *call.communicator, call.peer, call.tag, call.bytes));
      break;
    case Waits::send:
      needs.push_back(send_need(*call.communicator, call.peer, call.tag, call.bytes));
      break;
    case Waits::both:
      needs.push_back(send_need(*call.communicator, call.peer, call.tag, call.bytes));
      needs.push_back(receive_need(rank, *call.communicator, call.source, call.source_tag, 0));
      break;
    case Waits::requests:
      for (int i = 0; i < call.request_count; ++i) {
        if (is_predefined(call.requests[i])) continue;
        const auto& object = *reinterpret_cast<const RequestObject*>(call.requests[i]);
        if (object.magic != RequestObject::alive || !object.active || object.to_nobody) continue;
        const auto is_open = [&](const Request& request) {
          return !request.is_null() && rank.requests->look_at(request).source == any_source;
        };
        const Communicator& on = *object.communicator;
        if (object.kind == RequestObject::Kind::collective) {
          if (object.program == nullptr || object.program->has_ended()) continue;
          Need need = collective_need(job, on, object.program->number(), 0,
                                      object.persistent ? object.program.get() : nullptr);
          need.text = fmt::format("{}: {}", name_of(object.started_by), need.text);
          needs.push_back(std::move(need));
          continue;
        }
        const bool is_sent = object.kind == RequestObject::Kind::send;
        const bool is_received = object.with_send && object.next.is_null();
        if (is_open(object.inner) && !is_received) {
          needs.push_back(is_sent ? send_need(on, object.peer, object.tag, object.bytes)
                                  : receive_need(rank, on, object.peer, object.tag, object.bytes));
        }
        if (object.with_send && is_open(is_received ? object.inner : object.next)) {
          needs.push_back(send_need(on, object.destination, object.send_tag, object.send_bytes));
        }
      }
      break;
    case Waits::collective:
      needs.push_back(
          collective_need(job, *call.communicator, call.communicator->collectives - 1, call.bytes));
      break;
    case Waits::window:
      needs.push_back(window_need(call));
      break;
  }
  return needs;
}

/// The same of a rank that runs: nothing that it may change or free meanwhile is looked at.
std::vector<Need> needs_as_told(const Job& /*job*/, const RankState& rank) {
  const CurrentCall& call = rank.call;
  if (!call.inside) return {};
  const auto need = [](std::string text, std::int64_t bytes) {
    Need result;
    result.text = std::move(text);
    result.bytes = bytes;
    return result;
  };
  const auto message = [](int source, int tag) {
    return fmt::format("{}, {}", source_text(source), tag_text(tag));
  };
  const auto its_receive = [&] {
    return fmt::format("receive of dest {}, tag {}", int{call.peer}, int{call.tag});
  };
  switch (call.waits) {
    case Waits::not_at_all:
      break;
    case Waits::receive:
    case Waits::probe:
      return {need(message(call.peer, call.tag), call.bytes)};
    case Waits::send:
      return {need(its_receive(), call.bytes)};
    case Waits::both:
      return {need(its_receive(), call.bytes), need(message(call.source, call.source_tag), 0)};
    case Waits::requests:
      return {need(call.request_count == 1 ? "a request"
                                           : fmt::format("{} requests", int{call.request_count}),
                   0)};
    case Waits::collective:
      return {need("others of the collective", call.bytes)};
    case Waits::window:
      return {need("others of the window", 0)};
  }
  return {};
}

std::string where(const RankState& rank) {
  if (rank.ended) return "has ended";
  if (rank.call.inside) return name_of(rank.call.function);
  return rank.call.function == Function::count
             ? std::string("has not called MPI")
             : fmt::format("computes after {}", name_of(rank.call.function));
}

/// Ranks that wait for each other, each for the next: none has a choice.
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

struct Row {
  std::string call, waits, bytes, on, at;
  auto operator<=>(const Row&) const = default;
};

/// "0-3,7"; of many pieces the first, and how many ranks there are.
std::string rank_list(const std::vector<Rank>& ranks) {
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

/// \param needs  what a rank waits for: of the job's ranks, one
std::string table(const Job& job, std::vector<Need> (&needs_of)(const Job&, const RankState&)) {
  // Alike ones share a row where there are many.
  constexpr Rank most_single = 32;
  std::vector<std::pair<std::vector<Rank>, Row>> rows;
  for (Rank rank = 0; rank < job.ranks(); ++rank) {
    const RankState& one = job.rank(rank);
    const std::vector<Need> needs = needs_of(job, one);
    const void* const at = one.call.at;
    std::string place = at == nullptr ? "" : job.place(at);
    if (place.starts_with(" at ")) place.erase(0, 4);
    const auto add = [&](Row row, bool first) {
      if (!first) row.call.clear();
      if (job.ranks() > most_single) {
        for (auto& [who, same] : rows) {
          if (!(same == row)) continue;
          who.push_back(one.rank);
          return;
        }
      }
      rows.push_back({{one.rank}, std::move(row)});
    };
    if (needs.empty()) {
      add({where(one), one.ended ? "" : "-", "", "", one.ended ? "" : place}, true);
      continue;
    }
    constexpr std::size_t most_needs = 8;
    for (std::size_t i = 0; i < std::min(needs.size(), most_needs); ++i) {
      const Need& need = needs[i];
      add({where(one), need.text, need.bytes > 0 ? std::to_string(need.bytes) : "",
           need.on == nullptr ? "" : need.on->name, i == 0 ? place : ""},
          i == 0);
    }
    if (needs.size() > most_needs) {
      add({"", fmt::format("and {} more", needs.size() - most_needs), "", "", ""}, false);
    }
  }
  std::size_t ranks_width = 6, call = 4, waits = 9, on = 12;
  for (const auto& [who, row] : rows) {
    ranks_width = std::max(ranks_width, rank_list(who).size());
    call = std::max(call, row.call.size());
    waits = std::max(waits, row.waits.size());
    on = std::max(on, row.on.size());
  }
  std::string text =
      fmt::format("{:>{}}  {:<{}}  {:<{}}  {:>10}  {:<{}}  {}", "rank", ranks_width, "call", call,
                  "waits for", waits, "bytes", "communicator", on, "at");
  const auto add_line = [&](std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += "\n" + line;
  };
  constexpr std::size_t most_rows = 64;
  for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
    const auto& [who, row] = rows[i];
    add_line(fmt::format("{:>{}}  {:<{}}  {:<{}}  {:>10}  {:<{}}  {}", rank_list(who), ranks_width,
                         row.call, call, row.waits, waits, row.bytes, row.on, on, row.at));
  }
  if (rows.size() > most_rows) add_line(fmt::format("and {} rows more", rows.size() - most_rows));
  return text;
}

}  // namespace

std::string table_of_ranks(const Job& job) { return table(job, needs_as_told); }

std::string deadlock_text(const Job& job, std::span<const UnreceivedMessage> messages) {
  Rank ended = 0;
  std::vector<std::vector<Rank>> waits_for(static_cast<std::size_t>(job.ranks()));
  std::vector<std::string> near;
  for (Rank r = 0; r < job.ranks(); ++r) {
    const RankState& state = job.rank(r);
    ended += state.ended ? 1 : 0;
    for (const Need& need : needs_of(job, state)) {
      if (!need.any) {
        auto& edges = waits_for[static_cast<std::size_t>(state.rank)];
        edges.insert(edges.end(), need.ranks.begin(), need.ranks.end());
      }
      if (!need.receive) continue;
      for (const UnreceivedMessage& message : messages) {
        const bool from_it =
            need.any || std::ranges::find(need.ranks, message.from) != need.ranks.end();
        if (message.to != state.rank || !from_it) continue;
        constexpr std::size_t most_near = 10;
        if (near.size() == most_near) break;
        const Rank from = need.on->peers().rank_of(message.from);
        if (message.context == need.on->context()) {
          near.push_back(fmt::format(
              "near miss: rank {} waits for {} from {}; it holds a message from {} "
              "with tag {} ({} B)",
              state.rank, tag_text(need.tag), need.any ? "any source" : std::to_string(need.source),
              from, message.tag, message.bytes));
        } else if (message.context <= 32767 && message.tag == need.tag) {
          near.push_back(
              fmt::format("near miss: rank {} waits for tag {} from {} on {}; it holds one "
                          "on another communicator ({} B)",
                          state.rank, need.tag, from, need.on->name, message.bytes));
        }
      }
    }
  }
  std::string text =
      ended == 0
          ? fmt::format("deadlock: all {} ranks wait and no message is under way\n", job.ranks())
          : fmt::format(
                "deadlock: {} of {} ranks wait, {} ha{} ended, and no message is under way\n",
                job.ranks() - ended, job.ranks(), ended, ended == 1 ? "s" : "ve");
  text += table(job, needs_of);
  const std::vector<Rank> cycle = cycle_of(waits_for);
  if (!cycle.empty()) {
    constexpr std::size_t most_shown = 32;
    text += "\ncycle: ";
    for (std::size_t i = 0; i < std::min(cycle.size(), most_shown); ++i) {
      text += fmt::format("{} -> ", cycle[i]);
    }
    if (cycle.size() > most_shown) text += fmt::format(".. ({} ranks) -> ", cycle.size());
    text += std::to_string(cycle.front());
  }
  for (const std::string& line : near) text += "\n" + line;
  return text;
}

std::vector<std::string> leftovers(const Job& job, std::span<const UnreceivedMessage> messages) {
  constexpr std::size_t most = 10;
  std::vector<std::string> lines;
  std::size_t active = 0;
  std::vector<std::string> requests;
  for (Rank r = 0; r < job.ranks(); ++r) {
    const RankState& state = job.rank(r);
    state.pool.each([&](const RequestObject& object) {
      if (!object.active) return;
      if (++active > most) return;
      if (object.kind == RequestObject::Kind::collective ||
          object.kind == RequestObject::Kind::generalized) {
        requests.push_back(fmt::format("  rank {}: {} on {}{}", state.rank,
                                       name_of(object.started_by), object.communicator->name,
                                       job.place(object.at)));
        return;
      }
      requests.push_back(fmt::format(
          "  rank {}: {} of {} bytes, {} {}, {} on {}{}", state.rank, name_of(object.started_by),
          object.bytes, object.kind == RequestObject::Kind::send ? "dest" : "source",
          object.peer == MPI_ANY_SOURCE ? std::string("any") : std::to_string(object.peer),
          tag_text(object.tag), object.communicator->name, job.place(object.at)));
    });
  }
  if (active > 0) {
    lines.push_back(fmt::format("{} request{} no test or wait has completed:", active,
                                active == 1 ? " that" : "s that"));
    lines.insert(lines.end(), requests.begin(), requests.end());
  }
  if (!messages.empty()) {
    lines.push_back(fmt::format("{} message{} nobody has received:", messages.size(),
                                messages.size() == 1 ? " that" : "s that"));
    for (std::size_t i = 0; i < std::min(messages.size(), most); ++i) {
      const UnreceivedMessage& message = messages[i];
      std::string on = "a communicator";
      const RankState& to = job.rank(message.to);
      const std::uint32_t context = communicator_of(message.context);
      for (const Communicator* each : {&to.world, &to.self}) {
        if (each->shared != nullptr && each->context() == context) on = each->name;
      }
      for (const auto& each : to.communicators) {
        if (each->shared != nullptr && each->context() == context) on = each->name;
      }
      lines.push_back(fmt::format("  from rank {} to rank {}, tag {}, {} bytes on {}", message.from,
                                  message.to, message.tag, message.bytes, on));
    }
  }
  return lines;
}

}  // namespace wormcube::mpi
