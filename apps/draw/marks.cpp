// Marks as SVG and as PDF.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/marks.hpp"

#include "wormcube/apps/draw/page.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

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
  constexpr std::array<Colour, 6> all{Colour{"--line-0", "#0072b2"}, Colour{"--line-1", "#c2570c"},
                                      Colour{"--line-2", "#036d49"}, Colour{"--line-3", "#a8478c"},
                                      Colour{"--line-4", "#5d5100"}, Colour{"--line-5", "#6a51c8"}};
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

/// Helvetica's, in thousandths of its size, from ' ' to '~' (Adobe Font Metrics).
constexpr std::array<short, 95> helvetica{
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

/// UTF-8 as PDF's WinAnsi text has it; what that lacks becomes '?'.
std::string win_ansi(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 128) {
      result += c < 32 ? ' ' : static_cast<char>(c);
      continue;
    }
    const std::size_t more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : 1;
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const unsigned code = (c & 31U) << 6 | (next & 63U);
    result += more == 1 && code >= 160 && code < 256 ? static_cast<char>(code) : '?';
    i += more;
  }
  return result;
}

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

double text_width(std::string_view text, double font, bool bold) {
  double width = 0;
  for (const char c : win_ansi(text)) {
    width += c >= ' ' && c <= '~' ? helvetica[static_cast<std::size_t>(c - ' ')] : 556;
  }
  return width / 1000 * font * (bold ? 1.06 : 1);
}

