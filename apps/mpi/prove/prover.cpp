// The ranks' part of a proof: buffers, calls, and what is observed.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/prove/prover.hpp"

#include "wormcube/apps/mpi/engine/run/functions.hpp"
#include "wormcube/collectives/core/operations.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

using Form = ProvedFunction::Form;

constexpr ElementLayout with_gaps{3 * sizeof(Handle), sizeof(Handle)};

Prover* the_prover = nullptr;

void combine_elements(void* in, void* inout, int* count, MPI_Datatype* type) {
  the_prover->combine(*current_rank, in, inout, *count, *type);
}

/// Also those that start one.
bool is_collective(std::string_view name) {
  constexpr std::array<std::string_view, 7> stems{"Barrier", "Bcast",  "Gather", "Scatter",
                                                  "All",     "Reduce", "Exscan"};
  name.remove_prefix(std::min(name.size(), std::string_view("MPI_").size()));
  if (name.starts_with("Alloc") || name.starts_with("Reduce_local")) return false;
  if (name == "Scan" || name == "Iscan" || name == "Scan_init") return true;
  const auto begins = [](std::string_view text, std::string_view stem) {
    return text.starts_with(stem);
  };
  for (const std::string_view stem : stems) {
    if (begins(name, stem)) return true;
    std::string small(stem);
    small[0] = static_cast<char>(small[0] - 'A' + 'a');
    if (name.starts_with('I') && begins(name.substr(1), small)) return true;
  }
  return false;
}

}  // namespace

Prover::Prover(const ProvedFunction& function, std::string name, const CaseOptions& options,
               Rank ranks)
    : function_(function),
      name_(std::move(name)),
      size_(ranks),
      cases_(proof_cases(function, options, ranks)),
      ranks_(static_cast<std::size_t>(ranks)),
      marks_(ranks) {
  the_prover = this;
}

Arguments Prover::arguments() const {
  Arguments arguments;
  arguments.root = now().root;
  return arguments;
}

std::vector<Rank> Prover::returned() const {
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < size_; ++rank) {
    if (ranks_[static_cast<std::size_t>(rank)].returned) ranks.push_back(rank);
  }
  return ranks;
}

void Prover::make_objects(RankData& own) {
  const WormcubeMpiFunctions& mpi = provided_functions();
  mpi.MPI_Comm_dup(MPI_COMM_WORLD, &own.comm);
  mpi.MPI_Comm_set_name(own.comm, "the proof's communicator");
  mpi.MPI_Type_contiguous(1, MPI_UINT64_T, &own.plain);
  mpi.MPI_Type_commit(&own.plain);
  const int one = 1;
  const auto place = static_cast<MPI_Aint>(with_gaps.offset);
  MPI_Datatype moved{};
  mpi.MPI_Type_create_hindexed(1, &one, &place, MPI_UINT64_T, &moved);
  mpi.MPI_Type_create_resized(moved, 0, static_cast<MPI_Aint>(with_gaps.extent), &own.gapped);
  mpi.MPI_Type_commit(&own.gapped);
  mpi.MPI_Type_free(&moved);
  mpi.MPI_Op_create(combine_elements, 0, &own.in_order);
  mpi.MPI_Op_create(combine_elements, 1, &own.commuting);
}

int Prover::run_rank(RankState& state) {
  const WormcubeMpiFunctions& mpi = provided_functions();
  try {
    RankData& own = data(state.rank);
    own.state = &state;
    own.address = state.job.images().find(state.rank, name_.c_str());
    if (own.address == nullptr) {
      throw UsageError(
          fmt::format("{} defines no function {}; define it (not static, in C++ extern \"C\"), or "
                      "name another one "
                      "by --function",
                      state.job.images().program(), name_));
    }
    mpi.MPI_Init(nullptr, nullptr);
    make_objects(own);
    do {
      fill(state.rank);
      call(state.rank);
      mpi.MPI_Barrier(MPI_COMM_WORLD);
      if (state.rank == 0) goes_on_ = judge();
      mpi.MPI_Barrier(MPI_COMM_WORLD);
    } while (goes_on_);
    mpi.MPI_Finalize();
    return 0;
  } catch (const std::exception& error) {
    refuse(state, error.what());
  }
}

void Prover::refuse(RankState& state, const std::string& why) {
  outcome_.refusal = why;
  state.job.end_here(1, why);
}

