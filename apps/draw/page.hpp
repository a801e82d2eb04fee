// The self-contained pages: the committed bundle around data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace wormcube::apps {

/// Escapes text for HTML, SVG and their attributes.
std::string escaped(std::string_view text);
/// Escapes JSON for a script element: a '<' could end it.
std::string json_in_html(std::string_view json);

/// The player. \param fallback  HTML for readers without JavaScript
std::string player_page(std::string_view title, std::string_view json, std::string_view fallback);
/// Plots: pictures and tables that work without a script, and a script for tool tips.
std::string plot_page(std::string_view title, std::string_view json, std::string_view body);

}  // namespace wormcube::apps
