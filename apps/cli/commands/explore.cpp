// mpirun --explore.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/explore.hpp"

#include "wormcube/apps/cli/commands/mpi_command_line.hpp"
#include "wormcube/apps/cli/core/child.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace wormcube::cli {
namespace {

/// The result of a run.
struct Outcome {
  int code = 0;
  std::vector<std::string> lines;  // lines of standard output, sorted
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// This process's arguments, without --explore.
std::vector<std::string> own_command(const Context& context) {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> words;
  for (std::size_t at = 0; at < all.size(); at += words.back().size() + 1) {
    words.emplace_back(all.c_str() + at);
  }
  const std::size_t own = words.size() - std::min(context.program_words().size(), words.size());
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

Outcome outcome_of(const std::vector<std::string>& words) {
  const Child child = run_child("/proc/self/exe", words);
  if (child.error != 0) {
    throw UsageError(fmt::format("--explore: cannot start a run: {}", std::strerror(child.error)));
  }
  const std::string& text = child.out;
  Outcome outcome;
  outcome.code = child.code;
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

/// The first line that only one of two outputs has.
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

ExitCode explore(const Context& context, int runs) {
  const std::vector<std::string> command = own_command(context);
  const Outcome first = outcome_of(command);
  int others = 0;
  std::string text;
  for (int seed = 1; seed <= runs; ++seed) {
    std::vector<std::string> words = command;
    words.insert(words.end() - std::ssize(context.program_words()),
                 {"--shuffle", std::to_string(seed)});
    const Outcome outcome = outcome_of(words);
    if (outcome == first) continue;
    ++others;
    text += fmt::format("  --shuffle {}: {}\n", seed, difference(outcome, first));
  }
  print(
      fmt::format("{} runs: {} match the exit code and output of the first run, without --shuffle "
                  "({}); {} differ\n"
                  "{}",
                  runs, runs - others, words_of_code(first.code), others, text));
  return static_cast<ExitCode>(others > 0 ? 1 : first.code);
}

}  // namespace wormcube::cli
