// Runs another program for its output.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/core/child.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace wormcube::cli {

Child run_child(const std::string& program, std::vector<std::string> words, bool with_errors,
                std::chrono::milliseconds limit) {
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
  using Clock = std::chrono::steady_clock;
  const bool is_limited = limit.count() > 0 && child.error == 0;
  const auto until = Clock::now() + limit;
  if (is_limited) {  // its own children inherit it: they could outlive it
    const auto seconds = static_cast<rlim_t>(limit.count() / 1000 + 1);
    const rlimit processor{seconds, seconds};
    static_cast<void>(prlimit(process, RLIMIT_CPU, &processor, nullptr));
  }
  std::array<char, 4096> part{};
  for (ssize_t count = 1; child.error == 0 && count > 0;) {
    if (is_limited) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
      pollfd end{ends[0], POLLIN, 0};
      if (poll(&end, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000))) <= 0) {
        if (left.count() > 0) continue;
        child.is_late = true;
        kill(process, SIGKILL);
        break;
      }
    }
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
