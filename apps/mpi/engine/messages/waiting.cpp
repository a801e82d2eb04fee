// Waits for requests, and tests whether they are complete.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/status.hpp"
#include "wormcube/apps/mpi/engine/messages/completion.hpp"

#include <algorithm>
#include <utility>

namespace wormcube::mpi {
namespace {

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
      return call.unsuccessful_poll();
    } while (!is_whole(*object, found));
    std::string words;
    fail_if(settle(call.rank(), handle, *object, found, status, &words), words);
  });
}

/// The requests of the runtime: null ones for null and inactive requests and for PROC_NULL. They
/// are written back afterwards.
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

/// In a call that reports several statuses: the error of each one, MPI_SUCCESS included. The
/// standard wants it written only with MPI_ERR_IN_STATUS, but some programs always read it, because
/// MPICH and Open MPI always write it.
void write_error(MPI_Status* status, int error) {
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
}

/// Finishes the requests of wait_all(): those of the runtime are complete.
void settle_all(Call& call, MPI_Request* handles, int count, MPI_Status* statuses,
                bool any_has_parts) {
  RankState& rank = call.rank();
  const auto found_of = [&](int i) -> Status& {
    return rank.statuses[static_cast<std::size_t>(i)];
  };
  for (int i = 0; any_has_parts && i < count; ++i) {  // sends that go with receives
    RequestObject* const object = object_of(call, handles[i]);
    if (object == nullptr || !object->active || !object->has_parts()) continue;
    if (!is_whole(*object, found_of(i))) found_of(i) = wait_for_whole(rank, *object);
  }
  bool any_failed = false;
  std::string words;
  for (int i = 0; i < count; ++i) {
    RequestObject* const object = object_of(call, handles[i]);
    MPI_Status* const status = at(statuses, i);
    if (object == nullptr || !object->active) {
      write_empty_status(status);
      continue;
    }
    const int error = settle(rank, handles + i, *object, found_of(i), status, &words);
    write_error(status, error);
    any_failed |= error != MPI_SUCCESS;
  }
  if (any_failed) throw Failure(MPI_ERR_IN_STATUS, words);
}

int wait_all(int count, MPI_Request handles[], MPI_Status statuses[]) {
  WORMCUBE_MPI_CALL(MPI_Waitall);
  return call([&] {
    RankState& rank = call.rank();
    rank.inner.resize(call.count(count));
    rank.statuses.resize(rank.inner.size());
    bool any_has_parts = false;
    for (int i = 0; i < count; ++i) {
      const RequestObject* const object = object_of(call, handles[i]);
      Request& inner = rank.inner[static_cast<std::size_t>(i)];
      if (object != nullptr && object->is_plain) {
        inner = object->inner;
        continue;
      }
      const bool is_active = object != nullptr && object->active;
      inner = is_active && !object->to_nobody ? object->inner : Request();
      if (!is_active) continue;
      need_others(*object);
      any_has_parts |= object->has_parts();
    }
    note_requests(call, handles, count, false);
    rank.requests->wait_all(rank.inner, rank.statuses);
    settle_all(call, handles, count, statuses, any_has_parts);
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
    if (*flag == 0) return call.unsuccessful_poll();
    rank.statuses.resize(inner.size());
    rank.requests->wait_all(inner, rank.statuses);
    settle_all(call, handles, count, statuses, true);
  });
}

/// Requires that the network can complete at least one of them, or nobody ever would. The error
/// names the first one that this rank must complete.
void need_any_others(const Call& call, const std::vector<Request>& inner,
                     const MPI_Request* handles, int count) {
  if (std::ranges::any_of(inner, [](const Request each) { return !each.is_null(); })) return;
  for (int i = 0; i < count; ++i) {
    const RequestObject* const object = object_of(call, handles[i]);
    if (object != nullptr && object->active) need_others(*object);
  }
}

/// The first one complete without the network (for PROC_NULL); -1: none. Also whether any is
/// active.
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

bool any_ready(Requests& requests, const std::vector<Request>& inner) {
  return std::ranges::any_of(inner, [&](const Request request) {
    return !request.is_null() && requests.is_ready(request);
  });
}

/// \param flag  whether one was complete; null: waits until one is
void end_any(Call& call, int count, MPI_Request* handles, int* index, int* flag,
             MPI_Status* status) {
  call.count(count);
  const auto [first, any_active] = complete_at_once(call, handles, count);
  const bool waits = flag == nullptr;
  if (!waits) *flag = 1;
  *index = any_active ? first : MPI_UNDEFINED;
  if (!any_active) return write_empty_status(status);
  Status found;
  if (first < 0) {
    Requests& requests = *call.rank().requests;
    do {
      std::vector<Request>& inner = inner_of(call, handles, count);
      if (!waits && !any_ready(requests, inner)) {
        *flag = 0;
        *index = MPI_UNDEFINED;
        return call.unsuccessful_poll();
      }
      need_any_others(call, inner, handles, count);
      note_requests(call, handles, count, true);
      *index = static_cast<int>(requests.wait_any(inner, found).value_or(0));
    } while (!is_whole(call.request(handles[*index]), found));
  }
  std::string words;
  fail_if(
      settle(call.rank(), handles + *index, call.request(handles[*index]), found, status, &words),
      words);
}

int wait_any(int count, MPI_Request handles[], int* index, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Waitany);
  return call([&] { end_any(call, count, handles, index, nullptr, status); });
}
int test_any(int count, MPI_Request handles[], int* index, int* flag, MPI_Status* status) {
  WORMCUBE_MPI_CALL(MPI_Testany);
  return call([&] { end_any(call, count, handles, index, flag, status); });
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
  const bool ready = at_once || any_ready(*rank.requests, inner);
  if (!ready && !waits) return call.unsuccessful_poll();
  if (!ready) need_any_others(call, inner, handles, count);
  std::string words;
  bool any_failed = false;
  const auto take = [&](int i, const Status& found) {
    MPI_Status* const status = at(statuses, *ended);
    const int error = settle(rank, handles + i, call.request(handles[i]), found, status, &words);
    write_error(status, error);
    any_failed |= error != MPI_SUCCESS;
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
      // Receives whose sends are in progress.
      if (*ended == 0) return end_some(call, count, handles, ended, indices, statuses, waits);
    }
  }
  if (any_failed) throw Failure(MPI_ERR_IN_STATUS, words);
}

int wait_some(int count, MPI_Request handles[], int* ended, int indices[], MPI_Status statuses[]) {
  WORMCUBE_MPI_CALL(MPI_Waitsome);
  return call([&] { end_some(call, count, handles, ended, indices, statuses, true); });
}
int test_some(int count, MPI_Request handles[], int* ended, int indices[], MPI_Status statuses[]) {
  WORMCUBE_MPI_CALL(MPI_Testsome);
  return call([&] { end_some(call, count, handles, ended, indices, statuses, false); });
}

}  // namespace

void add_waiting_functions(WormcubeMpiFunctions& table) {
  table.MPI_Wait = mpi::wait;
  table.MPI_Test = test;
  table.MPI_Waitall = wait_all;
  table.MPI_Testall = test_all;
  table.MPI_Waitany = wait_any;
  table.MPI_Testany = test_any;
  table.MPI_Waitsome = wait_some;
  table.MPI_Testsome = test_some;
}

}  // namespace wormcube::mpi
