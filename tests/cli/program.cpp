// Runs the built program.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/cli/program.hpp"

#include <cstdio>
#include <cstdlib>

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace wormcube::test {

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
  output.err = errors.text();
  if (WIFEXITED(status)) output.exit = WEXITSTATUS(status);
  INFO(command);
  CHECK(output.exit >= 0);
  CHECK(output.exit < 126);  // the shell's own codes: not found, killed
  return output;
}

std::string with_addresses(std::uint64_t mebibytes) {
  return "ulimit -v " + std::to_string(mebibytes << 10) + ";";
}

bool wormcube_starts(const std::string& environment) {
  const std::string command =
      environment + " '" WORMCUBE_PROGRAM "' --version >/dev/null 2>&1 </dev/null";
  return std::system(command.c_str()) == 0;
}

nlohmann::json Output::json() const {
  INFO(out);
  INFO(err);
  nlohmann::json value;
  REQUIRE_NOTHROW(value = nlohmann::json::parse(out));
  return value;
}

}  // namespace wormcube::test
