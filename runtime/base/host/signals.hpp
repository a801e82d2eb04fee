// Which threads get the process's signals.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <initializer_list>

namespace wormcube {

/// While one lives the calling thread receives no signal that is sent to the process; threads that
/// it starts never do. The handlers run on other threads' stacks, not on a node's. Signals that a
/// thread causes itself (SIGSEGV, SIGFPE, ..) are delivered as usual, and so is a profiler's tick.
class SignalsElsewhere {
 public:
  SignalsElsewhere() {
    sigset_t all;
    sigfillset(&all);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
      sigdelset(&all, own);
    }
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsElsewhere() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsElsewhere(const SignalsElsewhere&) = delete;
  SignalsElsewhere& operator=(const SignalsElsewhere&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace wormcube