double text_room(std::string_view text, double font, bool bold) {
  constexpr double widest = 1.17;  // DejaVu Sans beside Helvetica
  return widest * text_width(text, font, bold);
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

namespace {

/// One page's marks as PDF operators; y goes up there.
std::string pdf_content(const Page& page) {
  std::string out;
  const auto y_of = [&](double y) { return page.size.y - y; };
  const auto colour = [](Colour c) {
    const auto part = [&](std::size_t i) {
      return static_cast<double>(
                 std::strtol(std::string(c.light.substr(i, 2)).c_str(), nullptr, 16)) /
             255;
    };
    return fmt::format("{:.3f} {:.3f} {:.3f}", part(1), part(3), part(5));
  };
  for (const Mark& mark : page.marks) {
    out += "q\n";
    if (!mark.fill.none()) out += colour(mark.fill) + " rg\n";
    if (!mark.stroke.none()) {
      out +=
          fmt::format("{} RG {:.3f} w {} J\n", colour(mark.stroke), mark.width, mark.round ? 1 : 0);
      if (!mark.dash.empty()) {
        out += "[";
        for (const double length : mark.dash) out += fmt::format("{:.2f} ", length);
        out += "] 0 d\n";
      }
    }
    if (mark.opacity < 1)
      out += fmt::format("/G{} gs\n", static_cast<int>(std::lround(mark.opacity * 10)));
    const char* const paint = mark.fill.none() ? "S" : mark.stroke.none() ? "f" : "B";
    const auto curve = [&](Point a, Point b, Point c) {
      out += fmt::format("{:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} c\n", a.x, y_of(a.y), b.x,
                         y_of(b.y), c.x, y_of(c.y));
    };
    const auto move = [&](Point p, char op) {
      out += fmt::format("{:.2f} {:.2f} {}\n", p.x, y_of(p.y), op);
    };
    constexpr double k = 0.5523;  // a quarter of a circle as a Bezier curve
    switch (mark.kind) {
      case Mark::Kind::path:
        for (const auto& piece : mark.pieces) {
          for (std::size_t i = 0; i < piece.size(); ++i) move(piece[i], i == 0 ? 'm' : 'l');
          if (mark.closed) out += "h\n";
        }
        out += fmt::format("{}\n", paint);
        break;
      case Mark::Kind::rect: {
        const double r = std::min({mark.radius, mark.size.x / 2, mark.size.y / 2});
        const Point a = mark.at, b = mark.at + mark.size;
        move({a.x + r, a.y}, 'm');
        move({b.x - r, a.y}, 'l');
        if (r > 0) curve({b.x - r + k * r, a.y}, {b.x, a.y + r - k * r}, {b.x, a.y + r});
        move({b.x, b.y - r}, 'l');
        if (r > 0) curve({b.x, b.y - r + k * r}, {b.x - r + k * r, b.y}, {b.x - r, b.y});
        move({a.x + r, b.y}, 'l');
        if (r > 0) curve({a.x + r - k * r, b.y}, {a.x, b.y - r + k * r}, {a.x, b.y - r});
        move({a.x, a.y + r}, 'l');
        if (r > 0) curve({a.x, a.y + r - k * r}, {a.x + r - k * r, a.y}, {a.x + r, a.y});
        out += fmt::format("h {}\n", paint);
        break;
      }
      case Mark::Kind::circle: {
        const double r = mark.radius;
        const Point c = mark.at;
        move({c.x + r, c.y}, 'm');
        curve({c.x + r, c.y + k * r}, {c.x + k * r, c.y + r}, {c.x, c.y + r});
        curve({c.x - k * r, c.y + r}, {c.x - r, c.y + k * r}, {c.x - r, c.y});
        curve({c.x - r, c.y - k * r}, {c.x - k * r, c.y - r}, {c.x, c.y - r});
        curve({c.x + k * r, c.y - r}, {c.x + r, c.y - k * r}, {c.x + r, c.y});
        out += fmt::format("h {}\n", paint);
        break;
      }
      case Mark::Kind::text: {
        const double width = text_width(mark.text, mark.font, mark.bold);
        const double x = mark.at.x - (mark.anchor == 0 ? width / 2 : mark.anchor > 0 ? width : 0);
        std::string text;
        for (const char c : win_ansi(mark.text)) {
          if (c == '(' || c == ')' || c == '\\') text += '\\';
          text += c;
        }
        out += fmt::format("BT /F{} {:.2f} Tf {:.2f} {:.2f} Td ({}) Tj ET\n", mark.bold ? 2 : 1,
                           mark.font, x, y_of(mark.at.y), text);
        break;
      }
    }
    out += "Q\n";
  }
  return out;
}

}  // namespace

std::string pdf_text(const std::vector<Page>& pages, std::string_view title) {
  std::string pdf = "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n";
  std::vector<std::size_t> offsets;
  const auto object = [&](std::string_view body) {
    offsets.push_back(pdf.size());
    pdf += fmt::format("{} 0 obj\n{}\nendobj\n", offsets.size(), body);
  };
  std::string kids;
  constexpr std::size_t first_page = 7;
  for (std::size_t i = 0; i < pages.size(); ++i) kids += fmt::format("{} 0 R ", first_page + 2 * i);
  std::string name;
  for (const char c : win_ansi(title)) {
    if (c == '(' || c == ')' || c == '\\') name += '\\';
    name += c;
  }
  object("<< /Type /Catalog /Pages 2 0 R >>");
  object(fmt::format("<< /Type /Pages /Kids [{}] /Count {} >>", kids, pages.size()));
  object(fmt::format("<< /Title ({}) /Producer (wormcube) >>", name));
  object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>");
  object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>");
  std::string states = "<< ";
  for (int i = 1; i < 10; ++i) states += fmt::format("/G{} << /ca 0.{} /CA 0.{} >> ", i, i, i);
  object(states + ">>");
  for (const Page& page : pages) {
    const std::size_t content = offsets.size() + 2;
    object(
        fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {:.2f} {:.2f}] /Contents {} 0 R "
                    "/Resources << /Font << /F1 4 0 R /F2 5 0 R >> /ExtGState 6 0 R >> >>",
                    page.size.x, page.size.y, content));
    const std::string text = pdf_content(page);
    object(fmt::format("<< /Length {} >>\nstream\n{}endstream", text.size(), text));
  }
  const std::size_t table = pdf.size();
  pdf += fmt::format("xref\n0 {}\n0000000000 65535 f \n", offsets.size() + 1);
  for (const std::size_t offset : offsets) pdf += fmt::format("{:010} 00000 n \n", offset);
  pdf += fmt::format("trailer\n<< /Size {} /Root 1 0 R /Info 3 0 R >>\nstartxref\n{}\n%%EOF\n",
                     offsets.size() + 1, table);
  return pdf;
}

}  // namespace wormcube::apps
