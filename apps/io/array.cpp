// Arrays of numbers, read and written.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/array.hpp"

#include "wormcube/apps/io/csv.hpp"
#include "wormcube/apps/io/new_file.hpp"
#include "wormcube/apps/io/read_once.hpp"
#include "wormcube/apps/io/text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

namespace wormcube::apps {

std::vector<double> to_doubles(const Array& array, std::string_view what) {
  return with_real_type(array.type, what, [&]<class T>(T) {
    const std::span<const T> from = elements<T>(array);
    return std::vector<double>(from.begin(), from.end());
  });
}

namespace {

Source open_list_again(const std::string& file, std::string_view column) {
  if (kind_of_file(file) != FileKind::npy) {
    return open_csv_column(file, column, CsvNumbers::whole_or_real).values;
  }
  if (!column.empty()) {
    throw UsageError(fmt::format("{}: column '{}' of a .npy file; only CSV files have columns",
                                 file, shown(column)));
  }
  Source array = open_npy(file);
  if (array.shape().size() != 1) {
    throw UsageError(fmt::format("{}: an array of {} dimensions; need 1, a list of numbers", file,
                                 array.shape().size()));
  }
  with_real_type(array.type(), file, [](auto) {});
  return array;
}

Source open_matrix_again(const std::string& file) {
  if (kind_of_file(file) != FileKind::npy) return open_csv_table(file);
  Source array = open_npy(file);
  if (array.shape().size() != 2) {
    throw UsageError(fmt::format("{}: an array of {} dimensions; need 2 (rows, columns)", file,
                                 array.shape().size()));
  }
  with_real_type(array.type(), file, [](auto) {});
  return array;
}

}  // namespace

// The source keeps a pipe's copy open.
Source open_list(const std::string& file, std::string_view column) {
  return read_once(file, [&](const std::string& name) { return open_list_again(name, column); });
}

Source open_matrix(const std::string& file) { return read_once(file, open_matrix_again); }

std::string csv_lines(ElementType type, ConstSpan part) {
  std::string lines;
  with_real_type(type, "CSV", [&]<class T>(T) {
    for (const T value :
         std::span(reinterpret_cast<const T*>(part.data()), part.size() / sizeof(T)))
      fmt::format_to(std::back_inserter(lines), "{}\n", value);
  });
  return lines;
}

void write_list(const std::string& file, std::string_view name, const Array& array) {
  if (!file.ends_with(".csv")) return write_npy(file, array);
  NewFile stream(file);
  std::string lines = fmt::format("{}\n", name);
  constexpr std::size_t many = std::size_t{1} << 16;
  with_real_type(array.type, file, [&]<class T>(T) {
    for (const T value : elements<T>(array)) {
      fmt::format_to(std::back_inserter(lines), "{}\n", value);
      if (lines.size() < many) continue;
      stream.write(lines);
      lines.clear();
    }
  });
  stream.write(lines);
  stream.finish();
}

void require_numbers(const Array& array, std::string_view what) {
  require_numbers(array.type, array.data, 0, what);
}

void require_numbers(ElementType type, ConstSpan part, std::size_t first, std::string_view what) {
  with_real_type(type, what, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      const std::span<const T> values{reinterpret_cast<const T*>(part.data()),
                                      part.size() / sizeof(T)};
      const auto bad = std::ranges::find_if(values, [](T value) { return std::isnan(value); });
      if (bad != values.end()) {
        throw UsageError(
            fmt::format("{}: element {} (from 0) is not a number (NaN); every value is needed",
                        what, first + static_cast<std::size_t>(bad - values.begin())));
      }
    }
  });
}

}  // namespace wormcube::apps
