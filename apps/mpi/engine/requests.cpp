// Requests: waiting for them, asking for them, freeing them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/beside.hpp"
#include "wormcube/apps/mpi/engine/calls.hpp"
#include "wormcube/apps/mpi/engine/handles.hpp"
#include "wormcube/apps/mpi/engine/status.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

using Waits = CurrentCall::Waits;

/// Of a generalized one: what the program says of it, which is asked before it is freed.
int settle_generalized(RankState& rank, MPI_Request* handle, RequestObject& object,
                       MPI_Status* status) {
  const RequestObject::Generalized its = object.generalized;
  MPI_Status unused{};
  if (status == MPI_STATUS_IGNORE) status = &unused;
  write_sent_status(status);
  const int queried = its.query(its.state, status);
  const int freed = its.free(its.state);
  rank.pool.give_back(object);
  *handle = MPI_REQUEST_NULL;
  return queried != MPI_SUCCESS ? queried : freed;
}

/// Of an active request what its end leaves: the user's status, the data unpacked, the handle null.
/// Returns the error class of a message that was too long.
int settle(RankState& rank, MPI_Request* handle, RequestObject& object, const Status& found,
           MPI_Status* status, std::string* words = nullptr) {
  if (object.kind == RequestObject::Kind::generalized)
    return settle_generalized(rank, handle, object, status);
  int error = MPI_SUCCESS;
  object.active = false;
  if (object.kind == RequestObject::Kind::collective) {
    write_sent_status(status);
    object.inner = {};
    if (const auto& failure = object.program->failure()) {
      error = failure->error_class();
      if (words != nullptr) *words = fmt::format("{}: {}", object.started_by, failure->text());
    }
  } else if (object.kind == RequestObject::Kind::send) {
    write_sent_status(status);
  } else if (object.to_nobody || object.from_nobody) {
    write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  } else if (found.cancelled) {
    write_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
  } else {
    const auto room = static_cast<Bytes>(object.bytes);
    const Bytes bytes = std::min(found.bytes, room);
    if (object.packed) unpack(*object.type, object.packed.get(), bytes, object.elements);
    const int source = object.communicator->peers().rank_of(found.source);
    write_status(status, source, object.is_partitioned ? object.tag : found.tag,
                 static_cast<std::int64_t>(bytes));
    if (const auto wrong =
            wrong_match(rank.job, object.checked.get(), found, *object.communicator)) {
      error = wrong->error_class();
      if (words != nullptr) *words = wrong->text();
    }
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
  if (object.to_flush > 0) {
    const RequestObject& next = *object.flushed[--object.to_flush];
    object.inner = next.inner;
    object.communicator = next.communicator;
    object.peer = next.peer;
    object.tag = next.tag;
    object.bytes = next.bytes;
    return false;
  }
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
  return !object.held && rank.requests->is_ready(object.inner) &&
         (object.next.is_null() || rank.requests->is_ready(object.next)) &&
         std::all_of(object.flushed.begin(),
                     object.flushed.begin() + static_cast<std::ptrdiff_t>(object.to_flush),
                     [&](const RequestObject* each) { return is_ready(rank, *each); });
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

/// A rank that waits does nothing else.
void need_others(const RequestObject& object) {
  if (!object.held) return;
  throw Failure(
      MPI_ERR_REQUEST,
      object.is_partitioned
          ? fmt::format("the send waits for {} of its {} partitions, and only this rank can make "
                        "them ready (MPI_Pready)",
                        std::ranges::count(object.partitions, false), object.partitions.size())
          : std::string("only this rank can complete the generalized request "
                        "(MPI_Grequest_complete)"));
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
    need_others(*object);
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
      if (object->to_nobody || (!object->held && call.rank().requests->test(object->inner, &found)))
        continue;
      *flag = 0;
      return call.asked_in_vain();
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
    const bool is_there =
        object != nullptr && object->active && !object->to_nobody && !object->held;
    inner.push_back(is_there ? object->inner : Request());
  }
  return inner;
}

void settle_all(Call& call, MPI_Request* handles, int count, MPI_Status* statuses) {
  RankState& rank = call.rank();
  for (int i = 0; i < count; ++i) {  // sends that go with receives
    RequestObject* const object = object_of(call, handles[i]);
    if (object == nullptr || !object->active || !object->has_parts()) continue;
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
    for (int i = 0; i < count; ++i) {
      if (const RequestObject* const object = object_of(call, handles[i])) need_others(*object);
    }
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
      if (object != nullptr && object->active && (object->has_parts() || object->held))
        *flag = is_ready(rank, *object) ? 1 : 0;
    }
    if (*flag == 0) return call.asked_in_vain();
    rank.statuses.assign(static_cast<std::size_t>(count), {});
    rank.requests->wait_all(inner, rank.statuses);
    settle_all(call, handles, count, statuses);
  });
}

