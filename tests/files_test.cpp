// The size of source files: a file is short enough to read at once, a line to see at once.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

namespace {

constexpr std::size_t longest_line = 100;

/// The most lines that a file may have, by the path from the root.
std::size_t most_lines(std::string_view file) {
  // Still to be divided; none may be added.
  static const std::set<std::string_view> longer{
      "apps/draw/source/cards.js", "apps/draw/source/data.js", "apps/draw/source/player.js",
      "apps/draw/source/view.js",  "apps/mpi/abi/mpi.h.in",
  };
  if (longer.contains(file)) return 1200;
  return file.starts_with("apps/") ? 500 : 400;
}

/// Whether the lines of a file may be longer: of these, until their lines are broken.
bool has_long_lines(std::string_view file) {
  static const std::vector<std::string_view> wide{
      "apps/cli/",
      "apps/draw/",
      "apps/mpi/",
  };
  return std::ranges::any_of(wide, [&](auto start) { return file.starts_with(start); });
}

/// What is wrong with a file: "x.cpp: 401 lines, at most 400", "x.cpp:7: 101 columns, at most 100".
std::vector<std::string> complaints(std::string_view file, std::istream& text) {
  std::vector<std::string> all;
  std::size_t lines = 0;
  for (std::string line; std::getline(text, line);) {
    ++lines;
    std::size_t columns = 0;  // characters of UTF-8
    for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xc0U) != 0x80U ? 1 : 0;
    if (columns > longest_line && !has_long_lines(file)) {
      all.push_back(
          fmt::format("{}:{}: {} columns, at most {}", file, lines, columns, longest_line));
    }
  }
  if (lines > most_lines(file)) {
    all.push_back(fmt::format("{}: {} lines, at most {}", file, lines, most_lines(file)));
  }
  return all;
}

}  // namespace

TEST_CASE("no source file has too many lines, or too long ones", "[layering]") {
  namespace fs = std::filesystem;
  const fs::path root = WORMCUBE_SOURCE_DIR;
  const std::set<std::string> sources{".cpp", ".hpp", ".h", ".c", ".js", ".in"};
  std::vector<std::string> all;
  std::size_t files = 0;
  for (const char* const folder : {"runtime", "collectives", "apps"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string file = entry.path().lexically_relative(root).generic_string();
      const bool is_built =
          file.starts_with("apps/draw/bundle/") || file.starts_with("apps/draw/node_modules/");
      if (is_built || !sources.contains(entry.path().extension().string())) continue;
      ++files;
      std::ifstream text(entry.path());
      for (std::string& complaint : complaints(file, text)) all.push_back(std::move(complaint));
    }
  }
  CHECK(all == std::vector<std::string>{});
  CHECK(files > 500);
}

TEST_CASE("the test for long files and lines finds them", "[layering]") {
  std::istringstream wide(std::string(101, 'x') + "\n" + std::string(100, 'x') + "\n");
  CHECK(complaints("runtime/x.cpp", wide) ==
        std::vector<std::string>{"runtime/x.cpp:1: 101 columns, at most 100"});
  std::string lines;
  for (int i = 0; i <= 400; ++i) lines += "x\n";
  std::istringstream tall(lines), same(lines);
  CHECK(complaints("runtime/x.cpp", tall) ==
        std::vector<std::string>{"runtime/x.cpp: 401 lines, at most 400"});
  CHECK(complaints("apps/fft/x.cpp", same).empty());
}
