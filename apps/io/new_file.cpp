// Temporary files beside their targets, and how they are renamed; temporary folders.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/new_file.hpp"

#include "wormcube/apps/io/temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wormcube::apps {

namespace {

[[noreturn]] void cannot_write(const std::string& name, int error) {
  throw CannotWrite(fmt::format("cannot write '{}': {}", name, std::strerror(error)));
}

/// 0, or the reason.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

int write_all_at(int descriptor, std::string_view text, std::size_t begin) {
  while (!text.empty()) {
    const ssize_t count = pwrite(descriptor, text.data(), text.size(), static_cast<off_t>(begin));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
    begin += static_cast<std::size_t>(count);
  }
  return 0;
}

int copy_bytes(int from, int to, std::size_t bytes) {
  std::array<char, 1 << 16> piece;
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t count =
        pread(from, piece.data(), std::min(piece.size(), bytes - at), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : EIO;
    if (const int error = write_all_at(to, {piece.data(), static_cast<std::size_t>(count)}, at))
      return error;
    at += static_cast<std::size_t>(count);
  }
  return 0;
}

/// The target of a name: symbolic links are followed, even to a file that does not exist yet.
std::string resolved(const std::string& name) {
  std::error_code error;
  std::filesystem::path path(name);
  // The link of a process to its pipe leads to no name.
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    return name;
  constexpr int most_links = 40;
  for (int links = 0; links < most_links && std::filesystem::is_symlink(path, error); ++links) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path.string();
}

std::mutex besides_mutex;
/// The names of files beside their targets, of all threads. Never destroyed: a signal may arrive
/// late.
std::set<std::string>& besides = *new std::set<std::string>;
std::set<std::string>& folders = *new std::set<std::string>;  // temporary ones

/// Other processes may still be writing files there.
void remove_folder(const std::string& path) noexcept {
  constexpr int most_attempts = 10;
  std::error_code error;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::filesystem::remove_all(path, error);
    if (!error) return;
  }
}

void remove_beside(const std::string& name) {
  const std::scoped_lock lock(besides_mutex);
  unlink(name.c_str());
  besides.erase(name);
}

/// Replaces the target. \return 0, or the reason
int rename_beside(const std::string& name, const std::string& target) {
  const std::scoped_lock lock(besides_mutex);
  if (std::rename(name.c_str(), target.c_str()) != 0) return errno;
  besides.erase(name);
  return 0;
}

struct Beside {
  int descriptor = -1;
  std::string name;
};

/// A new file beside the target, with its permissions; none if the target is written directly.
Beside make_beside(const std::string& name, const std::string& target) {
  struct stat status {};
  const bool there = stat(target.c_str(), &status) == 0;
  if (there && !S_ISREG(status.st_mode)) return {};
  constexpr mode_t all = 0666, bits = 07777;
  for (int number = 0;; ++number) {
    std::string beside = fmt::format("{}.~{}", target, getpid());
    if (number > 0) beside += fmt::format("-{}", number);
    const std::scoped_lock lock(besides_mutex);
    const int descriptor = open(beside.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, all);
    if (descriptor >= 0) {
      besides.insert(beside);
      if (there) static_cast<void>(fchmod(descriptor, status.st_mode & bits));
      return {descriptor, std::move(beside)};
    }
    if (errno == EEXIST) continue;
    const int error = errno;
    if (there && (error == EACCES || error == EROFS || error == EPERM) &&
        access(target.c_str(), W_OK) == 0) {
      return {};
    }
    cannot_write(name, error);
  }
}

int open_directly(const std::string& name) {
  const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) cannot_write(name, errno);
  return descriptor;
}

}  // namespace

void remove_unfinished() noexcept {
  besides_mutex.lock();  // for good
  for (const std::string& name : besides) unlink(name.c_str());
  for (const std::string& path : folders) remove_folder(path);
}

TemporaryFolder::TemporaryFolder(const std::string& name) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) {
    const char* const variable = std::getenv("TMPDIR");
    throw UsageError(fmt::format("no folder for temporary files: {}: {}; set TMPDIR to a folder",
                                 variable != nullptr ? variable : "/tmp", error.message()));
  }
  path_ = (parent / (name + "-XXXXXX")).string();
  const std::scoped_lock lock(besides_mutex);
  if (mkdtemp(path_.data()) == nullptr) {
    throw UsageError(fmt::format("cannot create {}: {}; set TMPDIR to another folder", path_,
                                 std::strerror(errno)));
  }
  folders.insert(path_);
}

