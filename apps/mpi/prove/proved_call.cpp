// The calls of a proof.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/prove/proved_call.hpp"

#include "wormcube/collectives/core/operations.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::mpi {
namespace {

using Form = ProvedFunction::Form;

constexpr std::array<ProvedFunction, 11> all_functions{{
    {"MPI_Bcast", operations::broadcast, Form::broadcast},
    {"MPI_Reduce", operations::reduce, Form::reduce},
    {"MPI_Allreduce", operations::allreduce, Form::combine},
    {"MPI_Reduce_scatter_block", operations::reduce_scatter, Form::combine},
    {"MPI_Scan", operations::scan, Form::combine},
    {"MPI_Exscan", operations::exscan, Form::combine},
    {"MPI_Gather", operations::gather, Form::rooted},
    {"MPI_Scatter", operations::scatter, Form::rooted},
    {"MPI_Allgather", operations::allgather, Form::exchange},
    {"MPI_Alltoall", operations::alltoall, Form::exchange},
    {"MPI_Barrier", operations::barrier, Form::barrier},
}};

/// Whether a rank has a block for, or from, each other rank.
bool has_many_blocks(const ProvedFunction& function) {
  return function.form == Form::rooted || function.form == Form::exchange ||
         function.operation == Operation(operations::reduce_scatter);
}

}  // namespace

std::span<const ProvedFunction> proved_functions() { return all_functions; }

const ProvedFunction& proved_function(std::string_view operation) {
  std::string names;
  for (const ProvedFunction& each : all_functions) {
    if (each.operation->name == operation) return each;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", each.operation->name);
  }
  throw UsageError(fmt::format("--as {}: no function to prove; available: {}", operation, names));
}

std::string ProofCase::text(const ProvedFunction& function, Rank ranks) const {
  const bool moves_data = function.form != Form::barrier;
  std::string text = moves_data ? fmt::format("{} element{}{}", count, count == 1 ? "" : "s",
                                              in_place ? ", in place" : "")
                                : "no data";
  if (function.operation->rooted) text += fmt::format(", root {}", root);
  if (gaps == Gaps::all) text += ", gaps in the datatype";
  if (has_mixed_types()) {
    const bool sends = gaps == Gaps::send;
    text += function.form != Form::broadcast
                ? fmt::format(", {} block: one element with gaps", sends ? "send" : "receive")
            : sends ? ", gaps in the root's datatype"
                    : ", gaps in the other ranks' datatype";
  }
  if (function.operation->reduces)
    text += commutes ? ", an operator that commutes" : ", an operator that does not commute";
  if (members == Members::all) return text;
  std::vector<Rank> shown = world_ranks(members, ranks);
  shown.resize(static_cast<std::size_t>(ranks));
  constexpr std::size_t most = 4;
  const bool is_long = shown.size() > most;
  if (is_long) shown.resize(most);
  return text + fmt::format(", on rank{} {}{} of MPI_COMM_WORLD", ranks == 1 ? "" : "s",
                            fmt::join(shown, ", "), is_long ? ", .." : "");
}

std::vector<Rank> world_ranks(ProofCase::Members members, Rank ranks) {
  using Members = ProofCase::Members;
  std::vector<Rank> order;
  if (members == Members::odd_first) {
    for (const Rank first : {1, 0}) {
      for (Rank rank = first; rank < ranks; rank += 2) order.push_back(rank);
    }
    order.push_back(ranks);
    return order;
  }
  for (Rank rank = 0; rank < ranks; ++rank)
    order.push_back(members == Members::all ? rank : ranks - rank);
  if (members == Members::reversed) order.push_back(0);
  return order;
}

const char* default_counts_text(const ProvedFunction& function) {
  if (function.form == Form::barrier) return "none: it moves no data";
  return has_many_blocks(function) ? "0, 1, 7 and 67 in each block"
                                   : "0, 1, p - 1, p, 2 p + 1 and 1009 on p ranks";
}

