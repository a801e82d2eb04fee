// One node's requests, over any transport of messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/message.hpp"
#include "wormcube/runtime/network/tag_query.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace wormcube {

/// What a node's requests need from it. Each may throw Stopped, and Deadlock as a step does.
class RequestHost {
 public:
  virtual ~RequestHost() = default;
  /// Sets the worm's route. Throws UsageError.
  virtual void address(Worm& worm, const Op& op) = 0;
  virtual void launch(Worm& worm) = 0;
  virtual void post(Receive& receive) = 0;
  virtual void ask(TagQuery& query) = 0;
  /// Waits until all are complete, or one is.
  virtual void wait_for_all(std::span<Transfer* const> transfers) = 0;
  virtual void wait_for_one(std::span<Transfer* const> transfers) = 0;
  /// Lets other nodes run.
  virtual void give_way() = 0;
  /// The same after an unsuccessful poll: if all nodes here only poll for long, they leave their
  /// core to others.
  virtual void poll() = 0;
  virtual void sleep(std::chrono::nanoseconds time) = 0;
  /// Counts a call that did not wait: after some of them others run.
  virtual void count_turn() = 0;
  virtual void count_received() = 0;
  /// Reports that something the node waits for is complete by its own action.
  virtual void arrive() = 0;
  virtual void set_progress_engine(ProgressEngine* engine) = 0;
  /// Whether an exception propagates through the program while it waits for requests.
  virtual void set_unwinding(bool is_unwinding) noexcept = 0;
};

/// Threads     the node's own program.
/// Invariants  a slot is in use from its start to its end; its worm or receive stays where it is,
///             and is the network's while it is active and not complete.
class RequestTable final : public Requests {
 public:
  /// \param shuffle  MessagingOptions::shuffle
  RequestTable(RequestHost& host, Rank rank, Rank nodes, std::optional<std::uint64_t> shuffle)
      : host_(host), rank_(rank), nodes_(nodes), shuffle_(shuffle) {
    reset();
  }

  Request start(const Op& op, std::uint32_t context, Mode mode, std::uint64_t note) override;
  Request start(const MessagePattern& from, Span room) override;
  Request prepare(const Op& op, std::uint32_t context, Mode mode, std::uint64_t note) override;
  Request prepare(const MessagePattern& from, Span room) override;
  void restart(Request request) override;
  void free(Request& request) override;
  bool test(Request& request, Status* status) override;
  bool is_ready(Request request) override;
  Status look_at(Request request) override;
  Status wait(Request& request) override;
  void wait_all(std::span<Request> requests, std::span<Status> statuses) override;
  std::optional<std::size_t> wait_any(std::span<Request> requests, Status& status) override;
  std::size_t wait_some(std::span<Request> requests, std::span<std::size_t> indices,
                        std::span<Status> statuses) override;
  std::optional<Status> probe(const MessagePattern& pattern) override;
  Status wait_for(const MessagePattern& pattern) override;
  std::optional<Request> take(const MessagePattern& pattern, Status& status) override;
  Request wait_to_take(const MessagePattern& pattern, Status& status) override;
  void receive(Request taken, Span room) override;
  void act_at(Rank to, Bytes bytes, FunctionRef action) override;
  bool cancel(Request request) override;
  std::uint32_t open_scope() noexcept override { return ++scope_; }
  bool close_scope(std::uint32_t scope) noexcept override;
  Request open() override;
  void settle(Request request) override;
  void set_progress_engine(ProgressEngine* engine) override { host_.set_progress_engine(engine); }
  Request start_background(const Op& op, std::uint32_t context) override;
  bool end_background(Request& request) override;
  void sleep(std::chrono::nanoseconds time) override { host_.sleep(time); }

  /// The generation of the next request in the same slot: never 0, which is the null request's.
  static constexpr std::uint32_t generation_after(std::uint32_t generation) {
    return generation == ~std::uint32_t{0} ? 1 : generation + 1;
  }

  std::uint64_t polls() const { return polls_; }
  /// A description of a request that has not ended; nothing if all have.
  std::optional<std::string> unfinished() const;
  /// Whether the network may still touch anything.
  bool has_active() const;
  /// Calls f(worm) or f(receive) for each incomplete one. Valid while the node waits.
  template <class F>
  void each_incomplete(F&& f) const {
    for (const auto& slot : slots_) {
      if (!slot->active || slot->is_open || transfer(*slot).is_complete()) continue;
      slot->is_send ? f(slot->worm) : f(slot->receive);
    }
    if (asking_ && !query_.is_complete()) f(query_);
  }
  /// Discards all; between runs.
  void reset();

