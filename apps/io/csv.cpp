// Numbers from a CSV file.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/csv.hpp"

#include "wormcube/apps/io/csv_reader.hpp"
#include "wormcube/apps/io/text.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <tuple>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

namespace wormcube::apps {

namespace {

/// Kept open: a pipe's copy has no lasting name.
class TextFile {
 public:
  explicit TextFile(std::string name)
      : name_(std::move(name)), descriptor_(open(name_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0)
      throw UsageError(fmt::format("{}: cannot be opened: {}", name_, std::strerror(errno)));
  }
  ~TextFile() { close(descriptor_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  const std::string& name() const { return name_; }
  std::size_t read(std::size_t at, std::span<char> to) const {
    while (true) {
      const ssize_t got = pread(descriptor_, to.data(), to.size(), static_cast<off_t>(at));
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR)
        throw UsageError(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
    }
  }

 private:
  std::string name_;
  int descriptor_;
};

/// A file's characters from any place on, even if others read it too.
class TextBuffer final : public std::streambuf {
 public:
  explicit TextBuffer(const TextFile& file) : file_(file) {}

 private:
  int_type underflow() override {
    const std::size_t got = file_.read(at_, piece_);
    if (got == 0) return traits_type::eof();
    at_ += got;
    setg(piece_.data(), piece_.data(), piece_.data() + got);
    return traits_type::to_int_type(piece_[0]);
  }
  pos_type seekpos(pos_type place, std::ios_base::openmode /*which*/) override {
    at_ = static_cast<std::size_t>(std::streamoff(place));
    setg(nullptr, nullptr, nullptr);
    return place;
  }

  const TextFile& file_;
  std::size_t at_ = 0;
  std::array<char, std::size_t{1} << 16> piece_{};
};

/// Some columns, side by side, over all rows.
class CsvParts final : public Source::Reader {
 public:
  CsvParts(const std::string& file, CsvNumbers numbers) : file_(file), numbers_(numbers) {}

  /// Visits every value and finds the rows. \param choose  the first column, and how many
  template <class Choose>
  std::string check(const Choose& choose) {
    TextBuffer characters(file_);
    CsvReader reader(characters, file_.name());
    std::tie(first_, columns_) = choose(reader);
    while (reader.next()) {
      if (rows_++ % rows_between == 0) places_.push_back(reader.place());
      for (std::size_t j = first_; j < first_ + columns_; ++j) {
        if (numbers_ == CsvNumbers::real || !reader.is_integer(j)) {
          static_cast<void>(reader.number(j));
          numbers_ = CsvNumbers::real;
        }
      }
    }
    return columns_ == 1 ? reader.name(first_) : "";
  }
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  ElementType type() const {
    return numbers_ == CsvNumbers::real ? ElementType::float64 : ElementType::int64;
  }

  void read(std::size_t first, Span to) const override {
    std::size_t column = first % columns_;
    for_each_row(first / columns_, [&](const CsvReader& reader) {
      for (; column < columns_ && !to.empty(); ++column) put(reader, column, to);
      column = 0;
      return !to.empty();
    });
  }
  void read_block(std::size_t first, std::size_t stride, std::size_t rows, Span to) const override {
    const std::size_t column = first % stride,
                      end = rows == 0 ? column : column + to.size() / rows / element;
    for_each_row(first / stride, [&](const CsvReader& reader) {
      for (std::size_t j = column; j < end; ++j) put(reader, j, to);
      return !to.empty();
    });
  }

 private:
  static constexpr std::size_t rows_between = 4096;  // that are skipped at most
  static constexpr std::size_t element = 8;          // of either type

  /// From this one on, until take(reader) is false.
  template <class Take>
  void for_each_row(std::size_t first, const Take& take) const {
    if (first >= rows_) return;
    TextBuffer characters(file_);
    CsvReader reader(characters, file_.name());
    reader.go_to(places_[first / rows_between]);
    std::size_t row = first - first % rows_between;
    do {
      if (!reader.next())
        throw UsageError(fmt::format("{}: became shorter while it was read", file_.name()));
    } while (row++ < first || take(reader));
  }
  void put(const CsvReader& reader, std::size_t column, Span& to) const {
    if (numbers_ == CsvNumbers::real) {
      const double value = reader.number(first_ + column);
      std::memcpy(to.data(), &value, element);
    } else {
      const std::int64_t value = reader.integer(first_ + column);
      std::memcpy(to.data(), &value, element);
    }
    to = to.subspan(element);
  }

  TextFile file_;
  CsvNumbers numbers_;
  std::size_t first_ = 0, columns_ = 0, rows_ = 0;
  std::vector<CsvReader::Place> places_;  // of rows 0, rows_between, ..
};

void require_text(const std::string& file) {
  if (kind_of_file(file) != FileKind::text)
    throw UsageError(fmt::format("{}: a .npy file; it has no columns", file));
}

}  // namespace

CsvColumn open_csv_column(const std::string& file, std::string_view column, CsvNumbers numbers) {
  require_text(file);
  const auto parts = std::make_shared<CsvParts>(file, numbers);
  const std::string name = parts->check(
      [&](const CsvReader& reader) { return std::pair(reader.find(column), std::size_t{1}); });
  if (parts->rows() == 0) throw UsageError(fmt::format("{}: no values in {}", file, shown(name)));
  return {name, {parts->type(), {parts->rows()}, parts}};
}

Source open_csv_table(const std::string& file) {
  require_text(file);
  const auto parts = std::make_shared<CsvParts>(file, CsvNumbers::real);
  parts->check([](const CsvReader& reader) { return std::pair(std::size_t{0}, reader.columns()); });
  if (parts->rows() == 0) throw UsageError(fmt::format("{}: no values", file));
  return {ElementType::float64, {parts->rows(), parts->columns()}, parts};
}

std::vector<double> parse_csv_column(std::string_view text, const std::string& name,
                                     std::string_view column) {
  std::stringbuf characters{std::string(text)};
  CsvReader reader(characters, name);
  const std::size_t chosen = reader.find(column);
  std::vector<double> values;
  while (reader.next()) values.push_back(reader.number(chosen));
  if (values.empty())
    throw UsageError(fmt::format("{}: no values in {}", name, shown(reader.name(chosen))));
  return values;
}

}  // namespace wormcube::apps
