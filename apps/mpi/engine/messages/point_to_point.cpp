// Messages from one rank to another.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/base/status.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/messages/messages.hpp"

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

using Mode = Requests::Mode;
using Waits = CurrentCall::Waits;

void note(Call& call, Waits waits, int peer, int tag, std::int64_t bytes) {
  CurrentCall& now = call.rank().call;
  now.waits = waits;
  now.peer = peer;
  now.tag = tag;
  now.bytes = bytes;
}

/// Where the persistent requests of both sides are matched.
struct Meeting {
  std::uint32_t context;
  Tag tag;
};

/// Partitioned messages between two ranks with one tag are matched when their requests are created,
/// the first with the first, in whatever order they start.
Meeting meeting_in_partitions(Call& call, const Communicator& on, bool sends, int peer, int tag) {
  constexpr std::uint32_t in_partitions = std::uint32_t{1} << 30U;
  RankState& rank = call.rank();
  const Rank other = on.world_rank(peer);
  const std::uint64_t number = rank.made_in_partitions[{on.context(), sends, other, tag}]++;
  const Rank from = sends ? rank.rank : other, to = sends ? other : rank.rank;
  return {on.context() | in_partitions, rank.job.meet({on.context(), from, to, tag, number})};
}

Meeting meeting_of(Call& call, const Communicator& on, bool sends, int peer, int tag) {
  switch (call.function()) {
    case Function::MPI_Psend_init:
    case Function::MPI_Psend_init_c:
    case Function::MPI_Precv_init:
    case Function::MPI_Precv_init_c:
      return meeting_in_partitions(call, on, sends, peer, tag);
    default:
      return {on.context(), tag};
  }
}

Mode mode_of(const Call& call, Mode requested) {
  return call.rank().job.options().eager ? requested : Mode::synchronous;
}

/// The data of this many elements, packed into `packed` if they are not contiguous.
ConstSpan packed_data_of(const TypeView& type, const void* elements, Bytes bytes,
                         std::unique_ptr<std::byte[]>& packed) {
  packed = std::make_unique_for_overwrite<std::byte[]>(bytes);
  pack(**type.type, elements, bytes, packed.get());
  return {packed.get(), bytes};
}

// The code that every message passes through is inlined: otherwise its arguments would travel on
// the stack from function to function.
[[gnu::always_inline]] inline ConstSpan data_of(const TypeView& type, const void* elements,
                                                std::size_t count,
                                                std::unique_ptr<std::byte[]>& packed) {
  const Bytes bytes = count * type.size;
  if (type.dense) return {static_cast<const std::byte*>(elements), bytes};
  return packed_data_of(type, elements, bytes, packed);
}
struct Sending {
  Communicator& on;
  const TypeView& type;
  std::size_t count;
};
[[gnu::always_inline]] inline Sending checked_send(Call& call, const void* data, std::int64_t count,
                                                   MPI_Datatype type, int to, int tag,
                                                   MPI_Comm on) {
  const TypeView& view = type_view(type);
  const Sending checked{call.communicator(on), view, call.elements(count, view)};
  call.destination(checked.on, to);
  call.send_tag(tag);
  call.pointer(data, checked.count * checked.type.size, "the buffer", checked.type.first);
  return checked;
}
[[gnu::always_inline]] inline Sending checked_receive(Call& call, const void* data,
                                                      std::int64_t count, MPI_Datatype type,
                                                      int from, int tag, MPI_Comm on) {
  const TypeView& view = type_view(type);
  const Sending checked{call.communicator(on), view, call.elements(count, view)};
  call.source(checked.on, from);
  call.receive_tag(tag);
  call.pointer(data, checked.count * checked.type.size, "the buffer", checked.type.first);
  return checked;
}

[[gnu::always_inline]] inline Request begin_send(Call& call, const Sending& what, ConstSpan data,
                                                 int to, int tag, Mode mode) {
  const Rank peer = what.on.world_rank(to);
  count_sent(call.rank(), peer, data.size());
  return call.rank().requests->start(wormcube::send(peer, data, tag), what.on.context(),
                                     mode_of(call, mode), note_of(call, what.type, what.count));
}

