// The predefined types.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/types/datatype.hpp"

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace wormcube::mpi {
namespace {

/// A row of the standard's tables: one value, or a pair in C's layout.
struct PredefinedRow {
  MPI_Datatype handle;
  std::string_view name;
  std::size_t size, alignment, extent;
  MPI_Datatype first = nullptr, second = nullptr;
  std::size_t second_at = 0;
};

template <class T>
PredefinedRow value_row(MPI_Datatype handle, std::string_view name) {
  return {handle, name, sizeof(T), alignof(T), sizeof(T)};
}
template <class First, class Second>
PredefinedRow pair_row(MPI_Datatype handle, std::string_view name, MPI_Datatype first,
                       MPI_Datatype second) {
  struct Both {
    First first;
    Second second;
  };
  return {handle, name,   sizeof(First) + sizeof(Second), alignof(Both), sizeof(Both),
          first,  second, offsetof(Both, second)};
}

/// Each pair follows its two members.
std::vector<PredefinedRow> predefined_rows() {
  struct alignas(2) Bytes2 {
    std::byte bytes[2];
  };
  struct alignas(16) Bytes16 {
    std::byte bytes[16];
  };
  using Half = std::array<Bytes2, 2>;
  using Quadruple = std::array<Bytes16, 2>;
  return {
#define VALUE(name, type) value_row<type>(MPI_##name, "MPI_" #name)
#define PAIR(name, first, First, second, Second) \
  pair_row<First, Second>(MPI_##name, "MPI_" #name, MPI_##first, MPI_##second)
      VALUE(AINT, MPI_Aint),
      VALUE(COUNT, MPI_Count),
      VALUE(OFFSET, MPI_Offset),
      VALUE(PACKED, std::byte),
      VALUE(SHORT, short),
      VALUE(INT, int),
      VALUE(LONG, long),
      VALUE(LONG_LONG_INT, long long),
      VALUE(UNSIGNED_SHORT, unsigned short),
      VALUE(UNSIGNED, unsigned),
      VALUE(UNSIGNED_LONG, unsigned long),
      VALUE(UNSIGNED_LONG_LONG, unsigned long long),
      VALUE(FLOAT, float),
      VALUE(DOUBLE, double),
      VALUE(LONG_DOUBLE, long double),
      VALUE(C_COMPLEX, std::complex<float>),
      VALUE(CXX_FLOAT_COMPLEX, std::complex<float>),
      VALUE(C_DOUBLE_COMPLEX, std::complex<double>),
      VALUE(CXX_DOUBLE_COMPLEX, std::complex<double>),
      VALUE(C_LONG_DOUBLE_COMPLEX, std::complex<long double>),
      VALUE(CXX_LONG_DOUBLE_COMPLEX, std::complex<long double>),
      VALUE(C_BOOL, bool),
      VALUE(CXX_BOOL, bool),
      VALUE(WCHAR, wchar_t),
      VALUE(LOGICAL, int),
      VALUE(INTEGER, int),
      VALUE(REAL, float),
      VALUE(COMPLEX, std::complex<float>),
      VALUE(DOUBLE_PRECISION, double),
      VALUE(DOUBLE_COMPLEX, std::complex<double>),
      VALUE(CHARACTER, char),
      VALUE(INT8_T, std::int8_t),
      VALUE(UINT8_T, std::uint8_t),
      VALUE(CHAR, char),
      VALUE(SIGNED_CHAR, signed char),
      VALUE(UNSIGNED_CHAR, unsigned char),
      VALUE(BYTE, std::byte),
      VALUE(INT16_T, std::int16_t),
      VALUE(UINT16_T, std::uint16_t),
      VALUE(INT32_T, std::int32_t),
      VALUE(UINT32_T, std::uint32_t),
      VALUE(INT64_T, std::int64_t),
      VALUE(UINT64_T, std::uint64_t),
      VALUE(LOGICAL1, std::int8_t),
      VALUE(LOGICAL2, std::int16_t),
      VALUE(LOGICAL4, std::int32_t),
      VALUE(LOGICAL8, std::int64_t),
      VALUE(LOGICAL16, Bytes16),
      VALUE(INTEGER1, std::int8_t),
      VALUE(INTEGER2, std::int16_t),
      VALUE(INTEGER4, std::int32_t),
      VALUE(INTEGER8, std::int64_t),
      VALUE(INTEGER16, Bytes16),
      VALUE(REAL2, Bytes2),
      VALUE(REAL4, float),
      VALUE(REAL8, double),
      VALUE(REAL16, Bytes16),
      VALUE(COMPLEX4, Half),
      VALUE(COMPLEX8, std::complex<float>),
      VALUE(COMPLEX16, std::complex<double>),
      VALUE(COMPLEX32, Quadruple),
      PAIR(FLOAT_INT, FLOAT, float, INT, int),
      PAIR(DOUBLE_INT, DOUBLE, double, INT, int),
      PAIR(LONG_INT, LONG, long, INT, int),
      PAIR(2INT, INT, int, INT, int),
      PAIR(SHORT_INT, SHORT, short, INT, int),
      PAIR(LONG_DOUBLE_INT, LONG_DOUBLE, long double, INT, int),
      PAIR(2REAL, REAL, float, REAL, float),
      PAIR(2DOUBLE_PRECISION, DOUBLE_PRECISION, double, DOUBLE_PRECISION, double),
      PAIR(2INTEGER, INTEGER, int, INTEGER, int),
#undef VALUE
#undef PAIR
  };
}

}  // namespace

const Datatype::AllPredefined& Datatype::all_predefined() {
  static const AllPredefined all = [] {
    AllPredefined types;
    const auto place = [&](MPI_Datatype handle) -> DatatypePointer& {
      return types[index_of_predefined(handle)];
    };
    for (const PredefinedRow& row : predefined_rows()) {
      const auto size = static_cast<std::int64_t>(row.size);
      TypeShape shape;
      std::vector<Part> parts;
      if (row.first == nullptr) {
        shape.bytes = shape.true_upper = size;
        shape.layout = Layout::run(0, size);
        shape.signature = signature_of(row.handle);
      } else {
        const DatatypePointer &first = place(row.first), &second = place(row.second);
        JoinedShape both;
        both.add(first->shape_);
        both.add(shifted(second->shape_, static_cast<std::int64_t>(row.second_at)));
        shape = std::move(both).finish();
        parts = {{1, first.get()}, {1, second.get()}};
      }
      shape.upper = static_cast<std::int64_t>(row.extent);
      shape.alignment = static_cast<int>(row.alignment);
      place(row.handle) = made(std::move(shape), std::move(parts), {}, row.handle, row.name);
    }
    return types;
  }();
  return all;
}

const DatatypePointer& Datatype::predefined(MPI_Datatype handle) {
  static const DatatypePointer none;
  const AllPredefined& all = all_predefined();
  const std::size_t index = index_of_predefined(handle);
  return index < all.size() ? all[index] : none;
}

DatatypePointer Datatype::value_index(const Datatype& value, const Datatype& index) {
  for (const DatatypePointer& type : all_predefined()) {
    if (type && type->parts_.size() == 2 && type->parts_[0].type == &value &&
        type->parts_[1].type == &index) {
      return type;
    }
  }
  return nullptr;
}

}  // namespace wormcube::mpi
