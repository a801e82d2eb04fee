// How the program ends early.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/core/signal_exit.hpp"

#include "wormcube/apps/cli/core/exit_code.hpp"
#include "wormcube/apps/cli/core/failure.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/io/new_file.hpp"
#include "wormcube/runtime/base/host/faults.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <pthread.h>
#include <ucontext.h>
#include <unistd.h>

namespace wormcube::cli {

namespace {

/// The exit code, once everything is reported; -1 before. A later signal changes and reports
/// nothing: if one of several processes ends with an error, mpirun sends SIGTERM to those that end
/// a moment later.
std::atomic<int> concluded{-1};
std::mutex running_mutex;  // held by the thread that ends the program: main() does not return then
Context* running_context = nullptr;  // null while main() is not running

/// From a signal handler to the thread that waits for signals.
const int wake_signal = SIGRTMIN;
/// Does nothing: a system call that it interrupts begins anew.
const int restart_signal = SIGRTMIN + 1;
/// The signal that a handler has passed on to that thread; 0: none.
std::atomic<int> passed_on{0};
constexpr unsigned patience_s = 10;  // the heap may be locked by the program that faulted

/// Of a crash in a node program.
struct InProgram {
  std::size_t where_bytes = 0;  // the first bytes of the text, which say where; 0: in none
  const char* what = "";
  std::optional<const void*> address = {};
  const void* code = nullptr;
};

/// Written by the thread that faulted, before it sends wake_signal.
struct {
  pthread_t reader;
  std::array<char, 1000> text;
  std::size_t bytes;
  int signal;  // the crash's signal, which ends the process; 0: our own report, a usage error
  InProgram program;
  std::atomic<bool> reported;
} fault;

void hand_over(std::string_view text, int signal, const InProgram& program = {}) {
  static std::atomic_flag first;
  if (!first.test_and_set()) {
    fault.bytes = std::min(text.size(), fault.text.size());
    std::copy_n(text.begin(), fault.bytes, fault.text.begin());
    fault.signal = signal;
    fault.program = program;
    std::signal(SIGALRM, SIG_DFL);
    alarm(patience_s);
    pthread_kill(fault.reader, wake_signal);
  }
}

std::atomic<std::string (*)(const CrashInProgram&)> describe_crash{nullptr};

/// The instruction that a signal interrupted; null: unknown.
const void* interrupted_code(const void* context) {
  [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined __x86_64__
  return reinterpret_cast<const void*>(machine.gregs[REG_RIP]);  // NOLINT: the kernel's number
#elif defined __aarch64__
  return reinterpret_cast<const void*>(machine.pc);  // NOLINT: the kernel's number
#else
  return nullptr;
#endif
}

/// Called in the handler of SIGSEGV, where only waiting is safe.
[[noreturn]] void end_by_report(std::string_view text) {
  hand_over(text, 0);
  for (;;) pause();
}

struct Crash {
  int signal;
  const char* what;
};
constexpr std::array crashes{Crash{SIGSEGV, "segmentation fault"},
                             Crash{SIGBUS, "bus error"},
                             Crash{SIGFPE, "arithmetic error"},
                             Crash{SIGILL, "illegal instruction"},
                             Crash{SIGABRT, "abort"},
                             Crash{SIGTRAP, "trap"},
                             Crash{SIGSYS, "bad system call"}};

/// A signal from outside: the interrupted thread continues, and may finish writing its row.
void pass_on(int signal) {
  int none = 0;
  if (passed_on.compare_exchange_strong(none, signal)) pthread_kill(fault.reader, wake_signal);
}

/// Reports where, lets the results be finished, and lets the signal take its default action.
void handle_crash(int signal, siginfo_t* info, void* context) {
  if (info->si_code <= 0 && info->si_pid != getpid()) return pass_on(signal);
  std::array<char, 1000> text;
  std::size_t bytes = where_now(std::span(text).first(text.size() - 1));
  const auto say = [&](std::string_view more) {
    const std::size_t count = std::min(more.size(), text.size() - 1 - bytes);
    std::copy_n(more.begin(), count, text.begin() + static_cast<std::ptrdiff_t>(bytes));
    bytes += count;
  };
  const bool in_program = bytes > 0;
  InProgram program{bytes, "", std::nullopt, interrupted_code(context)};
  for (const Crash& crash : crashes) {
    if (crash.signal != signal) continue;
    program.what = crash.what;
    say(crash.what);
  }
  if (signal != SIGABRT && info->si_code > 0) {
    program.address = info->si_addr;
    std::array<char, 32> address;
    const auto end = fmt::format_to_n(address.data(), address.size(), ", address {:#x}",
                                      reinterpret_cast<std::uintptr_t>(info->si_addr));
    say({address.data(), std::min<std::size_t>(end.size, address.size())});
  }
  if (in_program) say(", in the node program");
  hand_over({text.data(), bytes}, signal, program);
  // The stopped thread may hold a lock that the other thread needs.
  constexpr int patience = 200;
  for (int moments = 0; !fault.reported && moments < patience; ++moments) {
    const timespec moment{0, 10'000'000};
    nanosleep(&moment, nullptr);
  }
  if (!fault.reported) {
    text[std::min(bytes, text.size() - 1)] = '\n';
    for (const std::string_view piece :
         {std::string_view("wormcube: "), {text.data(), bytes + 1}}) {
      [[maybe_unused]] const auto written = write(STDERR_FILENO, piece.data(), piece.size());
    }
  }
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, nullptr);
  // After other faults the same instruction faults again.
  if (info->si_code <= 0 || signal == SIGTRAP || signal == SIGSYS) raise(signal);
}

constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
/// These end a program too, but an MPI program or a plugin may install its own handlers, which
/// replace ours. So they are not blocked.
constexpr std::array other_signals{SIGALRM, SIGVTALRM, SIGPROF,   SIGUSR1,
                                   SIGUSR2, SIGIO,     SIGSTKFLT, SIGPWR};

/// Whether a signal has its default action: no sanitizer, test or parent process has changed it.
bool is_default(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
         now.sa_handler == SIG_DFL;
}

std::string name_of(int signal) { return fmt::format("SIG{}", sigabbrev_np(signal)); }

/// Whether a signal leaves a core dump, if the system is configured so.
bool dumps_core(int signal) {
  return signal == SIGQUIT || std::ranges::find(crashes, signal, &Crash::signal) != crashes.end();
}

/// Standard output or standard error may be a full pipe that nobody reads, or a stopped terminal: a
/// write there waits, perhaps with a lock that the end needs. After a moment what is left goes to
/// /dev/null. Threads that wait in a write get a signal, after which the write begins anew.
void free_blocked_streams() {
  constexpr int patience_ms = 1000;
  bool freed = false;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    pollfd end{stream, POLLOUT, 0};
    int ready = 0;
    do ready = poll(&end, 1, patience_ms);
    while (ready < 0 && errno == EINTR);
    if (ready != 0) continue;
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) continue;
    freed = dup2(nowhere, stream) >= 0 || freed;
    close(nowhere);
  }
  if (!freed) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(opendir("/proc/self/task"), closedir);
  if (!threads) return;
  while (const dirent* const entry = readdir(threads.get())) {
    const pid_t thread = std::atoi(entry->d_name);
    if (thread > 0 && thread != gettid()) tgkill(getpid(), thread, restart_signal);
  }
}

