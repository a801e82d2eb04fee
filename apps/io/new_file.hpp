// Files that are whole at every moment, whatever ends the program.
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

/// Removes the files beside those that are written (NAME.~PROCESS), whose destructors will not run:
/// the process ends. A thread that makes another file after that waits forever.
void remove_unfinished() noexcept;

/// A file under a name of its own beside the one it is for (NAME.~PROCESS), which it takes when it
/// is complete: until then what was there is untouched. Follows a symbolic link, keeps the
/// permissions of the file that it replaces. What is no regular file (a pipe, a device), or lies in
/// a folder where nothing can be made, is written as it is.
///
/// All functions throw CannotWrite.
class NewFile {
 public:
  explicit NewFile(const std::string& name);
  /// Leaves nothing behind of a file that is not finished.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view text);
  /// It takes its name.
  void finish();

 private:
  std::string name_, target_, beside_;  // beside_ is empty where it is written as it is
  int descriptor_ = -1;
};

/// A file that grows, and is whole whenever anybody looks, or the program is killed: what comes is
/// written to a second file beside it, and then they change names. Either one is a step behind the
/// other, so that a step costs twice its own size, not that of the file.
///
/// After SIGKILL the second file stays behind, as NAME.~PROCESS; before other ends see
/// remove_unfinished(). Pipes and devices get all at once, at
/// the end.
///
/// All functions but the destructor throw CannotWrite; what was in the file before is there then.
class WholeFile {
 public:
  explicit WholeFile(std::string name) : name_(std::move(name)) {}
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  /// The whole text anew.
  void write(std::string_view text);
  /// \param over  of its last bytes the text takes the place
  void append(std::string_view text, std::size_t over = 0);
  /// Removes the second file; after that there is nothing more to write.
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

/// A file of lines, appended to: one write for each, so that whoever follows it (tail -f) sees
/// whole lines. The first one replaces what was in the file. Of a line that could not be written,
/// nothing stays.
///
/// add() throws CannotWrite.
class LineFile {
 public:
  explicit LineFile(std::string name) : name_(std::move(name)) {}
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// \param lines  whole ones, or none
  void add(std::string_view lines);

 private:
  std::string name_;
  int descriptor_ = -1;
};

}  // namespace wormcube::apps
