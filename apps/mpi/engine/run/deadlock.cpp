// Collects what the ranks wait for, and what is left over at the end.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/run/deadlock.hpp"

#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/collectives/nonblocking_collective.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/one_sided/window.hpp"
#include "wormcube/apps/mpi/engine/run/waiting_ranks.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

using Waits = CurrentCall::Waits;

std::vector<Rank> others(const Communicator& on, Rank self) {
  std::vector<Rank> all;
  for (const Rank rank : on.peers().members()) {
    if (rank != self) all.push_back(rank);
  }
  return all;
}

/// A need on a communicator. \param bytes  of the message or of the data
Need need_on(Need::Kind kind, const Communicator& on, std::int64_t bytes) {
  Need need;
  need.kind = kind;
  need.bytes = bytes;
  need.on = &on;
  need.communicator = on.name;
  return need;
}

void name_peer(Need& need, const RankState& rank, int peer, int tag) {
  need.peer = peer;
  need.tag = tag;
  if (need.on->remote) return;  // the peer is a rank of the other group
  need.self = need.on->shared->rank_of(rank.rank);
  need.size = need.on->size();
}

Need receive_need(const RankState& rank, const Communicator& on, int source, int tag,
                  std::int64_t bytes) {
  Need need = need_on(Need::Kind::message, on, bytes);
  name_peer(need, rank, source, tag);
  need.any = source == MPI_ANY_SOURCE;
  need.ranks = need.any ? others(on, rank.rank) : std::vector<Rank>{on.world_rank(source)};
  return need;
}
Need send_need(const RankState& rank, const Communicator& on, int to, int tag, std::int64_t bytes) {
  Need need = need_on(Need::Kind::receive, on, bytes);
  name_peer(need, rank, to, tag);
  need.ranks = {on.world_rank(to)};
  return need;
}

/// How far a rank is in a communicator's collective with this number: 0: not called; 1: called; a
/// persistent one: 1 more than its starts.
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

/// The ranks, as numbered in MPI_COMM_WORLD, that have not called the communicator's collective
/// with this number.
/// \param program  of a persistent one
Need collective_need(const Job& job, const Communicator& on, Function function,
                     std::uint64_t number, std::int64_t bytes,
                     const NonblockingCollective* program = nullptr) {
  Need need = need_on(Need::Kind::collective, on, bytes);
  need.collective = name_of(function);
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
  if (all_came) need.collective = fmt::format("MPI_Start for its {}", need.collective);
  constexpr std::size_t most = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(need.ranks.size(), most); ++i) {
    names += (i == 0 ? "" : ", ") + std::to_string(need.ranks[i]);
  }
  if (need.ranks.size() > most) names += fmt::format(", .. ({} in all)", need.ranks.size());
  need.text =
      fmt::format("rank{} {}, which ha{} not {} it", need.ranks.size() == 1 ? "" : "s", names,
                  need.ranks.size() == 1 ? "s" : "ve", all_came ? "started" : "called");
  return need;
}

/// Need::taken for a message from one rank.
std::string taken_text(const RankState& rank, const Need& need) {
  const Rank source = need.ranks.front();
  const TakenMessages::Taken* const taken = rank.taken.find(need.on->context(), source, need.tag);
  if (taken == nullptr) return "";
  return fmt::format("rank {}'s message with tag {} was received earlier, by {} from any source{}",
                     source, taken->tag, name_of(taken->function), rank.job.place(taken->at));
}

/// A call of the epoch's other ranks, or the end of a lock.
Need window_need(const CurrentCall& call) {
  Need need = need_on(Need::Kind::other, *call.communicator, 0);
  need.ranks = call.lock != nullptr ? call.lock->holders() : call.whom;
  std::string names;
  for (const Rank rank : need.ranks) names += (names.empty() ? "" : ", ") + std::to_string(rank);
  need.text = call.lock != nullptr ? fmt::format("a lock that rank {} holds", names)
                                   : fmt::format("{} of rank{} {}", call.what,
                                                 need.ranks.size() == 1 ? "" : "s", names);
  return need;
}

std::vector<Need> needs_of(const Job& job, const RankState& rank) {
  const CurrentCall& call = rank.call;
  std::vector<Need> needs;
  if (!call.inside) return needs;  // the objects that it named may no longer exist
  if (call.communicator == nullptr && call.waits != Waits::requests) return needs;
  switch (call.waits) {
    case Waits::not_at_all:
      break;
    case Waits::receive:
    case Waits::probe:
      needs.push_back(receive_need(rank, *call.communicator, call.peer, call.tag, call.bytes));
      break;
    case Waits::send:
      needs.push_back(send_need(rank, *call.communicator, call.peer, call.tag, call.bytes));
      break;
    case Waits::both:
      needs.push_back(send_need(rank, *call.communicator, call.peer, call.tag, call.bytes));
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
          Need need = collective_need(job, on, object.started_by, object.program->number(), 0,
                                      object.persistent ? object.program.get() : nullptr);
          need.text = fmt::format("{}: {}", name_of(object.started_by), need.text);
          needs.push_back(std::move(need));
          continue;
        }
        const bool is_sent = object.kind == RequestObject::Kind::send;
        const bool is_received = object.with_send && object.next.is_null();
        if (is_open(object.inner) && !is_received) {
          needs.push_back(is_sent ? send_need(rank, on, object.peer, object.tag, object.bytes)
                                  : receive_need(rank, on, object.peer, object.tag, object.bytes));
        }
        if (object.with_send && is_open(is_received ? object.inner : object.next)) {
          needs.push_back(
              send_need(rank, on, object.destination, object.send_tag, object.send_bytes));
        }
      }
      break;
    case Waits::collective:
      needs.push_back(collective_need(job, *call.communicator, call.function,
                                      call.communicator->collectives - 1, call.bytes));
      break;
    case Waits::window:
      needs.push_back(window_need(call));
      break;
  }
  return needs;
}

