// The predefined operators.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/operators.hpp"

#include <complex>
#include <cstring>
#include <type_traits>
#include <utility>

namespace wormcube::mpi {
namespace {

std::uintptr_t number(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

/// A value with its place, as MPI_FLOAT_INT and its like lay them out.
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

// What overflows wraps around, as elsewhere: signed numbers go through unsigned ones.
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
// Of equal values that with the lower place.
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

template <class T>
Combine on_integers(std::uintptr_t op) {
  switch (op) {
    case 0x21:
      return elements<T, Sum>;
    case 0x22:
      return elements<T, Least>;
    case 0x23:
      return elements<T, Most>;
    case 0x24:
      return elements<T, Product>;
    case 0x28:
      return elements<T, BitAnd>;
    case 0x29:
      return elements<T, BitOr>;
    case 0x2a:
      return elements<T, BitXor>;
    case 0x30:
      return elements<T, And>;
    case 0x31:
      return elements<T, Or>;
    case 0x32:
      return elements<T, Xor>;
    default:
      return nullptr;
  }
}
template <class T>
Combine on_numbers(std::uintptr_t op) {
  switch (op) {
    case 0x21:
      return elements<T, Sum>;
    case 0x22:
      return elements<T, Least>;
    case 0x23:
      return elements<T, Most>;
    case 0x24:
      return elements<T, Product>;
    default:
      return nullptr;
  }
}
template <class T>
Combine on_complex(std::uintptr_t op) {
  return op == 0x21   ? elements<std::complex<T>, Sum>
         : op == 0x24 ? elements<std::complex<T>, Product>
                      : nullptr;
}
template <class T>
Combine on_truth(std::uintptr_t op) {
  return op == 0x30   ? elements<T, And>
         : op == 0x31 ? elements<T, Or>
         : op == 0x32 ? elements<T, Xor>
                      : nullptr;
}
template <class T>
Combine on_bits(std::uintptr_t op) {
  return op == 0x28   ? elements<T, BitAnd>
         : op == 0x29 ? elements<T, BitOr>
         : op == 0x2a ? elements<T, BitXor>
                      : nullptr;
}
template <class Value, class Place>
Combine on_places(std::uintptr_t op) {
  using T = Placed<Value, Place>;
  return op == 0x38 ? elements<T, LeastPlace> : op == 0x39 ? elements<T, MostPlace> : nullptr;
}

}  // namespace

Combine predefined_operator(MPI_Op handle, MPI_Datatype type) {
  const std::uintptr_t op = number(handle);
  switch (number(type)) {
    // Integers of C, and Fortran's of a known size.
    case 0x208:
      return on_integers<short>(op);
    case 0x209:
      return on_integers<int>(op);
    case 0x20a:
      return on_integers<long>(op);
    case 0x20b:
      return on_integers<long long>(op);
    case 0x20c:
      return on_integers<unsigned short>(op);
    case 0x20d:
      return on_integers<unsigned>(op);
    case 0x20e:
      return on_integers<unsigned long>(op);
    case 0x20f:
      return on_integers<unsigned long long>(op);
    case 0x201:
    case 0x202:
    case 0x203:
      return on_integers<std::int64_t>(op);
    case 0x240:
    case 0x243:  // letters to the standard; programs add them, and MPICH and Open MPI let them
    case 0x244:
    case 0x2c1:
      return on_integers<std::int8_t>(op);
    case 0x241:
    case 0x245:
      return on_integers<std::uint8_t>(op);
    case 0x248:
    case 0x2c9:
      return on_integers<std::int16_t>(op);
    case 0x249:
      return on_integers<std::uint16_t>(op);
    case 0x219:
    case 0x250:
    case 0x2d1:
      return on_integers<std::int32_t>(op);
    case 0x251:
      return on_integers<std::uint32_t>(op);
    case 0x258:
    case 0x2d9:
      return on_integers<std::int64_t>(op);
    case 0x259:
      return on_integers<std::uint64_t>(op);
    case 0x210:
    case 0x21a:
    case 0x2d2:
      return on_numbers<float>(op);
    case 0x214:
    case 0x21c:
    case 0x2da:
      return on_numbers<double>(op);
    case 0x220:
      return on_numbers<long double>(op);
    case 0x212:
    case 0x213:
    case 0x21b:
    case 0x2db:
      return on_complex<float>(op);
    case 0x216:
    case 0x217:
    case 0x21d:
    case 0x2e3:
      return on_complex<double>(op);
    case 0x224:
    case 0x225:
      return on_complex<long double>(op);
    case 0x238:
    case 0x239:
      return on_truth<bool>(op);
    case 0x218:
    case 0x2d0:
      return on_truth<std::int32_t>(op);
    case 0x2c0:
      return on_truth<std::int8_t>(op);
    case 0x2c8:
      return on_truth<std::int16_t>(op);
    case 0x2d8:
      return on_truth<std::int64_t>(op);
    case 0x247:
      return on_bits<std::uint8_t>(op);
    case 0x228:
      return on_places<float, int>(op);
    case 0x229:
      return on_places<double, int>(op);
    case 0x22a:
      return on_places<long, int>(op);
    case 0x22b:
    case 0x232:
      return on_places<int, int>(op);
    case 0x22c:
      return on_places<short, int>(op);
    case 0x22d:
      return on_places<long double, int>(op);
    case 0x230:
      return on_places<float, float>(op);
    case 0x231:
      return on_places<double, double>(op);
    default:
      return nullptr;
  }
}

bool is_exact(MPI_Datatype type) {
  switch (number(type)) {
    case 0x22a:  // pairs of integers
    case 0x22b:
    case 0x22c:
    case 0x232:
      return true;
    default:  // what has bits or truth, by the standard's own classes
      return predefined_operator(MPI_BAND, type) != nullptr ||
             predefined_operator(MPI_LAND, type) != nullptr;
  }
}

std::string_view name_of_operator(MPI_Op op) {
  switch (number(op)) {
    case 0x20:
      return "MPI_OP_NULL";
    case 0x21:
      return "MPI_SUM";
    case 0x22:
      return "MPI_MIN";
    case 0x23:
      return "MPI_MAX";
    case 0x24:
      return "MPI_PROD";
    case 0x28:
      return "MPI_BAND";
    case 0x29:
      return "MPI_BOR";
    case 0x2a:
      return "MPI_BXOR";
    case 0x30:
      return "MPI_LAND";
    case 0x31:
      return "MPI_LOR";
    case 0x32:
      return "MPI_LXOR";
    case 0x38:
      return "MPI_MINLOC";
    case 0x39:
      return "MPI_MAXLOC";
    case 0x3c:
      return "MPI_REPLACE";
    case 0x3d:
      return "MPI_NO_OP";
    default:
      return {};
  }
}

}  // namespace wormcube::mpi
