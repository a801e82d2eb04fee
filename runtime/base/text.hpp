// Text for messages: lists, the name that was probably meant, printable and shortened text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace wormcube {

/// " a b c"
std::string listed(std::span<const std::string_view> names);
/// " (did you mean 'x'?)" for the nearest of the names, if it is near; empty otherwise.
/// \param before  what is written before every name: "--"
std::string did_you_mean(std::string_view text, std::span<const std::string_view> names,
                         std::string_view before = {});

/// The text with control characters, and bytes that are not UTF-8, as \x1b. The result is safe for
/// a terminal, and for JSON, XML and a line of a file.
/// \param kept  control characters that are not replaced
std::string printable(std::string_view text, std::string_view kept = {});

/// A piece of foreign text for a message: truncated after this many bytes, control characters and
/// non-ASCII bytes as \x1b.
std::string shown(std::string_view text, std::size_t most = 40);

}  // namespace wormcube
