// How a job's ranks enter and end.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/core/job.hpp"

#include "wormcube/apps/mpi/engine/base/error.hpp"
#include "wormcube/apps/mpi/engine/observers/recording.hpp"
#include "wormcube/runtime/node/forwarding_node.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <numeric>

#include <fmt/core.h>
#include <unistd.h>

namespace wormcube::mpi {
namespace {

Job* the_job = nullptr;

/// Counts the messages for a matrix.
class CountingNode final : public ForwardingNode {
 public:
  CountingNode(Node& node, RankState& rank) : ForwardingNode(node), state_(rank) {}
  using Node::step;
  void step(std::span<const Op> ops) override {
    for (const Op& op : ops) {
      if (!op.is_send()) continue;
      const auto to = static_cast<std::size_t>(peer_of(topology(), rank(), op));
      if (to < state_.sent_to.bytes.size()) state_.sent_to.count(static_cast<Rank>(to), op.bytes());
    }
    node().step(ops);
  }

 private:
  RankState& state_;
};

}  // namespace

void never_return() noexcept {
  for (;;) pause();
}

Job* running_job() noexcept { return the_job; }

Job::Job(const Topology& topology, const Images& images, const JobOptions& options,
         std::vector<std::string> arguments)
    : topology_(topology), images_(images), options_(options), arguments_(std::move(arguments)) {
  std::vector<Rank> all(static_cast<std::size_t>(options.ranks));
  std::iota(all.begin(), all.end(), 0);
  world_ = std::make_shared<SharedCommunicator>(*this, 0, all, "MPI_COMM_WORLD");
  if (options.record) {
    recording_ = std::make_unique<Recording>(options.ranks);
    observers_.add(*recording_);
  }
  if (options.clock) {
    clock_ = std::make_unique<ModelClock>(topology, options.ranks, options.clock->kind,
                                          options.clock->model, options.clock->own_work);
    observers_.add(*clock_);
  }
  if (options.observer != nullptr) observers_.add(*options.observer);
  for (const Rank rank : all) {
    states_.push_back(std::make_unique<RankState>(*this, rank));
    states_.back()->timed = options.timing;
    if (!options.matrix) continue;
    states_.back()->sent_to.bytes.resize(all.size());
    states_.back()->sent_to.messages.resize(all.size());
  }
  the_job = this;
}

Job::~Job() { the_job = nullptr; }

// A rank that calls exit() abandons its frames and the exceptions that it handles.
int Job::enter(RankState& rank) noexcept {
  // Each rank has its own copy, because programs change their arguments.
  std::vector<std::string> words(arguments_);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const Image& image = images_[rank.rank];
  if (setjmp(rank.entry) != 0) return rank.exit_code;
  const int code = options_.program
                       ? options_.program(rank)
                       : image.main(static_cast<int>(words.size()), pointers.data(), environ);
  if (is_forked()) end_forked(rank, code, true);
  rank.exit_code = code & 255;
  rank.ending = true;
  image.finish();
  return rank.exit_code;
}

bool Job::is_forked() const noexcept { return getpid() != process_; }

// The forked process contains neither the other ranks nor the machine.
void Job::end_forked(RankState& rank, int code, bool with_handlers) noexcept {
  if (with_handlers) {
    if (!std::exchange(rank.ending, true)) images_[rank.rank].finish();
    std::fflush(nullptr);
  }
  _exit(code);
}

void Job::run_rank(Node& node) {
  if (node.rank() >= ranks()) return;
  RankState& state = rank(node.rank());
  state.requests = &requests_of(node);
  state.thread_errno = &errno;
  state.node = &node;
  if (options_.matrix) {
    state.counted = std::make_unique<CountingNode>(node, state);
    state.node = state.counted.get();
  }
  state.recording = recording_.get();
  if (!observers_.empty()) {
    state.observers = &observers_;
    state.observed_requests = std::make_unique<ObservedRequests>(
        *state.requests, observers_, state.rank, options_.most_unexpected);
    state.requests = state.observed_requests.get();
    state.observed = std::make_unique<ObservedNode>(*state.node, observers_);
    state.node = state.observed.get();
  }
  current_rank = &state;
  attach(state.world, *state.node, world_);
  state.world.handle = MPI_COMM_WORLD;
  attach(state.self, *state.node,
         std::make_shared<SharedCommunicator>(*this, 1, std::vector<Rank>{state.rank},
                                              "MPI_COMM_SELF"));
  state.self.handle = MPI_COMM_SELF;
  state.began = RankState::Clock::now();
  const int code = enter(state);
  state.whole = RankState::Clock::now() - state.began;
  state.ended = true;
  current_rank = nullptr;
  if ((state.initialized && !state.finalized) || state.sessions > 0) {
    end_here(code == 0 ? 1 : code,
             fmt::format("rank {} ended with exit code {} without calling {}", state.rank, code,
                         state.sessions > 0 ? "MPI_Session_finalize" : "MPI_Finalize"));
  }
  if (code == 0) return;
  const std::lock_guard lock(mutex_);
  if (end_.code == 0) end_.code = code;
}

void Job::end(int code, std::string text) noexcept {
  const std::lock_guard lock(mutex_);
  if (is_over_) return;
  is_over_ = true;
  end_ = {code, std::move(text)};
  done_.notify_all();
}

void Job::end_here(int code, std::string text) noexcept {
  end(code, std::move(text));
  never_return();
}

// The receiver is in that call or, for a nonblocking collective, in any call.
void Job::wrong_message(const WrongMessage& message) noexcept {
  const CurrentCall& call = rank(message.to).call;
  std::string text = "out of memory";
  try {
    text = fmt::format(
        "rank {}: {}: a collective's message from rank {} has {} bytes, but the receive expects "
        "{}: the "
        "two ranks' counts or types do not match{}",
        message.to, name_of(call.function), message.from, message.bytes, message.wanted,
        place(call.at));
  } catch (...) {  // no memory for the text
  }
  end(1, std::move(text));
}

void Job::failed(const std::exception_ptr& error) noexcept {
  constexpr int out_of_memory = 2;
  int code = 1;
  std::string text = "out of memory";
  try {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& thrown) {
      text = thrown.what();
      std::rethrow_if_nested(thrown);
      throw;
    }
  } catch (const std::bad_alloc&) {
    code = out_of_memory;
  } catch (...) {  // the text is already set
  }
  end(code, std::move(text));
}

