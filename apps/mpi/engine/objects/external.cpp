// The representation external32: big-endian elements with the sizes of the standard's table.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

/// The representation of a predefined element.
struct External {
  enum class Kind : std::uint8_t {
    as_it_is,
    is_signed,
    extended
  };  // extended: x87 numbers, stored as quadruple precision
  Kind kind = Kind::as_it_is;
  int parts = 1;                      // numbers in it
  std::size_t own = 0, external = 0;  // bytes of one
};

External external_of(MPI_Datatype handle) {
  using Kind = External::Kind;
  const auto size = static_cast<std::size_t>(Datatype::predefined(handle)->size());
  const auto is_one_of = [&](auto... handles) { return ((handle == handles) || ...); };
  if (is_one_of(MPI_LONG)) return {Kind::is_signed, 1, size, 4};
  if (is_one_of(MPI_UNSIGNED_LONG)) return {Kind::as_it_is, 1, size, 4};
  if (is_one_of(MPI_WCHAR)) return {Kind::as_it_is, 1, size, 2};
  if (is_one_of(MPI_LONG_DOUBLE)) return {Kind::extended, 1, size, 16};
  if (is_one_of(MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX))
    return {Kind::extended, 2, size / 2, 16};
  if (is_one_of(MPI_C_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX,
                MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX4, MPI_COMPLEX8, MPI_COMPLEX16,
                MPI_COMPLEX32)) {
    return {Kind::as_it_is, 2, size / 2, size / 2};
  }
  return {Kind::as_it_is, 1, size, size};
}

__extension__ using Float128 = __float128;
static_assert(sizeof(Float128) == 16);

// This computer's numbers are little-endian: the last byte is the highest.
void write_number(const External& how, const std::byte* own, std::byte* external) {
  if (how.kind == External::Kind::extended) {
    long double value;
    std::memcpy(&value, own, sizeof value);
    const auto quadruple = static_cast<Float128>(value);
    std::memcpy(external, &quadruple, sizeof quadruple);
  } else {
    std::memcpy(external, own, how.external);
  }
  std::reverse(external, external + how.external);
}

void read_number(const External& how, const std::byte* external, std::byte* own) {
  std::byte number[16];
  std::reverse_copy(external, external + how.external, number);
  if (how.kind == External::Kind::extended) {
    Float128 quadruple;
    std::memcpy(&quadruple, number, sizeof quadruple);
    const auto value = static_cast<long double>(quadruple);
    std::memcpy(own, &value, sizeof value);
    return;
  }
  const bool negative = how.kind == External::Kind::is_signed &&
                        (number[how.external - 1] & std::byte{0x80}) != std::byte{0};
  std::memcpy(own, number, how.external);
  std::memset(own + how.external, negative ? 0xff : 0, how.own - how.external);
}

/// Calls f(how, own, external) for each number in this many elements, with its position in either
/// form.
template <class F>
void each_number(const Datatype& type, std::size_t count, F&& f) {
  std::size_t own = 0, external = 0;
  for (std::size_t i = 0; i < count; ++i) {
    type.each_element([&](MPI_Datatype handle, std::int64_t elements) {
      const External how = external_of(handle);
      for (std::int64_t part = 0; part < elements * how.parts; ++part) {
        f(how, own, external);
        own += how.own;
        external += how.external;
      }
    });
  }
}

Bytes external_bytes(const Datatype& type, std::size_t count) {
  Bytes bytes = 0;
  each_number(type, std::min<std::size_t>(count, 1),
              [&](const External& how, std::size_t, std::size_t) { bytes += how.external; });
  return bytes * count;
}

void require_external32(const char* representation) {
  if (std::string_view(representation) == "external32") return;
  throw Failure(MPI_ERR_UNSUPPORTED_DATAREP,
                fmt::format("unknown representation \"{}\" (the only one is \"external32\")",
                            representation));
}

template <class Size>
void require_room(Size position, Bytes bytes, Size room, const char* what) {
  if (position >= 0 && position <= room && bytes <= static_cast<Bytes>(room - position)) return;
  throw Failure(MPI_ERR_ARG, fmt::format("{} bytes at {} do not fit in {} of {} bytes", bytes,
                                         position, what, room));
}

template <class Count>
int pack_external_size(const char* representation, Count count, MPI_Datatype type,
                       Place<Count>* size) {
  WORMCUBE_MPI_CALL_OF(MPI_Pack_external_size);
  return call([&] {
    call.result(size, "size");
    require_external32(representation);
    *size = static_cast<Place<Count>>(external_bytes(**type_view(type).type, call.count(count)));
  });
}

template <class Count>
int pack_external(const char* representation, const void* elements, Count count, MPI_Datatype type,
                  void* packed, Place<Count> room, Place<Count>* position) {
  WORMCUBE_MPI_CALL_OF(MPI_Pack_external);
  return call([&] {
    call.result(position, "position");
    require_external32(representation);
    const TypeView view = type_view(type);
    const std::size_t n = call.count(count);
    const Bytes bytes = external_bytes(**view.type, n);
    call.pointer(elements, n * view.size, "inbuf", view.first);
    call.pointer(packed, bytes, "outbuf");
    require_room(*position, bytes, room, "an outbuf");
    std::vector<std::byte> own(n * view.size);
    pack(**view.type, elements, own.size(), own.data());
    std::byte* const to = static_cast<std::byte*>(packed) + *position;
    each_number(**view.type, n, [&](const External& how, std::size_t from, std::size_t at) {
      write_number(how, own.data() + from, to + at);
    });
    *position += static_cast<Place<Count>>(bytes);
  });
}

template <class Count>
int unpack_external(const char representation[], const void* packed, Place<Count> room,
                    Place<Count>* position, void* elements, Count count, MPI_Datatype type) {
  WORMCUBE_MPI_CALL_OF(MPI_Unpack_external);
  return call([&] {
    call.result(position, "position");
    require_external32(representation);
    const TypeView view = type_view(type);
    const std::size_t n = call.count(count);
    const Bytes bytes = external_bytes(**view.type, n);
    call.pointer(elements, n * view.size, "outbuf", view.first);
    call.pointer(packed, bytes, "inbuf");
    require_room(*position, bytes, room, "an inbuf");
    std::vector<std::byte> own(n * view.size);
    const std::byte* const from = static_cast<const std::byte*>(packed) + *position;
    each_number(**view.type, n, [&](const External& how, std::size_t to, std::size_t at) {
      read_number(how, from + at, own.data() + to);
    });
    unpack(**view.type, own.data(), own.size(), elements);
    *position += static_cast<Place<Count>>(bytes);
  });
}

}  // namespace

void add_external_functions(WormcubeMpiFunctions& table) {
  table.MPI_Pack_external_size = pack_external_size<int>;
  table.MPI_Pack_external_size_c = pack_external_size<MPI_Count>;
  table.MPI_Pack_external = pack_external<int>;
  table.MPI_Pack_external_c = pack_external<MPI_Count>;
  table.MPI_Unpack_external = unpack_external<int>;
  table.MPI_Unpack_external_c = unpack_external<MPI_Count>;
}

}  // namespace wormcube::mpi
