// The table of functions, and the other functions that the images of ranks call.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/run/functions.hpp"

#include "wormcube/apps/mpi/engine/collectives/collective_call.hpp"
#include "wormcube/apps/mpi/engine/collectives/reductions.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/messages/messages.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"
#include "wormcube/apps/mpi/engine/objects/plain_functions.hpp"
#include "wormcube/apps/mpi/engine/one_sided/window.hpp"
#include "wormcube/runtime/base/host/print_error.hpp"

#include <cerrno>
#include <chrono>
#include <csetjmp>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include <cxxabi.h>
#include <fmt/core.h>
#include <unistd.h>

namespace wormcube::mpi {
namespace {

// \param stage  a column of the table; users do not need it
[[noreturn]] void not_provided(const char* name) {
  const std::string text =
      fmt::format("wormcube does not provide {}; see docs/reference/mpi.md", name);
  const RankState* const rank = current_rank;
  if (rank == nullptr) {
    print_error(fmt::format("wormcube: {}\n", text));
    _exit(2);
  }
  rank->job.end_here(2, fmt::format("rank {}: {}", rank->rank, text));
}

}  // namespace

const WormcubeMpiFunctions& provided_functions() {
  static const WormcubeMpiFunctions functions = [] {
    WormcubeMpiFunctions table{};
    add_plain_functions(table);
    add_environment_functions(table);
    add_error_functions(table);
    add_type_functions(table);
    add_communicator_functions(table);
    add_point_to_point_functions(table);
    add_probe_functions(table);
    add_request_functions(table);
    add_buffered_functions(table);
    add_collective_functions(table);
    add_reducing_collectives(table);
    add_reduction_functions(table);
    add_neighbour_functions(table);
    add_group_functions(table);
    add_intercommunicator_functions(table);
    add_grid_functions(table);
    add_graph_functions(table);
    add_session_functions(table);
    add_info_functions(table);
    add_attribute_functions(table);
    add_window_functions(table);
    add_tool_functions(table);
    add_external_functions(table);
    add_own_request_functions(table);
    return table;
  }();
  return functions;
}

}  // namespace wormcube::mpi

extern "C" {
// The symbol that libmpi_abi.so.1 looks for, and the functions that images call to end.

extern WormcubeMpiProgram wormcube_mpi_program;
WormcubeMpiProgram wormcube_mpi_program{sizeof(WormcubeMpiFunctions), nullptr,
                                        wormcube::mpi::not_provided};

// Yields the rank's core to other ranks meanwhile. 0: to any that can run.
void wormcube_rank_sleep(long long nanoseconds);
void wormcube_rank_sleep(long long nanoseconds) {
  using namespace wormcube::mpi;
  const std::chrono::nanoseconds time(nanoseconds);
  RankState* const rank = current_rank;
  if (rank == nullptr || rank->requests == nullptr || rank->job.is_forked())
    return std::this_thread::sleep_for(time);
  const int error = errno;
  ModelClock* const clock = rank->job.clock();
  const bool works = clock != nullptr && clock->rest(rank->rank);
  if (clock != nullptr) clock->pass(rank->rank, time);
  try {
    rank->requests->sleep(time);
  } catch (...) {  // no exception crosses the user's frames
    end_by_exception(*rank, "sleep");
  }
  if (works) clock->leave(rank->rank);
  errno = error;
  current_rank = rank;
}

[[noreturn]] void wormcube_rank_exit(int code, int with_handlers);
void wormcube_rank_exit(int code, int with_handlers) {
  using namespace wormcube::mpi;
  RankState* const rank = current_rank;
  if (rank == nullptr) _exit(code);
  if (rank->job.is_forked()) rank->job.end_forked(*rank, code, with_handlers != 0);
  rank->exit_code = code & 255;
  if (!std::exchange(rank->ending, true) && with_handlers != 0) {
    rank->job.images()[rank->rank].finish();
    current_rank = rank;
  }
  // Exceptions that the rank handles are abandoned.
  std::memset(abi::__cxa_get_globals(), 0, sizeof(void*) + sizeof(unsigned));
  longjmp(rank->entry, 1);  // NOLINT: over the user's frames, which exit() abandons too
}
}