[[gnu::always_inline]] inline void send_and_wait(Call& call, const void* data, std::int64_t count,
                                                 MPI_Datatype type, int to, int tag, MPI_Comm on,
                                                 Mode mode) {
  const Sending what = checked_send(call, data, count, type, to, tag, on);
  if (to == MPI_PROC_NULL) return;
  std::unique_ptr<std::byte[]> packed;
  const ConstSpan bytes = data_of(what.type, data, what.count, packed);
  Request request = begin_send(call, what, bytes, to, tag, mode);
  note(call, Waits::send, to, tag, static_cast<std::int64_t>(bytes.size()));
  call.rank().requests->wait(request);
}

template <class Count>
int send(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on) {
  WORMCUBE_MPI_CALL_OF(MPI_Send);
  return call([&] { send_and_wait(call, data, count, type, to, tag, on, Mode::standard); });
}
template <class Count>
int ssend(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on) {
  WORMCUBE_MPI_CALL_OF(MPI_Ssend);
  return call([&] { send_and_wait(call, data, count, type, to, tag, on, Mode::synchronous); });
}
template <class Count>
int rsend(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on) {
  WORMCUBE_MPI_CALL_OF(MPI_Rsend);
  return call([&] { send_and_wait(call, data, count, type, to, tag, on, Mode::standard); });
}

// A received message's status, and whether the message was too long for the buffer.
void report_received(const Call& call, const Sending& what, int from, const Status& found,
                     MPI_Status* status) {
  RankState& rank = call.rank();
  if (from == MPI_ANY_SOURCE)
    rank.taken.add({what.on.context(), found.source, found.tag, call.function(), rank.call.at});
  const Bytes room = what.count * what.type.size;
  const int source = what.on.peers().rank_of(found.source);
  write_status(status, source, found.tag, static_cast<std::int64_t>(std::min(found.bytes, room)));
  if (call.rank().job.options().strict) {
    if (const auto wrong = wrong_match(what.type.type->get(), found, what.on)) throw *wrong;
  }
  if (!found.truncated) return;
  throw Failure(
      MPI_ERR_TRUNCATE,
      fmt::format("the message from rank {}, tag {} has {} bytes, but the buffer has room for {}",
                  source, found.tag, found.bytes, room));
}

template <class Count>
int recv(void* data, Count count, MPI_Datatype type, int from, int tag, MPI_Comm on,
         MPI_Status* status) {
  WORMCUBE_MPI_CALL_OF(MPI_Recv);
  return call([&] {
    const Sending what = checked_receive(call, data, count, type, from, tag, on);
    if (from == MPI_PROC_NULL) return write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    const Bytes room = what.count * what.type.size;
    std::unique_ptr<std::byte[]> packed;
    if (!what.type.dense) packed = std::make_unique_for_overwrite<std::byte[]>(room);
    const Span to(packed ? packed.get() : static_cast<std::byte*>(data), room);
    note(call, Waits::receive, from, tag, static_cast<std::int64_t>(room));
    Requests& requests = *call.rank().requests;
    Request request = requests.start(pattern_of(what.on, from, tag), to);
    const Status found = requests.wait(request);
    if (packed) unpack(**what.type.type, packed.get(), std::min(found.bytes, room), data);
    report_received(call, what, from, found, status);
  });
}

// Starts the receive first: the partner's send may be what our send waits for.
void exchange_now(Call& call, const void* out, std::int64_t out_count, MPI_Datatype out_type,
                  int to, int out_tag, void* in, std::int64_t in_count, MPI_Datatype in_type,
                  int from, int in_tag, MPI_Comm on, MPI_Status* status) {
  const Sending sent = checked_send(call, out, out_count, out_type, to, out_tag, on);
  const Sending received = checked_receive(call, in, in_count, in_type, from, in_tag, on);
  const Bytes room = received.count * received.type.size;
  std::unique_ptr<std::byte[]> packed_out, packed_in;
  if (!received.type.dense) packed_in = std::make_unique_for_overwrite<std::byte[]>(room);
  Requests& requests = *call.rank().requests;
  std::array<Request, 2> both;
  std::array<Status, 2> found;
  const bool receives = from != MPI_PROC_NULL, sends = to != MPI_PROC_NULL;
  if (receives) {
    both[0] = requests.start(pattern_of(received.on, from, in_tag),
                             Span(packed_in ? packed_in.get() : static_cast<std::byte*>(in), room));
  }
  Bytes bytes = 0;
  if (sends) {
    const ConstSpan data = data_of(sent.type, out, sent.count, packed_out);
    bytes = data.size();
    both[1] = begin_send(call, sent, data, to, out_tag, Mode::standard);
  }
  note(call,
       receives && sends ? Waits::both
       : receives        ? Waits::receive
                         : Waits::send,
       sends ? to : from, sends ? out_tag : in_tag,
       static_cast<std::int64_t>(sends ? bytes : room));
  call.rank().call.source = from;
  call.rank().call.source_tag = in_tag;
  requests.wait_all(both, found);
  if (!receives) return write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  if (packed_in) unpack(**received.type.type, packed_in.get(), std::min(found[0].bytes, room), in);
  report_received(call, received, from, found[0], status);
}

