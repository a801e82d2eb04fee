// What happens to complete requests.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/messages/completion.hpp"

#include "wormcube/apps/mpi/engine/collectives/nonblocking_collective.hpp"
#include "wormcube/apps/mpi/engine/messages/messages.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

/// The status of a generalized request, which the program supplies before the request is freed.
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

/// Why a received message is wrong: too long for its buffer, or of other types.
int check_match(const RequestObject& object, const Status& found, std::string* words) {
  int error = MPI_SUCCESS;
  if (const auto wrong = wrong_match(object.checked.get(), found, *object.communicator)) {
    error = wrong->error_class();
    if (words != nullptr) *words = wrong->text();
  }
  if (!found.truncated) return error;
  if (words != nullptr) {
    *words = fmt::format(
        "the message from rank {}, tag {} has {} bytes, but the buffer has room for {}",
        object.communicator->peers().rank_of(found.source), found.tag, found.bytes, object.bytes);
  }
  return MPI_ERR_TRUNCATE;
}

}  // namespace

int settle_any(RankState& rank, MPI_Request* handle, RequestObject& object, const Status& found,
               MPI_Status* status, std::string* words) {
  if (object.kind == RequestObject::Kind::generalized)
    return settle_generalized(rank, handle, object, status);
  int error = MPI_SUCCESS;
  object.active = false;
  if (object.kind == RequestObject::Kind::collective) {
    write_sent_status(status);
    object.inner = {};
    if (const auto& failure = object.program->failure()) {
      error = failure->error_class();
      if (words != nullptr)
        *words = fmt::format("{}: {}", name_of(object.started_by), failure->text());
    }
  } else if (object.kind == RequestObject::Kind::send) {
    write_sent_status(status);
  } else if (object.to_nobody || object.from_nobody) {
    write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  } else if (found.cancelled) {
    write_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, true);
  } else {
    note_taken(rank, object, found);
    const auto room = static_cast<Bytes>(object.bytes);
    const Bytes bytes = std::min(found.bytes, room);
    if (object.packed && !object.is_known_complete)
      unpack(*object.type, object.packed.get(), bytes, object.elements);
    if (status != MPI_STATUS_IGNORE) {
      write_status(status, object.communicator->peers().rank_of(found.source),
                   object.is_partitioned ? object.tag : found.tag,
                   static_cast<std::int64_t>(bytes));
    }
    if (object.checked || found.truncated) error = check_match(object, found, words);
  }
  if (object.persistent) return error;
  rank.pool.give_back(object);
  *handle = MPI_REQUEST_NULL;
  return error;
}

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

void note_requests(Call& call, const MPI_Request* handles, int count, bool any) {
  CurrentCall& now = call.rank().call;
  now.waits = CurrentCall::Waits::requests;
  now.requests = handles;
  now.request_count = count;
  now.for_any = any;
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

}  // namespace wormcube::mpi
