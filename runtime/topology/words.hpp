// The words of messages: lists, the name that was probably meant, and characters that can be shown.
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// The text with control characters, and bytes that are not UTF-8, as \x1b. A terminal can show the
/// result, and JSON, XML and a line of a file can hold it.
/// \param kept  control characters that stay as they are
std::string printable(std::string_view text, std::string_view kept = {});

}  // namespace wormcube
