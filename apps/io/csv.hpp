// Numbers from a CSV file: a column, or the whole table, read in parts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/io/source.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// A column of a file. For every few thousand lines the place in the file is remembered, from which
/// a part of the column is found; nothing else is kept in memory.
struct CsvColumn {
  std::string name;  ///< from the header; "column 2" without one
  Source values;     ///< of float64; or of int64
};
/// The type of a column: float64; or int64 if all its values are whole numbers of 64 bits.
enum class CsvNumbers { real, whole_or_real };

/// Reads the file once, to its end, to check that every value is one. Lines that are empty or start
/// with '#' are skipped. The first other line is a header if one of its fields is not a number.
/// Fields are separated by commas, or by semicolons or tabs if the first line has no comma; they
/// may stand in double quotes.
///
/// \param column  a name of the header, or a number from 1; empty for the only column
/// Throws UsageError that names the file and the line: no such column (lists them), not a number,
/// not finite, a missing value, another number of fields than the first line, no values at all; a
/// file that is not text. The text names the separator that was recognised.
CsvColumn open_csv_column(const std::string& file, std::string_view column,
                          CsvNumbers numbers = CsvNumbers::real);

/// All columns, as float64. Throws UsageError as above.
Source open_csv_table(const std::string& file);

/// A column of a text, whole. \param name  for messages, instead of the file's
std::vector<double> parse_csv_column(std::string_view text, const std::string& name,
                                     std::string_view column);

}  // namespace wormcube::apps
