// What the program says: results on standard output, errors on standard error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace wormcube::cli {

/// Text for a terminal: control characters (whole escape sequences begin with one) and bytes that
/// are no UTF-8 as \x1b; tabs and line ends stay.
std::string cleaned(std::string_view text);

/// Cleaned, to standard output, in place of the progress line.
void print(std::string_view text);
/// As it is: data.
void print_data(std::string_view data);
void flush_output();
/// Why standard output takes nothing any more, an errno: print() says nothing of it. 0: it does.
int output_error();
/// "cannot write to standard output: No space left on device"; empty if all is written, or the
/// reader of a pipe has left.
std::string output_failure();
/// Forgets that: the program begins.
void begin_output();

/// "wormcube: TEXT" to standard error, cleaned, in place of the progress line.
void complain(std::string_view text);

/// Standard output is a pipe that nobody reads any more, and no file wants the rest.
struct NobodyReads {};

/// The process has one terminal, and at most one line of progress on it.
///
/// Threads  Any thread may take the terminal. Whoever holds it takes no other lock.
class Terminal {
 public:
  /// The line of progress.
  class Line {
   public:
    virtual ~Line() = default;
    /// What takes the line away.
    virtual std::string clear() = 0;
  };
  /// For what the line shows and when. print() and complain() take it themselves.
  [[nodiscard]] static std::unique_lock<std::mutex> take();
  /// With the terminal taken: the line that is shown from now on. \return  the one before
  static Line* show(Line* line);
  static const Line* shown();
};

}  // namespace wormcube::cli
