// Pipes, copied.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/read_once.hpp"

#include "wormcube/runtime/base/host/memory.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wormcube::apps {

Readable::Readable(const std::string& file) : file_(file), name_(file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0 ||
      (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode))) {
    return;
  }
  const int pipe = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (pipe < 0)
    throw UsageError(fmt::format("{}: cannot be opened: {}", file, std::strerror(errno)));
  copy_ = memfd_create("wormcube input", MFD_CLOEXEC);
  std::vector<char> piece(std::size_t{1} << 16);
  double bytes = 0, checked = 0;
  int error = copy_ < 0 ? errno : 0;
  while (error == 0) {
    const ssize_t count = read(pipe, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      error = count < 0 ? errno : 0;
      break;
    }
    for (ssize_t at = 0; at < count && error == 0;) {
      const ssize_t put = write(copy_, piece.data() + at, static_cast<std::size_t>(count - at));
      if (put < 0 && errno != EINTR) error = errno;
      if (put > 0) at += put;
    }
    bytes += static_cast<double>(count);
    constexpr double step = 1 << 26;
    if (bytes < checked + step) continue;
    checked = bytes;
    try {
      require_memory(fmt::format("{}: {:.0f} bytes so far", file, bytes), bytes, "use a file");
    } catch (...) {
      close(pipe);
      close(copy_);
      throw;
    }
  }
  close(pipe);
  if (error != 0) {
    if (copy_ >= 0) close(copy_);
    throw UsageError(fmt::format("{}: cannot be read: {}", file, std::strerror(error)));
  }
  name_ = fmt::format("/proc/self/fd/{}", copy_);
}

Readable::~Readable() {
  if (copy_ >= 0) close(copy_);
}

std::string Readable::of_file(std::string_view message) const {
  std::string text(message);
  if (name_ == file_) return text;
  for (std::size_t at = 0; (at = text.find(name_, at)) != text.npos; at += file_.size())
    text.replace(at, name_.size(), file_);
  return text;
}

}  // namespace wormcube::apps
