// The predefined operators.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/types/operators.hpp"

#include "wormcube/apps/mpi/engine/base/handles.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace wormcube::mpi {
namespace {

/// A value with its index, laid out like MPI_FLOAT_INT and similar types.
template <class Value, class Place>
struct Placed {
  Value value;
  Place place;
};

template <class T, class Join>
void elements(const std::byte* in, std::byte* inout, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, in + i * sizeof(T), sizeof(T));
    std::memcpy(&b, inout + i * sizeof(T), sizeof(T));
    b = Join()(a, b);
    std::memcpy(inout + i * sizeof(T), &b, sizeof(T));
  }
}

// Overflow wraps around, as elsewhere: signed numbers are combined as unsigned ones.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) < sizeof(int), unsigned, std::make_unsigned_t<T>>;

struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else {
      return a + b;
    }
  }
};
struct Product {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else {
      return a * b;
    }
  }
};
struct Least {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Most {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct BitAnd {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a != T{} && b != T{});
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a != T{} || b != T{});
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>((a != T{}) != (b != T{}));
  }
};
// Of equal values, picks the one with the lower index.
struct LeastPlace {
  template <class T>
  T operator()(T a, T b) const {
    if (a.value == b.value) a.place = b.place = b.place < a.place ? b.place : a.place;
    return b.value < a.value ? b : a;
  }
};
struct MostPlace {
  template <class T>
  T operator()(T a, T b) const {
    if (a.value == b.value) a.place = b.place = b.place < a.place ? b.place : a.place;
    return a.value < b.value ? b : a;
  }
};

// For each kind of type, the function that combines elements with an operator; null if the operator
// is not defined on the type.
template <class T>
Combine on_numbers(MPI_Op op) {
  return op == MPI_SUM    ? elements<T, Sum>
         : op == MPI_PROD ? elements<T, Product>
         : op == MPI_MIN  ? elements<T, Least>
         : op == MPI_MAX  ? elements<T, Most>
                          : nullptr;
}
template <class T>
Combine on_complex(MPI_Op op) {
  return op == MPI_SUM    ? elements<std::complex<T>, Sum>
         : op == MPI_PROD ? elements<std::complex<T>, Product>
                          : nullptr;
}
template <class T>
Combine on_truth(MPI_Op op) {
  return op == MPI_LAND   ? elements<T, And>
         : op == MPI_LOR  ? elements<T, Or>
         : op == MPI_LXOR ? elements<T, Xor>
                          : nullptr;
}
template <class T>
Combine on_bits(MPI_Op op) {
  return op == MPI_BAND   ? elements<T, BitAnd>
         : op == MPI_BOR  ? elements<T, BitOr>
         : op == MPI_BXOR ? elements<T, BitXor>
                          : nullptr;
}
template <class T>
Combine on_integers(MPI_Op op) {
  for (const auto on : {on_numbers<T>, on_bits<T>, on_truth<T>}) {
    if (const Combine combine = on(op)) return combine;
  }
  return nullptr;
}
template <class Value, class Place>
Combine on_places(MPI_Op op) {
  using T = Placed<Value, Place>;
  return op == MPI_MINLOC   ? elements<T, LeastPlace>
         : op == MPI_MAXLOC ? elements<T, MostPlace>
                            : nullptr;
}

using CombineByOperator = Combine (*)(MPI_Op op);
using OperatorsByType = std::array<CombineByOperator, predefined_types>;

