// Numbers out of a CSV file: a column, or the whole table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

struct CsvColumn {
  std::string name;  ///< from the header; "column 2" where there is none
  std::vector<double> values;
};

/// Reads one column. Lines that are empty or start with '#' are skipped. The first other line is a
/// header if one of its fields is not a number. Fields are separated by commas, or by semicolons or
/// tabs if the first line has no comma; they may stand in double quotes.
///
/// \param column  a name of the header, or a number from 1; empty for the only column
/// Throws UsageError that names the file and the line: no such column (lists them), not a number,
/// not finite, a missing value, another number of fields than the first line, no values at all; a
/// file that is not text, or does not fit into memory. The text names the separator that was
/// recognised.
CsvColumn read_csv_column(const std::string& file, std::string_view column);
/// The same of a text. \param name  for messages, in place of the file's
CsvColumn parse_csv_column(std::string_view text, const std::string& name, std::string_view column);

/// Reads one column of whole numbers. Throws UsageError as above, and for one that is none, or not
/// between -2^63 and 2^63 - 1.
struct CsvIntegers {
  std::string name;
  std::vector<std::int64_t> values;
};
CsvIntegers read_csv_integers(const std::string& file, std::string_view column);

/// Reads all columns. Throws UsageError as above.
struct CsvTable {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;  ///< row-major
};
CsvTable read_csv_table(const std::string& file);

}  // namespace wormcube::apps