void Prover::fill(Rank rank) {
  const std::lock_guard lock(mutex_);
  RankData& own = data(rank);
  if (rank == 0) on_case(current_case());
  own.returned = false;
  own.is_send_given = own.keeps_receive = false;
  own.given.clear();
  own.held.clear();
  own.send = own.receive = Elements();
  if (function_.form == Form::barrier) return;
  const ProofCase& call = now();
  const std::size_t count = call.count;
  const ElementLayout layout = call.gaps ? with_gaps : ElementLayout{};
  const Arguments with = arguments();
  const Instance instance{size_, with};
  const OperationRow& row = *function_.operation.operator->();
  const auto gives = static_cast<std::size_t>(row.gives(instance, rank));
  const auto ends = static_cast<std::size_t>(row.ends_with(instance, rank));
  const bool is_root = rank == call.root;
  const bool is_scatter = function_.operation == Operation(operations::scatter);
  const bool in_place = call.in_place && (!row.rooted || is_root);
  const std::size_t blocks = static_cast<std::size_t>(size_);

  std::vector<Handle> inputs;
  for (std::size_t block = 0; block < gives; ++block) {
    for (std::size_t i = 0; i < count; ++i)
      inputs.push_back(marks_.input(rank, static_cast<Rank>(block), static_cast<Rank>(i)));
  }
  // The receive buffer: where the function's data lie in place, else nothing written yet.
  const bool moves_input = function_.form == Form::broadcast || (in_place && !is_scatter);
  std::size_t room = std::max(ends, moves_input ? gives : 0);
  own.keeps_receive = row.rooted && ends == 0;
  if (own.keeps_receive) room = function_.form == Form::rooted ? blocks : 1;
  for (std::size_t i = 0; i < room * count; ++i)
    own.held.push_back(marks_.unwritten(rank, static_cast<Rank>(i)));
  if (moves_input && gives > 0) {
    const bool is_gathered = ends > gives;
    const std::size_t first = is_gathered ? static_cast<std::size_t>(rank) * count : 0;
    std::ranges::copy(inputs, own.held.begin() + static_cast<std::ptrdiff_t>(first));
  }
  own.receive = Elements(layout, own.held.size(), 11);
  for (std::size_t i = 0; i < own.held.size(); ++i) own.receive.set(i, own.held[i]);
  if (moves_input) return;
  own.is_send_given = true;
  own.given = std::move(inputs);
  if (gives == 0) {  // a scatter's, which is significant at the root only
    for (std::size_t i = 0; i < count; ++i)
      own.given.push_back(marks_.unwritten(rank, static_cast<Rank>(i)));
  }
  own.send = Elements(layout, own.given.size(), 101);
  for (std::size_t i = 0; i < own.given.size(); ++i) own.send.set(i, own.given[i]);
}

void Prover::call(Rank rank) {
  RankData& own = data(rank);
  const ProofCase& call = now();
  const bool is_root = rank == call.root;
  const bool is_scatter = function_.operation == Operation(operations::scatter);
  CallArguments with{own.is_send_given ? own.send.data() : MPI_IN_PLACE,
                     call.in_place && is_scatter && is_root ? MPI_IN_PLACE : own.receive.data(),
                     static_cast<int>(call.count),
                     call.gaps ? own.gapped : own.plain,
                     call.commutes ? own.commuting : own.in_order,
                     call.root,
                     own.comm};
  own.inside = true;
  own.result = call_function(function_, own.address, with);
  own.inside = false;
  own.returned = true;
  current_rank = own.state;
}

void Prover::combine(RankState& state, const void* in, void* inout, int count, MPI_Datatype type) {
  RankData& own = data(state.rank);
  const ElementLayout layout = type == own.gapped ? with_gaps : ElementLayout{};
  const auto* const left = static_cast<const std::byte*>(in);
  auto* const right = static_cast<std::byte*>(inout);
  try {
    const std::lock_guard lock(mutex_);
    CallLog::Combination combination{state.rank, state.observers->stamp(), {}};
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const std::size_t at = i * layout.extent + layout.offset;
      Handle one = 0, other = 0;
      std::memcpy(&one, left + at, sizeof one);
      std::memcpy(&other, right + at, sizeof other);
      const Handle both = marks_.combined(state.rank, one, other);
      std::memcpy(right + at, &both, sizeof both);
      combination.results.push_back(*marks_.number_of(both));
    }
    log_.combinations.push_back(std::move(combination));
  } catch (const std::exception& error) {
    refuse(state, error.what());
  }
}

void Prover::enter(Rank rank, Function function) {
  if (!data(rank).inside || !is_collective(name_of(function))) return;
  const std::lock_guard lock(mutex_);
  log_.collectives.insert(function);
}

