// Options that are numbers, sizes and switches, and their parsing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// A check of a number option: at least this much. (CLI11's own message spells out the largest
/// double.)
CLI::Validator at_least(double least);

/// The same with both limits.
CLI::Validator between(double least, double most);

/// A check of a number option: digits only, so that a sign is not read as a large number.
CLI::Validator whole_number();
/// The same for an option that may be negative.
CLI::Validator whole_signed_number();

/// "64", "4K", "1M", "2G": bytes, suffixes binary. Throws UsageError.
Bytes parse_bytes(std::string_view text);

/// "64", or "8..64K": 8, 16, .. up to 64K. Throws UsageError.
std::vector<Bytes> parse_byte_range(std::string_view text);
/// Each of them, in this order. Throws UsageError.
std::vector<Bytes> parse_sizes(const std::vector<std::string>& texts);
/// As users write it: "4K".
std::string size_text(Bytes bytes);
/// --bytes: one size or several.
CLI::Option* add_sizes_option(CLI::App& app, std::vector<std::string>& sizes, const char* what);

}  // namespace wormcube::cli