/// The same for a rank that may be running: reads nothing that it may change or free meanwhile.
std::vector<Need> needs_of_running(const RankState& rank) {
  const CurrentCall& call = rank.call;
  if (!call.inside) return {};
  const auto need = [](std::string text, std::int64_t bytes) {
    Need result;
    result.text = std::move(text);
    result.bytes = bytes;
    return result;
  };
  const auto message = [](int source, int tag, std::int64_t bytes) {
    Need result;
    result.kind = Need::Kind::message;
    result.any = source == MPI_ANY_SOURCE;
    result.peer = source;
    result.tag = tag;
    result.bytes = bytes;
    return result;
  };
  const auto its_receive = [&] {
    Need result = message(call.peer, call.tag, call.bytes);
    result.kind = Need::Kind::receive;
    return result;
  };
  switch (call.waits) {
    case Waits::not_at_all:
      break;
    case Waits::receive:
    case Waits::probe:
      return {message(call.peer, call.tag, call.bytes)};
    case Waits::send:
      return {its_receive()};
    case Waits::both:
      return {its_receive(), message(call.source, call.source_tag, 0)};
    case Waits::requests:
      return {need(call.request_count == 1 ? "a request"
                                           : fmt::format("{} requests", int{call.request_count}),
                   0)};
    case Waits::collective:
      return {need("the collective's other ranks", call.bytes)};
    case Waits::window:
      return {need("the window's other ranks", 0)};
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

WaitingRank waiting(const RankState& rank, std::vector<Need> needs) {
  WaitingRank result;
  result.rank = rank.rank;
  result.call = where(rank);
  result.ended = rank.ended;
  if (const void* const at = rank.call.at; at != nullptr && !rank.ended) {
    result.at = rank.job.place(at);
    if (result.at.starts_with(" at ")) result.at.erase(0, 4);
  }
  constexpr std::size_t most_needs = 8;
  if (needs.size() > most_needs) {
    result.more_needs = needs.size() - most_needs;
    needs.resize(most_needs);
  }
  result.needs = std::move(needs);
  // Full lists for all ranks would take memory for the square of their number.
  constexpr std::size_t most_ranks = 64;
  for (Need& need : result.needs) {
    if (need.ranks.size() > most_ranks) need.ranks.resize(most_ranks);
    need.ranks.shrink_to_fit();
  }
  return result;
}

}  // namespace

std::string table_of_ranks(const Job& job) {
  std::vector<WaitingRank> ranks;
  for (Rank rank = 0; rank < job.ranks(); ++rank) {
    const RankState& one = job.rank(rank);
    ranks.push_back(waiting(one, needs_of_running(one)));
  }
  return wait_table(ranks);
}

std::string deadlock_text(const Job& job, std::span<const UnreceivedMessage> messages) {
  Rank ended = 0;
  std::vector<std::vector<Rank>> waits_for(static_cast<std::size_t>(job.ranks()));
  std::vector<WaitingRank> ranks;
  std::vector<std::string> near;
  for (Rank r = 0; r < job.ranks(); ++r) {
    const RankState& state = job.rank(r);
    ended += state.ended ? 1 : 0;
    std::vector<Need> needs = needs_of(job, state);
    for (Need& need : needs) {
      if (!need.any) {
        auto& edges = waits_for[static_cast<std::size_t>(state.rank)];
        edges.insert(edges.end(), need.ranks.begin(), need.ranks.end());
      }
      if (need.kind != Need::Kind::message) continue;
      if (!need.any) need.taken = taken_text(state, need);
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
              state.rank, tag_text(need.tag), need.any ? "any source" : std::to_string(need.peer),
              from, message.tag, message.bytes));
        } else if (message.context <= 32767 && message.tag == need.tag) {
          near.push_back(
              fmt::format("near miss: rank {} waits for tag {} from {} on {}; it holds one "
                          "on another communicator ({} B)",
                          state.rank, need.tag, from, need.on->name, message.bytes));
        }
      }
    }
    ranks.push_back(waiting(state, std::move(needs)));
  }
  std::string text =
      ended == 0
          ? fmt::format("deadlock: all {} ranks wait and no message is under way\n", job.ranks())
          : fmt::format(
                "deadlock: {} of {} ranks wait, {} ha{} ended, and no message is under way\n",
                job.ranks() - ended, job.ranks(), ended, ended == 1 ? "s" : "ve");
  text += wait_table(ranks);
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
  if (const std::string line = advice(ranks, cycle, !near.empty()); !line.empty())
    text += "\nadvice: " + line;
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
    lines.push_back(fmt::format("{} request{} not completed (no MPI_Wait or MPI_Test):", active,
                                active == 1 ? "" : "s"));
    lines.insert(lines.end(), requests.begin(), requests.end());
  }
  if (!messages.empty()) {
    lines.push_back(fmt::format("{} message{} not received:", messages.size(),
                                messages.size() == 1 ? "" : "s"));
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