/// What the waiting thread does after a signal. Ordinary code.
void end_by(int signal) {
  free_blocked_streams();
  std::unique_lock held(running_mutex);
  Context* const context = running_context;
  const std::string doing = context != nullptr ? context->doing() : "";
  const auto end_work = [&](std::string_view status, std::string_view reason) {
    if (context != nullptr) context->end_work(status, reason);
  };
  if (signal == wake_signal) {
    std::string text(fault.text.data(), fault.bytes);
    const InProgram& its = fault.program;
    if (auto* const describe = describe_crash.load(); describe != nullptr && fault.signal != 0)
      text = describe(
          {std::string_view(text).substr(0, its.where_bytes), its.what, its.address, its.code});
    end_work(crashed, text);
    complain(doing + text);
    apps::remove_unfinished();
    if (fault.signal == 0) std::_Exit(usage);
    fault.reported = true;  // the faulting thread continues, to its own end
    held.unlock();
    for (;;) pause();
  }
  end_work(stopped_before, "stopped before the end");
  apps::remove_unfinished();
  flush_output();
  if (const int code = concluded; code >= 0) std::_Exit(code);
  if (context == nullptr || context->is_first_process()) {
    complain(fmt::format("{}stopped by {}{}", doing, name_of(signal),
                         signal == SIGXCPU ? " (CPU time limit)" : ""));
  }
  if (dumps_core(signal)) {
    std::signal(signal, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    raise(signal);
  }
  std::_Exit(128 + signal);
}

std::terminate_handler default_end = nullptr;

/// The end after an exception that nobody can catch: a destructor or a noexcept function, here or
/// in a library, has found no memory. Other exceptions end as before.
void end_uncaught() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    // There is no memory for a text, for locks, or for a report by another thread.
    constexpr std::string_view text =
        "wormcube: out of memory; use fewer nodes or smaller blocks, or raise the limit "
        "(ulimit -v, ulimit -d)\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
    apps::remove_unfinished();
    std::_Exit(usage);
  } catch (...) {  // the default reports it
  }
  default_end();
}

