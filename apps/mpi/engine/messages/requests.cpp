// Starts, frees, cancels and queries requests.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/status.hpp"
#include "wormcube/apps/mpi/engine/collectives/nonblocking_collective.hpp"
#include "wormcube/apps/mpi/engine/messages/completion.hpp"
#include "wormcube/apps/mpi/engine/messages/messages.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

int request_free(MPI_Request* handle) {
  WORMCUBE_MPI_CALL(MPI_Request_free);
  return call([&] {
    RequestObject& object = call.request(*handle);
    RankState& rank = call.rank();
    if (object.active && object.kind == RequestObject::Kind::collective) {
      throw Failure(MPI_ERR_REQUEST, fmt::format("an active collective ({}) cannot be freed: "
                                                 "complete it first",
                                                 name_of(object.started_by)));
    }
    *handle = MPI_REQUEST_NULL;
    if (object.active && !object.to_nobody) {
      rank.pool.detached.push_back(&object);
      return;
    }
    if (object.kind == RequestObject::Kind::generalized)
      fail_if(object.generalized.free(object.generalized.state), "its free function failed");
    if (object.persistent && !object.to_nobody) rank.requests->free(object.inner);
    rank.pool.give_back(object);
  });
}

int cancel(MPI_Request* handle) {
  WORMCUBE_MPI_CALL(MPI_Cancel);
  return call([&] {
    const RequestObject& object = call.request(*handle);
    if (object.kind == RequestObject::Kind::generalized) {
      const RequestObject::Generalized& its = object.generalized;
      return fail_if(its.cancel(its.state, object.held ? 0 : 1), "its cancel function failed");
    }
    if (object.kind == RequestObject::Kind::collective) {
      throw Failure(MPI_ERR_REQUEST, fmt::format("a collective ({}) cannot be cancelled",
                                                 name_of(object.started_by)));
    }
    if (object.active && !object.to_nobody && !object.held)
      static_cast<void>(call.rank().requests->cancel(object.inner));
  });
}

void give_to_network(Call& call, RequestObject& object) {
  if (object.kind == RequestObject::Kind::send) {
    if (object.packed)
      pack(*object.type, object.elements, static_cast<Bytes>(object.bytes), object.packed.get());
    ++call.rank().sent;
    call.rank().sent_bytes += static_cast<Bytes>(object.bytes);
  }
  call.rank().requests->restart(object.inner);
}

void start_one(Call& call, MPI_Request handle) {
  RequestObject& object = call.request(handle);
  if (!object.persistent) throw Failure(MPI_ERR_REQUEST, "the request is not persistent");
  if (object.active) throw Failure(MPI_ERR_REQUEST, "the request is already active");
  object.is_known_complete = false;
  if (object.kind == RequestObject::Kind::collective) return restart_collective(call, object);
  if (object.copies) send_copy_of(call, object);
  object.active = true;
  object.at = call.rank().call.at;
  if (object.is_partitioned && object.kind == RequestObject::Kind::send) {
    object.partitions.assign(object.partitions.size(), false);
    object.held = !object.partitions.empty() && !object.to_nobody;
    if (object.held) return;
  }
  if (!object.to_nobody) give_to_network(call, object);
}

int start_persistent(MPI_Request* handle) {
  WORMCUBE_MPI_CALL(MPI_Start);
  return call([&] { start_one(call, *handle); });
}
int start_all(int count, MPI_Request handles[]) {
  WORMCUBE_MPI_CALL(MPI_Startall);
  return call([&] {
    call.count(count);
    for (int i = 0; i < count; ++i) start_one(call, handles[i]);
  });
}

