// Runs another program for its output.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/core/child.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace wormcube::cli {

Child run_child(const std::string& program, std::vector<std::string> words, bool with_errors) {
  Child child;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    child.error = errno;
    return child;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (with_errors) {
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t process = 0;
  child.error =
      posix_spawnp(&process, program.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::array<char, 4096> part{};
  for (ssize_t count = 1; child.error == 0 && count > 0;) {
    count = read(ends[0], part.data(), part.size());
    if (count > 0) child.out.append(part.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno == EINTR) count = 1;
  }
  close(ends[0]);
  if (child.error != 0) return child;
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int signalled = 128;
  child.code = WIFEXITED(status) ? WEXITSTATUS(status) : signalled + WTERMSIG(status);
  return child;
}

}  // namespace wormcube::cli
