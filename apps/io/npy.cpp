// NumPy .npy files, read and written.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/npy.hpp"

#include "wormcube/apps/io/new_file.hpp"
#include "wormcube/apps/io/read_once.hpp"
#include "wormcube/apps/io/text.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/base/numbers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::apps {

static_assert(std::endian::native == std::endian::little,
              "elements are written as they are in memory");

namespace {

struct TypeEntry {
  ElementType type;
  std::string_view code;  // of descr, without the byte order
  std::string_view name;
  std::size_t bytes;
  std::size_t word;  // what a byte order applies to
};

constexpr std::array types{
    TypeEntry{ElementType::float32, "f4", "float32", 4, 4},
    TypeEntry{ElementType::float64, "f8", "float64", 8, 8},
    TypeEntry{ElementType::complex64, "c8", "complex64", 8, 4},
    TypeEntry{ElementType::complex128, "c16", "complex128", 16, 8},
    TypeEntry{ElementType::int8, "i1", "int8", 1, 1},
    TypeEntry{ElementType::int16, "i2", "int16", 2, 2},
    TypeEntry{ElementType::int32, "i4", "int32", 4, 4},
    TypeEntry{ElementType::int64, "i8", "int64", 8, 8},
    TypeEntry{ElementType::uint8, "u1", "uint8", 1, 1},
    TypeEntry{ElementType::uint16, "u2", "uint16", 2, 2},
    TypeEntry{ElementType::uint32, "u4", "uint32", 4, 4},
    TypeEntry{ElementType::uint64, "u8", "uint64", 8, 8},
};

const TypeEntry& entry(ElementType type) {
  return *std::ranges::find(types, type, &TypeEntry::type);
}

std::string known_names() {
  std::string names;
  for (const TypeEntry& type : types)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", type.name);
  return names;
}

// The format: "\x93NUMPY", version (2 bytes), length of the header (little-endian; 2 bytes in
// version 1, 4 bytes from version 2 on), the header (a Python dictionary: descr, fortran_order,
// shape), the elements.
constexpr std::string_view magic = "\x93NUMPY";

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

// Reads the dictionary of a header: three known keys in any order. Everything else is rejected.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Header parse() {
    Header header;
    std::array<bool, 3> seen{};
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        if (peek() == '[') fail("structured elements are not supported");
        header.descr = string();
        seen[0] = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        seen[1] = true;
      } else if (key == "shape") {
        header.shape = tuple();
        seen[2] = true;
      } else {
        fail(fmt::format("unknown key '{}'", shown(key)));
      }
      if (!accept(',') && peek() != '}') fail("',' or '}' expected");
    }
    if (!std::ranges::all_of(seen, [](bool key) { return key; })) {
      fail("needs the keys descr, fortran_order and shape");
    }
    if (peek() != '\0') fail("more text after '}'");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(fmt::format("{}: header: {} at character {}", file_, what, at_ + 1));
  }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("'{}' expected", wanted));
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a string expected");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string is not closed");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }
  bool boolean() {
    peek();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    fail("True or False expected");
  }
  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> result;
    expect('(');
    while (!accept(')')) {
      peek();
      std::string_view rest = text_.substr(at_);
      const auto value = take_number<std::size_t>(rest);
      if (!value) fail("a dimension (0, 1, 2, ..) expected");
      at_ = text_.size() - rest.size();
      accept('L');  // Python 2 wrote long integers like this
      result.push_back(*value);
      if (!accept(',') && peek() != ')') fail("',' or ')' expected");
    }
    return result;
  }

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
};

struct Elements {
  TypeEntry type;
  bool big_endian;
};

Elements parse_descr(const std::string& descr, const std::string& file) {
  const std::string_view order = "<>=|", text = descr;
  const auto type = text.empty() || order.find(text[0]) == std::string_view::npos
                        ? types.end()
                        : std::ranges::find(types, text.substr(1), &TypeEntry::code);
  // '|' means that there is no byte order: valid for single bytes only.
  if (type == types.end() || (text[0] == '|' && type->word > 1)) {
    throw UsageError(
        fmt::format("{}: elements of type '{}'; can read {}", file, shown(descr), known_names()));
  }
  return {*type, text[0] == '>'};
}

