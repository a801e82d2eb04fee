// Sends from a buffer that the program lends, and messages that are claimed before they are received.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/calls.hpp"
#include "wormcube/apps/mpi/engine/handles.hpp"
#include "wormcube/apps/mpi/engine/status.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

using Waits = CurrentCall::Waits;

/// A copy of the elements, as the engine keeps it: the program's buffer is only accounted for.
struct Copied {
  std::unique_ptr<std::byte[]> data;
  std::int64_t bytes = 0;
};

Copied copied(const Call& call, const void* data, Bytes bytes, const Datatype& type) {
  RankState& rank = call.rank();
  reap_detached(rank, false);
  Bytes used = 0;
  for (const RequestObject* const object : rank.pool.detached) {
    if (object->buffered) used += static_cast<Bytes>(object->bytes) + MPI_BSEND_OVERHEAD;
  }
  const Bytes needed = used + bytes + MPI_BSEND_OVERHEAD;
  if (needed > static_cast<Bytes>(rank.attached_bytes)) {
    throw Failure(
        MPI_ERR_BUFFER,
        fmt::format("{} bytes with {} of overhead do not fit into the attached buffer of {}, "
                    "of which {} are in use",
                    bytes, static_cast<int>(MPI_BSEND_OVERHEAD), rank.attached_bytes, used));
  }
  Copied copy{std::make_unique_for_overwrite<std::byte[]>(std::max<Bytes>(bytes, 1)),
              static_cast<std::int64_t>(bytes)};
  pack(type, data, bytes, copy.data.get());
  return copy;
}
Copied copied(const Call& call, const void* data, std::int64_t count, MPI_Datatype type) {
  const TypeView view = type_view(type);
  const Bytes bytes = call.elements(count, view) * view.size;
  call.pointer(data, bytes, "the buffer", view.first);
  return copied(call, data, bytes, **view.type);
}

void send_copy(Call& call, Copied copy, int to, int tag, MPI_Comm on) {
  RequestObject& object = start_send(call, copy.data.get(), copy.bytes, MPI_BYTE, to, tag, on,
                                     Requests::Mode::standard);
  object.packed = std::move(copy.data);
  object.buffered = true;
  if (object.to_nobody) {
    call.rank().pool.give_back(object);
  } else {
    call.rank().pool.detached.push_back(&object);
  }
}

template <class Count>
int bsend(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on) {
  WORMCUBE_MPI_CALL_OF(MPI_Bsend);
  return call([&] { send_copy(call, copied(call, data, count, type), to, tag, on); });
}

template <class Count>
int ibsend(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on,
           MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Ibsend);
  return call([&] {
    send_copy(call, copied(call, data, count, type), to, tag, on);
    // The data are copied: it is complete.
    *request = reinterpret_cast<MPI_Request>(
        &start_send(call, nullptr, 0, MPI_BYTE, MPI_PROC_NULL, tag, on, Requests::Mode::standard));
  });
}

// Complete whenever it was started: what is sent is a copy then.
template <class Count>
int bsend_init(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on,
               MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Bsend_init);
  return call([&] {
    const TypeView view = type_view(type);
    const Bytes bytes = call.elements(count, view) * view.size;
    call.pointer(data, bytes, "the buffer", view.first);
    call.destination(call.communicator(on), to);
    RequestObject& object = start_send(call, nullptr, 0, MPI_BYTE, MPI_PROC_NULL, tag, on,
                                       Requests::Mode::standard, true);
    object.copies = true;
    object.type = *view.type;
    object.elements = const_cast<void*>(data);  // NOLINT: only read
    object.bytes = static_cast<std::int64_t>(bytes);
    object.peer = to;
    *request = reinterpret_cast<MPI_Request>(&object);
  });
}

template <class Count>
int buffer_attach(void* buffer, Count bytes) {
  WORMCUBE_MPI_CALL_OF(MPI_Buffer_attach);
  return call([&] {
    RankState& rank = call.rank();
    call.count(bytes, "size");
    if (rank.attached != nullptr) {
      throw Failure(MPI_ERR_BUFFER, "a buffer is attached already (MPI_Buffer_detach)");
    }
    rank.attached = buffer;
    rank.attached_bytes = bytes;
  });
}

// Returns when all that was sent from it has been received or is on its way for good.
template <class Count>
int buffer_detach(void* buffer, Count* bytes) {
  WORMCUBE_MPI_CALL_OF(MPI_Buffer_detach);
  return call([&] {
    RankState& rank = call.rank();
    for (RequestObject* const object : rank.pool.detached) {
      if (!object->buffered) continue;
      rank.call.waits = Waits::send;
      rank.call.communicator = object->communicator;
      rank.call.peer = object->peer;
      rank.call.tag = object->tag;
      rank.call.bytes = object->bytes;
      rank.requests->wait(object->inner);
    }
    reap_detached(rank, false);
    std::memcpy(buffer, &rank.attached, sizeof rank.attached);
    *bytes = static_cast<Count>(rank.attached_bytes);
    rank.attached = nullptr;
    rank.attached_bytes = 0;
  });
}

/// A message that no other receive gets.
struct ClaimedMessage {
  static constexpr std::uint32_t alive = 0x4d455331, dead = 0x4d455330;
  std::uint32_t magic = alive;
  Request inner;
  Communicator* communicator = nullptr;
  int source = 0, tag = 0;
};

