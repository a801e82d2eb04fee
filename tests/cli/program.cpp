// Running the built program, and its files.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/cli/program.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace wormcube::test {

TemporaryFile::TemporaryFile(const std::string& suffix) {
  static std::atomic<int> count{0};
  path_ = (std::filesystem::temp_directory_path() /
           ("wormcube-" + std::to_string(getpid()) + "-" + std::to_string(count++) + suffix))
              .string();
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::string read_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

Output run_wormcube(const std::string& arguments, const std::string& environment) {
  const TemporaryFile errors(".err");
  const std::string command = environment + " '" WORMCUBE_PROGRAM "' " + arguments + " 2>'" +
                              errors.path() + "' </dev/null";
  Output output;
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  for (std::size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    output.out.append(buffer, count);
  }
  const int status = pclose(pipe);
  output.err = read_text(errors.path());
  if (WIFEXITED(status)) output.exit = WEXITSTATUS(status);
  INFO(command);
  CHECK(output.exit >= 0);
  CHECK(output.exit < 126);  // the shell's own codes: not found, killed
  return output;
}

bool wormcube_starts() {
  return std::system("'" WORMCUBE_PROGRAM "' --version >/dev/null 2>&1 </dev/null") == 0;
}

nlohmann::json Output::json() const {
  INFO(out);
  INFO(err);
  nlohmann::json value;
  REQUIRE_NOTHROW(value = nlohmann::json::parse(out));
  return value;
}

}  // namespace wormcube::test
