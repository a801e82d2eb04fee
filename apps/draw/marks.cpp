// Marks as SVG.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/marks.hpp"

#include "wormcube/apps/draw/page.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

namespace wormcube::apps {

namespace colours {

Colour load(int messages) {
  if (messages <= 0) return {"--load-0", "#dde2e9"};
  if (messages == 1) return {"--load-1", "#8b97a8"};
  if (messages == 2) return {"--load-2", "#cc7f00"};
  if (messages == 3) return {"--load-3", "#c74e0a"};
  return messages < 8 ? Colour{"--load-4", "#98270b"} : Colour{"--load-8", "#5c1005"};
}
Colour dimension(int d) {
  constexpr std::array<Colour, 6> all{Colour{"--dim-0", "#0072b2"}, Colour{"--dim-1", "#009e73"},
                                      Colour{"--dim-2", "#a8478c"}, Colour{"--dim-3", "#1a1a99"},
                                      Colour{"--dim-4", "#8f7720"}, Colour{"--dim-5", "#9966ff"}};
  return all[static_cast<std::size_t>(d) % all.size()];
}
Colour sequence(int level) {
  constexpr std::array<Colour, 6> all{Colour{"--seq-0", "#f0f3f7"}, Colour{"--seq-1", "#cfdcec"},
                                      Colour{"--seq-2", "#9dbfdf"}, Colour{"--seq-3", "#6399c8"},
                                      Colour{"--seq-4", "#2f70a8"}, Colour{"--seq-5", "#0d4778"}};
  return all[static_cast<std::size_t>(std::clamp(level, 0, 5))];
}
Colour line(std::size_t i) {
  // As in the page, where orange means contention: it comes last.
  constexpr std::array<Colour, 6> all{Colour{"--line-0", "#0072b2"}, Colour{"--line-3", "#a8478c"},
                                      Colour{"--line-2", "#036d49"}, Colour{"--line-4", "#5d5100"},
                                      Colour{"--line-5", "#6a51c8"}, Colour{"--line-1", "#c2570c"}};
  return all[i % all.size()];
}

}  // namespace colours

Mark path_mark(std::vector<std::vector<Point>> pieces, Colour stroke, double width) {
  Mark mark{Mark::Kind::path};
  mark.pieces = std::move(pieces), mark.stroke = stroke, mark.width = width;
  return mark;
}
Mark rect_mark(Point at, Point size, double radius, Colour fill, Colour stroke, double width) {
  Mark mark{Mark::Kind::rect};
  mark.at = at, mark.size = size, mark.radius = radius, mark.fill = fill, mark.stroke = stroke;
  mark.width = width;
  return mark;
}
Mark circle_mark(Point at, double radius, Colour fill, Colour stroke, double width) {
  Mark mark{Mark::Kind::circle};
  mark.at = at, mark.radius = radius, mark.fill = fill, mark.stroke = stroke, mark.width = width;
  return mark;
}
Mark text_mark(Point at, std::string text, double font, Colour fill, int anchor, bool bold) {
  Mark mark{Mark::Kind::text};
  mark.at = at, mark.text = std::move(text), mark.font = font, mark.fill = fill;
  mark.anchor = anchor, mark.bold = bold;
  return mark;
}

Marks moved(Marks marks, Point to, double scale) {
  const auto place = [&](Point p) { return to + scale * p; };
  for (Mark& mark : marks) {
    mark.at = place(mark.at), mark.size = scale * mark.size;
    mark.radius *= scale, mark.font *= scale, mark.width *= scale;
    for (double& length : mark.dash) length *= scale;
    for (auto& piece : mark.pieces) {
      for (Point& p : piece) p = place(p);
    }
  }
  return marks;
}

namespace {

std::string number(double x) {
  std::string text = fmt::format("{:.1f}", x);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}
std::string number2(double x) {
  std::string text = fmt::format("{:.2f}", x);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace

double text_room(std::string_view text, double font, bool bold) {
  // In units of the font size. DejaVu Sans is the widest of the fonts that may be used.
  constexpr double narrow = 0.38, usual = 0.62, capital = 0.74, wide = 0.96;
  double width = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) continue;  // a continuation byte
    width += std::string_view(" .,:;'|!()[]/-fijlrtIJ").find(c) != std::string_view::npos ? narrow
             : std::string_view("mwMW%@~=+<>").find(c) != std::string_view::npos          ? wide
             : c >= 'A' && c <= 'Z'                                                       ? capital
                                                                                          : usual;
  }
  return width * font * (bold ? 1.16 : 1);
}

std::vector<std::string> wrapped(std::string_view text, double font, double width) {
  std::vector<std::string> lines(1);
  const auto next_character = [](std::string_view rest) {
    std::size_t n = 1;
    while (n < rest.size() && (static_cast<unsigned char>(rest[n]) & 0xC0U) == 0x80U) ++n;
    return rest.substr(0, n);
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    const std::string longer =
        lines.back().empty() ? std::string(word) : lines.back() + " " + std::string(word);
    if (text_room(longer, font, false) <= width) {
      lines.back() = longer;
      continue;
    }
    if (!lines.back().empty()) lines.emplace_back();
    while (!word.empty()) {
      const std::string_view character = next_character(word);
      const std::string more = lines.back() + std::string(character);
      if (!lines.back().empty() && text_room(more, font, false) > width) lines.emplace_back();
      lines.back() += character;
      word.remove_prefix(character.size());
    }
  }
  return lines;
}

std::string svg_text(const Marks& marks, Point corner, Point size, const SvgOptions& options) {
  const auto colour = [&](Colour c) {
    return c.none()         ? std::string("none")
           : options.themed ? fmt::format("var({})", c.name)
                            : std::string(c.light);
  };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{} {} {} {}\"{}{} role=\"img\" "
      "aria-label=\"{}\" font-family=\"Inter, system-ui, 'Segoe UI', Roboto, 'Noto Sans', "
      "sans-serif\">",
      number(corner.x), number(corner.y), number(size.x), number(size.y),
      options.themed ? ""
                     : fmt::format(" width=\"{}\" height=\"{}\"", number(size.x), number(size.y)),
      options.classes.empty() ? ""
                              : fmt::format(" class=\"{}\"", options.classes) + options.attributes,
      escaped(options.title));
  svg += fmt::format("<title>{}</title>", escaped(options.title));
  if (options.ground) {
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
                       number(corner.x), number(corner.y), number(size.x), number(size.y),
                       colour(colours::bg));
  }
  for (const Mark& mark : marks) {
    std::string look = mark.data;
    look += fmt::format(" fill=\"{}\"", colour(mark.fill));
    if (!mark.stroke.none()) {
      look += fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", colour(mark.stroke),
                          number2(mark.width));
      if (mark.round) look += " stroke-linecap=\"round\"";
      if (!mark.dash.empty()) {
        look += " stroke-dasharray=\"";
        for (std::size_t i = 0; i < mark.dash.size(); ++i) {
          look += (i > 0 ? " " : "") + number2(mark.dash[i]);
        }
        look += "\"";
      }
    }
    if (mark.opacity < 1) look += fmt::format(" opacity=\"{}\"", number2(mark.opacity));
    switch (mark.kind) {
      case Mark::Kind::path: {
        std::string d;
        for (const auto& piece : mark.pieces) {
          for (std::size_t i = 0; i < piece.size(); ++i) {
            d += fmt::format("{}{} {}", i == 0 ? 'M' : 'L', number(piece[i].x), number(piece[i].y));
          }
          if (mark.closed) d += 'Z';
        }
        svg += mark.title.empty() ? fmt::format("<path d=\"{}\"{}/>", d, look)
                                  : fmt::format("<path d=\"{}\"{}><title>{}</title></path>", d,
                                                look, escaped(mark.title));
        break;
      }
      case Mark::Kind::rect:
        svg += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}{}/>", number(mark.at.x),
            number(mark.at.y), number(mark.size.x), number(mark.size.y),
            mark.radius > 0 ? fmt::format(" rx=\"{}\"", number2(mark.radius)) : "", look);
        break;
      case Mark::Kind::circle:
        svg += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>", number(mark.at.x),
                           number(mark.at.y), number2(mark.radius), look);
        break;
      case Mark::Kind::text:
        if (!options.texts) break;
        svg += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}{}>{}</text>",
                           number(mark.at.x), number(mark.at.y), number2(mark.font),
                           mark.bold ? " font-weight=\"600\"" : "",
                           mark.anchor == 0  ? " text-anchor=\"middle\""
                           : mark.anchor > 0 ? " text-anchor=\"end\""
                                             : "",
                           look, escaped(mark.text));
        break;
    }
  }
  return svg + "</svg>\n";
}

