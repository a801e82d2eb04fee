// NumPy files: our files and NumPy's are read correctly, and damaged ones are refused.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/npy.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/apps/support.hpp"
#include "wormcube/tests/temporary_file.hpp"

#include <cstring>
#include <numeric>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::apps;
using namespace wormcube::apps::testing;
using Catch::Matchers::Contains;

namespace {

constexpr std::array all_types{
    ElementType::float32, ElementType::float64, ElementType::complex64, ElementType::complex128,
    ElementType::int8,    ElementType::int16,   ElementType::int32,     ElementType::int64,
    ElementType::uint8,   ElementType::uint16,  ElementType::uint32,    ElementType::uint64};

Array counted(ElementType type, std::vector<std::size_t> shape) {
  std::size_t bytes = bytes_of(type);
  for (const std::size_t size : shape) bytes *= size;
  Array array{type, std::move(shape), std::vector<std::byte>(bytes)};
  for (std::size_t i = 0; i < bytes; ++i) array.data[i] = static_cast<std::byte>(i * 37 + 11);
  return array;
}

// A file as NumPy would write it, with any header.
std::string npy(const std::string& header, const std::string& elements, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    text += static_cast<char>(header.size() >> (8 * i) & 0xff);
  }
  return text + header + elements;
}

template <class T>
std::string bytes(const std::vector<T>& values) {
  std::string text(values.size() * sizeof(T), '\0');
  std::memcpy(text.data(), values.data(), text.size());
  return text;
}

std::string refusal_of(const std::string& text) {
  const test::TemporaryFile file(".npy", text);
  try {
    read_npy(file.path());
  } catch (const UsageError& error) {
    CHECK_THAT(error.what(), Contains(file.path()));
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("an array that is written to a .npy file is read again as it was", "[apps][npy]") {
  const ElementType type = GENERATE(from_range(all_types));
  const auto shape = GENERATE(std::vector<std::size_t>{}, std::vector<std::size_t>{1},
                              std::vector<std::size_t>{7}, std::vector<std::size_t>{0},
                              std::vector<std::size_t>{3, 5}, std::vector<std::size_t>{2, 3, 4});
  const Array array = counted(type, shape);
  const test::TemporaryFile file(".npy");
  write_npy(file.path(), array);
  const Array again = read_npy(file.path());
  CHECK(again.type == array.type);
  CHECK(again.shape == array.shape);
  CHECK(again.data == array.data);
}

TEST_CASE("a written .npy file has the bytes that NumPy writes", "[apps][npy]") {
  const test::TemporaryFile file(".npy");
  write_npy(file.path(), counted(ElementType::float64, {2, 3}));
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(117, ' ');
  CHECK(file.text().substr(0, 128) == npy(header + "\n", ""));

  write_npy(file.path(), counted(ElementType::uint8, {4}));
  CHECK_THAT(file.text(), Contains("{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }"));
}

TEST_CASE("all versions and spellings of a .npy header mean the same", "[apps][npy]") {
  const std::string elements = bytes(std::vector<double>{1, 2, 3, 4, 5, 6});
  for (const int version : {1, 2, 3}) {
    for (const char* const header :
         {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }\n",
          "{\"shape\": (2,3), \"fortran_order\":False,\"descr\":\"<f8\"}",
          "{'descr':'=f8','fortran_order':False,'shape':(2L,3L,)}    \n"}) {
      const test::TemporaryFile file(".npy", npy(header, elements, version));
      const Array array = read_npy(file.path());
      CHECK(array.shape == std::vector<std::size_t>{2, 3});
      CHECK(to_complex(array) == std::vector<Complex>{1, 2, 3, 4, 5, 6});
    }
  }
}

TEST_CASE("Fortran order is turned into C order", "[apps][npy]") {
  const test::TemporaryFile matrix(".npy",
                                   npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3)}",
                                       bytes(std::vector<std::int16_t>{0, 10, 1, 11, 2, 12})));
  CHECK(to_complex(read_npy(matrix.path())) == std::vector<Complex>{0, 1, 2, 10, 11, 12});

  // Element (i, j, k) = 100 i + 10 j + k, the first index fastest in the file.
  std::vector<float> values;
  std::vector<Complex> wanted;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) values.push_back(static_cast<float>(100 * i + 10 * j + k));
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) wanted.emplace_back(100 * i + 10 * j + k);
    }
  }
  const test::TemporaryFile cube(
      ".npy", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 4)}", bytes(values)));
  CHECK(to_complex(read_npy(cube.path())) == wanted);
}

TEST_CASE("big-endian elements are converted", "[apps][npy]") {
  const test::TemporaryFile integers(".npy",
                                     npy("{'descr': '>i4', 'fortran_order': False, 'shape': (2,)}",
                                         std::string("\0\0\1\2\xff\xff\xff\xfe", 8)));
  CHECK(to_complex(read_npy(integers.path())) == std::vector<Complex>{258, -2});

  std::string parts = bytes(std::vector<Complex>{{1.5, -2.25}});
  std::reverse(parts.begin(), parts.begin() + 8);  // each part for itself
  std::reverse(parts.begin() + 8, parts.end());
  const test::TemporaryFile complex(
      ".npy", npy("{'descr': '>c16', 'fortran_order': False, 'shape': (1,)}", parts));
  CHECK(to_complex(read_npy(complex.path())) == std::vector<Complex>{{1.5, -2.25}});
}

