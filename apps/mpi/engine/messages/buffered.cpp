// Sends from a buffer that the program attaches.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/base/status.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/messages/messages.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

using Waits = CurrentCall::Waits;

/// A copy of the elements that the engine keeps: it only counts the bytes of the program's buffer.
struct Copied {
  std::unique_ptr<std::byte[]> data;
  std::int64_t bytes = 0;
  std::shared_ptr<AttachedBuffer> buffer;
};

/// The buffer for a communicator's sends: its own, else its session's, else the rank's; null if
/// there is none.
std::shared_ptr<AttachedBuffer> buffer_of(const RankState& rank, const Communicator& on) {
  if (on.attached_buffer) return on.attached_buffer;
  if (on.of_session && on.of_session->attached_buffer) return on.of_session->attached_buffer;
  return rank.attached_buffer;
}

Copied copied(Call& call, const void* data, Bytes bytes, const Datatype& type, MPI_Comm on) {
  RankState& rank = call.rank();
  reap_detached(rank, false);
  std::shared_ptr<AttachedBuffer> buffer = buffer_of(rank, call.communicator(on));
  const bool any = buffer && buffer->memory == MPI_BUFFER_AUTOMATIC;
  const std::int64_t room = buffer ? buffer->bytes : 0, used = buffer ? buffer->used : 0;
  if (!any && AttachedBuffer::taken_by(static_cast<std::int64_t>(bytes)) > room - used) {
    throw Failure(
        MPI_ERR_BUFFER,
        fmt::format("{} bytes and {} of overhead do not fit in the attached buffer of {}, "
                    "{} of which are in use",
                    bytes, AttachedBuffer::overhead, room, used));
  }
  Copied copy{std::make_unique_for_overwrite<std::byte[]>(std::max<Bytes>(bytes, 1)),
              static_cast<std::int64_t>(bytes), std::move(buffer)};
  pack(type, data, bytes, copy.data.get());
  return copy;
}
Copied copied(Call& call, const void* data, std::int64_t count, MPI_Datatype type, MPI_Comm on) {
  const TypeView view = type_view(type);
  const Bytes bytes = call.elements(count, view) * view.size;
  call.pointer(data, bytes, "the buffer", view.first);
  return copied(call, data, bytes, **view.type, on);
}

void send_copy(Call& call, Copied copy, int to, int tag, MPI_Comm on) {
  RequestObject& object = start_send(call, copy.data.get(), copy.bytes, MPI_BYTE, to, tag, on,
                                     Requests::Mode::standard);
  object.is_plain = false;
  object.packed = std::move(copy.data);
  if (object.to_nobody) return call.rank().pool.give_back(object);
  object.buffer = std::move(copy.buffer);
  object.buffer->used += AttachedBuffer::taken_by(copy.bytes);
  call.rank().pool.detached.push_back(&object);
}

template <class Count>
int bsend(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on) {
  WORMCUBE_MPI_CALL_OF(MPI_Bsend);
  return call([&] { send_copy(call, copied(call, data, count, type, on), to, tag, on); });
}

template <class Count>
int ibsend(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on,
           MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Ibsend);
  return call([&] {
    send_copy(call, copied(call, data, count, type, on), to, tag, on);
    // The data are copied, so the send is complete.
    *request = reinterpret_cast<MPI_Request>(
        &start_send(call, nullptr, 0, MPI_BYTE, MPI_PROC_NULL, tag, on, Requests::Mode::standard));
  });
}

// Every start is complete at once, since it sends a copy.
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

// ---- Buffers of a rank or a communicator; for those of a session see sessions.cpp ----

template <class Count>
int buffer_attach(void* memory, Count bytes) {
  WORMCUBE_MPI_CALL_OF(MPI_Buffer_attach);
  return call([&] { attach_buffer(call, call.rank().attached_buffer, memory, bytes); });
}
template <class Count>
int buffer_detach(void* memory, Count* bytes) {
  WORMCUBE_MPI_CALL_OF(MPI_Buffer_detach);
  return call([&] {
    *bytes = static_cast<Count>(detach_buffer(call, call.rank().attached_buffer, memory));
  });
}
int buffer_flush() {
  WORMCUBE_MPI_CALL(MPI_Buffer_flush);
  return call([&] { flush_buffer(call, call.rank().attached_buffer); });
}
int buffer_iflush(MPI_Request* request) {
  WORMCUBE_MPI_CALL(MPI_Buffer_iflush);
  return call([&] { *request = iflush_buffer(call, call.rank().attached_buffer); });
}

