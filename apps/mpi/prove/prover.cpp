// The ranks' part of a proof: buffers, calls, and what is observed.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/prove/prover.hpp"

#include "wormcube/apps/mpi/engine/messages/messages.hpp"
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

ElementLayout layout_of(bool has_gaps) { return has_gaps ? with_gaps : ElementLayout{}; }

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
      on_parts_(options.on_parts),
      cases_(proof_cases(function, options, ranks)),
      ranks_(world_ranks(cases_.front().members, ranks).size()),
      marks_(ranks) {
  the_prover = this;
  for (const ProofCase& each : cases_) {
    const auto members = static_cast<std::size_t>(each.members);
    orders_[members] = world_ranks(each.members, ranks);
    std::vector<Rank>& places = places_[members];
    places.resize(orders_[members].size());
    for (std::size_t i = 0; i < places.size(); ++i)
      places[static_cast<std::size_t>(orders_[members][i])] = static_cast<Rank>(i);
  }
}

Arguments Prover::arguments() const {
  Arguments arguments;
  arguments.root = now().root;
  return arguments;
}

std::vector<Rank> Prover::returned() const {
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < world_size(); ++rank) {
    if (ranks_[static_cast<std::size_t>(rank)].returned) ranks.push_back(rank);
  }
  return ranks;
}

void Prover::make_objects(RankData& own) {
  const WormcubeMpiFunctions& mpi = provided_functions();
  for (std::size_t i = 0; i < own.comms.size(); ++i) {
    if (orders_[i].empty()) continue;
    const Rank place = places_[i][static_cast<std::size_t>(own.state->rank)];
    mpi.MPI_Comm_split(MPI_COMM_WORLD, place < size_ ? 0 : MPI_UNDEFINED, place, &own.comms[i]);
    if (place < size_) mpi.MPI_Comm_set_name(own.comms[i], "the proof's communicator");
  }
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
      fill(own);
      const bool has_message = has_message_beside();
      if (on_parts_) begin_beside(own, has_message);
      if (place_of(state.rank) < size_) call(own);
      mpi.MPI_Barrier(MPI_COMM_WORLD);
      if (state.rank == 0) goes_on_ = judge();
      mpi.MPI_Barrier(MPI_COMM_WORLD);
      if (!on_parts_ || outcome_.finding) continue;
      end_beside(own, has_message);
      mpi.MPI_Barrier(MPI_COMM_WORLD);  // the next messages are not for this receive
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

void Prover::fill(RankData& own) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(shown_case_, case_) != case_) on_case(current_case());
  own.returned = false;
  own.open.reset();
  own.is_send_given = own.keeps_receive = false;
  own.given.clear();
  own.held.clear();
  own.send = own.receive = Elements();
  const Rank rank = place_of(own.state->rank);
  if (function_.form == Form::barrier || rank >= size_) return;
  const ProofCase& call = now();
  const std::size_t count = call.count;
  // A function that uses the other side's datatype stays within the buffer.
  const std::size_t least_extent = call.has_mixed_types() ? with_gaps.extent : 0;
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
  const bool is_sending_side = function_.form == Form::broadcast && is_root;
  own.receive =
      Elements(layout_of(call.has_gaps(is_sending_side)), own.held.size(), 11, least_extent);
  for (std::size_t i = 0; i < own.held.size(); ++i) own.receive.set(i, own.held[i]);
  if (moves_input) return;
  own.is_send_given = true;
  own.given = std::move(inputs);
  if (gives == 0) {  // a scatter's, which is significant at the root only
    for (std::size_t i = 0; i < count; ++i)
      own.given.push_back(marks_.unwritten(rank, static_cast<Rank>(i)));
  }
  own.send = Elements(layout_of(call.has_gaps(true)), own.given.size(), 101, least_extent);
  for (std::size_t i = 0; i < own.given.size(); ++i) own.send.set(i, own.given[i]);
}

void Prover::call(RankData& own) {
  const ProofCase& call = now();
  const bool is_root = place_of(own.state->rank) == call.root;
  const bool is_scatter = function_.operation == Operation(operations::scatter);
  CallArguments with{
      .send = own.is_send_given ? own.send.data() : MPI_IN_PLACE,
      .receive = call.in_place && is_scatter && is_root ? MPI_IN_PLACE : own.receive.data(),
      .op = call.commutes ? own.commuting : own.in_order,
      .root = call.root,
      .on = own.comms[static_cast<std::size_t>(call.members)]};
  const bool is_broadcast = function_.form == Form::broadcast;
  const auto set_side = [&](bool sends, int& count, MPI_Datatype& type) {
    const bool has_gaps = call.has_gaps(is_broadcast ? is_root : sends);
    const bool is_one = has_gaps && call.has_mixed_types() && !is_broadcast;
    count = is_one ? 1 : static_cast<int>(call.count);
    type = is_one ? gapped_block(own) : has_gaps ? own.gapped : own.plain;
  };
  set_side(true, with.send_count, with.send_type);
  set_side(false, with.receive_count, with.receive_type);
  own.inside = true;
  own.result = call_function(function_, own.address, with);
  own.open = open_request(own);
  current_rank = own.state;  // others may have run meanwhile
  own.inside = false;
  own.returned = true;
}

MPI_Datatype Prover::gapped_block(RankData& own) const {
  const auto [place, is_new] = own.gapped_blocks.try_emplace(now().count);
  if (is_new) {
    const WormcubeMpiFunctions& mpi = provided_functions();
    mpi.MPI_Type_contiguous(static_cast<int>(now().count), own.gapped, &place->second);
    mpi.MPI_Type_commit(&place->second);
  }
  return place->second;
}

