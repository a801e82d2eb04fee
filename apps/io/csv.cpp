// Numbers out of a CSV file.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/csv.hpp"

#include "wormcube/apps/io/text.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/host/memory.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <istream>
#include <optional>
#include <sstream>

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
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (field.empty() || error != std::errc{} || end != field.data() + field.size()) return {};
  return value;
}

// Whether a field is a number, but not one of those that a double has.
bool is_beyond_double(std::string_view field) {
  if (field.starts_with('+')) field.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc::result_out_of_range && end == field.data() + field.size();
}

// A whole field as a whole number of 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view field) {
  if (field.starts_with('+')) field.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (field.empty() || error != std::errc{} || end != field.data() + field.size()) return {};
  return value;
}

// Longer lines are not lists of numbers; without a limit a file without line ends fills the memory.
constexpr std::size_t longest_line = std::size_t{1} << 24;

class CsvReader {
 public:
  CsvReader(std::istream& stream, const std::string& file) : file_(file), stream_(stream) {}

  // The fields of the next line that is neither empty nor a comment; false at the end.
  bool next(std::vector<std::string>& fields) {
    while (next_line()) {
      ++number_;
      if (number_ == 1 && line_.starts_with("\xef\xbb\xbf")) line_.erase(0, 3);  // byte order mark
      const std::string_view text = trimmed(line_);
      if (text.empty() && blank_ == 0) blank_ = number_;
      if (text.empty() || text.starts_with('#')) continue;
      if (values_ > 0 && blank_ > 0) {
        throw UsageError(
            fmt::format("{}: line {}: blank, with values before and after it; every value is "
                        "needed (delete the "
                        "line if none is missing)",
                        file_, blank_));
      }
      blank_ = 0;
      if (separator_ == '\0') {
        separator_ = separator_of(line_);
        has_separator_ = line_.find(separator_) != std::string::npos;
        if (text.find('\r') != text.npos)
          fail("its lines end with carriage returns alone; convert them to line feeds");
      }
      split(line_, fields);
      return true;
    }
    if (stream_.bad()) fail("cannot be read further");
    return false;
  }

  /// The last line has values.
  void count_values() { ++values_; }

  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(fmt::format("{}: line {}: {}", file_, number_, what));
  }
  // What was taken for the separator, for messages about fields.
  std::string separator_text() const {
    if (!has_separator_) return "there is no comma, semicolon or tab in the first line: one column";
    return fmt::format("fields are separated by {}", separator_ == ','   ? "commas"
                                                     : separator_ == ';' ? "semicolons"
                                                                         : "tabs");
  }

 private:
  bool next_line() {
    line_.clear();
    std::streambuf& characters = *stream_.rdbuf();
    for (int c = characters.sbumpc(); c != EOF; c = characters.sbumpc()) {
      if (c == '\n') return true;
      if (line_.size() == longest_line) {
        ++number_;
        fail(fmt::format("longer than {} MiB; not a table of numbers", longest_line >> 20));
      }
      line_ += static_cast<char>(c);
    }
    return !line_.empty();
  }
  static char separator_of(std::string_view line) {
    for (const char separator : {',', ';', '\t'}) {
      if (line.find(separator) != std::string_view::npos) return separator;
    }
    return ',';
  }

  void split(std::string_view line, std::vector<std::string>& fields) const {
    fields.assign(1, {});
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '"') {
        if (quoted && line.substr(i + 1).starts_with('"')) {
          fields.back() += line[i++];  // "" inside quotes is one quote
        } else {
          quoted = !quoted;
        }
      } else if (line[i] == separator_ && !quoted) {
        fields.emplace_back();
      } else {
        fields.back() += line[i];
      }
    }
    if (quoted) fail("a double quote is not closed");
    for (std::string& field : fields) field = std::string(trimmed(field));
  }

  std::string file_;
  std::istream& stream_;
  std::string line_;
  std::size_t number_ = 0, values_ = 0;
  std::size_t blank_ = 0;  // the first blank line since the last of another kind; 0: none
  char separator_ = '\0';
  bool has_separator_ = false;
};

/// The first few names, and how many more there are.
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    text += (i == 0 ? "" : ", ") + shown(names[i]);
  return text + (names.size() > most ? fmt::format(" and {} more", names.size() - most) : "");
}

