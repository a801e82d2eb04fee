// The self-contained pages: the committed bundle around data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace wormcube::apps {

/// Text in HTML, SVG and attributes of both: nothing of it is markup.
std::string escaped(std::string_view text);
/// JSON inside a script element: no '<' is left that could end it.
std::string json_in_html(std::string json);

/// The player. \param fallback  HTML for readers without JavaScript
std::string player_page(std::string_view title, std::string json, std::string_view fallback);
/// Plots: pictures and tables that need no script, and a script that answers the pointer.
std::string plot_page(std::string_view title, std::string json, std::string_view body);

}  // namespace wormcube::apps
