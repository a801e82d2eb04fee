// The life of MPI in this process.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/mpi/machine.hpp"

#include <cstdlib>

#include <mpi.h>

namespace wormcube {

MpiSession::MpiSession(int& argc, char**& argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
}

MpiSession::~MpiSession() { MPI_Finalize(); }

int MpiSession::process() const {
  int process = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  return process;
}

int MpiSession::processes() const {
  int processes = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  return processes;
}

std::string MpiSession::library() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  return text.substr(0, text.find_first_of("\n\0"));
}

void MpiSession::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();
}

}  // namespace wormcube