std::optional<std::size_t> product(const std::vector<std::size_t>& shape, std::size_t bytes) {
  // A dimension of 0 makes the array empty, however large the others are.
  if (std::ranges::find(shape, std::size_t{0}) != shape.end()) return 0;
  for (const std::size_t dimension : shape) {
    if (bytes > std::numeric_limits<std::size_t>::max() / 2 / dimension) return {};
    bytes *= dimension;
  }
  return bytes;
}

// From Fortran order (first index fastest) to C order (last index fastest).
std::vector<std::byte> to_c_order(const std::vector<std::byte>& data,
                                  const std::vector<std::size_t>& shape, std::size_t element) {
  std::vector<std::byte> result(data.size());
  std::vector<std::size_t> index(shape.size());
  for (std::size_t to = 0; to < data.size(); to += element) {
    std::size_t from = 0;
    for (std::size_t d = shape.size(); d-- > 0;) from = from * shape[d] + index[d];
    std::memcpy(&result[to], &data[from * element], element);
    for (std::size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
  return result;
}

class NpyReader {
 public:
  explicit NpyReader(const std::string& file) : file_(file), stream_(file, std::ios::binary) {
    std::error_code error;
    size_ = std::filesystem::file_size(file, error);
    require_readable(file);
    if (!stream_ || error) {
      throw UsageError(fmt::format("{}: cannot be opened: {}", file,
                                   error ? error.message() : std::string("not a regular file")));
    }
  }

  /// The header; what follows is the elements, all of them.
  NpyLayout layout() {
    const Header header = HeaderParser(header_text(), file_).parse();
    const Elements elements = parse_descr(header.descr, file_);
    const std::optional<std::size_t> bytes = product(header.shape, elements.type.bytes);
    if (!bytes || *bytes != size_ - at_) {
      throw UsageError(
          fmt::format("{}: {} bytes of elements, but shape ({}) of {} needs {}", file_, size_ - at_,
                      shown(fmt::format("{}", fmt::join(header.shape, ", "))), elements.type.name,
                      bytes ? fmt::to_string(*bytes) : "more than is possible"));
    }
    return {elements.type.type, header.shape, elements.big_endian, header.fortran_order, at_};
  }

  Array read() {
    const NpyLayout layout = this->layout();
    const TypeEntry& type = entry(layout.type);
    const std::size_t bytes = size_ - at_;
    const bool reorders = layout.fortran_order && layout.shape.size() > 1;
    require_memory(fmt::format("{}: {} elements of {}", file_, bytes / type.bytes, type.name),
                   static_cast<double>(bytes) * (reorders ? 2 : 1), "use a part of the array");
    Array array{layout.type, layout.shape, std::vector<std::byte>(bytes)};
    take(array.data.data(), bytes, "its elements");
    if (layout.big_endian) swap_bytes(array.data, layout.type);
    if (reorders) array.data = to_c_order(array.data, array.shape, type.bytes);
    return array;
  }

 private:
  std::string header_text() {
    std::array<char, 8> start{};
    take(start.data(), start.size(), "the magic string and version");
    if (!std::string_view(start.data(), start.size()).starts_with(magic)) {
      static_cast<void>(kind_of({start.data(), start.size()}, file_));  // may know the format
      throw UsageError(
          fmt::format("{}: not a .npy file: it does not start with \\x93NUMPY", file_));
    }
    const auto version = static_cast<unsigned char>(start[6]);
    const auto minor = static_cast<unsigned char>(start[7]);
    if (version < 1 || version > 3 || minor != 0) {
      throw UsageError(
          fmt::format("{}: .npy version {}.{}; can read 1.0, 2.0 and 3.0", file_, version, minor));
    }
    std::array<unsigned char, 4> length{};
    take(length.data(), version == 1 ? 2U : 4U, "the length of the header");
    const std::size_t bytes = length[0] + length[1] * std::size_t{256} +
                              length[2] * std::size_t{65536} + length[3] * std::size_t{16777216};
    require(bytes, "the header");
    std::string text(bytes, '\0');
    take(text.data(), bytes, "the header");
    return text;
  }

  void require(std::size_t bytes, std::string_view what) const {
    if (bytes > size_ - at_) {
      throw UsageError(fmt::format("{}: truncated: {} bytes left for {}, needs {}", file_,
                                   size_ - at_, what, bytes));
    }
  }
  void take(void* to, std::size_t bytes, std::string_view what) {
    require(bytes, what);
    if (!stream_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes))) {
      throw UsageError(fmt::format("{}: cannot read {}", file_, what));
    }
    at_ += bytes;
  }

  std::string file_;
  std::ifstream stream_;
  std::size_t size_ = 0, at_ = 0;
};