template <class Count>
int sendrecv(const void* out, Count out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
             Count in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm on,
             MPI_Status* status) {
  WORMCUBE_MPI_CALL_OF(MPI_Sendrecv);
  return call([&] {
    exchange_now(call, out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag,
                 on, status);
  });
}

/// A copy of the sent data, because the receive may overwrite it.
struct SendCopy {
  std::unique_ptr<std::byte[]> data;
  std::int64_t bytes;
};
SendCopy copy_of(Call& call, const void* data, std::int64_t count, MPI_Datatype type, int to,
                 int tag, MPI_Comm on) {
  const Sending what = checked_send(call, data, count, type, to, tag, on);
  const Bytes bytes = what.count * what.type.size;
  SendCopy copy{std::make_unique_for_overwrite<std::byte[]>(bytes),
                static_cast<std::int64_t>(bytes)};
  if (!what.type.dense) {
    pack(**what.type.type, data, bytes, copy.data.get());
  } else if (bytes > 0) {
    std::memcpy(copy.data.get(), data, bytes);
  }
  return copy;
}

template <class Count>
int sendrecv_replace(void* data, Count count, MPI_Datatype type, int to, int out_tag, int from,
                     int in_tag, MPI_Comm on, MPI_Status* status) {
  WORMCUBE_MPI_CALL_OF(MPI_Sendrecv_replace);
  return call([&] {
    const SendCopy copy = copy_of(call, data, count, type, to, out_tag, on);
    exchange_now(call, copy.data.get(), copy.bytes, MPI_BYTE, to, out_tag, data, count, type, from,
                 in_tag, on, status);
  });
}

/// Both as one request.
void start_exchange(Call& call, MPI_Request* handle, const void* out, std::int64_t out_count,
                    MPI_Datatype out_type, int to, int out_tag, void* in, std::int64_t in_count,
                    MPI_Datatype in_type, int from, int in_tag, MPI_Comm on,
                    std::unique_ptr<std::byte[]> copied = nullptr) {
  const Sending sent = checked_send(call, out, out_count, out_type, to, out_tag, on);
  RequestObject& object = start_receive(call, in, in_count, in_type, from, in_tag, on);
  object.is_plain = false;
  *handle = reinterpret_cast<MPI_Request>(&object);
  object.packed_send = std::move(copied);
  if (to == MPI_PROC_NULL) return;
  ConstSpan data(static_cast<const std::byte*>(out), sent.count * sent.type.size);
  if (!object.packed_send) data = data_of(sent.type, out, sent.count, object.packed_send);
  const Request send = begin_send(call, sent, data, to, out_tag, Mode::standard);
  object.with_send = true;
  object.destination = to;
  object.send_tag = out_tag;
  object.send_bytes = static_cast<std::int64_t>(data.size());
  object.from_nobody = std::exchange(object.to_nobody, false);
  (object.from_nobody ? object.inner : object.next) = send;
}

template <class Count>
int isendrecv(const void* out, Count out_count, MPI_Datatype out_type, int to, int out_tag,
              void* in, Count in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm on,
              MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Isendrecv);
  return call([&] {
    start_exchange(call, request, out, out_count, out_type, to, out_tag, in, in_count, in_type,
                   from, in_tag, on);
  });
}