std::size_t find_column(const CsvReader& reader, const std::vector<std::string>& names,
                        std::string_view wanted) {
  if (wanted.empty() && names.size() == 1) return 0;
  if (const auto found = std::ranges::find(names, wanted);
      !wanted.empty() && found != names.end()) {
    if (std::find(found + 1, names.end(), wanted) != names.end())
      reader.fail(
          fmt::format("two columns are called '{}'; choose by number from 1", shown(wanted)));
    return static_cast<std::size_t>(found - names.begin());
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  if (!wanted.empty() && error == std::errc{} && end == wanted.data() + wanted.size() &&
      number >= 1 && number <= names.size()) {
    return number - 1;
  }
  reader.fail(fmt::format(
      "{}; there are {} columns: {} (choose by name or by number from 1; {})",
      wanted.empty() ? "no column chosen" : fmt::format("no column '{}'", shown(wanted)),
      names.size(), names_text(names), reader.separator_text()));
}

// Values may be widened to complex numbers later: both are there at once.
template <class T>
void require_room(const std::string& file, const std::vector<T>& values) {
  if (values.size() < values.capacity()) return;
  constexpr double element = 3 * sizeof(double);
  const double elements = 2.0 * static_cast<double>(values.size());
  if (values.size() >= 1 << 16)
    require_memory(fmt::format("{}: {:.0f} values", file, elements), elements * element,
                   "use a part of the file");
}

// The names of the columns, and what is in each line: all lines have the same number of fields.
class CsvTableReader {
 public:
  CsvTableReader(std::istream& stream, const std::string& file)
      : file_(file), reader_(stream, file) {
    if (!reader_.next(fields_)) throw UsageError(fmt::format("{}: no data", file));
    // An empty or missing field is not a name: such a line is data, and will be refused as data.
    header_ = std::ranges::any_of(fields_, [](const std::string& field) {
      return !field.empty() && !parse_number(field) && field != "NA";
    });
    names_ = fields_;
    for (std::size_t i = 0; !header_ && i < names_.size(); ++i) {
      names_[i] = fmt::format("column {}", i + 1);
    }
  }

  std::size_t columns() const { return names_.size(); }
  const std::string& name(std::size_t column) const { return names_[column]; }
  std::size_t find(std::string_view column) const { return find_column(reader_, names_, column); }

  /// Calls take() for each line of data.
  template <class Take>
  void for_each_line(Take take) {
    for (bool more = header_ ? reader_.next(fields_) : true; more; more = reader_.next(fields_)) {
      if (fields_.size() != columns()) {
        reader_.fail(fmt::format("{} fields, the first line has {} ({})", fields_.size(), columns(),
                                 reader_.separator_text()));
      }
      reader_.count_values();
      take();
    }
  }

  // This line's value in a column.
  double number(std::size_t column) const {
    const std::string& field = value(column);
    const std::optional<double> number = parse_number(field);
    if (!number) {
      if (is_beyond_double(field)) {
        reader_.fail(fmt::format("'{}' in {} is too large or too small for a double", shown(field),
                                 shown(names_[column])));
      }
      reader_.fail(fmt::format("'{}' in {} is not a number ({})", shown(field),
                               shown(names_[column]), reader_.separator_text()));
    }
    if (!std::isfinite(*number)) {
      reader_.fail(fmt::format("'{}' in {} is not finite", shown(field), shown(names_[column])));
    }
    return *number;
  }
  std::int64_t integer(std::size_t column) const {
    const std::string& field = value(column);
    const std::optional<std::int64_t> number = parse_integer(field);
    if (!number) {
      reader_.fail(fmt::format("'{}' in {} is not a whole number of 64 bits ({})", shown(field),
                               shown(names_[column]), reader_.separator_text()));
    }
    return *number;
  }

 private:
  const std::string& value(std::size_t column) const {
    const std::string& field = fields_[column];
    if (field.empty() || field == "NA") {
      reader_.fail(fmt::format("no value in {}; every value is needed", shown(names_[column])));
    }
    return field;
  }

  std::string file_;
  CsvReader reader_;
  std::vector<std::string> fields_, names_;
  bool header_ = false;
};

CsvColumn read_column(std::istream& stream, const std::string& file, std::string_view column) {
  CsvTableReader table(stream, file);
  const std::size_t chosen = table.find(column);
  CsvColumn result{table.name(chosen), {}};
  table.for_each_line([&] {
    const double value = table.number(chosen);
    require_room(file, result.values);
    result.values.push_back(value);
  });
  if (result.values.empty())
    throw UsageError(fmt::format("{}: no values in {}", file, shown(result.name)));
  return result;
}

std::ifstream open_table(const std::string& file) {
  if (kind_of_file(file) != FileKind::text)
    throw UsageError(fmt::format("{}: a .npy file; it has no columns", file));
  return std::ifstream(file, std::ios::binary);
}

}  // namespace

CsvColumn read_csv_column(const std::string& file, std::string_view column) {
  std::ifstream stream = open_table(file);
  return read_column(stream, file, column);
}

CsvIntegers read_csv_integers(const std::string& file, std::string_view column) {
  std::ifstream stream = open_table(file);
  CsvTableReader table(stream, file);
  const std::size_t chosen = table.find(column);
  CsvIntegers result{table.name(chosen), {}};
  table.for_each_line([&] {
    const std::int64_t value = table.integer(chosen);
    require_room(file, result.values);
    result.values.push_back(value);
  });
  if (result.values.empty())
    throw UsageError(fmt::format("{}: no values in {}", file, shown(result.name)));
  return result;
}

CsvTable read_csv_table(const std::string& file) {
  std::ifstream stream = open_table(file);
  CsvTableReader reader(stream, file);
  CsvTable table{0, reader.columns(), {}};
  reader.for_each_line([&] {
    for (std::size_t column = 0; column < table.columns; ++column) {
      require_room(file, table.values);
      table.values.push_back(reader.number(column));
    }
    ++table.rows;
  });
  if (table.rows == 0) throw UsageError(fmt::format("{}: no values", file));
  return table;
}

CsvColumn parse_csv_column(std::string_view text, const std::string& name,
                           std::string_view column) {
  std::istringstream stream{std::string(text)};
  return read_column(stream, name, column);
}

}  // namespace wormcube::apps
