// Kinds of files, and text in messages.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/text.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/units.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wormcube::apps {

namespace {

struct Unreadable {
  std::string_view start, what;
};
constexpr std::array unreadable{
    Unreadable{{"PK\x03\x04", 4},
               "a zip archive (.npz?); unpack it and give one of the files in it"},
    Unreadable{{"\x1f\x8b", 2}, "compressed with gzip; unpack it first"},
    Unreadable{{"\xff\xfe", 2}, "UTF-16 text; save it as UTF-8 or ASCII"},
    Unreadable{{"\xfe\xff", 2}, "UTF-16 text; save it as UTF-8 or ASCII"},
    Unreadable{{"\x89HDF", 4}, "an HDF5 file; export the array as .npy or CSV"},
};

}  // namespace

FileKind kind_of(std::string_view first_bytes, std::string_view name) {
  if (first_bytes.starts_with("\x93NUMPY")) return FileKind::npy;
  for (const auto& [start, what] : unreadable) {
    if (first_bytes.starts_with(start)) throw UsageError(fmt::format("{}: {}", name, what));
  }
  // Text has no control characters except white space (tab to carriage return).
  const auto control = std::ranges::find_if(first_bytes, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && (byte < '\t' || byte > '\r');
  });
  if (control != first_bytes.end()) {
    throw UsageError(fmt::format("{}: neither a .npy file nor text: byte {} is 0x{:02x}", name,
                                 control - first_bytes.begin() + 1,
                                 static_cast<unsigned char>(*control)));
  }
  return FileKind::text;
}

FileKind kind_of_file(const std::string& file) {
  require_readable(file);
  std::array<char, 4096> start{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(start.data(), start.size());
  return kind_of({start.data(), static_cast<std::size_t>(stream.gcount())}, file);
}

std::string read_whole(const std::string& file, std::size_t most, std::string_view advice) {
  const auto fail = [&] {
    throw UsageError(fmt::format("cannot read '{}': {}", file, std::strerror(errno)));
  };
  errno = 0;
  std::ifstream input(file, std::ios::binary);
  if (!input) fail();
  std::string text;
  constexpr std::size_t first_piece = std::size_t{1} << 16;
  while (input && text.size() <= most) {
    const std::size_t before = text.size(), piece = std::max(before, first_piece);
    text.resize(before + piece);
    input.read(text.data() + before, static_cast<std::streamsize>(piece));
    text.resize(before + static_cast<std::size_t>(input.gcount()));
  }
  if (text.size() > most) {
    throw UsageError(fmt::format("'{}' has more than {}, {}", file,
                                 bytes_text(static_cast<double>(most)), advice));
  }
  if (!input.eof()) fail();
  return text;
}

void require_readable(const std::string& file) {
  const auto fail = [&](int error) {
    throw UsageError(fmt::format("{}: cannot be opened: {}", file, std::strerror(error)));
  };
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail(errno);
  struct stat status {};
  const bool known = fstat(descriptor, &status) == 0;
  const int error = errno;
  close(descriptor);
  if (!known) fail(error);
  if (S_ISDIR(status.st_mode)) fail(EISDIR);
}

}  // namespace wormcube::apps
