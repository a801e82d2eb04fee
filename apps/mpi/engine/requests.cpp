// Requests: waiting for them, asking for them, freeing them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/calls.hpp"
#include "wormcube/apps/mpi/engine/handles.hpp"
#include "wormcube/apps/mpi/engine/status.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

using Waits = CurrentCall::Waits;

/// Of an active request what its end leaves: the user's status, the data unpacked, the handle null.
/// Returns the error class of a message that was too long.
int settle(RankState& rank, MPI_Request* handle, RequestObject& object, const Status& found,
           MPI_Status* status, std::string* words = nullptr) {
  int error = MPI_SUCCESS;
  object.active = false;
  if (object.kind == RequestObject::Kind::send) {
    write_sent_status(status);
  } else if (object.to_nobody || object.from_nobody) {
    write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  } else if (found.cancelled) {
    write_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
  } else {
    const auto room = static_cast<Bytes>(object.bytes);
    const Bytes bytes = std::min(found.bytes, room);
    if (object.packed) unpack(*object.type, object.packed.get(), bytes, object.elements);
    const int source = object.communicator->shared->rank_of(found.source);
    write_status(status, source, found.tag, static_cast<std::int64_t>(bytes));
    if (found.truncated) {
      error = MPI_ERR_TRUNCATE;
      if (words != nullptr) {
        *words =
            fmt::format("the message from rank {}, tag {} has {} bytes, the buffer room for {}",
                        source, found.tag, found.bytes, room);
      }
    }
  }
  if (object.persistent) return error;
  rank.pool.give_back(object);
  *handle = MPI_REQUEST_NULL;
  return error;
}

/// `found` has become complete of it; whether that is all of it. Else the send that goes with it is what it waits
/// for from now on. \param found  then the whole's
bool is_whole(RequestObject& object, Status& found) {
  if (!object.with_send) return true;
  if (object.next.is_null()) {
    if (!object.from_nobody) found = object.received;
    return true;
  }
  object.received = found;
  object.inner = std::exchange(object.next, {});
  return false;
}

bool is_ready(RankState& rank, const RequestObject& object) {
  return rank.requests->is_ready(object.inner) &&
         (object.next.is_null() || rank.requests->is_ready(object.next));
}

Status wait_for_whole(RankState& rank, RequestObject& object) {
  Status found;
  do {
    found = rank.requests->wait(object.inner);
  } while (!is_whole(object, found));
  return found;
}

/// Null for a request that is null; throws Failure for one that is none.
RequestObject* object_of(const Call& call, MPI_Request handle) {
  return handle == MPI_REQUEST_NULL ? nullptr : &call.request(handle);
}

MPI_Status* at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

void note_requests(Call& call, const MPI_Request* handles, int count, bool any) {
  CurrentCall& now = call.rank().call;
  now.waits = Waits::requests;
  now.requests = handles;
  now.request_count = count;
  now.for_any = any;
}

void fail_if(int error, const std::string& words) {
  if (error != MPI_SUCCESS) throw Failure(error, words);
}

int wait(MPI_Request* handle, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Wait);
  return call([&] {
    RequestObject* const object = object_of(call, *handle);
    if (object == nullptr || !object->active) return write_empty_status(status);
    note_requests(call, handle, 1, false);
    Status found;
    if (!object->to_nobody) found = wait_for_whole(call.rank(), *object);
    std::string words;
    fail_if(settle(call.rank(), handle, *object, found, status, &words), words);
  });
}

int test(MPI_Request* handle, int* flag, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Test);
  return call([&] {
    RequestObject* const object = object_of(call, *handle);
    *flag = 1;
    if (object == nullptr || !object->active) return write_empty_status(status);
    Status found;
    do {
      if (object->to_nobody || call.rank().requests->test(object->inner, &found)) continue;
      *flag = 0;
      return;
    } while (!is_whole(*object, found));
    std::string words;
    fail_if(settle(call.rank(), handle, *object, found, status, &words), words);
  });
}

