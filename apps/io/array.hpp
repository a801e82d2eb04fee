// Arrays of numbers as applications accept them: .npy or CSV, of any real type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/io/npy.hpp"
#include "wormcube/apps/io/source.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/core.h>

namespace wormcube::apps {

/// Calls act(T{}) with the element type as T. Throws UsageError, with `what` in front, if the
/// elements are complex.
template <class Act>
decltype(auto) with_real_type(ElementType type, std::string_view what, Act act) {
  switch (type) {
    case ElementType::float32:
      return act(float{});
    case ElementType::float64:
      return act(double{});
    case ElementType::int8:
      return act(std::int8_t{});
    case ElementType::int16:
      return act(std::int16_t{});
    case ElementType::int32:
      return act(std::int32_t{});
    case ElementType::int64:
      return act(std::int64_t{});
    case ElementType::uint8:
      return act(std::uint8_t{});
    case ElementType::uint16:
      return act(std::uint16_t{});
    case ElementType::uint32:
      return act(std::uint32_t{});
    case ElementType::uint64:
      return act(std::uint64_t{});
    case ElementType::complex64:
    case ElementType::complex128:
      break;
  }
  throw UsageError(
      fmt::format("{}: {} has complex elements; need real ones", what, to_string(type)));
}

/// The elements of an array, of its type.
template <class T>
std::span<const T> elements(const Array& array) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const T*>(array.data.data()), array.data.size() / sizeof(T)};
}
template <class T>
std::span<T> elements(Array& array) {
  return {reinterpret_cast<T*>(array.data.data()), array.data.size() / sizeof(T)};
}

template <class T>
Array to_array(ElementType type, std::span<const T> values, std::vector<std::size_t> shape) {
  const std::span<const std::byte> bytes = std::as_bytes(values);
  return {type, std::move(shape), {bytes.begin(), bytes.end()}};
}

/// The elements as doubles; 64-bit integers may be rounded. Throws UsageError if they are complex.
std::vector<double> to_doubles(const Array& array, std::string_view what);

/// A list of numbers: a .npy file of one dimension, or a column of a CSV file, which is int64 if
/// all its values are whole numbers of 64 bits, float64 otherwise. Read where and when it is
/// needed. Throws UsageError as open_npy and open_csv_column do, and for a column of a .npy file,
/// other dimensions, complex elements.
Source open_list(const std::string& file, std::string_view column);

/// A matrix: a .npy file of two dimensions, or a whole CSV file; read where and when it is needed.
/// Throws UsageError as above.
Source open_matrix(const std::string& file);

/// Writes a list: as CSV, below the name, if the file's name ends in .csv, else in NumPy's format.
/// Numbers in CSV are the shortest that read back as the same.
/// Throws UsageError if the file cannot be written.
void write_list(const std::string& file, std::string_view name, const Array& array);
/// The lines of some of the elements in CSV.
std::string csv_lines(ElementType type, ConstSpan part);

/// Throws UsageError if an element is not a number, with its place ("element 3 (from 0)"); nothing
/// of integers.
void require_numbers(const Array& array, std::string_view what);
/// The same of a part. \param first  the place of its first element in the whole
void require_numbers(ElementType type, ConstSpan part, std::size_t first, std::string_view what);

}  // namespace wormcube::apps