// What MPI completes is no matter of time: a request that nobody has waited for is open although
// its transfer may be done. A freed one is complete if its transfer is done at this moment: the
// function may know that from a later message. An empty send needs no buffer.
std::optional<Prover::OpenRequest> Prover::open_request(const RankData& own) {
  using Kind = RequestObject::Kind;
  RankState& state = *own.state;
  const auto is_under_way = [&](Request request) {
    return !request.is_null() && state.requests->look_at(request).source == any_source;
  };
  std::optional<OpenRequest> found;
  state.pool.each([&](const RequestObject& object) {
    if (found || !object.active || object.to_nobody || object.is_known_complete ||
        object.kind == Kind::generalized || object.buffer)
      return;
    const auto is_it = [&](const void* other) { return other == &object; };
    if (std::ranges::any_of(own.beside, is_it)) return;
    const bool is_freed = std::ranges::any_of(state.pool.detached, is_it);
    const bool is_empty_send = object.kind == Kind::send && object.bytes == 0;
    if (is_freed && (is_empty_send ||
                     !(object.held || is_under_way(object.inner) || is_under_way(object.next))))
      return;
    found = OpenRequest{{object.started_by, object.at}, is_freed};
  });
  if (!found) reap_detached(state, false);  // delivers what freed receives have got
  return found;
}

// Each rank of the world sends to the next, whether or not it is in the communicator.
void Prover::begin_beside(RankData& own, bool has_message) {
  const WormcubeMpiFunctions& mpi = provided_functions();
  const int next = (own.state->rank + 1) % world_size();
  own.beside.fill(MPI_REQUEST_NULL);
  own.beside_data.fill(0);
  if (!has_message) {
    mpi.MPI_Irecv(own.beside_data.data(), 1, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG,
                  MPI_COMM_WORLD, own.beside.data());
    return;
  }
  for (std::size_t tag = 0; tag < own.beside.size(); ++tag) {
    mpi.MPI_Isend(&own.beside_data[tag], 1, MPI_UINT64_T, next, static_cast<int>(tag),
                  MPI_COMM_WORLD, &own.beside[tag]);
  }
}

// A function that took such a message has a wrong result, and one whose message went to the receive
// never gets it: neither comes here.
void Prover::end_beside(RankData& own, bool has_message) {
  const WormcubeMpiFunctions& mpi = provided_functions();
  if (!has_message) {
    mpi.MPI_Cancel(own.beside.data());
    mpi.MPI_Wait(own.beside.data(), MPI_STATUS_IGNORE);
    return;
  }
  const int previous = (own.state->rank + world_size() - 1) % world_size();
  Handle unused = 0;
  for (std::size_t i = 0; i < own.beside.size(); ++i) {
    mpi.MPI_Recv(&unused, 1, MPI_UINT64_T, previous, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  mpi.MPI_Waitall(static_cast<int>(own.beside.size()), own.beside.data(), MPI_STATUSES_IGNORE);
}

void Prover::combine(RankState& state, const void* in, void* inout, int count, MPI_Datatype type) {
  RankData& own = data(state.rank);
  const ElementLayout layout = type == own.gapped ? with_gaps : ElementLayout{};
  const auto* const left = static_cast<const std::byte*>(in);
  auto* const right = static_cast<std::byte*>(inout);
  try {
    const std::lock_guard lock(mutex_);
    CallLog::Combination combination{place_of(state.rank), state.observers->stamp(), {}};
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      const std::size_t at = i * layout.extent + layout.offset;
      Handle one = 0, other = 0;
      std::memcpy(&one, left + at, sizeof one);
      std::memcpy(&other, right + at, sizeof other);
      const Handle both = marks_.combined(place_of(state.rank), one, other);
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
  note_world(own, from.context);
}

void Prover::note_world(const RankData& own, std::uint32_t context) {
  if (context == own.state->world.context() && !log_.on_world)
    log_.on_world = CallSite{own.state->call.function, own.state->call.at};
}

// A probe without success lets the other ranks go on.
MessagePattern Prover::narrowed(Rank rank, const MessagePattern& from, MessageQueries& messages) {
  if (!data(rank).inside || from.source != any_source) return from;
  {
    const std::lock_guard lock(mutex_);
    log_.any_source = true;
  }
  if (!takes_last) return from;
  std::vector<bool> is_here(ranks_.size());
  MessagePattern last = from;
  constexpr int quiet_rounds = 2;
  for (int quiet = 0; quiet < quiet_rounds; ++quiet) {
    for (Rank source = 0; source < world_size(); ++source) {
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
  note_world(own, message.context);
  CallLog::End end{placed(message),
                   started,
                   0,
                   waits,
                   {own.state->call.function, own.state->call.at},
                   {},
                   false};
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
  CallLog::End end{placed(message),
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
  for (Rank rank = 0; rank < size_ && !finding; ++rank) finding = incomplete(rank);
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
    if (const std::string text = hint(); !text.empty())
      finding->cause += (finding->cause.empty() ? "" : "; ") + text;
    outcome_.finding = std::move(finding);
    outcome_.finding_case = current_case();
    return false;
  }
  ++outcome_.cases;
  outcome_.passed_on += is_passed_on ? 1 : 0;
  if (is_last) {
    if (is_passed_on) {
      outcome_.no_schedule = fmt::format("the call is passed on to P{}", function_.name);
    } else if (function_.form != Form::barrier && !on_parts_) {
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
