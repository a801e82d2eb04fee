// Inputs that can be read once: pipes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"

#include <string>
#include <string_view>

namespace wormcube::apps {

/// A file's name that can be opened as often as one likes: of a pipe (a FIFO, `<(..)`, standard
/// input) that of a copy in memory, while this lives.
class Readable {
 public:
  /// Throws UsageError if a pipe cannot be read, or there is no memory for what is in it. Of other
  /// files it says nothing.
  explicit Readable(const std::string& file);
  ~Readable();
  Readable(const Readable&) = delete;
  Readable& operator=(const Readable&) = delete;

  const std::string& name() const { return name_; }
  /// A message about the copy, about the file.
  std::string of_file(std::string_view message) const;

 private:
  std::string file_, name_;
  int copy_ = -1;
};

/// read(name) of a Readable; errors name the file.
template <class Read>
auto read_once(const std::string& file, const Read& read) {
  const Readable readable(file);
  try {
    return read(readable.name());
  } catch (const UsageError& error) {
    throw UsageError(readable.of_file(error.what()));
  }
}

}  // namespace wormcube::apps
