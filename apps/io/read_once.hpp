// Inputs that can be read only once: pipes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"

#include <string>
#include <string_view>

namespace wormcube::apps {

/// A file's name that can be opened any number of times: for a pipe (a FIFO, `<(..)`, standard
/// input), the name of a copy in memory, which lives as long as this.
class Readable {
 public:
  /// Throws UsageError if a pipe cannot be read, or there is no memory for its data. Other files
  /// are not checked.
  explicit Readable(const std::string& file);
  ~Readable();
  Readable(const Readable&) = delete;
  Readable& operator=(const Readable&) = delete;

  const std::string& name() const { return name_; }
  /// Rewrites a message about the copy as one about the file.
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