TemporaryFolder::~TemporaryFolder() {
  const std::scoped_lock lock(besides_mutex);
  remove_folder(path_);
  folders.erase(path_);
}

NewFile::NewFile(const std::string& name) : name_(name), target_(resolved(name)) {
  Beside beside = make_beside(name, target_);
  beside_ = std::move(beside.name);
  descriptor_ = beside.descriptor >= 0 ? beside.descriptor : open_directly(name);
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!beside_.empty()) remove_beside(beside_);
}

void NewFile::write(std::string_view text) {
  if (const int error = write_all(descriptor_, text)) cannot_write(name_, error);
}

void NewFile::finish() {
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0) cannot_write(name_, errno);
  if (beside_.empty()) return;
  if (const int error = rename_beside(beside_, target_)) cannot_write(name_, error);
  beside_.clear();
}

WholeFile::~WholeFile() {
  try {
    close();
  } catch (const CannotWrite&) {
    // A caller that wants to know closes it before.
  }
}

void WholeFile::write(std::string_view text) { take({0, std::string(text)}); }

void WholeFile::append(std::string_view text, std::size_t over) {
  const std::size_t bytes = direct_ ? all_.size() : last_.end();
  take({bytes - over, std::string(text)});
}

void WholeFile::take(Step step) {
  if (target_.empty()) target_ = resolved(name_);
  const auto require = [this](int error) {
    if (error == 0) return;
    drop_spare();
    cannot_write(name_, error);
  };
  const bool first = current_ < 0;
  if (!direct_ && spare_ < 0) {
    Beside beside = make_beside(name_, target_);
    direct_ = beside.descriptor < 0;
    spare_ = beside.descriptor;
    beside_ = std::move(beside.name);
    if (!direct_ && !first) require(copy_bytes(current_, spare_, step.begin));
  } else if (!direct_ && last_.begin < step.begin) {
    require(write_all_at(spare_, std::string_view(last_.text).substr(0, step.begin - last_.begin),
                         last_.begin));
  }
  if (direct_) {
    all_.resize(step.begin);
    all_ += step.text;
    return;
  }
  require(write_all_at(spare_, step.text, step.begin));
  require(ftruncate(spare_, static_cast<off_t>(step.end())) == 0 ? 0 : errno);
  const bool exchanged = !first && renameat2(AT_FDCWD, beside_.c_str(), AT_FDCWD, target_.c_str(),
                                             RENAME_EXCHANGE) == 0;
  if (!exchanged) require(rename_beside(beside_, target_));
  std::swap(current_, spare_);
  if (!exchanged && spare_ >= 0) ::close(std::exchange(spare_, -1));
  last_ = std::move(step);
}

void WholeFile::close() {
  if (!all_.empty()) {
    const std::string all = std::exchange(all_, {});
    const int descriptor = open_directly(name_);
    const int error = write_all(descriptor, all);
    const bool closed = ::close(descriptor) == 0;
    if (error != 0 || !closed) cannot_write(name_, error != 0 ? error : errno);
  }
  if (spare_ >= 0) drop_spare();
  if (current_ >= 0) ::close(std::exchange(current_, -1));
}

void WholeFile::drop_spare() {
  ::close(std::exchange(spare_, -1));
  remove_beside(beside_);
}

LineFile::~LineFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void LineFile::add(std::string_view lines) {
  if (descriptor_ < 0) {
    const std::string target = resolved(name_);
    const Beside beside = make_beside(name_, target);
    descriptor_ = beside.descriptor >= 0 ? beside.descriptor : open_directly(name_);
    int error = write_all(descriptor_, lines);
    if (beside.descriptor < 0) {
      if (error != 0) cannot_write(name_, error);
      return;
    }
    if (error == 0) error = rename_beside(beside.name, target);
    if (error == 0) return;
    ::close(std::exchange(descriptor_, -1));
    remove_beside(beside.name);
    cannot_write(name_, error);
  }
  const off_t end = lseek(descriptor_, 0, SEEK_CUR);  // -1 for a pipe
  const int error = write_all(descriptor_, lines);
  if (error == 0) return;
  if (end >= 0 && ftruncate(descriptor_, end) == 0) lseek(descriptor_, end, SEEK_SET);
  cannot_write(name_, error);
}

}  // namespace wormcube::apps
