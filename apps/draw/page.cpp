// Pages: escaping, one script, one style sheet, no external resources.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/page.hpp"

#include "wormcube/runtime/base/text.hpp"

#include <fmt/core.h>

namespace wormcube::apps {

// The contents of bundle/, embedded by the build.
extern const std::string_view player_script, plot_script, page_style;

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : printable(text, "\n\t")) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string json_in_html(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

namespace {

std::string page(std::string_view title, std::string_view json, std::string_view body,
                 std::string_view script) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
      "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>",
      escaped(title));
  html.append(page_style).append("</style></head>\n<body>\n").append(body);
  if (!json.empty()) {
    html += "\n<script type=\"application/json\" id=\"wormcube\">";
    html.append(json_in_html(json)).append("</script>");
  }
  html.append("\n<script>").append(script).append("</script>\n</body></html>\n");
  return html;
}

}  // namespace

std::string player_page(std::string_view title, std::string_view json, std::string_view fallback) {
  return page(title, json, fmt::format("<noscript>{}</noscript>", fallback), player_script);
}
std::string plot_page(std::string_view title, std::string_view json, std::string_view body) {
  return page(title, json, body, plot_script);
}

}  // namespace wormcube::apps
