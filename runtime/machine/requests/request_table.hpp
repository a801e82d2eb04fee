// One node's requests, over any transport of messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/message.hpp"
#include "wormcube/runtime/network/tag_query.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <bit>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
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
  /// Reports that something the node waits for is complete by its own action.
  virtual void arrive() = 0;
  virtual void set_progress_engine(ProgressEngine* engine) = 0;
  /// Whether an exception propagates through the program while it waits for requests.
  virtual void set_unwinding(bool is_unwinding) noexcept = 0;
};

/// Threads     the node's own program.
/// Invariants  a slot is in use from its start to its end; its worm or receive stays where it is,
///             and is the network's while it is active and not complete. A slot's generation is
///             that of its request or, if it is unused, of its next one; so no request that has
///             ended finds a slot.
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
  /// Messages.
  std::uint64_t received() const { return received_; }
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
  // What few requests are; the others end without looking at each of these.
  struct Special {
    bool persistent = false;
    bool taken = false;  // a message that is to be received
    bool cancelled = false;
    bool is_open = false;  // no message
    bool any() const { return std::bit_cast<std::uint32_t>(*this) != 0; }
  };
  struct Slot : Special {
    explicit Slot(std::uint32_t its_index) : index(its_index) {}
    const std::uint32_t index;
    std::uint32_t generation = 1;
    bool active = false, is_send = false;
    std::uint32_t scope = 0;  // in which it was started
    Slot* next_unused = nullptr;
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
  Slot& fresh() {
    if (unused_ == nullptr) add_slot();
    Slot& slot = *std::exchange(unused_, unused_->next_unused);
    static_cast<Special&>(slot) = {};
    slot.active = slot.is_send = false;
    slot.scope = scope_;
    return slot;
  }
  void add_slot();
  static Request request_of(const Slot& slot) { return {slot.index, slot.generation}; }
  Slot& filled(const Op& op, std::uint32_t context, Mode mode, std::uint64_t note);
  Slot& filled(const MessagePattern& from, Span room);
  /// Throws UsageError if it is not this node's, or has ended.
  Slot& slot_of(Request request) {
    if (request.index_ < slots_.size()) {
      Slot& slot = *slots_[request.index_];
      if (slot.generation == request.generation_) return slot;
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
  void fill(Slot& slot, const Op& op, std::uint32_t context, Mode mode, std::uint64_t note) {
    slot.is_send = op.is_send();
    const std::span<const Span> pieces = kept(slot, op.pieces());
    if (!op.is_send())
      return fill(slot.receive, {op.peer(), op.tag(), context}, pieces, op.bytes());
    Worm& worm = slot.worm;
    host_.address(worm, op);
    worm.tag = op.tag();
    worm.context = context;
    worm.bytes = op.bytes();
    worm.set_data(pieces);
    worm.synchronous = mode == Mode::synchronous;
    worm.action = nullptr;
    worm.note = note;
  }
  void fill(Receive& receive, const MessagePattern& from, std::span<const Span> room, Bytes bytes) {
    receive.claimed = nullptr;
    receive.exact = false;
    receive.from = from.source;
    receive.to = rank_;
    receive.tag = from.tag;
    receive.context = from.context;
    receive.bytes = bytes;
    receive.set_data(room);
  }
  void go(Slot& slot, Transfer::Progress progress = Transfer::Progress::pending) {
    if (shuffle_) shuffle();
    slot.active = true;
    slot.scope = scope_;
    slot.cancelled = false;
    if (slot.is_send) {
      slot.worm.begin(progress);
      slot.worm.reserved = 0;
      slot.worm.state = Worm::State::travelling;
      host_.launch(slot.worm);
    } else {
      slot.receive.begin(progress);
      slot.receive.done = false;
      slot.receive.choice = choice();
      host_.post(slot.receive);
    }
  }
  void poll();
  void shuffle();
  std::uint32_t choice() { return shuffle_ ? static_cast<std::uint32_t>(random_()) : 0; }
  bool is_complete(Request request) { return request.is_null() || is_complete(slot_of(request)); }
  static bool is_complete(const Slot& slot) { return !slot.active || transfer(slot).is_complete(); }
  static Status status_of(const Slot& slot) {
    if (slot.is_open) return {};
    if (slot.is_send)
      return {.source = slot.worm.to, .tag = slot.worm.tag, .bytes = slot.worm.bytes};
    if (slot.cancelled) return {.cancelled = true};
    return status_of(slot.receive);
  }
  /// Ends a complete one, or null.
  void end(Request& request, Status& status) {
    if (request.is_null()) {
      status = {};
      return;
    }
    Slot& slot = slot_of(request);
    if (slot.any()) {
      status = end_special(request, slot);
      return;
    }
    release(slot);
    request = {};
    if (slot.is_send) {
      status = {.source = slot.worm.to, .tag = slot.worm.tag, .bytes = slot.worm.bytes};
    } else {
      ++received_;
      status = status_of(slot.receive);
    }
  }
  Status end(Request& request) {
    Status status;
    end(request, status);
    return status;
  }
  Status end_special(Request& request, Slot& slot);
  void release(Slot& slot) {
    slot.active = false;
    slot.generation = generation_after(slot.generation);
    slot.next_unused = std::exchange(unused_, &slot);
  }
  bool wait_for_any_of(std::span<const Request> requests);
  void ask(TagQuery::Action action, const MessagePattern& pattern, bool may_wait);
  void ask();
  Request taken(Status& status);
  void require(Rank node, std::uint32_t context) const {
    static_assert(any_source == -1);
    if (static_cast<std::uint32_t>(node) + 1U > static_cast<std::uint32_t>(nodes_)) refuse(node);
    if (context == step_context) refuse_context();
  }
  [[noreturn]] static void refuse_moves();
  [[noreturn]] static void refuse_wildcard();
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
  std::uint64_t polls_ = 0, received_ = 0;
  std::vector<std::unique_ptr<Slot>> slots_;  // by a request's index
  Slot* unused_ = nullptr;                    // a list by `next_unused`
  TagQuery query_;
  bool asking_ = false;
  std::size_t served_last_ = 0;
  std::uint32_t scope_ = 0;  // the innermost that is open; 0: none
  std::vector<Transfer*> waited_for_;
};

}  // namespace wormcube