/// The requests below: null ones for what is null, inactive or of PROC_NULL. They are given back after.
std::vector<Request>& inner_of(Call& call, const MPI_Request* handles, int count) {
  std::vector<Request>& inner = call.rank().inner;
  inner.clear();
  for (int i = 0; i < count; ++i) {
    const RequestObject* const object = object_of(call, handles[i]);
    inner.push_back(object != nullptr && object->active && !object->to_nobody ? object->inner
                                                                              : Request());
  }
  return inner;
}

void settle_all(Call& call, MPI_Request* handles, int count, MPI_Status* statuses) {
  RankState& rank = call.rank();
  for (int i = 0; i < count; ++i) {  // sends that go with receives
    RequestObject* const object = object_of(call, handles[i]);
    if (object == nullptr || !object->active || !object->with_send) continue;
    Status& found = rank.statuses[static_cast<std::size_t>(i)];
    if (!is_whole(*object, found)) found = wait_for_whole(rank, *object);
  }
  int errors = 0;
  std::string words;
  std::vector<int> classes;
  for (int i = 0; i < count; ++i) {
    RequestObject* const object = object_of(call, handles[i]);
    int error = MPI_SUCCESS;
    if (object == nullptr || !object->active) {
      write_empty_status(at(statuses, i));
    } else {
      error = settle(rank, handles + i, *object, rank.statuses[static_cast<std::size_t>(i)],
                     at(statuses, i), &words);
    }
    if (error == MPI_SUCCESS && errors == 0) continue;
    if (errors++ == 0) classes.assign(static_cast<std::size_t>(count), MPI_SUCCESS);
    classes[static_cast<std::size_t>(i)] = error;
  }
  if (errors == 0) return;
  for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; ++i) {
    statuses[i].MPI_ERROR = classes[static_cast<std::size_t>(i)];
  }
  throw Failure(MPI_ERR_IN_STATUS, words);
}

int wait_all(int count, MPI_Request handles[], MPI_Status statuses[]) {
  WORMCUBE_MPI_CALL(MPI_Waitall);
  return call([&] {
    call.count(count);
    std::vector<Request>& inner = inner_of(call, handles, count);
    note_requests(call, handles, count, false);
    RankState& rank = call.rank();
    rank.statuses.assign(static_cast<std::size_t>(count), {});
    rank.requests->wait_all(inner, rank.statuses);
    settle_all(call, handles, count, statuses);
  });
}

int test_all(int count, MPI_Request handles[], int* flag, MPI_Status statuses[]) {
  WORMCUBE_MPI_CALL(MPI_Testall);
  return call([&] {
    call.count(count);
    std::vector<Request>& inner = inner_of(call, handles, count);
    RankState& rank = call.rank();
    *flag = std::ranges::all_of(
        inner, [&](const Request request) { return rank.requests->is_ready(request); });
    for (int i = 0; i < count && *flag != 0; ++i) {
      const RequestObject* const object = object_of(call, handles[i]);
      if (object != nullptr && object->active && object->with_send)
        *flag = is_ready(rank, *object) ? 1 : 0;
    }
    if (*flag == 0) return;
    rank.statuses.assign(static_cast<std::size_t>(count), {});
    rank.requests->wait_all(inner, rank.statuses);
    settle_all(call, handles, count, statuses);
  });
}

/// The first that is complete without the network: of PROC_NULL; -1: none. Whether any is active.
std::pair<int, bool> complete_at_once(const Call& call, const MPI_Request* handles, int count) {
  bool any_active = false;
  for (int i = 0; i < count; ++i) {
    const RequestObject* const object = object_of(call, handles[i]);
    if (object == nullptr || !object->active) continue;
    any_active = true;
    if (object->to_nobody) return {i, true};
  }
  return {-1, any_active};
}

void end_one(Call& call, MPI_Request* handles, int i, const Status& found, MPI_Status* status) {
  std::string words;
  fail_if(settle(call.rank(), handles + i, call.request(handles[i]), found, status, &words), words);
}

