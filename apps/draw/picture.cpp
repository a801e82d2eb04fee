// PDF and PNG by rsvg-convert.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/picture.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fmt/core.h>
#include <sys/wait.h>

namespace wormcube::apps {

PictureFormat picture_format(std::string_view file) {
  if (file.ends_with(".pdf")) return PictureFormat::pdf;
  if (file.ends_with(".png")) return PictureFormat::png;
  const std::string_view name = file.substr(file.find_last_of('/') + 1);
  const std::size_t dot = name.find_last_of('.');
  if (dot != std::string_view::npos && dot > 0 && name.substr(dot) != ".svg") {
    throw UsageError(fmt::format("{}: pictures are .svg, .pdf or .png", file));
  }
  return PictureFormat::svg;
}

void require_picture_format(PictureFormat format) {
  if (format == PictureFormat::svg) return;
  if (std::system("rsvg-convert --version > /dev/null 2>&1") == 0) return;
  throw UsageError(
      fmt::format("{} needs rsvg-convert (Debian: apt-get install librsvg2-bin); SVG needs nothing",
                  format == PictureFormat::pdf ? "PDF" : "PNG"));
}

std::string picture(const std::string& svg, PictureFormat format) {
  if (format == PictureFormat::svg) return svg;
  const auto fail = [](const std::string& reason) { throw UsageError("rsvg-convert: " + reason); };
  // The SVG is passed in an unnamed file: with two pipes each side could wait for the other.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(std::tmpfile(), std::fclose);
  if (!input || std::fwrite(svg.data(), 1, svg.size(), input.get()) != svg.size() ||
      std::fflush(input.get()) != 0) {
    fail(fmt::format("cannot make a temporary file: {}", std::strerror(errno)));
  }
  // PNG for screens and slides has two pixels for each unit of length.
  const std::string command =
      fmt::format("exec rsvg-convert --unlimited --format {} < /proc/self/fd/{}",
                  format == PictureFormat::pdf ? "pdf" : "png --zoom 2", fileno(input.get()));
  std::FILE* const output = popen(command.c_str(), "r");
  if (output == nullptr) fail(std::strerror(errno));
  std::string bytes;
  std::array<char, 65536> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), output)) {
    bytes.append(part.data(), count);
  }
  const int status = pclose(output);
  if (status != 0) {
    fail(fmt::format("ended with {}; the SVG has {} bytes; draw less, or write SVG",
                     WIFEXITED(status) ? fmt::format("exit code {}", WEXITSTATUS(status))
                                       : fmt::format("signal {}", WTERMSIG(status)),
                     svg.size()));
  }
  return bytes;
}

}  // namespace wormcube::apps
