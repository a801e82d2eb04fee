// NumPy .npy files: arrays of real, complex and integer elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/io/complex.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

enum class ElementType : std::uint8_t {
  float32,
  float64,
  complex64,
  complex128,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64
};

std::size_t bytes_of(ElementType type);
/// NumPy's name: "float32", "complex128", ...
std::string_view to_string(ElementType type);
/// Throws UsageError that lists the available ones. `float`, `double` and `complex` are float32,
/// float64, complex128.
ElementType parse_element_type(std::string_view text);

/// An array in C order (last index fastest) and this computer's byte order.
struct Array {
  ElementType type = ElementType::float64;
  std::vector<std::size_t> shape;  // empty: one element without dimensions
  std::vector<std::byte> data;

  std::size_t elements() const { return data.size() / bytes_of(type); }
};

/// Reads a file of format version 1, 2 or 3. Big-endian elements and Fortran order are converted.
/// Throws UsageError that names the file and the error: not a .npy file, a header that does not
/// parse, another element type, fewer or more bytes than the shape needs.
Array read_npy(const std::string& file);

/// The contents of a header: all that is needed to read the elements.
struct NpyLayout {
  ElementType type = ElementType::float64;
  std::vector<std::size_t> shape;
  bool big_endian = false, fortran_order = false;
  std::size_t start = 0;  ///< of the elements, in bytes from the file's start
};
/// Throws UsageError as read_npy does.
NpyLayout read_npy_layout(const std::string& file);
/// Reverses the bytes of each number.
void swap_bytes(Span elements, ElementType type);

/// The header of an array, in format version 1, little-endian, C order.
std::string npy_header(ElementType type, std::span<const std::size_t> shape);
/// Writes format version 1, little-endian, C order.
/// Throws UsageError if the file cannot be written.
void write_npy(const std::string& file, const Array& array);

/// The elements as complex numbers, whatever their type.
std::vector<Complex> to_complex(const Array& array);
Array to_array(std::span<const Complex> values, std::vector<std::size_t> shape);

}  // namespace wormcube::apps