/// At least one of them is the network's: else nobody would ever complete one. The first that is held says why.
void need_any_others(const Call& call, const std::vector<Request>& inner,
                     const MPI_Request* handles, int count) {
  if (std::ranges::any_of(inner, [](const Request each) { return !each.is_null(); })) return;
  for (int i = 0; i < count; ++i) {
    const RequestObject* const object = object_of(call, handles[i]);
    if (object != nullptr && object->active) need_others(*object);
  }
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
        need_any_others(call, inner, handles, count);
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
        if (!ready) return call.asked_in_vain();
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
  if (!ready && !waits) return call.asked_in_vain();
  if (!ready) need_any_others(call, inner, handles, count);
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
    if (object.active && object.kind == RequestObject::Kind::collective) {
      throw Failure(MPI_ERR_REQUEST, fmt::format("a collective that is under way ({}) cannot be "
                                                 "freed: wait for it",
                                                 object.started_by));
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
      throw Failure(MPI_ERR_REQUEST,
                    fmt::format("a collective ({}) cannot be cancelled", object.started_by));
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
  if (object.active) throw Failure(MPI_ERR_REQUEST, "the request is active already");
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

/// Whether it is complete, and of one that is its status, which stays to be asked for.
bool look_at(const Call& call, MPI_Request handle, MPI_Status* status) {
  const RequestObject* const object = object_of(call, handle);
  if (object == nullptr || !object->active) {
    write_empty_status(status);
    return true;
  }
  RankState& rank = call.rank();
  if (!object->to_nobody && !is_ready(rank, *object)) return false;
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
    write_status(status, object->communicator->peers().rank_of(found.source),
                 object->is_partitioned ? object->tag : found.tag,
                 std::min(static_cast<std::int64_t>(found.bytes), object->bytes), found.cancelled);
  }
  return true;
}

int get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Request_get_status);
  return call([&] {
    *flag = look_at(call, handle, status) ? 1 : 0;
    if (*flag == 0) call.asked_in_vain();
  });
}

int get_status_all(int count, const MPI_Request handles[], int* flag, MPI_Status statuses[]) {
  WORMCUBE_MPI_CALL(MPI_Request_get_status_all);
  return call([&] {
    call.count(count);
    *flag = 1;
    for (int i = 0; i < count && *flag != 0; ++i)
      *flag = look_at(call, handles[i], at(statuses, i)) ? 1 : 0;
    if (*flag == 0) call.asked_in_vain();
  });
}

/// Null and inactive ones do not count.
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
    call.asked_in_vain();
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
    if (*ended == 0) call.asked_in_vain();
  });
}

}  // namespace

void send_partitions(Call& call, RequestObject& object) {
  if (!object.held) return;  // to nobody
  object.held = false;
  give_to_network(call, object);
}

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
    if (object->kind == RequestObject::Kind::generalized) {
      if (!object->held) object->generalized.free(object->generalized.state);
      rank.pool.give_back(*object);
      return true;
    }
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
  table.MPI_Request_get_status_all = get_status_all;
  table.MPI_Request_get_status_any = get_status_any;
  table.MPI_Request_get_status_some = get_status_some;
}

}  // namespace wormcube::mpi