void Job::all_ended() {
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  done_.notify_all();
}

bool Job::wait_for_end(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  const auto over = [&] { return is_over_; };
  if (limit.count() > 0) return done_.wait_for(lock, limit, over);
  done_.wait(lock, over);
  return true;
}

JobEnd Job::ended() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

std::uint32_t Job::take_id() {
  // Tags of steps have 16 bits for it, and the last context of nonblocking collectives is that of
  // steps.
  constexpr std::uint32_t most = 32766;
  const std::lock_guard lock(ids_mutex_);
  if (!unused_ids_.empty()) {
    const std::uint32_t id = unused_ids_.back();
    unused_ids_.pop_back();
    return id;
  }
  if (next_id_ > most) {
    throw Failure(MPI_ERR_OTHER,
                  fmt::format("too many communicators: at most {} can exist at once", most + 1));
  }
  return next_id_++;
}

Job::Pair Job::pair(const PairKey& key, const std::vector<Rank>& one,
                    const std::vector<Rank>& other, const std::string& name) {
  const std::lock_guard lock(pairs_mutex_);
  const auto [place, is_new] = pairs_.try_emplace(key);
  ComingPair& coming = place->second;
  if (is_new) {
    const bool in_order = one.front() < other.front();
    coming.to_come = one.size() + other.size();
    try {
      coming.pair.lower =
          std::make_shared<SharedCommunicator>(*this, take_id(), in_order ? one : other, name);
      coming.pair.upper =
          std::make_shared<SharedCommunicator>(*this, take_id(), in_order ? other : one, name);
    } catch (...) {
      pairs_.erase(place);
      throw;
    }
  }
  Pair pair = coming.pair;
  if (--coming.to_come == 0) pairs_.erase(place);
  return pair;
}

int Job::number_of_tag(const std::string& tag) {
  const std::lock_guard lock(pairs_mutex_);
  return tags_.try_emplace(tag, -1 - static_cast<int>(tags_.size())).first->second;
}