TEST_CASE("every element type becomes complex by its value", "[apps][npy]") {
  const auto value = [](ElementType type, auto number) {
    Array array{type, {1}, std::vector<std::byte>(sizeof number)};
    std::memcpy(array.data.data(), &number, sizeof number);
    return to_complex(array).at(0);
  };
  CHECK(value(ElementType::float32, -1.5F) == Complex(-1.5));
  CHECK(value(ElementType::float64, 0.1) == Complex(0.1));
  CHECK(value(ElementType::complex64, std::complex<float>(1, 2)) == Complex(1, 2));
  CHECK(value(ElementType::complex128, Complex(3, 4)) == Complex(3, 4));
  CHECK(value(ElementType::int8, std::int8_t{-7}) == Complex(-7));
  CHECK(value(ElementType::int16, std::int16_t{-700}) == Complex(-700));
  CHECK(value(ElementType::int32, -70000) == Complex(-70000));
  CHECK(value(ElementType::int64, std::int64_t{-7} << 33) == Complex(-7.0 * 8589934592.0));
  CHECK(value(ElementType::uint8, std::uint8_t{200}) == Complex(200));
  CHECK(value(ElementType::uint16, std::uint16_t{60000}) == Complex(60000));
  CHECK(value(ElementType::uint32, 4000000000U) == Complex(4e9));
  CHECK(value(ElementType::uint64, std::uint64_t{1} << 63) == Complex(9223372036854775808.0));
}

TEST_CASE("element types have names", "[apps][npy]") {
  for (const ElementType type : all_types) CHECK(parse_element_type(to_string(type)) == type);
  CHECK(parse_element_type("float") == ElementType::float32);
  CHECK(parse_element_type("double") == ElementType::float64);
  CHECK(parse_element_type("complex") == ElementType::complex128);
  CHECK_THROWS_WITH(parse_element_type("quaternion"),
                    Contains("quaternion") && Contains("float32"));
}

TEST_CASE("a .npy file that is cut anywhere is refused", "[apps][npy]") {
  const std::string whole =
      npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}\n", std::string(24, 'x'), 2);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK(refusal_of(whole.substr(0, length)) != "accepted");
  }
  CHECK(refusal_of(whole) == "accepted");
  CHECK_THAT(refusal_of(whole + "y"), Contains("25 bytes of elements") && Contains("needs 24"));
}

TEST_CASE("a .npy file with any one byte of its header changed is read or refused", "[apps][npy]") {
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 1), }\n";
  const std::string whole = npy(header, std::string(24, 'x'));
  for (std::size_t at = 0; at < whole.size() - 24; ++at) {
    for (const char byte : {'\0', '\xff', '0', '9', ',', '(', '}', '\'', ' '}) {
      std::string changed = whole;
      changed[at] = byte;
      refusal_of(changed);  // neither a crash nor another exception
    }
  }
}

TEST_CASE("a malformed .npy file is refused with the reason", "[apps][npy]") {
  const auto header = [](const std::string& text) {
    return refusal_of(npy(text, std::string(8, 'x')));
  };
  CHECK_THAT(refusal_of("PK\x03\x04 this is a zip file"), Contains(".npz") && Contains("unpack"));
  CHECK_THAT(refusal_of("1,2,3,4,5,6"), Contains("not a .npy file"));
  CHECK_THAT(refusal_of(npy("{}", "", 9)), Contains("version 9.0") && Contains("1.0, 2.0 and 3.0"));
  CHECK_THAT(header("{'descr': '<f2', 'fortran_order': False, 'shape': (4,)}"),
             Contains("'<f2'") && Contains("float64"));
  CHECK_THAT(header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"), Contains("'|O'"));
  CHECK_THAT(header("{'descr': '|f8', 'fortran_order': False, 'shape': (1,)}"), Contains("'|f8'"));
  CHECK_THAT(header("{'descr': '', 'fortran_order': False, 'shape': (1,)}"), Contains("type ''"));
  CHECK_THAT(header("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,)}"),
             Contains("structured"));
  CHECK_THAT(header("{'descr': '<f8', 'shape': (1,)}"), Contains("fortran_order"));
  CHECK_THAT(header("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}"),
             Contains("True or False"));
  CHECK_THAT(header("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"),
             Contains("dimension"));
  CHECK_THAT(header("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x"),
             Contains("more text"));
  CHECK_THAT(header("{'descr': '<f8', 'colour': False, 'shape': (1,)}"), Contains("colour"));
  CHECK_THAT(header("{'descr': '<f8'"), Contains("expected"));
  CHECK_THAT(header("{'descr': '<f8"), Contains("not closed"));
  CHECK_THAT(header("{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}"),
             Contains("needs 16"));
  CHECK_THAT(header("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"),
             Contains("more than is possible"));
  CHECK_THROWS_WITH(read_npy("/nonexistent/a.npy"),
                    Contains("cannot be opened: No such file or directory"));
  CHECK_THROWS_WITH(read_npy("/tmp"), Contains("cannot be opened: Is a directory"));
  CHECK_THROWS_WITH(write_npy("/nonexistent/a.npy", counted(ElementType::int8, {1})),
                    Contains("cannot write '/nonexistent/a.npy': No such file or directory"));
}

TEST_CASE("a .npy file larger than the memory is refused before it is read", "[apps][npy]") {
  // A file of holes: 8 TB that take no room on the disk.
  const std::size_t bytes = std::size_t{1} << 43;
  const test::TemporaryFile file(
      ".npy", npy("{'descr': '|i1', 'fortran_order': False, 'shape': (8796093022208,)}", ""));
  std::error_code error;
  std::filesystem::resize_file(file.path(), file.text().size() + bytes, error);
  if (error) {
    WARN("this file system has no files of 8 TB");
    return;
  }
  CHECK_THROWS_WITH(read_npy(file.path()),
                    Contains(file.path()) && Contains("needs 8.00 TiB") && Contains("available"));
}
