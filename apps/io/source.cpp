// Arrays that are read in parts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/source.hpp"

#include "wormcube/apps/io/read_once.hpp"
#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wormcube::apps {

namespace {

class ArrayInMemory final : public Source::Reader {
 public:
  explicit ArrayInMemory(Array array) : array_(std::move(array)) {}
  void read(std::size_t first, Span to) const override {
    wormcube::copy(memory().subspan(first * bytes_of(array_.type), to.size()), to);
  }
  ConstSpan memory() const override { return array_.data; }

 private:
  Array array_;
};

class MadeByRule final : public Source::Reader {
 public:
  explicit MadeByRule(std::function<void(std::size_t, Span)> rule) : rule_(std::move(rule)) {}
  void read(std::size_t first, Span to) const override { rule_(first, to); }

 private:
  std::function<void(std::size_t, Span)> rule_;
};

/// Reads anywhere, even if others read the file too.
class NpyParts final : public Source::Reader {
 public:
  NpyParts(std::string file, NpyLayout layout)
      : file_(std::move(file)),
        layout_(std::move(layout)),
        descriptor_(open(file_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail("opened");
  }
  ~NpyParts() override { close(descriptor_); }

  void read(std::size_t first, Span to) const override {
    if (!is_turned()) return take(first, to);
    // Whole columns of rows that are not adjacent; the part may start and end in the middle of a
    // row.
    const std::size_t element = bytes_of(layout_.type), columns = layout_.shape[1];
    for (std::size_t at = 0; at < to.size();) {
      const std::size_t row = first / columns, column = first % columns;
      const std::size_t count = std::min((to.size() - at) / element, columns - column);
      const std::size_t rows =
          column == 0 ? std::max<std::size_t>((to.size() - at) / element / columns, 1) : 1;
      const std::size_t width = rows > 1 ? columns : count;
      const Span piece = to.subspan(at, rows * width * element);
      take_turned(row, column, rows, piece);
      first += rows * width;
      at += piece.size();
    }
  }

  void read_block(std::size_t first, std::size_t stride, std::size_t rows, Span to) const override {
    if (!is_turned()) return Reader::read_block(first, stride, rows, to);
    take_turned(first / stride, first % stride, rows, to);
  }

 private:
  /// The file has columns, not rows, one behind another.
  bool is_turned() const { return layout_.fortran_order && layout_.shape.size() == 2; }

  [[noreturn]] void fail(const char* what) const {
    throw UsageError(fmt::format("{}: cannot be {}: {}", file_, what, std::strerror(errno)));
  }

  void take(std::size_t first, Span to) const {
    const std::size_t element = bytes_of(layout_.type);
    std::size_t at = layout_.start + first * element;
    for (Span rest = to; !rest.empty();) {
      const ssize_t got = pread(descriptor_, rest.data(), rest.size(), static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("read");
      if (got == 0) throw UsageError(fmt::format("{}: became shorter while it was read", file_));
      at += static_cast<std::size_t>(got);
      rest = rest.subspan(static_cast<std::size_t>(got));
    }
    if (layout_.big_endian) swap_bytes(to, layout_.type);
  }

  void take_turned(std::size_t row, std::size_t column, std::size_t rows, Span to) const {
    const std::size_t element = bytes_of(layout_.type), columns = to.size() / element / rows;
    std::vector<std::byte> piece(rows * element);
    for (std::size_t j = 0; j < columns; ++j) {
      take((column + j) * layout_.shape[0] + row, piece);
      for (std::size_t i = 0; i < rows; ++i) {
        std::memcpy(&to[(i * columns + j) * element], &piece[i * element], element);
      }
    }
  }

  std::string file_;
  NpyLayout layout_;
  int descriptor_;
};

}  // namespace

void Source::Reader::read_block(std::size_t first, std::size_t stride, std::size_t rows,
                                Span to) const {
  const std::size_t bytes = rows == 0 ? 0 : to.size() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    read(first + row * stride, to.subspan(row * bytes, bytes));
  }
}

Source::Source(Array array) : type_(array.type), shape_(array.shape) {
  reader_ = std::make_shared<ArrayInMemory>(std::move(array));
}

Source::Source(ElementType type, std::vector<std::size_t> shape,
               std::shared_ptr<const Reader> reader)
    : type_(type), shape_(std::move(shape)), reader_(std::move(reader)) {}

std::size_t Source::elements() const {
  std::size_t elements = 1;
  for (const std::size_t size : shape_) elements *= size;
  return elements;
}

Loaded::Loaded(const Source& source, Part part) {
  const std::size_t element = bytes_of(source.type());
  if (source.is_in_memory()) {
    view_ = source.reader().memory().subspan(part.first * element, part.count * element);
    return;
  }
  copy_.resize(part.count * element);
  if (part.count > 0) source.reader().read(part.first, copy_);
}

double Loaded::bytes(const Source& source, Part part) {
  return source.is_in_memory()
             ? 0
             : static_cast<double>(part.count) * static_cast<double>(bytes_of(source.type()));
}

Array read_all(const Source& source) {
  Array array{source.type(), source.shape(),
              std::vector<std::byte>(source.elements() * bytes_of(source.type()))};
  if (!array.data.empty()) source.reader().read(0, array.data);
  return array;
}

namespace {

Source open_npy_again(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return read_npy(file);
  NpyLayout layout = read_npy_layout(file);
  const ElementType type = layout.type;
  std::vector<std::size_t> shape = layout.shape;
  if (layout.fortran_order && shape.size() > 2) return read_npy(file);
  return {type, std::move(shape), std::make_shared<NpyParts>(file, std::move(layout))};
}

}  // namespace

// The source keeps a pipe's copy open.
Source open_npy(const std::string& file) { return read_once(file, open_npy_again); }

Source made(ElementType type, std::vector<std::size_t> shape,
            std::function<void(std::size_t first, Span to)> rule) {
  return {type, std::move(shape), std::make_shared<MadeByRule>(std::move(rule))};
}

}  // namespace wormcube::apps
