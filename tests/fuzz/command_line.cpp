// Fuzz target of whole command lines: the program in this process, on small networks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/program.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/topology.hpp"
#include "wormcube/tests/fuzz/targets.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace wormcube::fuzz {

namespace {

constexpr Rank most_nodes = 32;

/// Whether an argument asks for little: no number of more than two digits, no suffix of size, no
/// network of many nodes, no file but standard output.
bool is_small(const std::string& argument) {
  if (argument.find('/') != argument.npos) return false;
  std::size_t digits = 0;
  for (const char c : argument) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit && digits > 0 && std::string_view("kKmMgGeE").find(c) != std::string_view::npos)
      return false;
    digits = digit ? digits + 1 : 0;
    if (digits > 2) return false;
  }
  std::size_t begin = argument.find('=');
  begin = begin == argument.npos ? 0 : begin + 1;
  while (begin < argument.size()) {
    const std::size_t end = std::min(argument.find(',', begin), argument.size());
    const std::string part = argument.substr(begin, end - begin);
    begin = end + 1;
    if (part.find(':') == part.npos) continue;
    if (part.find("graph:") != part.npos) return false;
    try {
      if (Topology::parse(part).nodes() > most_nodes) return false;
    } catch (const UsageError&) {  // refused by the program too
    }
  }
  return true;
}

/// Standard output and error go nowhere while this lives.
class Silence {
 public:
  Silence() {
    std::fflush(nullptr);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      saved_.push_back(fcntl(stream, F_DUPFD_CLOEXEC, 10));
      dup2(nowhere, stream);
    }
    close(nowhere);
  }
  ~Silence() {
    std::fflush(nullptr);
    for (int stream : {STDERR_FILENO, STDOUT_FILENO}) {
      dup2(saved_.back(), stream);
      close(saved_.back());
      saved_.pop_back();
    }
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  std::vector<int> saved_;
};

}  // namespace

void command_line(std::string_view bytes) {
  if (bytes.size() > 300 || bytes.find('\0') != bytes.npos) return;
  std::vector<std::string> arguments{"wormcube"};
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    arguments.emplace_back(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  const auto has = [&](std::string_view word) {
    return std::ranges::any_of(arguments,
                               [&](const std::string& a) { return a.starts_with(word); });
  };
  if (!std::ranges::all_of(arguments, is_small)) return;
  // Whole papers take minutes, a network that is not named has 64 nodes, and default data are
  // large.
  if (has("reproduce") || (!has("--on") && (has("fft") || has("transpose") || has("deadlock"))) ||
      (has("matvec") && !(has("--on") && has("--shape"))) ||
      (has("sort") && !(has("--on") && has("--count"))) ||
      (has("lookup") && !(has("--on") && has("--entries") && has("--lookups"))))
    return;
  // Of the options that write files only '-' is let through: all of these take a file's name.
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    for (const std::string_view option :
         {"--json", "--jsonl", "--csv", "--dot", "--svg", "--write-schedule", "--output", "--trace",
          "--links", "--input", "--config"}) {
      if (!arguments[i].starts_with(option)) continue;
      const bool stdout_only = arguments[i] == std::string(option) + "=-" ||
                               (arguments[i] == option && i + 1 < arguments.size() &&
                                arguments[i + 1] == "-" && option != "--output");
      if (!stdout_only) return;
    }
  }
  std::vector<const char*> argv;
  argv.reserve(arguments.size());
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  int code = 0;
  {
    const Silence silence;
    code = cli::main(static_cast<int>(argv.size()), argv.data());
  }
  require(code >= 0 && code <= 4, "exit codes are 0 to 4");
}

}  // namespace wormcube::fuzz
