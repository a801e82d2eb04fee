// For tests of what must end the process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/fiber/sanitizers.hpp"

#include <csignal>
#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

/// Sanitizers take the signals for themselves, and cost memory per fiber.
#if defined(WORMCUBE_ASAN) || defined(WORMCUBE_TSAN)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// True if the function, run in a child process, ends it by SIGSEGV.
template <class Function>
bool dies(Function function) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);  // not the test framework's report
    function();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}
