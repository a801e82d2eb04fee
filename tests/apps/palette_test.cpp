// Colours stay distinguishable, also for colour-blind eyes, and text stays readable.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/marks.hpp"
#include "wormcube/tests/cli/program.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;

namespace {

using Rgb = std::array<double, 3>;  // linear
using Matrix = std::array<std::array<double, 3>, 3>;
using Theme = std::map<std::string, std::string>;  // token -> "#rrggbb"

/// Machado, Oliveira, Fernandes (2009), severity 1, on linear RGB.
const std::map<std::string, Matrix> eyes{{"all cones", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
                                         {"protanopia",
                                          {{{0.152286, 1.052583, -0.204868},
                                            {0.114503, 0.786281, 0.099216},
                                            {-0.003882, -0.048116, 1.051998}}}},
                                         {"deuteranopia",
                                          {{{0.367322, 0.860646, -0.227968},
                                            {0.280085, 0.672501, 0.047413},
                                            {-0.011820, 0.042940, 0.968881}}}},
                                         {"tritanopia",
                                          {{{1.255528, -0.076749, -0.178779},
                                            {-0.078411, 0.930809, 0.147602},
                                            {0.004733, 0.691367, 0.303900}}}}};

Rgb linear(const std::string& text) {
  Rgb rgb{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = std::stoi(text.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    rgb[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return rgb;
}

/// CIELAB for white of D65.
std::array<double, 3> lab(const Rgb& c) {
  const auto f = [](double t) {
    return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  };
  const double x = f((0.4124564 * c[0] + 0.3575761 * c[1] + 0.1804375 * c[2]) / 0.95047),
               y = f(0.2126729 * c[0] + 0.7151522 * c[1] + 0.0721750 * c[2]),
               z = f((0.0193339 * c[0] + 0.1191920 * c[1] + 0.9503041 * c[2]) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(const std::string& a, const std::string& b, const Matrix& eye) {
  const auto seen = [&](const std::string& colour) {
    const Rgb rgb = linear(colour);
    Rgb through{};
    for (std::size_t i = 0; i < 3; ++i) {
      through[i] =
          std::clamp(eye[i][0] * rgb[0] + eye[i][1] * rgb[1] + eye[i][2] * rgb[2], 0.0, 1.0);
    }
    return lab(through);
  };
  const auto p = seen(a), q = seen(b);
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

double contrast(const std::string& a, const std::string& b) {
  const auto light = [](const std::string& colour) {
    const Rgb c = linear(colour);
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2] + 0.05;
  };
  return std::max(light(a), light(b)) / std::min(light(a), light(b));
}

/// The themes of the page's style sheet, in its order: light, dark by the system, dark by choice.
std::vector<Theme> themes() {
  const std::string css =
      test::read_text(std::string(WORMCUBE_SOURCE_DIR) + "/apps/draw/source/page.css");
  std::vector<Theme> found;
  const std::regex rule("\\{([^{}]*)\\}"), token("--([A-Za-z0-9-]+): (#[0-9a-f]{6})");
  for (std::sregex_iterator at(css.begin(), css.end(), rule), end; at != end; ++at) {
    const std::string body = (*at)[1];
    if (body.find("--dim-0:") == std::string::npos) continue;
    Theme& theme = found.emplace_back();
    for (std::sregex_iterator t(body.begin(), body.end(), token), last; t != last; ++t) {
      theme[(*t)[1]] = (*t)[2];
    }
  }
  return found;
}

/// Pairs that are too near for some eye: "line-1 and line-4, protanopia: 3.2".
std::vector<std::string> too_near(const Theme& theme, const std::vector<std::string>& tokens,
                                  double least) {
  std::vector<std::string> found;
  for (const auto& [name, eye] : eyes) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double apart = distance(theme.at(tokens[i]), theme.at(tokens[j]), eye);
        if (apart < least) {
          found.push_back(fmt::format("{} and {}, {}: {:.1f}", tokens[j], tokens[i], name, apart));
        }
      }
    }
  }
  return found;
}

std::vector<std::string> numbered(const std::string& name, int count) {
  std::vector<std::string> tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(fmt::format("{}-{}", name, i));
  return tokens;
}

}  // namespace

TEST_CASE("colours of one kind are distinguishable, in both themes and by all eyes", "[draw]") {
  const std::vector<Theme> all = themes();
  REQUIRE(all.size() == 3);
  CHECK(all[1] == all[2]);
  const std::vector<std::string> none;
  for (const Theme& theme : all) {
    CAPTURE(theme.at("bg"));
    CHECK(too_near(theme, numbered("dim", 6), 12) == none);   // worms, phases
    CHECK(too_near(theme, numbered("line", 6), 12) == none);  // algorithms
    CHECK(too_near(theme, {"ok", "warn", "mute"}, 12) == none);
    // A load has its number beside it, a level its place on a scale.
    CHECK(too_near(theme, {"load-0", "load-1", "load-2", "load-3", "load-4", "load-8"}, 10) ==
          none);
    CHECK(too_near(theme, numbered("seq", 6), 10) == none);
    // A block's way lies under worms of any colour, on the ground.
    CHECK(too_near(theme, {"trail", "load-0"}, 12) == none);
    CHECK(too_near(theme, {"trail", "bg"}, 12) == none);
  }
}

TEST_CASE("colours that fall together are found", "[draw]") {
  const Theme theme{{"a", "#c2570c"}, {"b", "#857000"}, {"c", "#1a1a99"}};
  CHECK(too_near(theme, {"a", "c"}, 12).empty());
  const std::vector<std::string> found = too_near(theme, {"a", "b", "c"}, 12);
  REQUIRE(found.size() == 2);
  CHECK_THAT(found[0], Catch::Matchers::StartsWith("a and b, deuteranopia: 7."));
  CHECK_THAT(found[1], Catch::Matchers::StartsWith("a and b, protanopia: 3."));
  // Known values: black and white are 100 apart, and as far as can be in contrast.
  CHECK(distance("#000000", "#ffffff", eyes.at("all cones")) == Approx(100).margin(0.01));
  CHECK(contrast("#000000", "#ffffff") == Approx(21));
}

TEST_CASE("words and marks stand out from their ground", "[draw]") {
  for (const Theme& theme : themes()) {
    CAPTURE(theme.at("bg"));
    const auto faint = [&](const std::vector<std::string>& tokens, const std::string& ground,
                           double least) {
      std::vector<std::string> found;
      for (const std::string& token : tokens) {
        const double ratio = contrast(theme.at(token), theme.at(ground));
        if (ratio < least) found.push_back(fmt::format("{} on {}: {:.2f}", token, ground, ratio));
      }
      return found;
    };
    const std::vector<std::string> none;
    for (const char* const ground : {"bg", "panel"}) {
      CHECK(faint({"ink", "mute"}, ground, 4.5) == none);
    }
    CHECK(faint({"accent", "ok", "warn"}, "bg", 4.5) == none);
    CHECK(faint(numbered("line", 6), "bg", 4.5) == none);
    CHECK(faint(numbered("dim", 6), "bg", 3) == none);
    CHECK(faint({"load-2", "load-3", "load-4", "load-8", "nodeLine", "trail"}, "bg", 3) == none);
    CHECK(faint({"load-2"}, "ink", 21).size() == 1);
  }
}

TEST_CASE("stills for print have the page's light colours", "[draw]") {
  namespace colours = apps::colours;
  const Theme light = themes().at(0);
  std::vector<apps::Colour> drawn{colours::bg,        colours::panel, colours::ink,  colours::mute,
                                  colours::faint,     colours::rule,  colours::ok,   colours::warn,
                                  colours::node_line, colours::idle,  colours::white};
  for (int i = 0; i < 6; ++i) {
    drawn.push_back(colours::dimension(i));
    drawn.push_back(colours::sequence(i));
    drawn.push_back(colours::line(static_cast<std::size_t>(i)));
  }
  for (const int load : {0, 1, 2, 3, 4, 8}) drawn.push_back(colours::load(load));
  for (const apps::Colour& colour : drawn) {
    CAPTURE(colour.name);
    CHECK(light.at(std::string(colour.name.substr(2))) == colour.light);
  }
}
