// The lines of a CSV file, one after another, and the numbers in them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// The lines of data, each with as many fields as the first line. All errors are UsageErrors that
/// name the file and the line.
class CsvReader {
 public:
  /// Where a line starts, for a reader of the same file that begins there.
  struct Place {
    std::size_t byte = 0, lines_before = 0;
  };

  /// Reads the first line. \param file  its name in messages
  CsvReader(std::streambuf& characters, const std::string& file);

  std::size_t columns() const { return names_.size(); }
  /// From the header; "column 2" without one.
  const std::string& name(std::size_t column) const { return names_[column]; }
  /// A column by its name, or its number from 1; empty: the only one.
  std::size_t find(std::string_view column) const;

  /// Advances to the next line of data; false at the end.
  bool next();
  /// The position of this line; after go_to() it is next() again.
  Place place() const { return place_; }
  void go_to(Place place);

  // This line's value in a column.
  double number(std::size_t column) const;
  std::int64_t integer(std::size_t column) const;
  bool is_integer(std::size_t column) const;

 private:
  bool next_fields();
  bool next_line();
  void split(std::string_view line);
  const std::string& value(std::size_t column) const;
  [[noreturn]] void fail(const std::string& what) const;
  /// The recognised separator, for messages about fields.
  std::string separator_text() const;

  std::string file_;
  std::streambuf& characters_;
  std::string line_;
  std::vector<std::string> fields_, names_;
  std::size_t byte_ = 0;  // where the next line starts
  Place place_;
  std::size_t number_ = 0, values_ = 0;  // lines; those with values
  std::size_t blank_ = 0;  // the first blank line since the last of another kind; 0: none
  char separator_ = '\0';
  bool has_separator_ = false;
  bool first_is_data_ = false;  // and next() has not reached it
};

}  // namespace wormcube::apps