int wait_any(int count, MPI_Request handles[], int* index, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Waitany);
  return call([&] {
    call.count(count);
    const auto [first, any_active] = complete_at_once(call, handles, count);
    *index = any_active ? first : MPI_UNDEFINED;
    if (!any_active) return write_empty_status(status);
    Status found;
    if (first < 0) {
      do {
        std::vector<Request>& inner = inner_of(call, handles, count);
        note_requests(call, handles, count, true);
        const auto which = call.rank().requests->wait_any(inner, found);
        *index = static_cast<int>(which.value_or(0));
      } while (!is_whole(call.request(handles[*index]), found));
    }
    end_one(call, handles, *index, found, status);
  });
}

int test_any(int count, MPI_Request handles[], int* index, int* flag, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Testany);
  return call([&] {
    call.count(count);
    const auto [first, any_active] = complete_at_once(call, handles, count);
    *flag = 1;
    *index = any_active ? first : MPI_UNDEFINED;
    if (!any_active) return write_empty_status(status);
    Status found;
    if (first < 0) {
      do {
        std::vector<Request>& inner = inner_of(call, handles, count);
        Requests& requests = *call.rank().requests;
        const bool ready = std::ranges::any_of(inner, [&](const Request request) {
          return !request.is_null() && requests.is_ready(request);
        });
        *flag = ready ? 1 : 0;
        *index = MPI_UNDEFINED;
        if (!ready) return;
        *index = static_cast<int>(requests.wait_any(inner, found).value_or(0));
      } while (!is_whole(call.request(handles[*index]), found));
    }
    end_one(call, handles, *index, found, status);
  });
}

void end_some(Call& call, int count, MPI_Request* handles, int* ended, int indices[],
              MPI_Status statuses[], bool waits) {
  call.count(count);
  const bool any_active = complete_at_once(call, handles, count).second;
  *ended = any_active ? 0 : MPI_UNDEFINED;
  if (!any_active) return;
  RankState& rank = call.rank();
  const bool at_once = complete_at_once(call, handles, count).first >= 0;
  std::vector<Request>& inner = inner_of(call, handles, count);
  const bool ready = at_once || std::ranges::any_of(inner, [&](const Request request) {
                       return !request.is_null() && rank.requests->is_ready(request);
                     });
  if (!ready && !waits) return;
  std::string words;
  std::vector<int> classes;
  const auto take = [&](int i, const Status& found) {
    const int error =
        settle(rank, handles + i, call.request(handles[i]), found, at(statuses, *ended), &words);
    classes.push_back(error);
    indices[(*ended)++] = i;
  };
  for (int i = 0; i < count; ++i) {
    const RequestObject* const object = object_of(call, handles[i]);
    if (object != nullptr && object->active && object->to_nobody) take(i, {});
  }
  if (*ended == 0 || ready) {
    const bool others = std::ranges::any_of(inner, [&](const Request request) {
      return !request.is_null() && (*ended == 0 || rank.requests->is_ready(request));
    });
    if (others) {
      note_requests(call, handles, count, true);
      std::vector<std::size_t> which(static_cast<std::size_t>(count));
      rank.statuses.assign(static_cast<std::size_t>(count), {});
      const std::size_t many = rank.requests->wait_some(inner, which, rank.statuses);
      for (std::size_t k = 0; k < many; ++k) {
        const int i = static_cast<int>(which[k]);
        if (is_whole(call.request(handles[i]), rank.statuses[k])) take(i, rank.statuses[k]);
      }
      // Receives alone, whose sends are under way.
      if (*ended == 0) return end_some(call, count, handles, ended, indices, statuses, waits);
    }
  }
  if (std::ranges::all_of(classes, [](int error) { return error == MPI_SUCCESS; })) return;
  for (std::size_t k = 0; k < classes.size() && statuses != MPI_STATUSES_IGNORE; ++k) {
    statuses[k].MPI_ERROR = classes[k];
  }
  throw Failure(MPI_ERR_IN_STATUS, words);
}

int wait_some(int count, MPI_Request handles[], int* ended, int indices[], MPI_Status statuses[]) {
  WORMCUBE_MPI_CALL(MPI_Waitsome);
  return call([&] { end_some(call, count, handles, ended, indices, statuses, true); });
}
int test_some(int count, MPI_Request handles[], int* ended, int indices[], MPI_Status statuses[]) {
  WORMCUBE_MPI_CALL(MPI_Testsome);
  return call([&] { end_some(call, count, handles, ended, indices, statuses, false); });
}

