// The functions of datatypes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/types.hpp"

#include "wormcube/apps/mpi/engine/calls.hpp"
#include "wormcube/apps/mpi/engine/handles.hpp"
#include "wormcube/apps/mpi/engine/status.hpp"

#include <atomic>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

/// What a handle points to. Its memory stays, so that a freed one is told from others.
struct TypeObject {
  static constexpr std::uint32_t alive = 0x54595031, dead = 0x54595030;
  std::uint32_t magic = alive;
  bool committed = false;
  DatatypePointer type;
  std::uint64_t serial = 0;
  std::string name;
};

TypeObject& type_object(MPI_Datatype type) {
  auto* const object = reinterpret_cast<TypeObject*>(type);
  if (object->magic == TypeObject::alive) return *object;
  throw Failure(MPI_ERR_TYPE, object->magic == TypeObject::dead ? "the datatype has been freed"
                                                                : "the datatype's handle is none");
}

/// A type of a call that makes another, or asks.
const DatatypePointer& type_of(MPI_Datatype type) { return *type_view(type, false).type; }

MPI_Datatype new_type(DatatypePointer type, bool committed = false) {
  static std::atomic<std::uint64_t> next{4096};
  return reinterpret_cast<MPI_Datatype>(
      new TypeObject{TypeObject::alive, committed, std::move(type), next++, {}});
}

template <class T>
std::vector<std::int64_t> numbers_of(const Call& call, int count, const T* values) {
  const std::size_t many = call.count(count);
  return {values, values + many};
}

int int_or_undefined(std::int64_t value) {
  return value > std::numeric_limits<int>::max() ? MPI_UNDEFINED : static_cast<int>(value);
}

int type_size(MPI_Datatype type, int* size) {
  WORMCUBE_MPI_CALL(MPI_Type_size);
  return call([&] { *size = int_or_undefined(type_of(type)->size()); });
}
int type_size_x(MPI_Datatype type, MPI_Count* size) {
  WORMCUBE_MPI_CALL(MPI_Type_size_x);
  return call([&] { *size = type_of(type)->size(); });
}
int type_get_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  WORMCUBE_MPI_CALL(MPI_Type_get_extent);
  return call([&] {
    *lower = type_of(type)->lower_bound();
    *extent = type_of(type)->extent();
  });
}
int type_get_true_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  WORMCUBE_MPI_CALL(MPI_Type_get_true_extent);
  return call([&] {
    *lower = type_of(type)->true_lower_bound();
    *extent = type_of(type)->true_extent();
  });
}