 private:
  struct Slot {
    std::uint32_t generation = 0;
    bool in_use = false, active = false, persistent = false, is_send = false;
    bool taken = false;  // a message that is to be received
    bool cancelled = false;
    bool is_open = false;     // no message
    std::uint32_t scope = 0;  // in which it was started
    Worm worm;
    Receive receive;
    std::vector<Span> pieces;  // if they are several
  };

  static Transfer& transfer(Slot& slot) {
    return slot.is_send ? static_cast<Transfer&>(slot.worm) : slot.receive;
  }
  static const Transfer& transfer(const Slot& slot) {
    return slot.is_send ? static_cast<const Transfer&>(slot.worm) : slot.receive;
  }
  Request fresh() {
    if (unused_.empty()) add_slot();
    const std::uint32_t index = unused_.back();
    unused_.pop_back();
    Slot& slot = *slots_[index];
    slot.in_use = true;
    slot.active = slot.persistent = slot.is_send = false;
    slot.scope = scope_;
    slot.taken = slot.cancelled = slot.is_open = false;
    slot.generation = generation_after(slot.generation);
    return {index, slot.generation};
  }
  void add_slot();
  /// For one that fresh() has just created.
  Slot& new_slot(Request request) { return *slots_[request.index_]; }
  Request filled(const Op& op, std::uint32_t context, Mode mode, std::uint64_t note);
  Request filled(const MessagePattern& from, Span room);
  /// Throws UsageError if it is not this node's, or has ended.
  Slot& slot_of(Request request) {
    if (request.index_ < slots_.size()) {
      Slot& slot = *slots_[request.index_];
      if (slot.in_use && slot.generation == request.generation_) return slot;
    }
    refuse();
  }
  [[noreturn]] void refuse() const;
  /// Pieces that the caller may free. A single one needs no storage of its own.
  static std::span<const Span> kept(Slot& slot, std::span<const Span> pieces) {
    if (pieces.size() == 1) return pieces;
    slot.pieces.assign(pieces.begin(), pieces.end());
    return slot.pieces;
  }
  void fill(Slot& slot, const Op& op, std::uint32_t context, Mode mode, std::uint64_t note);
  void fill(Slot& slot, const MessagePattern& from, Span room);
  void go(Slot& slot, Transfer::Progress progress = Transfer::Progress::pending);
  void poll();
  void stir();
  std::uint32_t choice();
  bool is_complete(Request request) { return request.is_null() || is_complete(slot_of(request)); }
  static bool is_complete(const Slot& slot) { return !slot.active || transfer(slot).is_complete(); }
  static Status status_of(const Slot& slot) {
    if (slot.is_open) return {};
    if (slot.is_send)
      return {.source = slot.worm.to, .tag = slot.worm.tag, .bytes = slot.worm.bytes};
    if (slot.cancelled) return {.cancelled = true};
    return status_of(slot.receive);
  }
  /// A complete one, or null.
  Status end(Request& request) {
    if (request.is_null()) return {};
    Slot& slot = slot_of(request);
    if (slot.taken) refuse_taken();
    if (!slot.active) return {};
    if (!slot.is_send && !slot.cancelled && !slot.is_open) host_.count_received();
    slot.active = false;
    if (!slot.persistent) release(request, slot);
    return status_of(slot);
  }
  [[noreturn]] void refuse_taken() const;
  void release(Request& request, Slot& slot) {
    slot.in_use = slot.active = false;
    unused_.push_back(request.index_);
    request = {};
  }
  bool wait_for_any_of(std::span<const Request> requests);
  void ask(TagQuery::Action action, const MessagePattern& pattern, bool may_wait);
  void ask();
  Request taken(Status& status);
  void require(Rank node, std::uint32_t context) const {
    if (node < -1 || node >= nodes_) refuse(node);
    if (context == step_context) refuse_context();
  }
  [[noreturn]] void refuse(Rank node) const;
  [[noreturn]] void refuse_context() const;
  static Status status_of(const Receive& receive) {
    Status status = status_of_message(receive);
    status.truncated = receive.source_bytes > receive.bytes;
    status.was_early = receive.was_early;
    return status;
  }
  static Status status_of_message(const Seeker& seeker) {
    return {.source = seeker.source,
            .tag = seeker.source_tag,
            .bytes = seeker.source_bytes,
            .note = seeker.source_note};
  }

  RequestHost& host_;
  Rank rank_, nodes_;
  std::optional<std::uint64_t> shuffle_;
  std::minstd_rand random_;  // with shuffle
  std::uint64_t polls_ = 0;
  std::vector<std::unique_ptr<Slot>> slots_;  // by a request's index
  std::vector<std::uint32_t> unused_;
  TagQuery query_;
  bool asking_ = false;
  std::size_t served_last_ = 0;
  std::uint32_t scope_ = 0;  // the innermost that is open; 0: none
  std::vector<Transfer*> waited_for_;
};

}  // namespace wormcube