template <class Count>
int isendrecv_replace(void* data, Count count, MPI_Datatype type, int to, int out_tag, int from,
                      int in_tag, MPI_Comm on, MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Isendrecv_replace);
  return call([&] {
    SendCopy copy = copy_of(call, data, count, type, to, out_tag, on);
    const std::byte* const copied = copy.data.get();
    start_exchange(call, request, copied, copy.bytes, MPI_BYTE, to, out_tag, data, count, type,
                   from, in_tag, on, std::move(copy.data));
  });
}

[[gnu::always_inline]] inline RequestObject& new_request(Call& call, RequestObject::Kind kind,
                                                         const Sending& what, int peer, int tag,
                                                         bool persistent) {
  RankState& rank = call.rank();
  RequestObject& object = rank.pool.take();
  object.kind = kind;
  object.communicator = &what.on;
  object.peer = peer;
  object.tag = tag;
  object.bytes = static_cast<std::int64_t>(what.count * what.type.size);
  object.at = rank.call.at;
  object.started_by = call.function();
  const bool strict = rank.job.options().strict;
  if (!what.type.dense) object.type = *what.type.type;
  if (strict) object.checked = *what.type.type;
  object.persistent = persistent;
  object.active = !persistent;
  object.to_nobody = peer == MPI_PROC_NULL;
  object.is_plain = !persistent && !object.to_nobody && what.type.dense && !strict;
  return object;
}

[[gnu::always_inline]] inline RequestObject& started_send(Call& call, const void* data,
                                                          std::int64_t count, MPI_Datatype type,
                                                          int to, int tag, MPI_Comm on, Mode mode,
                                                          bool persistent) {
  const Sending what = checked_send(call, data, count, type, to, tag, on);
  RankState& rank = call.rank();
  if (!rank.pool.detached.empty()) reap_detached(rank, false);
  RequestObject& object = new_request(call, RequestObject::Kind::send, what, to, tag, persistent);
  object.elements = const_cast<void*>(data);  // NOLINT: only read
  if (object.to_nobody) return object;
  if (persistent) {
    if (!what.type.dense)
      object.packed = std::make_unique_for_overwrite<std::byte[]>(what.count * what.type.size);
    const ConstSpan bytes(object.packed ? object.packed.get() : static_cast<const std::byte*>(data),
                          what.count * what.type.size);
    const Meeting meeting = meeting_of(call, what.on, true, to, tag);
    object.inner = rank.requests->prepare(
        wormcube::send(what.on.world_rank(to), bytes, meeting.tag), meeting.context,
        mode_of(call, mode), note_of(call, what.type, what.count));
    return object;
  }
  object.inner =
      begin_send(call, what, data_of(what.type, data, what.count, object.packed), to, tag, mode);
  return object;
}

[[gnu::always_inline]] inline RequestObject& started_receive(Call& call, void* data,
                                                             std::int64_t count, MPI_Datatype type,
                                                             int from, int tag, MPI_Comm on,
                                                             bool persistent) {
  const Sending what = checked_receive(call, data, count, type, from, tag, on);
  RankState& rank = call.rank();
  RequestObject& object =
      new_request(call, RequestObject::Kind::receive, what, from, tag, persistent);
  object.elements = data;
  if (object.to_nobody) return object;
  const Bytes room = what.count * what.type.size;
  if (!what.type.dense) object.packed = std::make_unique_for_overwrite<std::byte[]>(room);
  const Span to(object.packed ? object.packed.get() : static_cast<std::byte*>(data), room);
  MessagePattern wanted = pattern_of(what.on, from, tag);
  if (persistent) {
    const Meeting meeting = from == MPI_ANY_SOURCE
                                ? Meeting{wanted.context, wanted.tag}
                                : meeting_of(call, what.on, false, from, wanted.tag);
    wanted.context = meeting.context;
    wanted.tag = meeting.tag;
  }
  object.inner = persistent ? rank.requests->prepare(wanted, to) : rank.requests->start(wanted, to);
  return object;
}

int prepare(Call& call, MPI_Request* handle, const void* data, std::int64_t count,
            MPI_Datatype type, int to, int tag, MPI_Comm on, Mode mode) {
  return call([&] {
    *handle = reinterpret_cast<MPI_Request>(
        &start_send(call, data, count, type, to, tag, on, mode, true));
  });
}

