// For tests of code that must end the process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <csignal>
#include <cstdio>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

/// How a function ends a child process, and what it says on stderr meanwhile.
struct End {
  int signal = 0;     // 0: none
  int exit_code = 0;  // 0 too if the function returns
  std::string text;
};
template <class Function>
End end_of(Function function) {
  std::fflush(nullptr);
  int text[2];
  if (pipe(text) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGABRT}) {  // not the test framework's report
      std::signal(signal, SIG_DFL);
    }
    // Nor that of a thread that the command line's main() has started in an earlier test.
    wormcube::end_by_fault_with(nullptr);
    dup2(text[1], STDERR_FILENO);
    function();
    _exit(0);
  }
  close(text[1]);
  End end;
  char some[200];
  for (ssize_t bytes = 0; (bytes = read(text[0], some, sizeof some)) > 0;) {
    end.text.append(some, static_cast<std::size_t>(bytes));
  }
  close(text[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  return end;
}

/// True if the function, run in a child process, ends it by SIGSEGV.
template <class Function>
bool dies(Function function) {
  return end_of(function).signal == SIGSEGV;
}