template <class Count>
int comm_attach_buffer(MPI_Comm on, void* memory, Count bytes) {
  WORMCUBE_MPI_CALL_OF(MPI_Comm_attach_buffer);
  return call([&] { attach_buffer(call, call.communicator(on).attached_buffer, memory, bytes); });
}
template <class Count>
int comm_detach_buffer(MPI_Comm on, void* memory, Count* bytes) {
  WORMCUBE_MPI_CALL_OF(MPI_Comm_detach_buffer);
  return call([&] {
    *bytes = static_cast<Count>(detach_buffer(call, call.communicator(on).attached_buffer, memory));
  });
}
int comm_flush_buffer(MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Comm_flush_buffer);
  return call([&] { flush_buffer(call, call.communicator(on).attached_buffer); });
}
int comm_iflush_buffer(MPI_Comm on, MPI_Request* request) {
  WORMCUBE_MPI_CALL(MPI_Comm_iflush_buffer);
  return call([&] { *request = iflush_buffer(call, call.communicator(on).attached_buffer); });
}

}  // namespace

void attach_buffer(Call& call, std::shared_ptr<AttachedBuffer>& place, void* memory,
                   std::int64_t bytes) {
  call.count(bytes, "size");
  if (place)
    throw Failure(MPI_ERR_BUFFER, "a buffer is already attached; call MPI_Buffer_detach first");
  place = std::make_shared<AttachedBuffer>();
  place->memory = memory;
  place->bytes = memory == MPI_BUFFER_AUTOMATIC ? 0 : bytes;
}

void flush_buffer(Call& call, const std::shared_ptr<AttachedBuffer>& place) {
  RankState& rank = call.rank();
  for (RequestObject* const object : rank.pool.detached) {
    if (!place || object->buffer != place) continue;
    rank.call.waits = Waits::send;
    rank.call.communicator = object->communicator;
    rank.call.peer = object->peer;
    rank.call.tag = object->tag;
    rank.call.bytes = object->bytes;
    rank.requests->wait(object->inner);
  }
  reap_detached(rank, false);
}

std::int64_t detach_buffer(Call& call, std::shared_ptr<AttachedBuffer>& place, void* memory) {
  flush_buffer(call, place);
  void* const lent = place ? place->memory : nullptr;
  const std::int64_t bytes = place ? place->bytes : 0;
  std::memcpy(memory, &lent, sizeof lent);
  place.reset();
  return bytes;
}

// It covers everything sent so far, but nothing sent from now on.
MPI_Request iflush_buffer(Call& call, const std::shared_ptr<AttachedBuffer>& place) {
  reap_detached(call.rank(), false);
  RequestObject& flush = start_send(call, nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF,
                                    Requests::Mode::standard);
  std::erase_if(call.rank().pool.detached, [&](RequestObject* object) {
    if (!place || object->buffer != place) return false;
    flush.flushed.push_back(object);
    return true;
  });
  if (!flush.flushed.empty()) {
    flush.to_nobody = false;
    flush.to_flush = flush.flushed.size() - 1;
    const RequestObject& first = *flush.flushed.back();
    flush.inner = first.inner;
    flush.communicator = first.communicator;
    flush.peer = first.peer;
    flush.tag = first.tag;
    flush.bytes = first.bytes;
  }
  return reinterpret_cast<MPI_Request>(&flush);
}

void send_copy_of(Call& call, const RequestObject& object) {
  const MPI_Comm on = object.communicator->handle;
  send_copy(call, copied(call, object.elements, static_cast<Bytes>(object.bytes), *object.type, on),
            object.peer, object.tag, on);
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
  table.MPI_Buffer_flush = buffer_flush;
  table.MPI_Buffer_iflush = buffer_iflush;
  table.MPI_Comm_attach_buffer = comm_attach_buffer<int>;
  table.MPI_Comm_attach_buffer_c = comm_attach_buffer<MPI_Count>;
  table.MPI_Comm_detach_buffer = comm_detach_buffer<int>;
  table.MPI_Comm_detach_buffer_c = comm_detach_buffer<MPI_Count>;
  table.MPI_Comm_flush_buffer = comm_flush_buffer;
  table.MPI_Comm_iflush_buffer = comm_iflush_buffer;
}

}  // namespace wormcube::mpi
