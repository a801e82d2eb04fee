// A column of numbers out of a CSV file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace wormcube::apps