OperatorsByType operators_by_type() {
  OperatorsByType all{};
  const auto set = [&](CombineByOperator on, std::initializer_list<MPI_Datatype> types) {
    for (const MPI_Datatype type : types) all[index_of_predefined(type)] = on;
  };
  // Integers of C, and Fortran's of a known size. The standard treats MPI_CHAR as a letter, but
  // programs add such values, and MPICH and Open MPI allow it.
  set(on_integers<short>, {MPI_SHORT});
  set(on_integers<int>, {MPI_INT});
  set(on_integers<long>, {MPI_LONG});
  set(on_integers<long long>, {MPI_LONG_LONG});
  set(on_integers<unsigned short>, {MPI_UNSIGNED_SHORT});
  set(on_integers<unsigned>, {MPI_UNSIGNED});
  set(on_integers<unsigned long>, {MPI_UNSIGNED_LONG});
  set(on_integers<unsigned long long>, {MPI_UNSIGNED_LONG_LONG});
  set(on_integers<std::int8_t>, {MPI_INT8_T, MPI_CHAR, MPI_SIGNED_CHAR, MPI_INTEGER1});
  set(on_integers<std::uint8_t>, {MPI_UINT8_T, MPI_UNSIGNED_CHAR});
  set(on_integers<std::int16_t>, {MPI_INT16_T, MPI_INTEGER2});
  set(on_integers<std::uint16_t>, {MPI_UINT16_T});
  set(on_integers<std::int32_t>, {MPI_INT32_T, MPI_INTEGER, MPI_INTEGER4});
  set(on_integers<std::uint32_t>, {MPI_UINT32_T});
  set(on_integers<std::int64_t>, {MPI_INT64_T, MPI_INTEGER8, MPI_AINT, MPI_COUNT, MPI_OFFSET});
  set(on_integers<std::uint64_t>, {MPI_UINT64_T});
  set(on_numbers<float>, {MPI_FLOAT, MPI_REAL, MPI_REAL4});
  set(on_numbers<double>, {MPI_DOUBLE, MPI_DOUBLE_PRECISION, MPI_REAL8});
  set(on_numbers<long double>, {MPI_LONG_DOUBLE});
  set(on_complex<float>, {MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX, MPI_COMPLEX8});
  set(on_complex<double>,
      {MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX16});
  set(on_complex<long double>, {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX});
  set(on_truth<bool>, {MPI_C_BOOL, MPI_CXX_BOOL});
  set(on_truth<std::int8_t>, {MPI_LOGICAL1});
  set(on_truth<std::int16_t>, {MPI_LOGICAL2});
  set(on_truth<std::int32_t>, {MPI_LOGICAL, MPI_LOGICAL4});
  set(on_truth<std::int64_t>, {MPI_LOGICAL8});
  set(on_bits<std::uint8_t>, {MPI_BYTE});
  set(on_places<float, int>, {MPI_FLOAT_INT});
  set(on_places<double, int>, {MPI_DOUBLE_INT});
  set(on_places<long, int>, {MPI_LONG_INT});
  set(on_places<int, int>, {MPI_2INT, MPI_2INTEGER});
  set(on_places<short, int>, {MPI_SHORT_INT});
  set(on_places<long double, int>, {MPI_LONG_DOUBLE_INT});
  set(on_places<float, float>, {MPI_2REAL});
  set(on_places<double, double>, {MPI_2DOUBLE_PRECISION});
  return all;
}

struct NamedOperator {
  MPI_Op op;
  std::string_view name;
};
#define NAMED(name) \
  NamedOperator { name, #name }
const std::array named_operators{
    NAMED(MPI_OP_NULL), NAMED(MPI_SUM),    NAMED(MPI_MIN),    NAMED(MPI_MAX),     NAMED(MPI_PROD),
    NAMED(MPI_BAND),    NAMED(MPI_BOR),    NAMED(MPI_BXOR),   NAMED(MPI_LAND),    NAMED(MPI_LOR),
    NAMED(MPI_LXOR),    NAMED(MPI_MINLOC), NAMED(MPI_MAXLOC), NAMED(MPI_REPLACE), NAMED(MPI_NO_OP)};
#undef NAMED

}  // namespace

Combine predefined_operator(MPI_Op op, MPI_Datatype type) {
  static const OperatorsByType all = operators_by_type();
  const std::size_t index = index_of_predefined(type);
  return index < all.size() && all[index] != nullptr ? all[index](op) : nullptr;
}

bool is_exact(MPI_Datatype type) {
  const std::array pairs_of_integers{MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_2INTEGER};
  return std::ranges::find(pairs_of_integers, type) != pairs_of_integers.end() ||
         // The standard defines these on all integer, logical and byte types.
         predefined_operator(MPI_BAND, type) != nullptr ||
         predefined_operator(MPI_LAND, type) != nullptr;
}

std::string_view name_of_operator(MPI_Op op) {
  const auto found = std::ranges::find(named_operators, op, &NamedOperator::op);
  return found == named_operators.end() ? std::string_view() : found->name;
}

}  // namespace wormcube::mpi
