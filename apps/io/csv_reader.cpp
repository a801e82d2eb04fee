// The lines of a CSV file, one after another, and the numbers in them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/csv_reader.hpp"

#include "wormcube/apps/io/text.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// A whole field as a number; inf and nan are numbers here.
std::optional<double> parse_number(std::string_view field) {
  if (field.starts_with('+')) field.remove_prefix(1);
  return number_of<double>(field);
}

// Whether a field is a number that a double cannot represent.
bool is_beyond_double(std::string_view field) {
  if (field.starts_with('+')) field.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc::result_out_of_range && end == field.data() + field.size();
}

// A whole field as a whole number of 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view field) {
  if (field.starts_with('+')) field.remove_prefix(1);
  return number_of<std::int64_t>(field);
}

// Longer lines are not lists of numbers; without a limit a file without line ends would fill the
// memory.
constexpr std::size_t longest_line = std::size_t{1} << 24;

char separator_of(std::string_view line) {
  for (const char separator : {',', ';', '\t'}) {
    if (line.find(separator) != std::string_view::npos) return separator;
  }
  return ',';
}

/// The first few names, and how many more there are.
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    text += (i == 0 ? "" : ", ") + shown(names[i]);
  return text + (names.size() > most ? fmt::format(" and {} more", names.size() - most) : "");
}

}  // namespace

CsvReader::CsvReader(std::streambuf& characters, const std::string& file)
    : file_(file), characters_(characters) {
  if (!next_fields()) throw UsageError(fmt::format("{}: no data", file));
  // An empty or missing field is not a name: such a line is data, and is rejected as data.
  const bool header = std::ranges::any_of(fields_, [](const std::string& field) {
    return !field.empty() && !parse_number(field) && field != "NA";
  });
  first_is_data_ = !header;
  names_ = fields_;
  for (std::size_t i = 0; !header && i < names_.size(); ++i) {
    names_[i] = fmt::format("column {}", i + 1);
  }
}

bool CsvReader::next() {
  if (!first_is_data_ && !next_fields()) return false;
  first_is_data_ = false;
  if (fields_.size() != columns()) {
    fail(fmt::format("{} fields, the first line has {} ({})", fields_.size(), columns(),
                     separator_text()));
  }
  ++values_;
  return true;
}

void CsvReader::go_to(Place place) {
  characters_.pubseekpos(static_cast<std::streamoff>(place.byte), std::ios_base::in);
  byte_ = place.byte;
  number_ = place.lines_before;
  blank_ = 0;
  first_is_data_ = false;
}

// The fields of the next line that is neither empty nor a comment; false at the end.
bool CsvReader::next_fields() {
  while (true) {
    place_ = {byte_, number_};
    if (!next_line()) return false;
    ++number_;
    if (number_ == 1 && line_.starts_with("\xef\xbb\xbf")) line_.erase(0, 3);  // byte order mark
    const std::string_view text = trimmed(line_);
    if (text.empty() && blank_ == 0) blank_ = number_;
    if (text.empty() || text.starts_with('#')) continue;
    if (values_ > 0 && blank_ > 0) {
      throw UsageError(
          fmt::format("{}: line {}: blank, with values before and after it; every value is "
                      "needed (delete the line if none is missing)",
                      file_, blank_));
    }
    blank_ = 0;
    if (separator_ == '\0') {
      separator_ = separator_of(line_);
      has_separator_ = line_.find(separator_) != std::string::npos;
      if (text.find('\r') != text.npos)
        fail("its lines end with carriage returns only; convert them to line feeds");
    }
    split(line_);
    return true;
  }
}

bool CsvReader::next_line() {
  line_.clear();
  for (int c = characters_.sbumpc(); c != EOF; c = characters_.sbumpc()) {
    ++byte_;
    if (c == '\n') return true;
    if (line_.size() == longest_line) {
      ++number_;
      fail(fmt::format("longer than {} MiB; not a table of numbers", longest_line >> 20));
    }
    line_ += static_cast<char>(c);
  }
  return !line_.empty();
}

void CsvReader::split(std::string_view line) {
  fields_.assign(1, {});
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && line.substr(i + 1).starts_with('"')) {
        fields_.back() += line[i++];  // "" inside quotes is one quote
      } else {
        quoted = !quoted;
      }
    } else if (line[i] == separator_ && !quoted) {
      fields_.emplace_back();
    } else {
      fields_.back() += line[i];
    }
  }
  if (quoted) fail("a double quote is not closed");
  for (std::string& field : fields_) field = std::string(trimmed(field));
}

std::size_t CsvReader::find(std::string_view wanted) const {
  if (wanted.empty() && names_.size() == 1) return 0;
  if (const auto found = std::ranges::find(names_, wanted);
      !wanted.empty() && found != names_.end()) {
    if (std::find(found + 1, names_.end(), wanted) != names_.end())
      fail(fmt::format("two columns are called '{}'; choose by number, from 1", shown(wanted)));
    return static_cast<std::size_t>(found - names_.begin());
  }
  const auto number = number_of<std::size_t>(wanted);
  if (number && *number >= 1 && *number <= names_.size()) return *number - 1;
  fail(fmt::format(
      "{}; there are {} columns: {} (choose by name, or by number from 1; {})",
      wanted.empty() ? "no column chosen" : fmt::format("unknown column '{}'", shown(wanted)),
      names_.size(), names_text(names_), separator_text()));
}

double CsvReader::number(std::size_t column) const {
  const std::string& field = value(column);
  const std::optional<double> number = parse_number(field);
  if (!number) {
    if (is_beyond_double(field)) {
      fail(fmt::format("'{}' in {} is too large or too small for a double", shown(field),
                       shown(names_[column])));
    }
    fail(fmt::format("'{}' in {} is not a number ({})", shown(field), shown(names_[column]),
                     separator_text()));
  }
  if (!std::isfinite(*number)) {
    fail(fmt::format("'{}' in {} is not finite", shown(field), shown(names_[column])));
  }
  return *number;
}

std::int64_t CsvReader::integer(std::size_t column) const {
  const std::string& field = value(column);
  const std::optional<std::int64_t> number = parse_integer(field);
  if (!number) {
    fail(fmt::format("'{}' in {} is not a whole number of 64 bits ({})", shown(field),
                     shown(names_[column]), separator_text()));
  }
  return *number;
}

bool CsvReader::is_integer(std::size_t column) const {
  return parse_integer(fields_[column]).has_value();
}

const std::string& CsvReader::value(std::size_t column) const {
  const std::string& field = fields_[column];
  if (field.empty() || field == "NA") {
    fail(fmt::format("no value in {}; every value is needed", shown(names_[column])));
  }
  return field;
}

void CsvReader::fail(const std::string& what) const {
  throw UsageError(fmt::format("{}: line {}: {}", file_, number_, what));
}

std::string CsvReader::separator_text() const {
  if (!has_separator_) return "there is no comma, semicolon or tab in the first line: one column";
  return fmt::format("fields are separated by {}", separator_ == ','   ? "commas"
                                                   : separator_ == ';' ? "semicolons"
                                                                       : "tabs");
}

}  // namespace wormcube::apps
