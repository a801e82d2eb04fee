// Clocks that messages advance.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/observers/model_clock.hpp"

#include <algorithm>
#include <utility>

#include <time.h>

namespace wormcube::mpi {
namespace {

constexpr Ticks per_nanosecond = 1000;

std::int64_t processor_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

struct ModelClock::OfRank {
  Ticks now = 0;  // set by its own thread, like worked_until
  std::int64_t worked_until =
      -1;  // processor time that is counted; -1: it is in a call, or has not begun
  std::vector<Channel> path;  // kept so that steady state does not allocate
  std::mutex mutex;  // guards the rest: when messages to it arrive, those of a kind in their order
  std::map<std::tuple<std::uint32_t, Rank, Tag>, std::deque<Ticks>> arrivals;
};

ModelClock::ModelClock(const Topology& topology, Rank ranks, Kind kind, const MachineModel& model,
                       double own_work)
    : routing_(topology),
      kind_(kind),
      model_(model),
      own_work_(kind == Kind::model ? own_work : 0) {
  for (Rank rank = 0; rank < ranks; ++rank) ranks_.push_back(std::make_unique<OfRank>());
}

ModelClock::~ModelClock() = default;

void ModelClock::count_own_work(OfRank& rank) const {
  if (own_work_ == 0 || rank.worked_until < 0) return;
  const std::int64_t now = processor_nanoseconds();
  rank.now += static_cast<Ticks>(static_cast<double>((now - rank.worked_until) * per_nanosecond) *
                                 own_work_);
  rank.worked_until = now;
}

void ModelClock::enter(Rank rank, Function /*function*/) {
  count_own_work(of(rank));
  of(rank).worked_until = -1;
}

void ModelClock::leave(Rank rank) {
  if (own_work_ > 0) of(rank).worked_until = processor_nanoseconds();
}

bool ModelClock::rest(Rank rank) {
  count_own_work(of(rank));
  return std::exchange(of(rank).worked_until, -1) >= 0;
}

Ticks ModelClock::time_of(const SentMessage& message) const {
  if (kind_ == Kind::steps) return 1;
  std::vector<Channel>& path = of(message.from).path;
  path.clear();
  routing_.route(message.from, message.to, path);
  const auto hops = std::ssize(path);
  return model_.startup + (hops == 0 ? 0 : model_.transit(model_.flits(message.bytes), hops));
}

void ModelClock::sent(const SentMessage& message, std::uint64_t /*started*/, bool /*waits*/) {
  OfRank &from = of(message.from), &to = of(message.to);
  const Ticks arrival = from.now + time_of(message);
  if (kind_ == Kind::model) from.now += model_.startup;
  const std::lock_guard lock(to.mutex);
  to.arrivals[{message.context, message.from, message.tag}].push_back(arrival);
}

void ModelClock::received(const SentMessage& message, std::uint64_t /*started*/,
                          std::uint64_t /*ended*/) {
  OfRank& to = of(message.to);
  const std::lock_guard lock(to.mutex);
  const auto found = to.arrivals.find({message.context, message.from, message.tag});
  to.now = std::max(to.now, found->second.front());
  found->second.pop_front();
  if (found->second.empty()) to.arrivals.erase(found);
}

void ModelClock::accessed(const Access& access) {
  of(access.message.from).now += time_of(access.message);
}

double ModelClock::look(Rank rank) {
  constexpr Ticks a_look = 1'000'000;
  OfRank& own = of(rank);
  if (kind_ == Kind::steps) return static_cast<double>(own.now);
  count_own_work(own);
  own.now += a_look;
  return static_cast<double>(own.now) / 1e12;
}

void ModelClock::pass(Rank rank, std::chrono::nanoseconds time) {
  constexpr std::chrono::nanoseconds most =
      std::chrono::hours(24 * 30);  // longer times overflow the ticks
  if (kind_ == Kind::model) of(rank).now += std::min(time, most).count() * per_nanosecond;
}

double ModelClock::latest() const {
  Ticks latest = 0;
  for (const auto& rank : ranks_) latest = std::max(latest, rank->now);
  return static_cast<double>(latest) / (kind_ == Kind::model ? 1e6 : 1);
}

}  // namespace wormcube::mpi