template <class T>
Complex value_at(const Array& array, std::size_t index) {
  T value{};
  std::memcpy(&value, &array.data[index * sizeof(T)], sizeof(T));
  return Complex(value);
}

}  // namespace

std::size_t bytes_of(ElementType type) { return entry(type).bytes; }

std::string_view to_string(ElementType type) { return entry(type).name; }

ElementType parse_element_type(std::string_view text) {
  if (text == "float") return ElementType::float32;
  if (text == "double") return ElementType::float64;
  if (text == "complex") return ElementType::complex128;
  const auto type = std::ranges::find(types, text, &TypeEntry::name);
  if (type == types.end()) {
    throw UsageError(fmt::format("unknown element type '{}'; available: float, double, complex, {}",
                                 text, known_names()));
  }
  return type->type;
}

Array read_npy(const std::string& file) {
  return read_once(file, [](const std::string& name) { return NpyReader(name).read(); });
}

NpyLayout read_npy_layout(const std::string& file) { return NpyReader(file).layout(); }

void swap_bytes(Span elements, ElementType type) {
  const std::size_t word = entry(type).word;
  if (word == 1) return;
  for (auto at = elements.begin(); at != elements.end(); at += static_cast<std::ptrdiff_t>(word)) {
    std::reverse(at, at + static_cast<std::ptrdiff_t>(word));
  }
}

std::string npy_header(ElementType element_type, std::span<const std::size_t> shape) {
  const TypeEntry& type = entry(element_type);
  // A tuple of one element has a comma: (7,).
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   type.word > 1 ? '<' : '|', type.code, fmt::join(shape, ", "),
                                   shape.size() == 1 ? "," : "");
  // The elements start at a multiple of 64 bytes.
  constexpr std::size_t before = 10, alignment = 64;
  header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
  header += '\n';
  std::string start(magic);
  start += {'\x01', '\0', static_cast<char>(header.size() & 0xffU),
            static_cast<char>(header.size() >> 8)};
  return start + header;
}

void write_npy(const std::string& file, const Array& array) {
  NewFile stream(file);
  stream.write(npy_header(array.type, array.shape));
  stream.write({reinterpret_cast<const char*>(array.data.data()), array.data.size()});
  stream.finish();
}

std::vector<Complex> to_complex(const Array& array) {
  const auto converter = [&]() -> Complex (*)(const Array&, std::size_t) {
    switch (array.type) {
      case ElementType::float32:
        return value_at<float>;
      case ElementType::float64:
        return value_at<double>;
      case ElementType::complex64:
        return value_at<std::complex<float>>;
      case ElementType::complex128:
        return value_at<Complex>;
      case ElementType::int8:
        return value_at<std::int8_t>;
      case ElementType::int16:
        return value_at<std::int16_t>;
      case ElementType::int32:
        return value_at<std::int32_t>;
      case ElementType::int64:
        return value_at<std::int64_t>;
      case ElementType::uint8:
        return value_at<std::uint8_t>;
      case ElementType::uint16:
        return value_at<std::uint16_t>;
      case ElementType::uint32:
        return value_at<std::uint32_t>;
      case ElementType::uint64:
        return value_at<std::uint64_t>;
    }
    return nullptr;
  }();
  std::vector<Complex> values(array.elements());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = converter(array, i);
  return values;
}

Array to_array(std::span<const Complex> values, std::vector<std::size_t> shape) {
  const std::span<const std::byte> bytes = std::as_bytes(values);
  return {ElementType::complex128, std::move(shape), {bytes.begin(), bytes.end()}};
}

}  // namespace wormcube::apps