int Job::meet(const MeetingKey& key) {
  const std::lock_guard lock(meetings_mutex_);
  if (const auto met = meetings_.find(key); met != meetings_.end()) {
    const int tag = met->second;
    meetings_.erase(met);
    return tag;
  }
  constexpr int lowest = any_tag + 1;
  last_meeting_ = last_meeting_ == lowest ? -1 : last_meeting_ - 1;
  return meetings_.emplace(key, last_meeting_).first->second;
}

void Job::give_back_id(std::uint32_t id) noexcept {
  {
    const std::lock_guard lock(meetings_mutex_);
    std::erase_if(meetings_, [&](const auto& each) { return std::get<0>(each.first) == id; });
  }
  const std::lock_guard lock(ids_mutex_);
  unused_ids_.push_back(id);
}

std::string Job::place(const void* address) const {
  const auto offset = images_.offset_of(address);
  if (!offset) return "";
  {
    const std::lock_guard lock(places_mutex_);
    if (const auto known = places_.find(*offset); known != places_.end()) return known->second;
  }
  // One byte before: the call itself, not its return address.
  std::string found = " at " + place_in(images_.program(), *offset - 1);
  const std::lock_guard lock(places_mutex_);
  return places_.try_emplace(*offset, std::move(found)).first->second;
}

namespace {

std::optional<CommunicatorFigures::Grid> grid_of(const SharedCommunicator& shared,
                                                 const Topology& network) {
  const auto grid = shared.grid();
  if (grid == nullptr) return std::nullopt;
  std::string sides;
  for (const int side : grid->sides()) sides += fmt::format("{}{}", sides.empty() ? "" : "x", side);
  return CommunicatorFigures::Grid{sides,
                                   hops_between_neighbours(*grid, network, shared.members())};
}

void add_figures(std::vector<CommunicatorFigures>& all, const SharedCommunicator& shared,
                 const Topology& network) {
  auto place = std::ranges::find_if(all, [&](const CommunicatorFigures& each) {
    return each.name == shared.name && each.ranks == shared.size();
  });
  if (place == all.end()) {
    const bool is_network = shared.is_world_order() && shared.size() == network.nodes();
    all.push_back({shared.name, shared.size(), is_network, 0, {}, grid_of(shared, network)});
    place = all.end() - 1;
  }
  ++place->made;
  shared.each_choice([&](const Choice& choice) {
    if (choice.calls == 0) return;
    const auto same = std::ranges::find_if(place->choices, [&](const Choice& each) {
      return each.operation == choice.operation && each.block_bytes == choice.block_bytes &&
             each.algorithm == choice.algorithm;
    });
    if (same == place->choices.end()) {
      place->choices.push_back(choice);
    } else {
      same->calls += choice.calls;
    }
  });
}

}  // namespace

void Job::remember(const SharedCommunicator& ended) {
  if (ended.id() < 2) return;
  const std::lock_guard lock(mutex_);
  add_figures(remembered_, ended, topology_);
}

std::vector<CommunicatorFigures> Job::communicators() const {
  const std::lock_guard lock(mutex_);
  std::vector<CommunicatorFigures> all;
  add_figures(all, *world_, topology_);
  all.insert(all.end(), remembered_.begin(), remembered_.end());
  std::vector<const SharedCommunicator*> living;
  for (const auto& state : states_) {
    for (const auto& each : state->communicators) {
      if (each->shared == nullptr) continue;
      if (std::ranges::find(living, each->shared.get()) == living.end())
        living.push_back(each->shared.get());
    }
  }
  for (const SharedCommunicator* const each : living) add_figures(all, *each, topology_);
  return all;
}

std::size_t Job::explain_fault(std::span<char> text) const {
  const RankState* const rank = current_rank;
  if (rank == nullptr || &rank->job != this) return 0;
  const char* const name = name_of(rank->call.function);
  const auto end =
      rank->call.inside
          ? fmt::format_to_n(text.data(), text.size(), "rank {}, in {}: ", rank->rank, name)
      : rank->call.function == Function::count
          ? fmt::format_to_n(text.data(), text.size(),
                             "rank {}, before its first MPI call: ", rank->rank)
          : fmt::format_to_n(text.data(), text.size(), "rank {}, after {}: ", rank->rank, name);
  return std::min<std::size_t>(end.size, text.size());
}

}  // namespace wormcube::mpi
