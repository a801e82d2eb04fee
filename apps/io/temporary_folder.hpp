// A folder for files of one run, removed however the program ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace wormcube::apps {

/// A new folder in the system's folder for temporary files, removed with all that is in it.
/// remove_unfinished() removes it too: signals leave none behind, except SIGKILL.
class TemporaryFolder {
 public:
  /// \param name  its name begins with this. Throws UsageError if it cannot be created
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace wormcube::apps