std::vector<std::size_t> default_counts(const ProvedFunction& function, Rank ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> counts{0, 1, 7, 67};
  if (!has_many_blocks(function)) counts = {0, 1, p - 1, p, 2 * p + 1, 1009};
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

namespace {

/// Whether the datatypes of both sides may differ: not those of a reduction, nor in place of one
/// side.
bool may_mix_types(const ProvedFunction& function, const ProofCase& call) {
  return call.count > 0 && !function.operation->reduces &&
         (!call.in_place || function.form == Form::rooted);
}

/// Two of the counts: the least but 0, and the greatest but one.
std::vector<std::size_t> few_of(std::vector<std::size_t> counts) {
  std::ranges::sort(counts);
  if (counts.size() > 1 && counts.front() == 0) counts.erase(counts.begin());
  if (counts.size() > 2) counts.pop_back();
  return counts.size() < 2 ? counts : std::vector{counts.front(), counts.back()};
}

/// Each has some kind of datatypes, one after another.
std::vector<ProofCase> cases_on_parts(const ProvedFunction& function, const CaseOptions& options,
                                      Rank ranks) {
  using Gaps = ProofCase::Gaps;
  using Members = ProofCase::Members;
  std::vector<ProofCase> cases;
  const std::vector<std::size_t> counts =
      few_of(options.counts.empty() ? default_counts(function, ranks) : options.counts);
  const bool moves_data = function.form != Form::barrier;
  const bool reduces = function.operation->reduces;
  const bool places = moves_data && function.form != Form::broadcast;
  const Rank first = options.root.value_or(0);
  const Rank last = function.operation->rooted && !options.root ? ranks - 1 : first;
  const auto add = [&](ProofCase call) {
    constexpr std::array kinds{Gaps::none, Gaps::send, Gaps::all, Gaps::receive};
    // Each kind comes with each communicator: `add` is called for one after the other.
    const std::size_t turn = cases.size() / 2 % kinds.size();
    if (moves_data) call.gaps = kinds[turn];
    if (call.has_mixed_types() && !may_mix_types(function, call)) call.gaps = Gaps::all;
    for (const Members members : {Members::reversed, Members::odd_first}) {
      call.members = members;
      cases.push_back(call);
    }
  };
  if (!moves_data) add({});
  for (Rank root = first; moves_data && root <= last; root += std::max(last - first, Rank{1})) {
    for (const std::size_t count : counts) {
      for (const bool commutes : {false, true}) {
        if (commutes && !reduces) continue;
        if (!commutes && reduces && options.only_commuting) continue;
        for (const bool in_place : {false, true}) {
          if (in_place && !places) continue;
          add({count, root, in_place, Gaps::none, commutes});
        }
      }
    }
  }
  return cases;
}

}  // namespace

std::vector<ProofCase> proof_cases(const ProvedFunction& function, const CaseOptions& options,
                                   Rank ranks) {
  using Gaps = ProofCase::Gaps;
  std::vector<ProofCase> cases;
  if (options.on_parts) return cases_on_parts(function, options, ranks);
  if (function.form == Form::barrier) return {{}};
  const std::vector<std::size_t> counts =
      options.counts.empty() ? default_counts(function, ranks) : options.counts;
  const bool reduces = function.operation->reduces;
  const bool places = function.form != Form::broadcast;
  const Rank first = options.root.value_or(0);
  const Rank last = function.operation->rooted && !options.root ? ranks - 1 : first;
  const auto p = static_cast<std::size_t>(ranks);
  for (Rank root = first; root <= last; ++root) {
    const bool all = root == first || root == last;
    std::vector<std::size_t> of_root = counts;
    if (!all) of_root = {options.counts.empty() ? std::size_t{3} : options.counts.back()};
    for (const std::size_t count : of_root) {
      for (const bool commutes : {false, true}) {
        if (commutes && !reduces) continue;
        if (!commutes && reduces && options.only_commuting) continue;
        for (const bool in_place : {false, true}) {
          if (in_place && !places) continue;
          for (const Gaps gaps : {Gaps::none, Gaps::all, Gaps::send, Gaps::receive}) {
            const ProofCase call{count, root, in_place, gaps, commutes};
            if (!call.has_mixed_types() || may_mix_types(function, call)) cases.push_back(call);
          }
        }
      }
    }
  }
  // The one that is kept: parts of equal size, where blocks are cut into one for each rank.
  const std::size_t kept = !options.counts.empty()     ? options.counts.back()
                           : has_many_blocks(function) ? 1
                                                       : p;
  cases.push_back({kept, first, false, Gaps::none, reduces && options.only_commuting});
  return cases;
}

double work_of_cases(const ProvedFunction& function, const CaseOptions& options, Rank ranks) {
  const double blocks = has_many_blocks(function) ? ranks : 1, call = 16;
  double work = 0;
  CaseOptions on_parts = options;
  on_parts.on_parts = true;
  for (const CaseOptions& these : {options, on_parts}) {
    for (const ProofCase& each : proof_cases(function, these, ranks))
      work += ranks * (call + blocks * static_cast<double>(each.count));
  }
  return work;
}

int call_function(const ProvedFunction& function, void* address, const CallArguments& with) {
  const auto& [send, sent, send_type, receive, received, type, op, root, on] = with;
  switch (function.form) {
    case Form::broadcast:
      return reinterpret_cast<decltype(&MPI_Bcast)>(address)(receive, received, type, root, on);
    case Form::reduce:
      return reinterpret_cast<decltype(&MPI_Reduce)>(address)(send, receive, received, type, op,
                                                              root, on);
    case Form::combine:
      return reinterpret_cast<decltype(&MPI_Allreduce)>(address)(send, receive, received, type, op,
                                                                 on);
    case Form::rooted:
      return reinterpret_cast<decltype(&MPI_Gather)>(address)(send, sent, send_type, receive,
                                                              received, type, root, on);
    case Form::exchange:
      return reinterpret_cast<decltype(&MPI_Allgather)>(address)(send, sent, send_type, receive,
                                                                 received, type, on);
    case Form::barrier:
      break;
  }
  return reinterpret_cast<decltype(&MPI_Barrier)>(address)(on);
}

}  // namespace wormcube::mpi
