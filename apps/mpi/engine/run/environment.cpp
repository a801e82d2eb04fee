// The beginning and the end of a rank; time, memory, names.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/collectives/between_groups.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/messages/messages.hpp"
#include "wormcube/apps/mpi/engine/observers/recording.hpp"
#include "wormcube/apps/mpi/engine/run/functions.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

// Ranks share threads, so only the one that main() runs on may call MPI; a rank's own code knows it
// as its main thread.
constexpr int provided_threads = MPI_THREAD_FUNNELED;

void begin(Call& call, int* provided) {
  RankState& rank = call.rank();
  if (rank.initialized) {
    throw Failure(MPI_ERR_OTHER, rank.finalized
                                     ? "MPI has been finalized and cannot be initialized again"
                                     : "MPI is already initialized");
  }
  rank.initialized = true;
  if (provided != nullptr) *provided = provided_threads;
}

int init(int*, char***) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Init);
  return call([&] { begin(call, nullptr); });
}

int init_thread(int*, char***, int required, int* provided) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Init_thread);
  return call([&] {
    call.result(provided, "provided");
    begin(call, provided);
    *provided = std::min(required, provided_threads);
  });
}

int initialized(int* flag) {
  *flag = current_rank != nullptr && current_rank->initialized ? 1 : 0;
  return MPI_SUCCESS;
}
int finalized(int* flag) {
  *flag = current_rank != nullptr && current_rank->finalized ? 1 : 0;
  return MPI_SUCCESS;
}

int finalize() {
  WORMCUBE_MPI_CALL(MPI_Finalize);
  return call([&] {
    RankState& rank = call.rank();
    Communicator& world = rank.world;
    for (Communicator* const each : {&rank.self, &world}) {
      if (const int error = each->attributes.remove_all(each->handle)) {
        throw Failure(
            error,
            fmt::format("the delete function of an attribute of {} returned an error", each->name));
      }
    }
    rank.call.communicator = &world;
    reap_detached(rank, true);
    come_to(world, {.function = call.function()});
    wait_for_all(call, world);
    rank.finalized = true;
  });
}

int query_thread(int* provided) {
  *provided = provided_threads;
  return MPI_SUCCESS;
}
int is_thread_main(int* flag) {
  *flag = current_rank != nullptr ? 1 : 0;
  return MPI_SUCCESS;
}

int abort(MPI_Comm, int code) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Abort);
  RankState& rank = call.rank();
  const int low = code & 255;
  rank.job.end_here(low == 0 ? 1 : low, fmt::format("rank {}: MPI_Abort with code {}{}", rank.rank,
                                                    code, rank.job.place(rank.call.at)));
}

double wtime() {
  if (const RankState* const rank = current_rank) {
    if (ModelClock* const clock = rank->job.clock()) return clock->look(rank->rank);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double wtick() {
  const ModelClock* const clock = current_rank == nullptr ? nullptr : current_rank->job.clock();
  return clock != nullptr && clock->kind() == ModelClock::Kind::steps ? 1 : 1e-9;
}

int get_processor_name(char* name, int* length) {
  WORMCUBE_MPI_CALL(MPI_Get_processor_name);
  return call([&] {
    call.result(length, "resultlen");
    const Topology& network = call.rank().job.topology();
    std::string text = "node";
    for (int d = 0; d < network.dimensions(); ++d) {
      text += (d == 0 ? "" : "-") + std::to_string(network.coordinate(call.rank().rank, d));
    }
    text.resize(std::min<std::size_t>(text.size(), MPI_MAX_PROCESSOR_NAME - 1));
    std::memcpy(name, text.c_str(), text.size() + 1);
    *length = static_cast<int>(text.size());
  });
}

int alloc_mem(MPI_Aint bytes, MPI_Info, void* memory) {
  WORMCUBE_MPI_CALL(MPI_Alloc_mem);
  return call([&] {
    call.result(memory, "baseptr");
    if (bytes < 0) throw Failure(MPI_ERR_ARG, fmt::format("{} bytes", bytes));
    void* const taken = std::malloc(static_cast<std::size_t>(std::max<MPI_Aint>(bytes, 1)));
    if (taken == nullptr)
      throw Failure(MPI_ERR_NO_MEM, fmt::format("cannot allocate {} bytes", bytes));
    std::memcpy(memory, &taken, sizeof taken);
  });
}
int free_mem(void* memory) {
  std::free(memory);
  return MPI_SUCCESS;
}

/// 0, 1: stops or starts recording; more: adds a mark to the recording.
int pcontrol(const int level, ...) {
  WORMCUBE_MPI_CALL(MPI_Pcontrol);
  return call([&] {
    Recording* const recording = call.rank().recording;
    if (recording == nullptr) return;
    level > 1 ? recording->mark(call.rank().rank) : recording->set_on(call.rank().rank, level == 1);
  });
}

}  // namespace

void add_environment_functions(WormcubeMpiFunctions& table) {
  table.MPI_Init = init;
  table.MPI_Init_thread = init_thread;
  table.MPI_Initialized = initialized;
  table.MPI_Finalize = finalize;
  table.MPI_Finalized = finalized;
  table.MPI_Query_thread = query_thread;
  table.MPI_Is_thread_main = is_thread_main;
  table.MPI_Abort = mpi::abort;
  table.MPI_Wtime = wtime;
  table.MPI_Wtick = wtick;
  table.MPI_Get_processor_name = get_processor_name;
  table.MPI_Alloc_mem = alloc_mem;
  table.MPI_Free_mem = free_mem;
  table.MPI_Pcontrol = pcontrol;
}

}  // namespace wormcube::mpi

extern "C" {
// Whether the calling thread runs a rank; threads that a rank makes do not.
int wormcube_rank_runs();
int wormcube_rank_runs() { return wormcube::mpi::current_rank != nullptr ? 1 : 0; }
// Whether the calling rank has a modelled clock, and the time on it.
int wormcube_rank_clock(long long* nanoseconds);
int wormcube_rank_clock(long long* nanoseconds) {
  using namespace wormcube::mpi;
  const RankState* const rank = current_rank;
  if (rank == nullptr || rank->job.clock() == nullptr) return 0;
  constexpr double per_second = 1e9;
  *nanoseconds = std::llround(rank->job.clock()->look(rank->rank) * per_second);
  return 1;
}
}