int type_contiguous(int count, MPI_Datatype old, MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_contiguous);
  return call([&] { *made = new_type(Datatype::contiguous(count, type_of(old))); });
}
int type_vector(int count, int length, int stride, MPI_Datatype old, MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_vector);
  return call([&] { *made = new_type(Datatype::vector(count, length, stride, type_of(old))); });
}
int type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_create_hvector);
  return call([&] { *made = new_type(Datatype::hvector(count, length, stride, type_of(old))); });
}
int type_indexed(int count, const int lengths[], const int places[], MPI_Datatype old,
                 MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_indexed);
  return call([&] {
    *made = new_type(Datatype::indexed(numbers_of(call, count, lengths),
                                       numbers_of(call, count, places), type_of(old)));
  });
}
int type_hindexed(int count, const int lengths[], const MPI_Aint places[], MPI_Datatype old,
                  MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_create_hindexed);
  return call([&] {
    *made = new_type(Datatype::hindexed(numbers_of(call, count, lengths),
                                        numbers_of(call, count, places), type_of(old)));
  });
}
int type_indexed_block(int count, int length, const int places[], MPI_Datatype old,
                       MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_create_indexed_block);
  return call([&] {
    *made =
        new_type(Datatype::indexed_block(length, numbers_of(call, count, places), type_of(old)));
  });
}
int type_hindexed_block(int count, int length, const MPI_Aint places[], MPI_Datatype old,
                        MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_create_hindexed_block);
  return call([&] {
    *made =
        new_type(Datatype::hindexed_block(length, numbers_of(call, count, places), type_of(old)));
  });
}
int type_struct(int count, const int lengths[], const MPI_Aint places[], const MPI_Datatype types[],
                MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_create_struct);
  return call([&] {
    std::vector<DatatypePointer> parts;
    for (std::size_t i = 0; i < call.count(count); ++i) parts.push_back(type_of(types[i]));
    *made = new_type(Datatype::structure(numbers_of(call, count, lengths),
                                         numbers_of(call, count, places), parts));
  });
}
int type_resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent, MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_create_resized);
  return call([&] { *made = new_type(Datatype::resized(type_of(old), lower, extent)); });
}
int type_subarray(int dimensions, const int sizes[], const int subsizes[], const int starts[],
                  int order, MPI_Datatype old, MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_create_subarray);
  return call([&] {
    *made = new_type(Datatype::subarray(numbers_of(call, dimensions, sizes),
                                        numbers_of(call, dimensions, subsizes),
                                        numbers_of(call, dimensions, starts), order, type_of(old)));
  });
}
int type_darray(int size, int rank, int dimensions, const int sizes[], const int distributions[],
                const int arguments[], const int grid[], int order, MPI_Datatype old,
                MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_create_darray);
  return call([&] {
    const std::size_t many = call.count(dimensions);
    *made = new_type(Datatype::darray(size, rank, numbers_of(call, dimensions, sizes),
                                      {distributions, many}, {arguments, many}, {grid, many}, order,
                                      type_of(old)));
  });
}
int type_dup(MPI_Datatype old, MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_dup);
  return call([&] {
    const bool committed = is_predefined(old) || type_object(old).committed;
    *made = new_type(Datatype::duplicate(type_of(old)), committed);
  });
}

int type_commit(MPI_Datatype* type) {
  WORMCUBE_MPI_CALL(MPI_Type_commit);
  return call([&] {
    if (is_predefined(*type)) {
      static_cast<void>(type_view(*type));
    } else {
      type_object(*type).committed = true;
    }
  });
}
int type_free(MPI_Datatype* type) {
  WORMCUBE_MPI_CALL(MPI_Type_free);
  return call([&] {
    if (is_predefined(*type)) throw Failure(MPI_ERR_TYPE, "a predefined datatype cannot be freed");
    TypeObject& object = type_object(*type);
    forget_number_of(*type);
    object.magic = TypeObject::dead;
    object.type.reset();  // what is under way has it, too
    object.name = {};
    *type = MPI_DATATYPE_NULL;
  });
}

int type_set_name(MPI_Datatype type, const char* name) {
  WORMCUBE_MPI_CALL(MPI_Type_set_name);
  return call([&] {
    if (!is_predefined(type)) {
      type_object(type).name = std::string(name).substr(0, MPI_MAX_OBJECT_NAME - 1);
    }
  });
}
int type_get_name(MPI_Datatype type, char* name, int* length) {
  WORMCUBE_MPI_CALL(MPI_Type_get_name);
  return call([&] {
    const std::string text(is_predefined(type) ? type_of(type)->name() : type_object(type).name);
    std::memcpy(name, text.c_str(), text.size() + 1);
    *length = static_cast<int>(text.size());
  });
}

int get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  WORMCUBE_MPI_CALL(MPI_Get_count);
  return call([&] {
    const std::int64_t size = type_of(type)->size(), bytes = status_bytes(*status);
    if (size == 0) {
      *count = bytes == 0 ? 0 : MPI_UNDEFINED;
    } else {
      *count = bytes % size == 0 ? int_or_undefined(bytes / size) : MPI_UNDEFINED;
    }
  });
}
int get_elements(const MPI_Status* status, MPI_Datatype type, int* count) {
  WORMCUBE_MPI_CALL(MPI_Get_elements);
  return call([&] {
    const auto found = type_of(type)->elements_in(status_bytes(*status));
    *count = found ? int_or_undefined(*found) : MPI_UNDEFINED;
  });
}

