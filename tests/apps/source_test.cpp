// Arrays read in parts: any part of any kind of source equals that part of the whole.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/source.hpp"

#include "wormcube/apps/common/made.hpp"
#include "wormcube/apps/common/parts.hpp"
#include "wormcube/apps/fft/signal.hpp"
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/sort/run.hpp"
#include "wormcube/apps/transpose/run.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/apps/support.hpp"
#include "wormcube/tests/temporary_file.hpp"

#include <functional>
#include <numeric>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;
using namespace wormcube::apps;
using namespace wormcube::apps::testing;
using Catch::Matchers::Contains;

namespace {

/// Every part, and of two dimensions every block, against the whole.
void require_parts(const Source& source, const Array& whole) {
  REQUIRE(source.type() == whole.type);
  REQUIRE(source.shape() == whole.shape);
  const std::size_t element = bytes_of(whole.type), count = whole.elements();
  bool same = true;
  for (std::size_t first = 0; first < count; ++first) {
    for (std::size_t end = first + 1; end <= count; ++end) {
      const ConstSpan wanted =
          ConstSpan(whole.data).subspan(first * element, (end - first) * element);
      same = same && std::ranges::equal(Loaded(source, {first, end - first}).bytes(), wanted);
    }
  }
  CHECK(same);
  if (whole.shape.size() != 2) return;
  const std::size_t rows = whole.shape[0], columns = whole.shape[1];
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t down = rows - row, along = (columns - column + 1) / 2;
      std::vector<std::byte> block(down * along * element);
      source.reader().read_block(row * columns + column, columns, down, block);
      for (std::size_t i = 0; i < down; ++i) {
        same = same &&
               std::equal(block.begin() + static_cast<std::ptrdiff_t>(i * along * element),
                          block.begin() + static_cast<std::ptrdiff_t>((i + 1) * along * element),
                          whole.data.begin() + static_cast<std::ptrdiff_t>(
                                                   ((row + i) * columns + column) * element));
      }
    }
  }
  CHECK(same);
}

std::string with_header(const std::string& dictionary, std::string_view data) {
  std::string text = "\x93NUMPY\x01";
  text += {'\0', static_cast<char>(dictionary.size()), '\0'};
  return text + dictionary + std::string(data);
}

}  // namespace

TEST_CASE("any part of a file in any order of elements and bytes is that of the whole",
          "[apps][io]") {
  std::string numbers(6 * 7 * 4, '\0');
  std::iota(numbers.begin(), numbers.end(), '\1');
  for (const char* order : {"True", "False"}) {
    for (const char* type : {"<i4", ">i4"}) {
      for (const char* shape : {"(6, 7)", "(42,)"}) {
        CAPTURE(order, type, shape);
        const test::TemporaryFile file(
            ".npy", with_header(fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}}}",
                                            type, order, shape),
                                numbers));
        const Source source = open_npy(file.path());
        CHECK_FALSE(source.is_in_memory());
        require_parts(source, read_npy(file.path()));
      }
    }
  }
}

TEST_CASE("a file that became shorter is reported", "[apps][io]") {
  const test::TemporaryFile file(".npy");
  write_npy(file.path(), {ElementType::int8, {5}, std::vector<std::byte>(5)});
  const Source source = open_npy(file.path());
  std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) - 2);
  CHECK_THROWS_WITH(Loaded(source, {0, 5}), Contains("became shorter while it was read"));
}

TEST_CASE("data that is made by parts is the same as a whole", "[apps][io]") {
  for (const ElementType type :
       {ElementType::float64, ElementType::complex64, ElementType::int16}) {
    require_parts(made_array(type, {5, 8}, 3), generate_matrix(type, 5, 8, 3));
  }
  for (const char* kind : {"uniform", "equal", "few", "sorted", "reverse"}) {
    for (const ElementType type : {ElementType::float32, ElementType::int8, ElementType::uint64}) {
      CAPTURE(kind, to_string(type));
      const Array whole = generate_keys(parse_key_kind(kind), type, 37, 5);
      require_parts(made_keys(parse_key_kind(kind), type, 37, 5), whole);
      if (std::string_view(kind) == "sorted") CHECK(check_sorted(whole, whole).passed());
    }
  }
  for (const char* kind : {"random", "random-real", "impulse", "tones"}) {
    const Signal whole = generate_signal(parse_signal_kind(kind), {6, 7}, 2);
    const SignalSource source = made_signal(parse_signal_kind(kind), {6, 7}, 2);
    bool same = source.real() == whole.real && source.shape() == whole.shape;
    for (std::size_t first = 0; first < 42; ++first) {
      std::vector<Complex> room;
      const auto part = source.load({first, 42 - first}, room);
      same = same && std::ranges::equal(part, std::span(whole.values).subspan(first));
    }
    CHECK(same);
  }
}

TEST_CASE("keys that are made sorted are, for more of them than there are different ones",
          "[apps][io]") {
  for (const std::size_t count : {1, 2, 300, 70000}) {
    const Array up = generate_keys(KeyKind::sorted, ElementType::int8, count, 1),
                down = generate_keys(KeyKind::reverse, ElementType::float32, count, 1);
    CHECK(std::ranges::is_sorted(elements<std::int8_t>(up)));
    CHECK(std::ranges::is_sorted(elements<float>(down), std::ranges::greater()));
  }
}

TEST_CASE("an array in memory is not copied, and one process writes what it has", "[apps][io]") {
  const Array matrix = generate_matrix(ElementType::float64, 4, 3, 1);
  const Source source = matrix;
  CHECK(source.is_in_memory());
  CHECK(Loaded(source, {0, 12}).bytes().data() == source.reader().memory().data());
  CHECK(Loaded::bytes(source, {0, 12}) == 0);
  const Runner runner = proof(Topology::parse("ring:2"));
  const test::TemporaryFile npy(".npy"), csv(".csv");
  write_npy(runner, npy.path(), matrix.type, matrix.shape, {0, 12}, matrix.data);
  CHECK(read_npy(npy.path()).data == matrix.data);
  write_list(runner, csv.path(), "a", ElementType::int8, 2, {0, 2},
             std::vector<std::byte>{std::byte{5}, std::byte{255}});
  CHECK(csv.text() == "a\n5\n-1\n");
}
