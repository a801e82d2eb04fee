// The calls of a proof.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/prove/proved_call.hpp"

#include "wormcube/collectives/core/operations.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

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

std::string ProofCase::text(const ProvedFunction& function) const {
  if (function.form == Form::barrier) return "no data";
  std::string text =
      fmt::format("{} element{}{}", count, count == 1 ? "" : "s", in_place ? ", in place" : "");
  if (function.operation->rooted) text += fmt::format(", root {}", root);
  if (gaps) text += ", gaps in the datatype";
  if (function.operation->reduces)
    text += commutes ? ", an operator that commutes" : ", an operator that does not commute";
  return text;
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

std::vector<ProofCase> proof_cases(const ProvedFunction& function, const CaseOptions& options,
                                   Rank ranks) {
  std::vector<ProofCase> cases;
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
          for (const bool gaps : {false, true})
            cases.push_back({count, root, in_place, gaps, commutes});
        }
      }
    }
  }
  // The one that is kept: parts of equal size, where blocks are cut into one for each rank.
  const std::size_t kept = !options.counts.empty()     ? options.counts.back()
                           : has_many_blocks(function) ? 1
                                                       : p;
  cases.push_back({kept, first, false, false, reduces && options.only_commuting});
  return cases;
}

double work_of_cases(const ProvedFunction& function, const CaseOptions& options, Rank ranks) {
  const double blocks = has_many_blocks(function) ? ranks : 1, call = 16;
  double work = 0;
  for (const ProofCase& each : proof_cases(function, options, ranks))
    work += ranks * (call + blocks * static_cast<double>(each.count));
  return work;
}

int call_function(const ProvedFunction& function, void* address, const CallArguments& with) {
  const auto& [send, receive, count, type, op, root, on] = with;
  switch (function.form) {
    case Form::broadcast:
      return reinterpret_cast<decltype(&MPI_Bcast)>(address)(receive, count, type, root, on);
    case Form::reduce:
      return reinterpret_cast<decltype(&MPI_Reduce)>(address)(send, receive, count, type, op, root,
                                                              on);
    case Form::combine:
      return reinterpret_cast<decltype(&MPI_Allreduce)>(address)(send, receive, count, type, op,
                                                                 on);
    case Form::rooted:
      return reinterpret_cast<decltype(&MPI_Gather)>(address)(send, count, type, receive, count,
                                                              type, root, on);
    case Form::exchange:
      return reinterpret_cast<decltype(&MPI_Allgather)>(address)(send, count, type, receive, count,
                                                                 type, on);
    case Form::barrier:
      break;
  }
  return reinterpret_cast<decltype(&MPI_Barrier)>(address)(on);
}

}  // namespace wormcube::mpi