int pack_elements(const void* in, int count, MPI_Datatype type, void* out, int room, int* position,
                  MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Pack);
  return call([&] {
    call.communicator(on);
    const TypeView view = type_view(type);
    const Bytes bytes = call.count(count) * view.size;
    if (*position < 0 || static_cast<Bytes>(room) < static_cast<Bytes>(*position) + bytes) {
      throw Failure(MPI_ERR_TRUNCATE,
                    fmt::format("{} bytes do not fit into {} from {} on", bytes, room, *position));
    }
    pack(**view.type, in, bytes, static_cast<std::byte*>(out) + *position);
    *position += static_cast<int>(bytes);
  });
}
int unpack_elements(const void* in, int size, int* position, void* out, int count,
                    MPI_Datatype type, MPI_Comm on) {
  WORMCUBE_MPI_CALL(MPI_Unpack);
  return call([&] {
    call.communicator(on);
    const TypeView view = type_view(type);
    const Bytes bytes = call.count(count) * view.size;
    if (*position < 0 || static_cast<Bytes>(size) < static_cast<Bytes>(*position) + bytes) {
      throw Failure(MPI_ERR_TRUNCATE,
                    fmt::format("{} bytes are not in {} from {} on", bytes, size, *position));
    }
    unpack(**view.type, static_cast<const std::byte*>(in) + *position, bytes, out);
    *position += static_cast<int>(bytes);
  });
}
int pack_size(int count, MPI_Datatype type, MPI_Comm on, int* size) {
  WORMCUBE_MPI_CALL(MPI_Pack_size);
  return call([&] {
    call.communicator(on);
    *size = int_or_undefined(static_cast<std::int64_t>(call.count(count) * type_view(type).size));
  });
}

}  // namespace

TypeView type_view(MPI_Datatype type, bool must_be_committed) {
  const DatatypePointer* found = nullptr;
  std::uint64_t serial = reinterpret_cast<std::uintptr_t>(type);
  if (is_predefined(type)) {
    found = &Datatype::predefined(type);
    if (*found == nullptr) {
      throw Failure(MPI_ERR_TYPE, type == MPI_DATATYPE_NULL
                                      ? std::string("the datatype is MPI_DATATYPE_NULL")
                                      : fmt::format("{:#x} is no datatype", serial));
    }
  } else {
    const TypeObject& object = type_object(type);
    if (must_be_committed && !object.committed) {
      throw Failure(MPI_ERR_TYPE, "the datatype is not committed (MPI_Type_commit)");
    }
    found = &object.type;
    serial = object.serial;
  }
  const Datatype& known = **found;
  return {static_cast<Bytes>(known.size()), known.extent(), known.is_dense(), type, serial, found};
}

void add_type_functions(WormcubeMpiFunctions& table) {
  table.MPI_Type_size = type_size;
  table.MPI_Type_size_x = type_size_x;
  table.MPI_Type_get_extent = type_get_extent;
  table.MPI_Type_get_true_extent = type_get_true_extent;
  table.MPI_Type_contiguous = type_contiguous;
  table.MPI_Type_vector = type_vector;
  table.MPI_Type_create_hvector = type_hvector;
  table.MPI_Type_indexed = type_indexed;
  table.MPI_Type_create_hindexed = type_hindexed;
  table.MPI_Type_create_indexed_block = type_indexed_block;
  table.MPI_Type_create_hindexed_block = type_hindexed_block;
  table.MPI_Type_create_struct = type_struct;
  table.MPI_Type_create_resized = type_resized;
  table.MPI_Type_create_subarray = type_subarray;
  table.MPI_Type_create_darray = type_darray;
  table.MPI_Type_dup = type_dup;
  table.MPI_Type_commit = type_commit;
  table.MPI_Type_free = type_free;
  table.MPI_Type_set_name = type_set_name;
  table.MPI_Type_get_name = type_get_name;
  table.MPI_Get_count = get_count;
  table.MPI_Get_elements = get_elements;
  table.MPI_Pack = pack_elements;
  table.MPI_Unpack = unpack_elements;
  table.MPI_Pack_size = pack_size;
}

}  // namespace wormcube::mpi
