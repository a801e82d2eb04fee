// Requests that their own rank completes: generalized requests and partitioned messages.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/messages/messages.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

// ---- Generalized requests ----

int grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
                   MPI_Grequest_cancel_function* cancel, void* state, MPI_Request* request) {
  WORMCUBE_MPI_CALL(MPI_Grequest_start);
  return call([&] {
    RankState& rank = call.rank();
    RequestObject& object = rank.pool.take();
    object.kind = RequestObject::Kind::generalized;
    object.generalized = {query, free, cancel, state};
    object.communicator = &rank.self;
    object.inner = {};
    object.bytes = 0;
    object.at = rank.call.at;
    object.started_by = call.function();
    object.active = object.held = true;
    *request = reinterpret_cast<MPI_Request>(&object);
  });
}

int grequest_complete(MPI_Request request) {
  WORMCUBE_MPI_CALL(MPI_Grequest_complete);
  return call([&] {
    RequestObject& object = call.request(request);
    if (object.kind != RequestObject::Kind::generalized)
      throw Failure(MPI_ERR_REQUEST, "the request is not generalized (MPI_Grequest_start)");
    if (!object.held) throw Failure(MPI_ERR_REQUEST, "the request is already complete");
    object.held = false;
    object.to_nobody = true;  // the network takes no part in it
    reap_detached(call.rank(), false);
  });
}

// ---- Partitions ----
// The message travels as a whole when its last partition is ready, because its receiver may
// partition it differently.

RequestObject& with_partitions(int partitions, RequestObject& object) {
  object.partitions.assign(static_cast<std::size_t>(partitions), false);
  object.is_partitioned = true;
  return object;
}

template <class Count>
int psend_init(const void* data, int partitions, Count count, MPI_Datatype type, int to, int tag,
               MPI_Comm on, MPI_Info, MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Psend_init);
  return call([&] {
    const auto all =
        static_cast<std::int64_t>(call.count(partitions, "partitions") * call.count(count));
    RequestObject& object =
        start_send(call, data, all, type, to, tag, on, Requests::Mode::standard, true);
    *request = reinterpret_cast<MPI_Request>(&with_partitions(partitions, object));
  });
}

template <class Count>
int precv_init(void* data, int partitions, Count count, MPI_Datatype type, int from, int tag,
               MPI_Comm on, MPI_Info, MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Precv_init);
  return call([&] {
    const auto all =
        static_cast<std::int64_t>(call.count(partitions, "partitions") * call.count(count));
    if (from == MPI_ANY_SOURCE || tag == MPI_ANY_TAG)
      throw Failure(from == MPI_ANY_SOURCE ? MPI_ERR_RANK : MPI_ERR_TAG,
                    "a partitioned receive needs one source and one tag");
    RequestObject& object = start_receive(call, data, all, type, from, tag, on, true);
    *request = reinterpret_cast<MPI_Request>(&with_partitions(partitions, object));
  });
}

RequestObject& partitioned(const Call& call, MPI_Request request, RequestObject::Kind kind) {
  RequestObject& object = call.request(request);
  if (object.is_partitioned && object.kind == kind) return object;
  throw Failure(MPI_ERR_REQUEST, kind == RequestObject::Kind::send
                                     ? "the request is not a partitioned send (MPI_Psend_init)"
                                     : "the request is not a partitioned receive (MPI_Precv_init)");
}

void require_partition(const RequestObject& object, int partition) {
  if (partition >= 0 && static_cast<std::size_t>(partition) < object.partitions.size()) return;
  throw Failure(MPI_ERR_ARG, fmt::format("partition {} is out of range: the message has {}",
                                         partition, object.partitions.size()));
}

void make_ready(Call& call, RequestObject& object, int partition) {
  require_partition(object, partition);
  if (!object.active) throw Failure(MPI_ERR_REQUEST, "the request is not active (MPI_Start)");
  const auto which = static_cast<std::size_t>(partition);
  if (object.partitions[which])
    throw Failure(MPI_ERR_ARG, fmt::format("partition {} is already ready", partition));
  object.partitions[which] = true;
  if (std::ranges::find(object.partitions, false) == object.partitions.end())
    send_partitions(call, object);
}

int pready(int partition, MPI_Request request) {
  WORMCUBE_MPI_CALL(MPI_Pready);
  return call(
      [&] { make_ready(call, partitioned(call, request, RequestObject::Kind::send), partition); });
}
int pready_range(int low, int high, MPI_Request request) {
  WORMCUBE_MPI_CALL(MPI_Pready_range);
  return call([&] {
    RequestObject& object = partitioned(call, request, RequestObject::Kind::send);
    for (int partition = low; partition <= high; ++partition) make_ready(call, object, partition);
  });
}
int pready_list(int count, const int partitions[], MPI_Request request) {
  WORMCUBE_MPI_CALL(MPI_Pready_list);
  return call([&] {
    RequestObject& object = partitioned(call, request, RequestObject::Kind::send);
    const std::size_t n = call.count(count, "length");
    for (std::size_t i = 0; i < n; ++i) make_ready(call, object, partitions[i]);
  });
}

int parrived(MPI_Request request, int partition, int* flag) {
  WORMCUBE_MPI_CALL(MPI_Parrived);
  return call([&] {
    *flag = 1;
    if (request == MPI_REQUEST_NULL) return;
    const RequestObject& object = partitioned(call, request, RequestObject::Kind::receive);
    require_partition(object, partition);
    if (!object.active || object.to_nobody || call.rank().requests->is_ready(object.inner)) return;
    *flag = 0;
    call.unsuccessful_poll();
  });
}

}  // namespace

void add_own_request_functions(WormcubeMpiFunctions& table) {
  table.MPI_Grequest_start = grequest_start;
  table.MPI_Grequest_complete = grequest_complete;
  table.MPI_Psend_init = psend_init<int>;
  table.MPI_Psend_init_c = psend_init<MPI_Count>;
  table.MPI_Precv_init = precv_init<int>;
  table.MPI_Precv_init_c = precv_init<MPI_Count>;
  table.MPI_Pready = pready;
  table.MPI_Pready_range = pready_range;
  table.MPI_Pready_list = pready_list;
  table.MPI_Parrived = parrived;
}

}  // namespace wormcube::mpi