template <class Count>
int isend(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on,
          MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Isend);
  return call([&] {
    *request = reinterpret_cast<MPI_Request>(
        &started_send(call, data, count, type, to, tag, on, Mode::standard, false));
  });
}
template <class Count>
int issend(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on,
           MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Issend);
  return call([&] {
    *request = reinterpret_cast<MPI_Request>(
        &started_send(call, data, count, type, to, tag, on, Mode::synchronous, false));
  });
}
template <class Count>
int irsend(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on,
           MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Irsend);
  return call([&] {
    *request = reinterpret_cast<MPI_Request>(
        &started_send(call, data, count, type, to, tag, on, Mode::standard, false));
  });
}
template <class Count>
int irecv(void* data, Count count, MPI_Datatype type, int from, int tag, MPI_Comm on,
          MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Irecv);
  return call([&] {
    *request = reinterpret_cast<MPI_Request>(
        &started_receive(call, data, count, type, from, tag, on, false));
  });
}
template <class Count>
int send_init(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on,
              MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Send_init);
  return prepare(call, request, data, count, type, to, tag, on, Mode::standard);
}
template <class Count>
int ssend_init(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on,
               MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Ssend_init);
  return prepare(call, request, data, count, type, to, tag, on, Mode::synchronous);
}
template <class Count>
int rsend_init(const void* data, Count count, MPI_Datatype type, int to, int tag, MPI_Comm on,
               MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Rsend_init);
  return prepare(call, request, data, count, type, to, tag, on, Mode::standard);
}
template <class Count>
int recv_init(void* data, Count count, MPI_Datatype type, int from, int tag, MPI_Comm on,
              MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Recv_init);
  return call([&] {
    *request =
        reinterpret_cast<MPI_Request>(&start_receive(call, data, count, type, from, tag, on, true));
  });
}

}  // namespace

RequestObject& start_send(Call& call, const void* data, std::int64_t count, MPI_Datatype type,
                          int to, int tag, MPI_Comm on, Mode mode, bool persistent) {
  return started_send(call, data, count, type, to, tag, on, mode, persistent);
}
RequestObject& start_receive(Call& call, void* data, std::int64_t count, MPI_Datatype type,
                             int from, int tag, MPI_Comm on, bool persistent) {
  return started_receive(call, data, count, type, from, tag, on, persistent);
}

void add_point_to_point_functions(WormcubeMpiFunctions& table) {
  table.MPI_Send = mpi::send<int>;
  table.MPI_Send_c = mpi::send<MPI_Count>;
  table.MPI_Ssend = ssend<int>;
  table.MPI_Ssend_c = ssend<MPI_Count>;
  table.MPI_Rsend = rsend<int>;
  table.MPI_Rsend_c = rsend<MPI_Count>;
  table.MPI_Recv = recv<int>;
  table.MPI_Recv_c = recv<MPI_Count>;
  table.MPI_Sendrecv = sendrecv<int>;
  table.MPI_Sendrecv_c = sendrecv<MPI_Count>;
  table.MPI_Sendrecv_replace = sendrecv_replace<int>;
  table.MPI_Sendrecv_replace_c = sendrecv_replace<MPI_Count>;
  table.MPI_Isendrecv = isendrecv<int>;
  table.MPI_Isendrecv_c = isendrecv<MPI_Count>;
  table.MPI_Isendrecv_replace = isendrecv_replace<int>;
  table.MPI_Isendrecv_replace_c = isendrecv_replace<MPI_Count>;
  table.MPI_Isend = isend<int>;
  table.MPI_Isend_c = isend<MPI_Count>;
  table.MPI_Issend = issend<int>;
  table.MPI_Issend_c = issend<MPI_Count>;
  table.MPI_Irsend = irsend<int>;
  table.MPI_Irsend_c = irsend<MPI_Count>;
  table.MPI_Irecv = irecv<int>;
  table.MPI_Irecv_c = irecv<MPI_Count>;
  table.MPI_Send_init = send_init<int>;
  table.MPI_Send_init_c = send_init<MPI_Count>;
  table.MPI_Ssend_init = ssend_init<int>;
  table.MPI_Ssend_init_c = ssend_init<MPI_Count>;
  table.MPI_Rsend_init = rsend_init<int>;
  table.MPI_Rsend_init_c = rsend_init<MPI_Count>;
  table.MPI_Recv_init = recv_init<int>;
  table.MPI_Recv_init_c = recv_init<MPI_Count>;
}

}  // namespace wormcube::mpi
