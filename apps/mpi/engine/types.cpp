// Datatypes: the predefined ones, and rows of them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/types.hpp"

#include "wormcube/apps/mpi/engine/calls.hpp"
#include "wormcube/apps/mpi/engine/errors.hpp"
#include "wormcube/apps/mpi/engine/status.hpp"

#include <atomic>
#include <complex>
#include <cstring>
#include <limits>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

std::uintptr_t value_of(MPI_Datatype type) { return reinterpret_cast<std::uintptr_t>(type); }

struct DerivedType {
  static constexpr std::uint32_t alive = 0x54595031, dead = 0x54595030;
  std::uint32_t magic = alive;
  bool committed = false;
  TypeView view;
};
std::atomic<std::uint64_t> next_type{4096};

struct Extents {
  Bytes size, extent;
};
template <class Value, class Place>
Extents placed() {
  struct Both {
    Value value;
    Place place;
  };
  return {sizeof(Value) + sizeof(Place), sizeof(Both)};
}

Extents extents_of(std::uintptr_t type) {
  const auto plain = [](Bytes size) { return Extents{size, size}; };
  if (type >= 0x240 && type < 0x280) return plain(Bytes{1} << ((type >> 3U) & 7U));
  if (type >= 0x2c0 && type < 0x300) return plain(Bytes{1} << ((type >> 3U) & 7U));
  switch (type) {
    case 0x201:
    case 0x202:
    case 0x203: return plain(8);
    case 0x207: return plain(1);
    case 0x208:
    case 0x20c: return plain(sizeof(short));
    case 0x209:
    case 0x20d: return plain(sizeof(int));
    case 0x20a:
    case 0x20e: return plain(sizeof(long));
    case 0x20b:
    case 0x20f: return plain(sizeof(long long));
    case 0x210:
    case 0x21a: return plain(sizeof(float));
    case 0x214:
    case 0x21c: return plain(sizeof(double));
    case 0x212:
    case 0x213:
    case 0x21b: return plain(sizeof(std::complex<float>));
    case 0x216:
    case 0x217:
    case 0x21d: return plain(sizeof(std::complex<double>));
    case 0x218:
    case 0x219: return plain(4);
    case 0x21e: return plain(1);
    case 0x220: return plain(sizeof(long double));
    case 0x224:
    case 0x225: return plain(sizeof(std::complex<long double>));
    case 0x228: return placed<float, int>();
    case 0x229: return placed<double, int>();
    case 0x22a: return placed<long, int>();
    case 0x22b:
    case 0x232: return plain(8);
    case 0x22c: return placed<short, int>();
    case 0x22d: return placed<long double, int>();
    case 0x230: return plain(8);
    case 0x231: return plain(16);
    case 0x238:
    case 0x239: return plain(1);
    case 0x23c: return plain(sizeof(wchar_t));
    default: return {};
  }
}

DerivedType& derived(MPI_Datatype type) {
  auto* const object = reinterpret_cast<DerivedType*>(type);
  if (object->magic == DerivedType::alive) return *object;
  throw Failure(MPI_ERR_TYPE, object->magic == DerivedType::dead ? "the datatype has been freed"
                                                                 : "the datatype's handle is none");
}

int type_size(MPI_Datatype type, int* size) {
  WORMCUBE_MPI_CALL(MPI_Type_size);
  return call([&] {
    const Bytes bytes = type_view(type, false).size;
    *size = bytes > static_cast<Bytes>(std::numeric_limits<int>::max()) ? MPI_UNDEFINED
                                                                         : static_cast<int>(bytes);
  });
}

int type_get_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  WORMCUBE_MPI_CALL(MPI_Type_get_extent);
  return call([&] {
    *lower = 0;
    *extent = type_view(type, false).extent;
  });
}