MPI_Message claimed(Communicator& on, Request inner, const Status& found, MPI_Status* status) {
  const int source = on.peers().rank_of(found.source);
  write_status(status, source, found.tag, static_cast<std::int64_t>(found.bytes));
  return reinterpret_cast<MPI_Message>(
      new ClaimedMessage{ClaimedMessage::alive, inner, &on, source, found.tag});
}

MessagePattern pattern_of(const Communicator& on, int from, int tag) {
  return {.source = from == MPI_ANY_SOURCE ? any_source : on.world_rank(from),
          .tag = tag == MPI_ANY_TAG ? any_tag : tag,
          .context = on.context()};
}

int mprobe(int from, int tag, MPI_Comm on, MPI_Message* message, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Mprobe);
  return call([&] {
    Communicator& communicator = call.communicator(on);
    call.source(communicator, from);
    call.receive_tag(tag);
    *message = MPI_MESSAGE_NO_PROC;
    if (from == MPI_PROC_NULL) return write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    CurrentCall& now = call.rank().call;
    now.waits = Waits::probe;
    now.peer = from;
    now.tag = tag;
    now.bytes = 0;
    Status found;
    const Request inner =
        call.rank().requests->wait_to_take(pattern_of(communicator, from, tag), found);
    *message = claimed(communicator, inner, found, status);
  });
}

int improbe(int from, int tag, MPI_Comm on, int* flag, MPI_Message* message, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Improbe);
  return call([&] {
    Communicator& communicator = call.communicator(on);
    call.source(communicator, from);
    call.receive_tag(tag);
    *flag = 1;
    *message = MPI_MESSAGE_NO_PROC;
    if (from == MPI_PROC_NULL) return write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    Status found;
    const auto inner = call.rank().requests->take(pattern_of(communicator, from, tag), found);
    *flag = inner.has_value() ? 1 : 0;
    *message = inner ? claimed(communicator, *inner, found, status) : MPI_MESSAGE_NULL;
    if (!inner) call.asked_in_vain();
  });
}

/// Starts its receive as an active request.
RequestObject& start_claimed(Call& call, void* data, std::int64_t count, MPI_Datatype type,
                             MPI_Message* handle) {
  const TypeView view = type_view(type);
  const Bytes room = call.elements(count, view) * view.size;
  call.pointer(data, room, "the buffer");
  RankState& rank = call.rank();
  if (*handle == MPI_MESSAGE_NO_PROC) {
    *handle = MPI_MESSAGE_NULL;
    return start_receive(call, data, count, type, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD);
  }
  if (is_predefined(*handle)) throw Failure(MPI_ERR_REQUEST, "the message is MPI_MESSAGE_NULL");
  auto* const message = reinterpret_cast<ClaimedMessage*>(*handle);
  if (message->magic != ClaimedMessage::alive) {
    throw Failure(MPI_ERR_REQUEST, "the message has been received, or its handle is none");
  }
  RequestObject& object = rank.pool.take();
  object.kind = RequestObject::Kind::receive;
  object.communicator = message->communicator;
  object.peer = message->source;
  object.tag = message->tag;
  object.bytes = static_cast<std::int64_t>(room);
  object.at = rank.call.at;
  object.started_by = name_of(call.function());
  object.elements = data;
  object.active = true;
  object.inner = message->inner;
  if (rank.job.options().strict) object.checked = *view.type;
  if (!view.dense) {
    object.type = *view.type;
    object.packed = std::make_unique_for_overwrite<std::byte[]>(room);
  }
  rank.requests->receive(
      object.inner, {object.packed ? object.packed.get() : static_cast<std::byte*>(data), room});
  message->magic = ClaimedMessage::dead;
  delete message;
  *handle = MPI_MESSAGE_NULL;
  return object;
}

template <class Count>
int mrecv(void* data, Count count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  WORMCUBE_MPI_CALL_OF(MPI_Mrecv);
  return call(
      [&] { finish_request(call, start_claimed(call, data, count, type, message), status); });
}
template <class Count>
int imrecv(void* data, Count count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Imrecv);
  return call([&] {
    *request = reinterpret_cast<MPI_Request>(&start_claimed(call, data, count, type, message));
  });
}

}  // namespace

void send_copy_of(Call& call, const RequestObject& object) {
  send_copy(call, copied(call, object.elements, static_cast<Bytes>(object.bytes), *object.type),
            object.peer, object.tag, object.communicator->handle);
}

void add_buffered_functions(WormcubeMpiFunctions& table) {
  table.MPI_Bsend = bsend<int>;
  table.MPI_Bsend_c = bsend<MPI_Count>;
  table.MPI_Ibsend = ibsend<int>;
  table.MPI_Ibsend_c = ibsend<MPI_Count>;
  table.MPI_Bsend_init = bsend_init<int>;
  table.MPI_Bsend_init_c = bsend_init<MPI_Count>;
  table.MPI_Buffer_attach = buffer_attach<int>;
  table.MPI_Buffer_attach_c = buffer_attach<MPI_Count>;
  table.MPI_Buffer_detach = buffer_detach<int>;
  table.MPI_Buffer_detach_c = buffer_detach<MPI_Count>;
  table.MPI_Mprobe = mprobe;
  table.MPI_Improbe = improbe;
  table.MPI_Mrecv = mrecv<int>;
  table.MPI_Mrecv_c = mrecv<MPI_Count>;
  table.MPI_Imrecv = imrecv<int>;
  table.MPI_Imrecv_c = imrecv<MPI_Count>;
}

}  // namespace wormcube::mpi