std::string cropped_svg(const Marks& marks, const SvgOptions& options) {
  constexpr double margin = 4;
  Point least{1e30, 1e30}, most{-1e30, -1e30};
  const auto cover = [&](Point p, double room) {
    least = {std::min(least.x, p.x - room), std::min(least.y, p.y - room)};
    most = {std::max(most.x, p.x + room), std::max(most.y, p.y + room)};
  };
  for (const Mark& mark : marks) {
    const double stroke = mark.stroke.none() ? 0 : mark.width / 2;
    switch (mark.kind) {
      case Mark::Kind::path:
        for (const auto& piece : mark.pieces) {
          for (const Point p : piece) cover(p, stroke);
        }
        break;
      case Mark::Kind::rect:
        cover(mark.at, stroke);
        cover(mark.at + mark.size, stroke);
        break;
      case Mark::Kind::circle:
        cover(mark.at, mark.radius + stroke);
        break;
      case Mark::Kind::text: {
        if (!options.texts) break;
        const double width = text_room(mark.text, mark.font, mark.bold);
        const double left = mark.anchor == 0 ? width / 2 : mark.anchor > 0 ? width : 0;
        cover(mark.at + Point{-left, -0.8 * mark.font}, 0);
        cover(mark.at + Point{width - left, 0.25 * mark.font}, 0);
        break;
      }
    }
  }
  if (least.x > most.x) least = most = {};
  const Point corner = least - Point{margin, margin};
  return svg_text(marks, corner, most + Point{margin, margin} - corner, options);
}

}  // namespace wormcube::apps