int request_free(MPI_Request* handle) {
  WORMCUBE_MPI_CALL(MPI_Request_free);
  return call([&] {
    RequestObject& object = call.request(*handle);
    RankState& rank = call.rank();
    *handle = MPI_REQUEST_NULL;
    if (object.active && !object.to_nobody) {
      rank.pool.detached.push_back(&object);
      return;
    }
    if (object.persistent && !object.to_nobody) rank.requests->free(object.inner);
    rank.pool.give_back(object);
  });
}

int cancel(MPI_Request* handle) {
  WORMCUBE_MPI_CALL(MPI_Cancel);
  return call([&] {
    const RequestObject& object = call.request(*handle);
    if (object.active && !object.to_nobody)
      static_cast<void>(call.rank().requests->cancel(object.inner));
  });
}

void start_one(Call& call, MPI_Request handle) {
  RequestObject& object = call.request(handle);
  if (!object.persistent) throw Failure(MPI_ERR_REQUEST, "the request is not persistent");
  if (object.active) throw Failure(MPI_ERR_REQUEST, "the request is active already");
  if (object.copies) send_copy_of(call, object);
  object.active = true;
  object.at = call.rank().call.at;
  if (object.to_nobody) return;
  if (object.kind == RequestObject::Kind::send) {
    if (object.packed)
      pack(*object.type, object.elements, static_cast<Bytes>(object.bytes), object.packed.get());
    ++call.rank().sent;
    call.rank().sent_bytes += static_cast<Bytes>(object.bytes);
  }
  call.rank().requests->restart(object.inner);
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

int get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Request_get_status);
  return call([&] {
    const RequestObject* const object = object_of(call, handle);
    *flag = 1;
    if (object == nullptr || !object->active) return write_empty_status(status);
    *flag = object->to_nobody || is_ready(call.rank(), *object) ? 1 : 0;
    if (*flag == 0) return;
    if (object->kind == RequestObject::Kind::send) return write_sent_status(status);
    if (object->to_nobody || object->from_nobody)
      return write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    const bool is_received = object->with_send && object->next.is_null();
    const Status found =
        is_received ? object->received : call.rank().requests->look_at(object->inner);
    write_status(status, object->communicator->shared->rank_of(found.source), found.tag,
                 std::min(static_cast<std::int64_t>(found.bytes), object->bytes), found.cancelled);
  });
}

}  // namespace

void finish_request(Call& call, RequestObject& request, MPI_Status* status) {
  MPI_Request handle = reinterpret_cast<MPI_Request>(&request);
  note_requests(call, &handle, 1, false);
  Status found;
  if (!request.to_nobody) found = wait_for_whole(call.rank(), request);
  std::string words;
  fail_if(settle(call.rank(), &handle, request, found, status, &words), words);
}

void reap_detached(RankState& rank, bool wait) {
  std::erase_if(rank.pool.detached, [&](RequestObject* object) {
    if (!wait && !is_ready(rank, *object)) return false;
    const Status found = wait_for_whole(rank, *object);
    MPI_Request handle = reinterpret_cast<MPI_Request>(object);
    const bool persistent = object->persistent;
    static_cast<void>(settle(rank, &handle, *object, found, MPI_STATUS_IGNORE));
    if (persistent) {
      rank.requests->free(object->inner);
      rank.pool.give_back(*object);
    }
    return true;
  });
}

void add_request_functions(WormcubeMpiFunctions& table) {
  table.MPI_Wait = mpi::wait;
  table.MPI_Test = test;
  table.MPI_Waitall = wait_all;
  table.MPI_Testall = test_all;
  table.MPI_Waitany = wait_any;
  table.MPI_Testany = test_any;
  table.MPI_Waitsome = wait_some;
  table.MPI_Testsome = test_some;
  table.MPI_Request_free = request_free;
  table.MPI_Cancel = cancel;
  table.MPI_Start = start_persistent;
  table.MPI_Startall = start_all;
  table.MPI_Request_get_status = get_status;
}

}  // namespace wormcube::mpi
