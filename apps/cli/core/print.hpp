// The program's output: results on standard output, errors on standard error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace wormcube::cli {

/// Text for a terminal: control characters (whole escape sequences begin with one) and bytes that
/// are not UTF-8 become \x1b; tabs and line ends stay.
std::string cleaned(std::string_view text);

/// Prints cleaned text to standard output, in place of the progress line.
void print(std::string_view text);
/// Prints data unchanged.
void print_data(std::string_view data);
void flush_output();
/// The errno if standard output has failed, which print() does not report; 0: it works.
int output_error();
/// "cannot write to standard output: No space left on device"; empty if all is written, or if a
/// pipe's reader has left.
std::string output_failure();
/// Clears the error, when the program begins.
void begin_output();

/// "wormcube: TEXT" to standard error, cleaned, in place of the progress line.
void complain(std::string_view text);

/// Standard output is a pipe without a reader, and no file needs the rest.
struct NobodyReads {};

/// The process has one terminal, and at most one line of progress on it.
///
/// Threads  Any thread may take the terminal. Whoever holds it takes no other lock.
class Terminal {
 public:
  /// The progress line.
  class Line {
   public:
    virtual ~Line() = default;
    /// The text that erases the line.
    virtual std::string clear() = 0;
    /// Shows what is due.
    virtual void show() = 0;
  };
  /// For changing the line. print() and complain() take the terminal themselves.
  [[nodiscard]] static std::unique_lock<std::mutex> take();
  /// With the terminal taken: sets the line shown from now on. \return  the previous one
  static Line* show(Line* line);
  static Line* shown();
};

}  // namespace wormcube::cli