void Prover::posted(Rank rank, const MessagePattern& from, std::uint64_t started) {
  const RankData& own = data(rank);
  if (!own.inside) return;
  const std::lock_guard lock(mutex_);
  log_.any_source = log_.any_source || from.source == any_source;  // persistent ones, too
  log_.posted.emplace(started, CallSite{own.state->call.function, own.state->call.at});
}

// A probe without success lets the other ranks go on.
MessagePattern Prover::narrowed(Rank rank, const MessagePattern& from, MessageQueries& messages) {
  if (!data(rank).inside || from.source != any_source) return from;
  {
    const std::lock_guard lock(mutex_);
    log_.any_source = true;
  }
  if (!takes_last) return from;
  std::vector<bool> is_here(static_cast<std::size_t>(size_));
  MessagePattern last = from;
  constexpr int quiet_rounds = 2;
  for (int quiet = 0; quiet < quiet_rounds; ++quiet) {
    for (Rank source = 0; source < size_; ++source) {
      if (is_here[static_cast<std::size_t>(source)]) continue;
      const MessagePattern exact{source, from.tag, from.context};
      if (!messages.probe(exact)) continue;
      is_here[static_cast<std::size_t>(source)] = true;
      last = exact;
      quiet = -1;
    }
  }
  return last;
}

namespace {

/// The marks of a message, and whether it is made of them.
bool read_marks(const SentMessage& message, const Marks& marks, std::vector<std::uint32_t>& found) {
  const std::size_t count = message.data.size() / sizeof(Handle);
  bool is_whole = message.data.size() == message.bytes && message.bytes % sizeof(Handle) == 0;
  found.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    Handle handle = 0;
    std::memcpy(&handle, message.data.data() + i * sizeof handle, sizeof handle);
    const auto number = marks.number_of(handle);
    is_whole = is_whole && number.has_value();
    if (number) found.push_back(*number);
  }
  return is_whole;
}

}  // namespace

void Prover::sent(const SentMessage& message, std::uint64_t started, bool waits) {
  const RankData& own = data(message.from);
  if (!own.inside) return;
  const std::lock_guard lock(mutex_);
  CallLog::End end{message, started, 0, waits, {own.state->call.function, own.state->call.at},
                   {},      false};
  end.is_whole = read_marks(message, marks_, end.marks);
  log_.send_by_start.emplace(started, log_.sends.size());
  log_.sends.push_back(std::move(end));
}

void Prover::send_ended(const SentMessage&, std::uint64_t started, std::uint64_t ended) {
  const std::lock_guard lock(mutex_);
  if (const auto found = log_.send_by_start.find(started); found != log_.send_by_start.end())
    log_.sends[found->second].ended = ended;
}

void Prover::received(const SentMessage& message, std::uint64_t started, std::uint64_t ended) {
  const RankData& own = data(message.to);
  if (!own.inside) return;
  const std::lock_guard lock(mutex_);
  const auto site = log_.posted.find(started);
  CallLog::End end{message,
                   started,
                   ended,
                   false,
                   site != log_.posted.end()
                       ? site->second
                       : CallSite{own.state->call.function, own.state->call.at},
                   {},
                   false};
  end.is_whole = read_marks(message, marks_, end.marks);
  log_.receives.push_back(std::move(end));
}

bool Prover::judge() {
  const std::lock_guard lock(mutex_);
  std::optional<ProofFinding> finding;
  for (Rank rank = 0; rank < size_ && !finding; ++rank) finding = wrong_result(rank);
  for (Rank rank = 0; rank < size_ && !finding; ++rank) finding = wrong_memory(rank);
  if (!finding) finding = left_over();
  if (!finding && function_.form == Form::barrier) finding = not_all_entered();
  const bool is_last = case_ + 1 == cases_.size();
  bool is_passed_on = false;
  for (const Function each : log_.collectives) {
    const std::string name = name_of(each);
    if (name == function_.name) {
      is_passed_on = true;
    } else if (std::ranges::find(outcome_.collectives, name) == outcome_.collectives.end()) {
      outcome_.collectives.push_back(name);
    }
  }
  outcome_.any_source = outcome_.any_source || log_.any_source;
  if (finding) {
    outcome_.finding = std::move(finding);
    outcome_.finding_case = current_case();
    return false;
  }
  ++outcome_.cases;
  outcome_.passed_on += is_passed_on ? 1 : 0;
  if (is_last) {
    if (is_passed_on) {
      outcome_.no_schedule = fmt::format("the call is passed on to P{}", function_.name);
    } else if (function_.form != Form::barrier) {
      keep_schedule();
    }
    return false;
  }
  marks_.begin_call();
  log_.clear();
  ++case_;
  return true;
}

}  // namespace wormcube::mpi
