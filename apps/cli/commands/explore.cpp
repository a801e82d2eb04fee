// mpirun --explore.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/explore.hpp"

#include "wormcube/apps/cli/commands/foreign_words.hpp"
#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace wormcube::cli {
namespace {

/// What a run leaves.
struct Outcome {
  int code = 0;
  std::vector<std::string> lines;  // of standard output, sorted
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// This process's words, without --explore.
std::vector<std::string> own_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> words;
  for (std::size_t at = 0; at < all.size(); at += words.back().size() + 1) {
    words.emplace_back(all.c_str() + at);
  }
  const std::size_t own = words.size() - std::min(foreign_words().size(), words.size());
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i < own && words[i] == "--explore") {
      ++i;
    } else if (i >= own || !words[i].starts_with("--explore=")) {
      kept.push_back(words[i]);
    }
  }
  return kept;
}

Outcome outcome_of(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw UsageError(fmt::format("--explore: no pipe: {}", std::strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, "/proc/self/exe", &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t count = 1; error == 0 && count > 0;) {
    count = read(ends[0], part.data(), part.size());
    if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno == EINTR) count = 1;
  }
  close(ends[0]);
  if (error != 0) {
    throw UsageError(fmt::format("--explore: a run does not start: {}", std::strerror(error)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int signalled = 128;
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : signalled + WTERMSIG(status);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    outcome.lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  std::ranges::sort(outcome.lines);
  return outcome;
}

std::string words_of_code(int code) {
  return fmt::format("exit code {}{}", code,
                     code == 3   ? ", a deadlock"
                     : code == 4 ? ", the time limit"
                                 : "");
}

/// The first line that only one of two has.
std::string difference(const Outcome& one, const Outcome& other) {
  if (one.code != other.code) return words_of_code(one.code);
  std::vector<std::string> more, less;
  std::ranges::set_difference(one.lines, other.lines, std::back_inserter(more));
  std::ranges::set_difference(other.lines, one.lines, std::back_inserter(less));
  if (more.empty()) return fmt::format("does not print '{}'", less.front());
  return fmt::format("prints '{}'{}", more.front(),
                     less.empty() ? "" : fmt::format(", not '{}'", less.front()));
}

}  // namespace

ExitCode explore(int runs) {
  const std::vector<std::string> command = own_command();
  const Outcome first = outcome_of(command);
  int others = 0;
  std::string text;
  for (int seed = 1; seed <= runs; ++seed) {
    std::vector<std::string> words = command;
    words.insert(words.end() - std::ssize(foreign_words()), {"--shuffle", std::to_string(seed)});
    const Outcome outcome = outcome_of(words);
    if (outcome == first) continue;
    ++others;
    text += fmt::format("  --shuffle {}: {}\n", seed, difference(outcome, first));
  }
  fmt::print("{} runs: {} end and print as the first, without --shuffle ({}); {} otherwise\n{}",
             runs, runs - others, words_of_code(first.code), others, text);
  return static_cast<ExitCode>(others > 0 ? 1 : first.code);
}

}  // namespace wormcube::cli
