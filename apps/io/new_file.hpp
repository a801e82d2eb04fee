// Files that are complete at every moment, however the program ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace wormcube::apps {

/// A file that could not be written, with the system's reason: a full disk, a limit.
struct CannotWrite : UsageError {
  using UsageError::UsageError;
};

/// Removes the temporary files beside those being written (NAME.~PROCESS), and temporary folders,
/// whose destructors will not run: the process ends. A thread that creates another afterwards waits
/// forever.
void remove_unfinished() noexcept;

/// A temporary file beside its target (NAME.~PROCESS), which it replaces when it is complete: until
/// then the target is untouched. Follows a symbolic link, keeps the permissions of the file that it
/// replaces. A target that is not a regular file (a pipe, a device), or lies in a folder where no
/// file can be created, is written directly.
///
/// All functions throw CannotWrite.
class NewFile {
 public:
  explicit NewFile(const std::string& name);
  /// Leaves nothing of an unfinished file.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view text);
  /// Replaces the target.
  void finish();

 private:
  std::string name_, target_, beside_;  // beside_ is empty if the target is written directly
  int descriptor_ = -1;
};

/// A file that grows, and is complete whenever anyone looks, or the program is killed: new text is
/// written to a second file beside it, and then they swap names. Either one is a step behind the
/// other, so a step costs twice its own size, not that of the file.
///
/// After SIGKILL the second file stays behind, as NAME.~PROCESS; for other ends see
/// remove_unfinished(). Pipes and devices receive everything at once, at the end.
///
/// All functions except the destructor throw CannotWrite; the file's previous text is then
/// unchanged.
class WholeFile {
 public:
  explicit WholeFile(std::string name) : name_(std::move(name)) {}
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// Replaces the whole text.
  void write(std::string_view text);
  /// \param over  number of its last bytes that the text replaces
  void append(std::string_view text, std::size_t over = 0);
  /// Removes the second file; after that nothing more can be written.
  void close();

 private:
  struct Step {
    std::size_t begin = 0;
    std::string text;
    std::size_t end() const { return begin + text.size(); }
  };
  void take(Step step);
  void drop_spare();

  std::string name_;
  int current_ = -1, spare_ = -1;  // files; the spare one lacks last_
  std::string target_, beside_;    // the name of the spare one
  Step last_;
  bool direct_ = false;  // a pipe, a device
  std::string all_;      // of it
};

/// A file of lines, appended to: one write for each, so that a reader that follows it (tail -f)
/// sees whole lines. The first one replaces the file's previous text. If a line cannot be written,
/// nothing of it stays.
///
/// add() throws CannotWrite.
class LineFile {
 public:
  explicit LineFile(std::string name) : name_(std::move(name)) {}
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// \param lines  whole lines, or none
  void add(std::string_view lines);

 private:
  std::string name_;
  int descriptor_ = -1;
};

}  // namespace wormcube::apps
