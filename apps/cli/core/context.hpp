// What one run of the program knows: its command line, its processes, and its unfinished work.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/cluster.hpp"
#include "wormcube/apps/cli/core/json.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wormcube::cli {

/// Work in progress that must leave complete files, however the program ends.
class Unfinished {
 public:
  virtual ~Unfinished() = default;
  /// Keeps finished results, with a status (core/failure.hpp) for the unfinished one. Nothing
  /// follows.
  virtual void end(std::string_view status, std::string_view reason) noexcept = 0;
};

/// `main` owns it and passes it to the command.
///
/// Threads  One thread sets the command line, settings and cluster before the command begins. Any
/// thread may then read them, set or read what the program is doing, and call end_work(), as the
/// thread that waits for signals does.
class Context {
 public:
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// All words, and the words after mpirun, mpicc and mpicxx, which belong to another program.
  void set_command_line(int argc, const char* const* argv);
  void set_program_words(std::vector<std::string> words) { program_words_ = std::move(words); }
  const std::string& command_line() const { return command_line_; }
  const std::vector<std::string>& program_words() const { return program_words_; }

  /// All options of the command with their values.
  void set_settings(Json settings) { settings_ = std::move(settings); }
  const Json& settings() const { return settings_; }

  /// The processes of this run; nullptr: a single process. All but the first discard their standard
  /// output from then on.
  void set_cluster(Cluster* cluster);
  Cluster* cluster() const { return cluster_; }
  bool is_first_process() const;
  /// Calls it in the first process only; a UsageError is thrown in all.
  void in_first_process(const std::function<void()>& act) const;

  /// The work in progress, "alltoall ring on torus:8x8", for messages from other threads and about
  /// missing memory. The command line until it is set.
  void set_doing(std::string text);
  /// The same as a message prefix, "TEXT: "; empty if there is none.
  std::string doing() const;

  /// end_work() ends only the work that began last.
  void begin_work(Unfinished& work);
  void forget_work(Unfinished& work);
  void end_work(std::string_view status, std::string_view reason) noexcept;

 private:
  std::string command_line_;
  std::vector<std::string> program_words_;
  Json settings_ = Json::object();
  std::atomic<Cluster*> cluster_{nullptr};
  mutable std::mutex doing_mutex_;
  std::string doing_;
  std::mutex work_mutex_;
  Unfinished* work_ = nullptr;
};

}  // namespace wormcube::cli
