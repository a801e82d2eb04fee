// Marks: the elements of a still picture, and their SVG.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/draw/layout.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wormcube::apps {

/// A colour of the theme: the page's variable, and its light value for files outside a page.
struct Colour {
  std::string_view name = {}, light = {};
  bool none() const { return light.empty(); }
};

namespace colours {
inline constexpr Colour bg{"--bg", "#ffffff"}, panel{"--panel", "#f6f7f9"}, ink{"--ink", "#1a2029"},
    mute{"--mute", "#5b6675"}, faint{"--faint", "#d9dee5"}, rule{"--line", "#e3e7ec"},
    node_line{"--nodeLine", "#8a95a5"}, idle{"--idle", "#f1f3f6"}, ok{"--ok", "#00795a"},
    warn{"--warn", "#b3480c"}, white{"--load-text", "#ffffff"};
/// Text on a half-opaque colour, dark in both themes.
inline constexpr Colour middle{"--middle-text", "#1a2029"};
Colour load(int messages);
Colour dimension(int d);
Colour sequence(int level);  ///< 0 .. 5
/// The colours of algorithms in plots.
Colour line(std::size_t i);
}  // namespace colours

struct Mark {
  enum class Kind : std::uint8_t { path, rect, circle, text } kind;
  std::vector<std::vector<Point>> pieces = {};  ///< for a path
  bool closed = false;
  Point at = {}, size = {};  ///< a rectangle's corner, a circle's centre, a text's base
  double radius = 0;         ///< for a circle, or a rectangle's corners
  std::string text = {};
  double font = 0;
  int anchor = 0;  ///< -1 starts there, 0 is centred, 1 ends there
  bool bold = false;
  Colour fill = {}, stroke = {};
  double width = 1;
  std::vector<double> dash = {};
  double opacity = 1;
  bool round = false;
  std::string data = {};   ///< attributes of its SVG element: only names and numbers, or escaped
  std::string title = {};  ///< the tool tip of a path
};
using Marks = std::vector<Mark>;

Mark path_mark(std::vector<std::vector<Point>> pieces, Colour stroke, double width);
Mark rect_mark(Point at, Point size, double radius, Colour fill, Colour stroke = {},
               double width = 1);
Mark circle_mark(Point at, double radius, Colour fill, Colour stroke = {}, double width = 1);
Mark text_mark(Point at, std::string text, double font, Colour fill, int anchor = -1,
               bool bold = false);

/// The marks at another place and scale.
Marks moved(Marks marks, Point to, double scale);
/// The width that a text needs in any of the fonts of an SVG picture.
double text_room(std::string_view text, double font, bool bold);
/// Wraps words into lines of a width; longer words are split.
std::vector<std::string> wrapped(std::string_view text, double font, double width);

struct SvgOptions {
  std::string title = {}, classes = {}, attributes = {};
  bool themed = false;  ///< colours are the page's variables
  bool texts = true;
  bool ground = true;  ///< a white rectangle in the background
};
std::string svg_text(const Marks& marks, Point corner, Point size, const SvgOptions& options);
/// A figure for print, cropped to its marks.
std::string cropped_svg(const Marks& marks, const SvgOptions& options);

}  // namespace wormcube::apps
