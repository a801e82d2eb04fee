// Observers of the ranks' calls and messages: a recording, a modelled clock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/function.hpp"
#include "wormcube/runtime/node/forwarding_node.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace wormcube::mpi {

/// A message between two ranks of the world.
struct SentMessage {
  Rank from = 0, to = 0;
  std::uint32_t context = 0;
  Tag tag = 0;
  Bytes bytes = 0;
  /// Its bytes, packed, valid during a report of `sent` or `received`. Empty for messages of
  /// collectives and for actions.
  ConstSpan data = {};
};

/// An action at another rank, or one at the rank itself that moves data, in which that rank's
/// program takes no part.
struct Access {
  SentMessage message;
  std::uint64_t started = 0, ended = 0;  ///< as of a message that waits
  std::chrono::steady_clock::time_point began = {}, acted = {};
};

/// Threads  the ranks', each for itself.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void enter(Rank rank, Function function) = 0;
  virtual void leave(Rank rank) = 0;
  /// A receive begins. \param started  the number that received() repeats
  virtual void posted(Rank /*rank*/, const MessagePattern& /*from*/, std::uint64_t /*started*/) {}
  /// Which messages a receive or probe may match: an observer that tries orders of arrival narrows
  /// the pattern. Called before posted().
  virtual MessagePattern narrowed(Rank /*rank*/, const MessagePattern& from,
                                  MessageQueries& /*messages*/) {
    return from;
  }
  /// \param started  a number above all numbers given to events that happened before this one
  /// \param waits  whether the send completes only when it is received
  virtual void sent(const SentMessage& message, std::uint64_t started, bool waits) = 0;
  /// \param ended  the same kind of number for the end
  virtual void send_ended(const SentMessage& /*message*/, std::uint64_t /*started*/,
                          std::uint64_t /*ended*/) {}
  virtual void received(const SentMessage& message, std::uint64_t started, std::uint64_t ended) = 0;
  /// Called by the sending rank when the access is complete.
  virtual void accessed(const Access& access) = 0;
};

/// All observers of a job.
class Observers {
 public:
  void add(Observer& observer) { all_.push_back(&observer); }
  bool empty() const { return all_.empty(); }

  std::uint64_t stamp() { return 1 + stamps_.fetch_add(1, std::memory_order_acq_rel); }
  void enter(Rank rank, Function function) {
    for (Observer* const each : all_) each->enter(rank, function);
  }
  void leave(Rank rank) {
    for (Observer* const each : all_) each->leave(rank);
  }
  void posted(Rank rank, const MessagePattern& from, std::uint64_t started) {
    for (Observer* const each : all_) each->posted(rank, from, started);
  }
  MessagePattern narrowed(Rank rank, MessagePattern from, MessageQueries& messages) {
    for (Observer* const each : all_) from = each->narrowed(rank, from, messages);
    return from;
  }
  void sent(const SentMessage& message, std::uint64_t started, bool waits) {
    for (Observer* const each : all_) each->sent(message, started, waits);
  }
  void send_ended(const SentMessage& message, std::uint64_t started) {
    const std::uint64_t ended = stamp();
    for (Observer* const each : all_) each->send_ended(message, started, ended);
  }
  void received(const SentMessage& message, std::uint64_t started) {
    const std::uint64_t ended = stamp();
    for (Observer* const each : all_) each->received(message, started, ended);
  }
  void accessed(const Access& access) {
    for (Observer* const each : all_) each->accessed(access);
  }

 private:
  std::vector<Observer*> all_;
  std::atomic<std::uint64_t> stamps_{0};
};

/// Requests that report to observers.
class ObservedRequests final : public Requests {
 public:
  /// \param most_unexpected  standard sends of up to this many bytes do not wait for their receive
  ObservedRequests(Requests& below, Observers& observers, Rank rank, Bytes most_unexpected)
      : below_(below), observers_(observers), rank_(rank), most_early_(most_unexpected) {}

  Request start(const Op& op, std::uint32_t context, Mode mode, std::uint64_t note) override;
  Request start(const MessagePattern& from, Span room) override;
  Request prepare(const Op& op, std::uint32_t context, Mode mode, std::uint64_t note) override;
  Request prepare(const MessagePattern& from, Span room) override;
  void restart(Request request) override;
  void free(Request& request) override { below_.free(request); }
  bool test(Request& request, Status* status) override;
  bool is_ready(Request request) override { return below_.is_ready(request); }
  Status look_at(Request request) override { return below_.look_at(request); }
  Status wait(Request& request) override;
  void wait_all(std::span<Request> requests, std::span<Status> statuses) override;
  std::optional<std::size_t> wait_any(std::span<Request> requests, Status& status) override;
  std::size_t wait_some(std::span<Request> requests, std::span<std::size_t> indices,
                        std::span<Status> statuses) override;
  std::optional<Status> probe(const MessagePattern& pattern) override {
    return below_.probe(narrowed(pattern));
  }
  Status wait_for(const MessagePattern& pattern) override {
    return below_.wait_for(narrowed(pattern));
  }
  std::optional<Request> take(const MessagePattern& pattern, Status& status) override;
  Request wait_to_take(const MessagePattern& pattern, Status& status) override;
  void receive(Request taken, Span room) override {
    of(taken).room = room;
    below_.receive(taken, room);
  }
  void act_at(Rank to, Bytes bytes, FunctionRef action) override;
  bool cancel(Request request) override { return below_.cancel(request); }
  void sleep(std::chrono::nanoseconds time) override { below_.sleep(time); }
  std::uint32_t open_scope() noexcept override { return below_.open_scope(); }
  bool close_scope(std::uint32_t scope) noexcept override { return below_.close_scope(scope); }
  Request open() override;
  void settle(Request request) override { below_.settle(request); }
  void set_progress_engine(ProgressEngine* engine) override { below_.set_progress_engine(engine); }
  Request start_background(const Op& op, std::uint32_t context) override;
  bool end_background(Request& request) override;

 private:
  struct Open {
    bool is_send = false, active = false, waits = false;
    SentMessage message;  // for a receive only the context
    std::uint64_t started = 0;
    MessagePattern from = {};  // of a receive
    Span room = {};
  };
  Open& of(Request request);
  MessagePattern narrowed(const MessagePattern& from) {
    return observers_.narrowed(rank_, from, below_);
  }
  void describe(Request request, const Op& op, std::uint32_t context, Mode mode);
  void describe(Request request, const MessagePattern& from, Span room, std::uint64_t started,
                bool active);
  /// \param was  its state before it ended
  void ended(Request was, const Status& status);

  Requests& below_;
  Observers& observers_;
  const Rank rank_;
  const Bytes most_early_;
  std::vector<Open> open_;  // by slot
  std::vector<Request> before_;
  std::vector<Status> statuses_;
};

/// A node that reports its steps to observers.
class ObservedNode final : public ForwardingNode {
 public:
  ObservedNode(Node& node, Observers& observers) : ForwardingNode(node), observers_(observers) {}
  using Node::step;
  void step(std::span<const Op> ops) override;

 private:
  Observers& observers_;
  std::vector<std::uint64_t> started_;  // by op
};

}  // namespace wormcube::mpi