void install_handlers() {
  struct sigaction ours {};
  ours.sa_sigaction = handle_crash;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const Crash& crash : crashes) {
    if (is_default(crash.signal)) sigaction(crash.signal, &ours, nullptr);
  }
  ours.sa_flags = SA_ONSTACK | SA_RESTART;
  ours.sa_handler = pass_on;
  for (const int signal : other_signals) {
    if (is_default(signal)) sigaction(signal, &ours, nullptr);
  }
  ours.sa_handler = [](int) {};
  sigaction(restart_signal, &ours, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
         now.sa_handler == SIG_IGN;
}

/// A thread waits for signals, so that their handling is ordinary code. Without that thread (the
/// process may have no other) signals end the program by default.
void finish_on_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : ending_signals) {
    if (signal == SIGHUP && is_ignored(signal)) continue;  // nohup
    sigaddset(&signals, signal);
  }
  sigaddset(&signals, wake_signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // in all threads started from now on
  const auto wait = [signals] {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) return;
    const int outer = passed_on;
    end_by(signal == wake_signal && outer != 0 ? outer : signal);
  };
  try {
    std::thread waiting(wait);
    fault.reader = waiting.native_handle();
    waiting.detach();
    end_by_fault_with(end_by_report);
    install_handlers();
  } catch (const std::system_error&) {
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  }
}

/// A standard stream closed by the caller becomes /dev/null, for reading: otherwise the first
/// opened file gets its number, and a table is printed into the results. Writing to it fails as
/// before.
void reserve_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == 0 || errno != EBADF) continue;
    // open() returns the lowest free number: this one, because those below it are in use.
    if (open("/dev/null", O_RDONLY) < 0) open("/", O_RDONLY);
  }
}

/// exit() before the program's own end.
void end_by_exit(int code, void*) {
  const std::scoped_lock held(running_mutex);
  if (running_context == nullptr || running_context->cluster() != nullptr) return;
  complain(fmt::format("{}something in this process called exit({}) (a plugin?)",
                       running_context->doing(), code));
  running_context->end_work(crashed, fmt::format("exit({})", code));
  apps::remove_unfinished();
  std::_Exit(failed);
}

}  // namespace

void describe_crashes_with(std::string (*describe)(const CrashInProgram& crash)) {
  describe_crash = describe;
}

SignalExit::SignalExit(Context& context) {
  reserve_standard_streams();
  concluded = -1;
  begin_output();
  static std::atomic<pid_t> done_in{-1};  // tests call main() many times, and in child processes
  const pid_t before = done_in.exchange(getpid());
  if (before != getpid()) {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    finish_on_signals();
    if (before < 0) default_end = std::set_terminate(end_uncaught);
    if (before < 0) on_exit(end_by_exit, nullptr);
  }
  const std::scoped_lock lock(running_mutex);
  running_context = &context;
}

int SignalExit::conclude(int code) {
  if (output_error() == EPIPE && code == passed) code = 128 + SIGPIPE;
  concluded = code;
  return code;
}

SignalExit::~SignalExit() {
  const std::scoped_lock lock(running_mutex);
  running_context = nullptr;
}

}  // namespace wormcube::cli
