// The life of MPI in this process.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/print_error.hpp"
#include "wormcube/runtime/machine/mpi/gather.hpp"
#include "wormcube/runtime/machine/mpi/machine.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>

#include <fmt/core.h>
#include <mpi.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace wormcube {

namespace {

/// Whether it is complete within `grace`.
bool completes(MPI_Request& request, std::chrono::milliseconds grace) {
  const auto start = std::chrono::steady_clock::now();
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) break;
    if (std::chrono::steady_clock::now() - start > grace) return false;
    sched_yield();
  }
  return true;
}

/// Waits, two seconds at most, until a pipe's contents have been read. Under mpirun standard output
/// and error are pipes to a proxy, and MPICH's proxy stops reading when a process calls MPI_Abort:
/// 17 of 220 last lines were lost.
void wait_until_read(int descriptor) {
  struct stat file {};
  if (fstat(descriptor, &file) != 0 || !S_ISFIFO(file.st_mode)) return;
  int unread = 0;
  for (int i = 0; i < 2000 && ioctl(descriptor, FIONREAD, &unread) == 0 && unread > 0; ++i) {
    usleep(1000);
  }
}

}  // namespace

/// A communicator of our own: agreements never match a collective of a node program.
class MpiSession::Impl {
 public:
  Impl(int* argc, char*** argv) {
    int given = 0;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &given);
    if (given < MPI_THREAD_FUNNELED) {
      MPI_Finalize();
      throw UsageError(
          "the MPI library cannot be used in a process of several threads (it gives "
          "MPI_THREAD_SINGLE, need MPI_THREAD_FUNNELED); use one that was built with threads");
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &ends);
    is_crowded();
  }
  ~Impl() {
    if (std::uncaught_exceptions() > exceptions) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibarrier(ends, &request);
      if (!completes(request, grace)) {
        print_error("wormcube: an exception has left one process alone; aborting all\n");
        abort(1);
      }
    }
    MPI_Comm_free(&ends);
    MPI_Finalize();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  MPI_Comm ends = MPI_COMM_NULL;
  int exceptions = std::uncaught_exceptions();
};

MpiSession::MpiSession() : impl_(std::make_unique<Impl>(nullptr, nullptr)) {}
MpiSession::MpiSession(int& argc, char**& argv) : impl_(std::make_unique<Impl>(&argc, &argv)) {}
MpiSession::~MpiSession() = default;

int MpiSession::process() const {
  int process = 0;
  MPI_Comm_rank(impl_->ends, &process);
  return process;
}

int MpiSession::processes() const {
  int processes = 0;
  MPI_Comm_size(impl_->ends, &processes);
  return processes;
}

int MpiSession::processes_here() const { return processes_on_this_computer(); }

int MpiSession::agree(int exit_code, std::string& text) const {
  const std::array<int, 2> mine{exit_code, text.empty() ? -processes() : -process()};
  std::array<int, 2> most{};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(mine.data(), most.data(), 2, MPI_INT, MPI_MAX, impl_->ends, &request);
  if (text.empty()) {
    await(request);
  } else if (!completes(request, grace)) {
    print_error(fmt::format("wormcube: {}\nwormcube: process {} of {} alone; aborting all\n", text,
                            process(), processes()));
    abort(exit_code);
  }
  const int first = -most[1];
  if (first < processes()) broadcast_text(impl_->ends, text, first);
  return most[0];
}

std::string MpiSession::library() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  text.resize(std::min(text.size(), text.find_first_of(std::string_view("\n\0,", 3))));
  constexpr std::string_view of_mpich = " Version:\t";
  if (const std::size_t at = text.find(of_mpich); at != text.npos) {
    text.replace(at, of_mpich.size(), " ");
  }
  return text;
}

void MpiSession::abort(int exit_code) {
  std::fflush(stdout);
  std::fflush(stderr);
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) wait_until_read(descriptor);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();
}

}  // namespace wormcube