int type_contiguous(int count, MPI_Datatype old, MPI_Datatype* made) {
  WORMCUBE_MPI_CALL(MPI_Type_contiguous);
  return call([&] {
    const std::size_t many = call.count(count);
    auto* const type = new DerivedType{};
    type->view = type_view(old, false);
    if (!type->view.dense) {
      delete type;
      throw Failure(MPI_ERR_UNSUPPORTED_OPERATION, "rows of types with gaps are not provided yet");
    }
    type->view.size *= many;
    type->view.extent *= static_cast<std::ptrdiff_t>(many);
    type->view.handle = reinterpret_cast<MPI_Datatype>(type);
    type->view.serial = next_type++;
    *made = type->view.handle;
  });
}

int type_commit(MPI_Datatype* type) {
  WORMCUBE_MPI_CALL(MPI_Type_commit);
  return call([&] {
    if (is_predefined(*type)) {
      static_cast<void>(type_view(*type));
      return;
    }
    derived(*type).committed = true;
  });
}

// What is under way has its own view of it.
int type_free(MPI_Datatype* type) {
  WORMCUBE_MPI_CALL(MPI_Type_free);
  return call([&] {
    if (is_predefined(*type)) throw Failure(MPI_ERR_TYPE, "a predefined datatype cannot be freed");
    derived(*type).magic = DerivedType::dead;
    *type = MPI_DATATYPE_NULL;
  });
}

int get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  WORMCUBE_MPI_CALL(MPI_Get_count);
  return call([&] {
    const Bytes size = type_view(type, false).size;
    const auto bytes = static_cast<Bytes>(status_bytes(*status));
    if (size == 0) {
      *count = bytes == 0 ? 0 : MPI_UNDEFINED;
      return;
    }
    const bool fits = bytes % size == 0 &&
                      bytes / size <= static_cast<Bytes>(std::numeric_limits<int>::max());
    *count = fits ? static_cast<int>(bytes / size) : MPI_UNDEFINED;
  });
}

}  // namespace

TypeView type_view(MPI_Datatype type, bool must_be_committed) {
  if (is_predefined(type)) {
    const Extents extents = extents_of(value_of(type));
    if (extents.extent == 0) {
      throw Failure(MPI_ERR_TYPE, type == MPI_DATATYPE_NULL
                                      ? std::string("the datatype is MPI_DATATYPE_NULL")
                                      : fmt::format("{:#x} is no datatype", value_of(type)));
    }
    return {extents.size, static_cast<std::ptrdiff_t>(extents.extent),
            extents.size == extents.extent, type, value_of(type)};
  }
  const DerivedType& object = derived(type);
  if (must_be_committed && !object.committed) {
    throw Failure(MPI_ERR_TYPE, "the datatype is not committed (MPI_Type_commit)");
  }
  return object.view;
}

// Types with gaps are a value and its place, which begins where an int may.
void pack(const TypeView& type, const void* elements, std::size_t count, std::byte* to) {
  const auto* from = static_cast<const std::byte*>(elements);
  const Bytes value = type.size - sizeof(int), place = (value + 3) / 4 * 4;
  for (std::size_t i = 0; i < count; ++i, from += type.extent, to += type.size) {
    std::memcpy(to, from, value);
    std::memcpy(to + value, from + place, sizeof(int));
  }
}

void unpack(const TypeView& type, const std::byte* from, Bytes bytes, void* elements) {
  auto* to = static_cast<std::byte*>(elements);
  const Bytes value = type.size - sizeof(int), place = (value + 3) / 4 * 4;
  for (; bytes >= type.size; bytes -= type.size, from += type.size, to += type.extent) {
    std::memcpy(to, from, value);
    std::memcpy(to + place, from + value, sizeof(int));
  }
}

void add_type_functions(WormcubeMpiFunctions& table) {
  table.MPI_Type_size = type_size;
  table.MPI_Type_get_extent = type_get_extent;
  table.MPI_Type_contiguous = type_contiguous;
  table.MPI_Type_commit = type_commit;
  table.MPI_Type_free = type_free;
  table.MPI_Get_count = get_count;
}

}  // namespace wormcube::mpi
