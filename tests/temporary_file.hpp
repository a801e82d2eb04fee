// Files of a test, deleted with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

namespace wormcube::test {

inline std::string read_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A file name of this test process in the temporary directory; what has it at the end is removed.
class TemporaryFile {
 public:
  /// There is no such file yet.
  explicit TemporaryFile(std::string_view suffix)
      : path_((std::filesystem::temp_directory_path() /
               ("wormcube-" + std::to_string(getpid()) + "-" + std::to_string(number()) +
                std::string(suffix)))
                  .string()) {}
  /// With this text.
  TemporaryFile(std::string_view suffix, std::string_view text) : TemporaryFile(suffix) {
    write(text);
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  std::string text() const { return read_text(path_); }
  void write(std::string_view text) const { std::ofstream(path_, std::ios::binary) << text; }

 private:
  static int number() {
    static std::atomic<int> next{0};
    return next++;
  }
  std::string path_;
};

}  // namespace wormcube::test
