// MPI's functions that pack elements and count received elements.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/status.hpp"
#include "wormcube/apps/mpi/engine/objects/type_functions.hpp"

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

// ---- Packing ----

template <class Count>
int pack_size(Count count, MPI_Datatype type, MPI_Comm on, Count* size) {
  WORMCUBE_MPI_CALL_OF(MPI_Pack_size);
  return call([&] {
    call.result(size, "size");
    call.communicator(on);
    *size = as_count<Count>(static_cast<std::int64_t>(call.count(count) * type_view(type).size));
  });
}

void need_room(std::int64_t from, Bytes bytes, std::int64_t room, const char* what) {
  if (from >= 0 && from <= room && bytes <= static_cast<Bytes>(room - from)) return;
  throw Failure(
      MPI_ERR_TRUNCATE,
      fmt::format("{} bytes at position {} do not fit in {} of {} bytes", bytes, from, what, room));
}

template <class Count>
int pack_call(const void* elements, Count count, MPI_Datatype type, void* packed, Count room,
              Count* position, MPI_Comm on) {
  WORMCUBE_MPI_CALL_OF(MPI_Pack);
  return call([&] {
    call.result(position, "position");
    call.communicator(on);
    const TypeView view = type_view(type);
    const Bytes bytes = call.count(count) * view.size;
    call.pointer(elements, bytes, "inbuf", view.first);
    call.pointer(packed, bytes, "outbuf");
    need_room(*position, bytes, room, "an outbuf");
    pack(**view.type, elements, bytes, static_cast<std::byte*>(packed) + *position);
    *position += static_cast<Count>(bytes);
  });
}

template <class Count>
int unpack_call(const void* packed, Count room, Count* position, void* elements, Count count,
                MPI_Datatype type, MPI_Comm on) {
  WORMCUBE_MPI_CALL_OF(MPI_Unpack);
  return call([&] {
    call.result(position, "position");
    call.communicator(on);
    const TypeView view = type_view(type);
    const Bytes bytes = call.count(count) * view.size;
    call.pointer(elements, bytes, "outbuf", view.first);
    call.pointer(packed, bytes, "inbuf");
    need_room(*position, bytes, room, "an inbuf");
    unpack(**view.type, static_cast<const std::byte*>(packed) + *position, bytes, elements);
    *position += static_cast<Count>(bytes);
  });
}

// ---- Counts of received elements ----

template <class Count>
int get_count(const MPI_Status* status, MPI_Datatype type, Count* count) {
  WORMCUBE_MPI_CALL_OF(MPI_Get_count);
  return call([&] {
    call.result(count, "count");
    const std::int64_t size = type_of(type)->size();
    const std::int64_t bytes = status_bytes(*status);
    if (size == 0) {
      *count = bytes == 0 ? 0 : MPI_UNDEFINED;
    } else {
      *count =
          bytes % size == 0 ? as_count<Count>(bytes / size) : static_cast<Count>(MPI_UNDEFINED);
    }
  });
}

template <class Count>
int tell_elements(Call& call, const MPI_Status* status, MPI_Datatype type, Count* count) {
  return call([&] {
    const auto elements = type_of(type)->elements_in(status_bytes(*status));
    *count = elements ? as_count<Count>(*elements) : static_cast<Count>(MPI_UNDEFINED);
  });
}
template <class Count>
int get_elements(const MPI_Status* status, MPI_Datatype type, Count* count) {
  WORMCUBE_MPI_CALL_OF(MPI_Get_elements);
  return tell_elements(call, status, type, count);
}
int get_elements_x(const MPI_Status* status, MPI_Datatype type, MPI_Count* count) {
  WORMCUBE_MPI_CALL(MPI_Get_elements_x);
  return tell_elements(call, status, type, count);
}

int set_elements(Call& call, MPI_Status* status, MPI_Datatype type, std::int64_t count) {
  return call([&] {
    call.count(count);
    set_status_bytes(*status, type_of(type)->bytes_of_first(count));
  });
}
int status_set_elements(MPI_Status* status, MPI_Datatype type, int count) {
  WORMCUBE_MPI_CALL(MPI_Status_set_elements);
  return set_elements(call, status, type, count);
}
int status_set_elements_c(MPI_Status* status, MPI_Datatype type, MPI_Count count) {
  WORMCUBE_MPI_CALL(MPI_Status_set_elements_c);
  return set_elements(call, status, type, count);
}
int status_set_elements_x(MPI_Status* status, MPI_Datatype type, MPI_Count count) {
  WORMCUBE_MPI_CALL(MPI_Status_set_elements_x);
  return set_elements(call, status, type, count);
}

}  // namespace

void add_packing_functions(WormcubeMpiFunctions& table) {
  table.MPI_Pack_size = pack_size<int>;
  table.MPI_Pack_size_c = pack_size<MPI_Count>;
  table.MPI_Pack = pack_call<int>;
  table.MPI_Pack_c = pack_call<MPI_Count>;
  table.MPI_Unpack = unpack_call<int>;
  table.MPI_Unpack_c = unpack_call<MPI_Count>;
  table.MPI_Get_count = get_count<int>;
  table.MPI_Get_count_c = get_count<MPI_Count>;
  table.MPI_Get_elements = get_elements<int>;
  table.MPI_Get_elements_c = get_elements<MPI_Count>;
  table.MPI_Get_elements_x = get_elements_x;
  table.MPI_Status_set_elements = status_set_elements;
  table.MPI_Status_set_elements_c = status_set_elements_c;
  table.MPI_Status_set_elements_x = status_set_elements_x;
}

}  // namespace wormcube::mpi
