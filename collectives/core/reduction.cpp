// The built-in operators, the order-tracking operator, and operands on which all of them are exact.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/reduction.hpp"

#include "wormcube/runtime/base/hash.hpp"
#include "wormcube/runtime/base/text.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// x -> a x + b modulo 2^32. `compose` does the left one first.
struct Affine {
  std::uint32_t a, b;
};

using Complex = std::complex<double>;

// Wrapping arithmetic: the sum of integers is modulo 2^n, so that any order gives the same.
// Objects, not functions: the loop that applies one inlines it, and handles several elements at
// once.
struct WrappingSum {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
    } else {
      return x + y;
    }
  }
};
struct WrappingProduct {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
    } else if constexpr (std::is_same_v<T, Complex>) {
      return x * y + T();  // no part is -0, whose sign would show how products were bracketed
    } else {
      return x * y;
    }
  }
};

template <class T>
Reduction make(std::string_view operation) {
  const std::string name(operation);
  if constexpr (std::is_same_v<T, Affine>) {
    const auto compose = [](Affine f, Affine g) { return Affine{f.a * g.a, f.b * g.a + g.b}; };
    return elementwise<T>(name, compose, false);
  } else {
    if (operation == "sum") return elementwise<T>(name, WrappingSum(), true);
    if (operation == "product") return elementwise<T>(name, WrappingProduct(), true);
    if constexpr (!std::is_same_v<T, Complex>) {
      if (operation == "min")
        return elementwise<T>(
            name, [](T x, T y) { return y < x ? y : x; }, true);
      if (operation == "max")
        return elementwise<T>(
            name, [](T x, T y) { return x < y ? y : x; }, true);
    }
    if constexpr (std::is_integral_v<T>) {
      const auto bits = [&](auto op) {
        return elementwise<T>(
            name, [op](T x, T y) { return static_cast<T>(op(x, y)); }, true);
      };
      if (operation == "and") return bits(std::bit_and<>());
      if (operation == "or") return bits(std::bit_or<>());
      if (operation == "xor") return bits(std::bit_xor<>());
    }
    return {};
  }
}

Reduction make(std::string_view operation, std::string_view type) {
  if (type == "int32") return make<std::int32_t>(operation);
  if (type == "int64") return make<std::int64_t>(operation);
  if (type == "uint8") return make<std::uint8_t>(operation);
  if (type == "float") return make<float>(operation);
  if (type == "double") return make<double>(operation);
  if (type == "complex") return make<Complex>(operation);
  return make<Affine>(operation);
}

template <class T>
void write(Span data, std::uint64_t stream, T (*value)(std::uint64_t)) {
  for (Bytes at = 0; at + sizeof(T) <= data.size(); at += sizeof(T)) {
    const T element = value(mixed(mixed(stream) + at / sizeof(T)));
    std::memcpy(data.data() + at, &element, sizeof(T));
  }
}

/// For sums small integers, for products signs with an occasional factor of 2: no rounding on any
/// number of nodes up to a million.
template <class T>
void write_number(std::string_view operation, std::uint64_t stream, Span data) {
  if (operation == "product") {
    write<T>(data, stream, [](std::uint64_t x) {
      const bool two = x % 4096 == 1;
      return x & 4096 ? static_cast<T>(two ? 2 : 1)
                      : static_cast<T>(std::is_unsigned_v<T> ? 3 : -1);
    });
  } else {
    write<T>(data, stream, [](std::uint64_t x) { return static_cast<T>(x % 8); });
  }
}

/// Small values for which every operator of this type is exact.
void write_operand(std::string_view operation, std::string_view type, std::uint64_t stream,
                   Span data) {
  if (type == "int32") write_number<std::int32_t>(operation, stream, data);
  if (type == "int64") write_number<std::int64_t>(operation, stream, data);
  if (type == "uint8") write_number<std::uint8_t>(operation, stream, data);
  if (type == "float") write_number<float>(operation, stream, data);
  if (type == "double") write_number<double>(operation, stream, data);
  if (type == "complex") {
    write<Complex>(
        data, stream,
        operation == "product"
            ? [](std::uint64_t x) { return Complex(0, x & 1 ? 1 : -1); }
            : [](std::uint64_t x) {
                return Complex(static_cast<double>(x % 8), static_cast<double>(x / 8 % 8));
              });
  }
  if (type == "affine") {
    write<Affine>(data, stream, [](std::uint64_t x) {
      return Affine{static_cast<std::uint32_t>(x) | 1U, static_cast<std::uint32_t>(x >> 32)};
    });
  }
}

}  // namespace

void combine(Node& node, const Reduction& reduction, ConstSpan left, ConstSpan right, Span result) {
  WORMCUBE_ASSERT(result.size() % reduction.element_bytes == 0);
  node.combine(result.size(), [&] {
    reduction.apply(left.data(), right.data(), result.data(),
                    result.size() / reduction.element_bytes);
  });
}

const Reduction& interval_reduction() {
  static const Reduction reduction = exact(elementwise<Interval>(
      "interval",
      [](Interval x, Interval y) {
        constexpr Interval poison{-1, -1, 0xffffffff, 0xffffffff};
        const bool neighbours =
            x.last == y.first && x.first >= 0 && x.block == y.block && x.index == y.index;
        return neighbours ? Interval{x.first, y.last, x.block, x.index} : poison;
      },
      false));
  return reduction;
}

std::span<const BuiltIn> built_in_reductions() {
  static const std::vector<BuiltIn> all = [] {
    std::vector<BuiltIn> list;
    for (const char* const operation : {"sum", "product", "min", "max", "and", "or", "xor"}) {
      const std::string_view name(operation);
      const bool bits = name == "and" || name == "or" || name == "xor";
      for (const char* const type : {"int32", "int64", "uint8"}) list.push_back({operation, type});
      if (bits) continue;
      for (const char* const type : {"float", "double"}) list.push_back({operation, type});
      if (name == "sum" || name == "product") list.push_back({operation, "complex"});
    }
    list.push_back({"compose", "affine"});
    return list;
  }();
  return all;
}

Reduction find_reduction(std::string_view operation, std::string_view type) {
  std::vector<std::string_view> operators, types;
  for (const BuiltIn& entry : built_in_reductions()) {
    if (operators.empty() || operators.back() != entry.operation) {
      operators.push_back(entry.operation);
    }
    if (entry.operation == operation && entry.type == type) {
      Reduction reduction = make(operation, type);
      reduction.type = type;
      reduction.exact = type != "float" && type != "double" && type != "complex";
      reduction.operands = [entry](std::uint64_t stream, Span data) {
        write_operand(entry.operation, entry.type, stream, data);
      };
      return reduction;
    }
    if (entry.operation == operation) types.push_back(entry.type);
  }
  if (types.empty()) {
    throw UsageError(fmt::format("unknown operator '{}'{}; available:{}", operation,
                                 did_you_mean(operation, operators), listed(operators)));
  }
  throw UsageError(fmt::format("operator {} does not take the type '{}'{}; it takes:{}", operation,
                               type, did_you_mean(type, types), listed(types)));
}

}  // namespace wormcube
