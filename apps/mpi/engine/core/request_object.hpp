// The object behind an MPI_Request.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/function.hpp"
#include "wormcube/apps/mpi/engine/types/types.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace wormcube::mpi {

struct Communicator;
class NonblockingCollective;
/// A buffer that the program attaches for copies of its sends; only its bytes are counted.
struct AttachedBuffer {
  void* memory = nullptr;  ///< or MPI_BUFFER_AUTOMATIC: as much as is needed
  std::int64_t bytes = 0, used = 0;

  /// The overhead of each message. MPI_BSEND_OVERHEAD is the largest of any library; MPICH uses
  /// this value, and a program whose buffer suffices there runs here too.
  static constexpr std::int64_t overhead = 96;
  static std::int64_t taken_by(std::int64_t data) { return data + overhead; }
};

/// Threads  its rank's.
struct RequestObject {
  static constexpr std::uint32_t alive = 0x52455131, dead = 0x52455130;
  std::uint32_t magic = dead;
  enum class Kind : std::uint8_t { send, receive, collective, generalized };
  Kind kind = Kind::send;
  Function started_by{};
  /// An active send or receive of one message from or to another rank; not persistent, and owns
  /// nothing. Most are: they are completed without looking at the rest.
  bool is_plain = false;
  bool persistent = false, active = false;
  /// MPI_Request_get_status has said so; what it received is in the program's buffer.
  bool is_known_complete = false;
  bool to_nobody = false;  ///< PROC_NULL: complete at once
  bool copies = false;     ///< each start sends a copy
  /// Active, but not in the network: only a call of its own rank continues it,
  /// MPI_Grequest_complete or MPI_Pready.
  bool held = false;
  bool is_partitioned = false;
  bool with_send = false, from_nobody = false;
  Request inner;
  /// For a receive with a send: the send, to wait for when the receive is complete; it then becomes
  /// `inner`, and `next` null.
  Request next;
  Communicator* communicator = nullptr;
  int peer = 0, tag = 0;  ///< as the caller named them
  std::int64_t bytes = 0;
  void* elements = nullptr;
  const void* at = nullptr;  ///< where it was started
  // What it owns. Non-contiguous elements travel packed.
  std::unique_ptr<std::byte[]> packed, packed_send;
  DatatypePointer type;
  DatatypePointer checked;  ///< with JobOptions::strict: the type of a receive's elements
  std::shared_ptr<AttachedBuffer> buffer;  ///< its data are a copy in this buffer
  std::shared_ptr<NonblockingCollective>
      program;  ///< for a collective; `inner` is complete when it has ended
  /// For a flush: the sends that it waits for, released with it; `inner` is the one after the first
  /// `to_flush`.
  std::vector<RequestObject*> flushed;
  std::size_t to_flush = 0;
  Status received;  ///< of a completed receive that has a send
  int destination = 0, send_tag = 0;
  std::int64_t send_bytes = 0;
  struct Generalized {
    MPI_Grequest_query_function* query;
    MPI_Grequest_free_function* free;
    MPI_Grequest_cancel_function* cancel;
    void* state;
  };
  Generalized generalized{};             ///< for that kind
  std::vector<bool> partitions;          ///< for a partitioned message: which are ready
  RequestObject* next_unused = nullptr;  ///< the pool's
  /// Whether its completion takes more than one request of the node.
  bool has_parts() const { return with_send || !flushed.empty(); }
  bool owns_anything() const {
    // Tested all at once, to avoid seven branches.
    const auto is = [](const auto& pointer) -> unsigned { return pointer != nullptr ? 1 : 0; };
    return (is(packed) | is(packed_send) | is(type) | is(checked) | is(buffer) | is(program) |
            (flushed.empty() ? 0U : 1U)) != 0;
  }
};

/// A rank's requests. An object stays in place, so a finished request is distinguished from a
/// living one.
class RequestPool {
 public:
  RequestObject& take() {
    if (unused_ == nullptr) unused_ = &all_.emplace_back();
    RequestObject& object = *std::exchange(unused_, unused_->next_unused);
    object.magic = RequestObject::alive;
    object.is_plain = object.persistent = object.active = object.to_nobody = object.copies = false;
    object.held = object.is_partitioned = object.with_send = object.from_nobody = false;
    object.is_known_complete = false;
    object.next = {};
    return object;
  }
  void give_back(RequestObject& object) {
    if (object.owns_anything()) let_go(object);
    give_back_plain(object);
  }
  /// One that owns nothing.
  void give_back_plain(RequestObject& object) {
    WORMCUBE_ASSERT(!object.owns_anything());
    object.magic = RequestObject::dead;
    object.next_unused = std::exchange(unused_, &object);
  }
  /// Calls f(object) for each living one.
  template <class F>
  void each(F&& f) const {
    for (const RequestObject& object : all_) {
      if (object.magic == RequestObject::alive) f(object);
    }
  }
  /// Active requests that the program has freed or never had.
  std::vector<RequestObject*> detached;

 private:
  void let_go(RequestObject& object);

  std::deque<RequestObject> all_;
  RequestObject* unused_ = nullptr;  // a list by `next_unused`
};

}  // namespace wormcube::mpi
