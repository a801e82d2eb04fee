// Requests: messages below step(), for programs whose messages depend on what they receive.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace wormcube {

inline constexpr Rank any_source = -1;
inline constexpr Tag any_tag = std::numeric_limits<Tag>::min();

/// Which messages a receive or a probe matches. Messages of one context match receives of that
/// context only. Those of steps have a context of their own, so no wildcard matches them: the
/// highest, which no request may use.
struct MessagePattern {
  Rank source = any_source;
  Tag tag = any_tag;
  std::uint32_t context = 0;
};

/// What a completed request was. For a receive: of the message that it matched.
struct Status {
  Rank source = any_source;  ///< of a send: the destination
  Tag tag = any_tag;
  Bytes bytes = 0;         ///< of the message; if it exceeds the buffer, only the buffer was filled
  bool truncated = false;  ///< it was longer than the room
  bool cancelled = false;
  bool was_early = false;  ///< it was there before the receive was posted
  std::uint64_t note = 0;  ///< the sender's
};

/// A message that has arrived at a node and that no receive has matched.
struct UnreceivedMessage {
  Rank from = 0, to = 0;
  Tag tag = 0;
  std::uint32_t context = 0;
  Bytes bytes = 0;
};

/// A message whose size differs from the receive of its step.
struct WrongMessage {
  Rank from = 0, to = 0;
  Tag tag = 0;
  Bytes bytes = 0;
  Bytes wanted = 0;
};

/// A request of one node: an index and a generation, so that use after its end is detected. The
/// default is null: complete at once, with an empty status.
class Request {
 public:
  Request() = default;
  bool is_null() const { return generation_ == 0; }
  /// Unique among the open requests of its node.
  std::uint32_t slot() const { return index_; }
  friend bool operator==(const Request&, const Request&) = default;

 private:
  friend class RequestTable;
  Request(std::uint32_t index, std::uint32_t generation) : index_(index), generation_(generation) {}
  std::uint32_t index_ = 0, generation_ = 0;
};

/// Code that runs beside a node's program. It starts and ends requests of its own and settles open
/// ones; it must not wait.
class ProgressEngine {
 public:
  virtual ~ProgressEngine() = default;
  /// A request of its own may be complete. Called while the program waits, and when it lets others
  /// run.
  virtual void progress() = 0;
};

/// What a node asks about messages that no receive has matched, and receives that no message has
/// matched.
class MessageQueries {
 public:
  virtual ~MessageQueries() = default;

  /// The message that a receive of this pattern would match, if it is there.
  virtual std::optional<Status> probe(const MessagePattern& pattern) = 0;
  /// The same, after waiting until there is one.
  virtual Status wait_for(const MessagePattern& pattern) = 0;
  /// Claims it, so that no other receive gets it. Pass it to Requests::receive().
  virtual std::optional<Request> take(const MessagePattern& pattern, Status& status) = 0;
  virtual Request wait_to_take(const MessagePattern& pattern, Status& status) = 0;

  /// Withdraws a receive if no message has matched it: it is complete then, and its status says so.
  /// Returns whether it was withdrawn. For a send: false.
  virtual bool cancel(Request request) = 0;
};

/// A node's requests. A request is started, and completed by test or wait, which make it null, or
/// inactive if it is persistent. Its data belong to the network meanwhile, and must outlive the
/// request: see RequestScope for local variables.
///
/// Order        messages of one source and context are matched in the order in which they were
///              started: of those that fit a receive the oldest, of receives that fit a message the
///              one posted first. Between sources there is no order.
/// Standard     a send of at most eager_limit bytes (unexpected_limit, if that is set) is complete
///              when it is copied, others when they are received. Synchronous ones are never
///              complete before a receive has matched them.
/// Polling      a call that returns false or nothing has let others run on this core. If all nodes
///              of a program poll, no deadlock is detected.
/// Threads      the node's own program only.
///
/// All functions throw UsageError for a node out of range, moves (requests name ranks), a request
/// that is not this node's or has ended; Deadlock and Stopped as step() does. When a program ends
/// with requests that are not completed, or messages were never received, the run throws
/// UsageError, unless MessagingOptions::allow_unreceived.
class Requests : public MessageQueries {
 public:
  enum class Mode : std::uint8_t { standard, synchronous };

  /// Starts a send or a receive; op's pieces may be freed when it returns, its data may not. A
  /// receive's data are a buffer for at most that many bytes.
  /// \param note  travels with a send, and is in its receive's status
  virtual Request start(const Op& op, std::uint32_t context = 0, Mode mode = Mode::standard,
                        std::uint64_t note = 0) = 0;
  virtual Request start(const MessagePattern& from, Span room) = 0;

