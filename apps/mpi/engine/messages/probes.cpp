// Probes, and messages matched before their receive.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/base/status.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/messages/messages.hpp"

namespace wormcube::mpi {
namespace {

void note_probe(Call& call, int from, int tag) {
  CurrentCall& now = call.rank().call;
  now.waits = CurrentCall::Waits::probe;
  now.peer = from;
  now.tag = tag;
  now.bytes = 0;
}

void found_status(const Communicator& on, const Status& found, MPI_Status* status) {
  write_status(status, on.peers().rank_of(found.source), found.tag,
               static_cast<std::int64_t>(found.bytes));
}

int probe(int from, int tag, MPI_Comm on, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Probe);
  return call([&] {
    const Communicator& communicator = call.communicator(on);
    call.source(communicator, from);
    call.receive_tag(tag);
    if (from == MPI_PROC_NULL) return write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    note_probe(call, from, tag);
    found_status(communicator, call.rank().requests->wait_for(pattern_of(communicator, from, tag)),
                 status);
  });
}

int iprobe(int from, int tag, MPI_Comm on, int* flag, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Iprobe);
  return call([&] {
    const Communicator& communicator = call.communicator(on);
    call.source(communicator, from);
    call.receive_tag(tag);
    *flag = 1;
    if (from == MPI_PROC_NULL) return write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    const auto found = call.rank().requests->probe(pattern_of(communicator, from, tag));
    *flag = found.has_value() ? 1 : 0;
    if (!found) call.unsuccessful_poll();
    if (found) found_status(communicator, *found, status);
  });
}

/// Matches a message, so that no other receive gets it.
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

int mprobe(int from, int tag, MPI_Comm on, MPI_Message* message, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Mprobe);
  return call([&] {
    Communicator& communicator = call.communicator(on);
    call.source(communicator, from);
    call.receive_tag(tag);
    *message = MPI_MESSAGE_NO_PROC;
    if (from == MPI_PROC_NULL) return write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    note_probe(call, from, tag);
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
    if (!inner) call.unsuccessful_poll();
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
    throw Failure(MPI_ERR_REQUEST, "invalid message handle, or the message has been received");
  }
  RequestObject& object = rank.pool.take();
  object.kind = RequestObject::Kind::receive;
  object.communicator = message->communicator;
  object.peer = message->source;
  object.tag = message->tag;
  object.bytes = static_cast<std::int64_t>(room);
  object.at = rank.call.at;
  object.started_by = call.function();
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

void add_probe_functions(WormcubeMpiFunctions& table) {
  table.MPI_Probe = probe;
  table.MPI_Iprobe = iprobe;
  table.MPI_Mprobe = mprobe;
  table.MPI_Improbe = improbe;
  table.MPI_Mrecv = mrecv<int>;
  table.MPI_Mrecv_c = mrecv<MPI_Count>;
  table.MPI_Imrecv = imrecv<int>;
  table.MPI_Imrecv_c = imrecv<MPI_Count>;
}

}  // namespace wormcube::mpi