/// Whether the request is complete, and if so its status. The status stays available; received data
/// are in the buffer.
bool look_at(const Call& call, MPI_Request handle, MPI_Status* status) {
  RequestObject* const object = object_of(call, handle);
  if (object == nullptr || !object->active) {
    write_empty_status(status);
    return true;
  }
  RankState& rank = call.rank();
  if (!object->to_nobody && !is_ready(rank, *object)) return false;
  const bool is_news = !std::exchange(object->is_known_complete, true);
  if (object->kind == RequestObject::Kind::generalized) {
    MPI_Status unused{};
    if (status == MPI_STATUS_IGNORE) status = &unused;
    write_sent_status(status);
    fail_if(object->generalized.query(object->generalized.state, status),
            "its query function failed");
  } else if (object->kind != RequestObject::Kind::receive) {
    write_sent_status(status);
  } else if (object->to_nobody || object->from_nobody) {
    write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  } else {
    const bool is_received = object->with_send && object->next.is_null();
    const Status found = is_received ? object->received : rank.requests->look_at(object->inner);
    const auto bytes = std::min(static_cast<std::int64_t>(found.bytes), object->bytes);
    if (object->packed && is_news && !found.cancelled)
      unpack(*object->type, object->packed.get(), static_cast<Bytes>(bytes), object->elements);
    write_status(status, object->communicator->peers().rank_of(found.source),
                 object->is_partitioned ? object->tag : found.tag, bytes, found.cancelled);
  }
  return true;
}

int get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Request_get_status);
  return call([&] {
    *flag = look_at(call, handle, status) ? 1 : 0;
    if (*flag == 0) call.unsuccessful_poll();
  });
}

int get_status_all(int count, const MPI_Request handles[], int* flag, MPI_Status statuses[]) {
  WORMCUBE_MPI_CALL(MPI_Request_get_status_all);
  return call([&] {
    call.count(count);
    *flag = 1;
    for (int i = 0; i < count && *flag != 0; ++i)
      *flag = look_at(call, handles[i], at(statuses, i)) ? 1 : 0;
    if (*flag == 0) call.unsuccessful_poll();
  });
}

/// Ignores null and inactive requests.
bool is_active(const Call& call, MPI_Request handle) {
  const RequestObject* const object = object_of(call, handle);
  return object != nullptr && object->active;
}

int get_status_any(int count, const MPI_Request handles[], int* index, int* flag,
                   MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Request_get_status_any);
  return call([&] {
    call.count(count);
    bool any_active = false;
    *index = MPI_UNDEFINED;
    *flag = 1;
    for (int i = 0; i < count; ++i) {
      if (!is_active(call, handles[i])) continue;
      any_active = true;
      if (!look_at(call, handles[i], status)) continue;
      *index = i;
      return;
    }
    if (!any_active) return write_empty_status(status);
    *flag = 0;
    call.unsuccessful_poll();
  });
}

int get_status_some(int count, const MPI_Request handles[], int* ended, int indices[],
                    MPI_Status statuses[]) {
  WORMCUBE_MPI_CALL(MPI_Request_get_status_some);
  return call([&] {
    call.count(count);
    *ended = MPI_UNDEFINED;
    for (int i = 0; i < count; ++i) {
      if (!is_active(call, handles[i])) continue;
      if (*ended == MPI_UNDEFINED) *ended = 0;
      if (look_at(call, handles[i], at(statuses, *ended))) indices[(*ended)++] = i;
    }
    if (*ended == 0) call.unsuccessful_poll();
  });
}

}  // namespace

void send_partitions(Call& call, RequestObject& object) {
  if (!object.held) return;  // to PROC_NULL
  object.held = false;
  give_to_network(call, object);
}

void add_request_functions(WormcubeMpiFunctions& table) {
  add_waiting_functions(table);
  table.MPI_Request_free = request_free;
  table.MPI_Cancel = cancel;
  table.MPI_Start = start_persistent;
  table.MPI_Startall = start_all;
  table.MPI_Request_get_status = get_status;
  table.MPI_Request_get_status_all = get_status_all;
  table.MPI_Request_get_status_any = get_status_any;
  table.MPI_Request_get_status_some = get_status_some;
}

}  // namespace wormcube::mpi