  /// Persistent: prepared once, its route kept; restart() starts it, free() ends it when it is
  /// inactive. Waiting makes it inactive, not null; an inactive one is complete, as a null one.
  virtual Request prepare(const Op& op, std::uint32_t context = 0, Mode mode = Mode::standard,
                          std::uint64_t note = 0) = 0;
  virtual Request prepare(const MessagePattern& from, Span room) = 0;
  virtual void restart(Request request) = 0;
  virtual void free(Request& request) = 0;

  virtual bool test(Request& request, Status* status = nullptr) = 0;
  /// What test() would return; the request stays as it is.
  virtual bool is_ready(Request request) = 0;
  /// What wait() would return for one that is ready; the request stays as it is.
  virtual Status look_at(Request request) = 0;
  virtual Status wait(Request& request) = 0;
  /// \param statuses  as many as requests, or none
  virtual void wait_all(std::span<Request> requests, std::span<Status> statuses = {}) = 0;
  /// The index of a complete one, or nothing if none is active. The search starts behind the one
  /// that it returned last, so that none is starved.
  virtual std::optional<std::size_t> wait_any(std::span<Request> requests, Status& status) = 0;
  /// All that are complete, at least one: their indices, and statuses in the same order. Returns
  /// how many; 0 if none is active.
  virtual std::size_t wait_some(std::span<Request> requests, std::span<std::size_t> indices,
                                std::span<Status> statuses) = 0;

  /// Receives what was claimed. The request is then a receive, to be completed.
  virtual void receive(Request taken, Span room) = 0;

  /// Sends a message of this many bytes, and runs `action` where it arrives, instead of a receive:
  /// the destination's program takes no part. Returns when it has run. Actions at one node run one
  /// after another, on any thread; each sees what those before it did.
  virtual void act_at(Rank to, Bytes bytes, FunctionRef action) = 0;

  /// Others have the core meanwhile, unless a progress engine calls it. A node that sleeps counts
  /// as running: it is in no deadlock. When the machine stops, it throws Stopped at once.
  virtual void sleep(std::chrono::nanoseconds time) = 0;

  /// A request without a message: it is complete when settle() says so.
  virtual Request open() = 0;
  virtual void settle(Request request) = 0;

  /// The number of a new scope, nested in those that are open. For RequestScope.
  virtual std::uint32_t open_scope() noexcept = 0;
  /// Ends all requests that were started since. False: the machine stops.
  virtual bool close_scope(std::uint32_t scope) noexcept = 0;

  /// The engine that makes progress from now on; null: none. Not allowed with steps in a window
  /// (MachineOptions::window), nor in lock step.
  virtual void set_progress_engine(ProgressEngine* engine) = 0;
  /// For the progress engine: a send, or a receive of exactly this many bytes, as in a step.
  virtual Request start_background(const Op& op, std::uint32_t context) = 0;
  /// Ends one of those if it is complete, and returns whether it was. Lets no other node run.
  virtual bool end_background(Request& request) = 0;
};

/// Ends what was started in its scope, whether the scope is left by a return or by an exception:
/// withdraws receives that no message has matched, and waits for all other requests. Persistent
/// ones become inactive. So the data of a request may be local variables that are declared before
/// the scope:
///
///     std::array<std::byte, 4096> room;
///     RequestScope scope(requests_of(node));
///     Request answer = requests_of(node).start(MessagePattern{.tag = 7}, room);
///     parse(question);  // may throw
///
/// Without a scope, an exception that leaves while a request is active frees the locals first: a
/// message that arrives then overwrites whatever is there. If a node leaves a scope by an exception
/// and the sends that it waits for are never received, the run throws that exception, not Deadlock.
class RequestScope {
 public:
  explicit RequestScope(Requests& requests) : requests_(requests), number_(requests.open_scope()) {}
  ~RequestScope() { static_cast<void>(requests_.close_scope(number_)); }
  RequestScope(const RequestScope&) = delete;
  RequestScope& operator=(const RequestScope&) = delete;

 private:
  Requests& requests_;
  std::uint32_t number_;
};

/// The requests of a node. Throws UsageError if it has none: in a dry run and in a proof, since
/// programs that use them are not oblivious; in views, parts of together() and traces; over MPI.
Requests& requests_of(Node& node);

/// A node that has them.
class RequestNode : public Node {
 public:
  virtual Requests& requests() = 0;
};

}  // namespace wormcube
