// The words of error messages: lists, and the name that was probably meant.
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

}  // namespace wormcube
