// Checks of arguments, and the handling of errors.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/core/calls.hpp"

#include "wormcube/apps/mpi/engine/base/errors.hpp"
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/print_error.hpp"

#include <exception>

#include <fmt/core.h>
#include <unistd.h>

namespace wormcube::mpi {

RankState& Call::refuse_thread(Function function) {
  print_error(fmt::format(
      "wormcube: {} was called by a thread that a rank started, or before any rank ran (by a "
      "constructor): only the rank's main thread may call MPI (MPI_THREAD_FUNNELED)\n",
      name_of(function)));
  _exit(2);
}

void Call::require_session(const void* at) const {
  if (rank_.sessions > 0) return;
  rank_.job.end_here(1, fmt::format("rank {}: {} was called {}{}", rank_.rank, name_of(function()),
                                    rank_.finalized ? "after MPI_Finalize" : "before MPI_Init",
                                    rank_.job.place(at)));
}

void Call::begin_special(Function function) {
  is_special_ = true;
  if (rank_.call.inside) {
    auto outer = std::make_unique<CurrentCall>(std::move(rank_.call));
    rank_.call.outer = std::move(outer);
    return;
  }
  if (rank_.timed) rank_.entered = RankState::Clock::now();
  if (rank_.observers != nullptr) rank_.observers->enter(rank_.rank, function);
}

void Call::end_special() noexcept {
  if (const auto outer = std::move(rank_.call.outer)) {
    rank_.call = std::move(*outer);
    return;
  }
  if (rank_.observers != nullptr) rank_.observers->leave(rank_.rank);
  if (rank_.timed) rank_.inside += RankState::Clock::now() - rank_.entered;
  rank_.call.inside = false;
}

void end_by_exception(const RankState& rank, const char* function) noexcept {
  int code = 1;
  std::string text = "out of memory";
  try {
    try {
      throw;
    } catch (const Stopped&) {
      never_return();  // whoever stopped the machine has already ended the job
    } catch (const std::bad_alloc&) {
      code = 2;
      text = fmt::format("rank {}: {}: out of memory", rank.rank, function);
    } catch (const std::exception& error) {
      text = fmt::format("rank {}: {}: {}", rank.rank, function, error.what());
    } catch (...) {
      text = fmt::format("rank {}: {}: unknown exception type", rank.rank, function);
    }
  } catch (...) {  // no memory for the text
  }
  rank.job.end_here(code, std::move(text));
}

void Call::catch_failure() noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    rank_.failure = std::make_unique<Failure>(failure);
  } catch (...) {
    end_by_exception(rank_, name_of(function()));
  }
}

int Call::failed() noexcept {
  const auto failure = std::move(rank_.failure);  // the error handler may call MPI
  const int error_class = failure->error_class();
  const Communicator& on = named_ != nullptr ? *named_ : rank_.world;
  const MPI_Errhandler errors = errors_.value_or(on.errors);
  if (errors == MPI_ERRORS_RETURN) return error_class;
  if (const ErrorHandler* const handler = error_handler(errors)) {
    MPI_Comm handle = object_ != nullptr ? static_cast<MPI_Comm>(object_) : on.handle;
    int code = error_class;
    handler->function(&handle, &code);
    return code;
  }
  rank_.job.end_here(
      1, fmt::format("rank {}: {}: {} ({}){}", rank_.rank, name_of(function()), failure->text(),
                     name_of_class(error_class), rank_.job.place(rank_.call.at)));
}

Communicator& Call::other_communicator(MPI_Comm handle) const {
  Communicator* found = nullptr;
  if (handle == MPI_COMM_SELF) {
    found = &rank_.self;
  } else if (handle == MPI_COMM_NULL) {
    throw Failure(MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
  } else if (is_predefined(handle)) {
    throw Failure(MPI_ERR_COMM, fmt::format("invalid communicator handle {:#x}",
                                            reinterpret_cast<std::uintptr_t>(handle)));
  } else {
    found = reinterpret_cast<Communicator*>(handle);
    if (found->magic != Communicator::alive) {
      throw Failure(MPI_ERR_COMM, found->magic == Communicator::dead
                                      ? "the communicator has been freed"
                                      : "invalid communicator handle");
    }
  }
  return *found;
}

Communicator& Call::intracommunicator(MPI_Comm handle) {
  Communicator& found = communicator(handle);
  if (!found.remote) return found;
  throw Failure(MPI_ERR_COMM,
                found.name + " is an intercommunicator, but this call needs an intracommunicator");
}

void Call::refuse_count(std::int64_t count, const char* name) {
  throw Failure(MPI_ERR_COUNT, fmt::format("{} {} is negative", name, count));
}

void Call::require_room(std::size_t elements, const TypeView& type) {
  const auto fit = [&](std::size_t bytes) { return bytes == 0 || elements <= most_bytes / bytes; };
  if (!fit(type.size)) {
    throw Failure(MPI_ERR_COUNT, fmt::format("count {} of {} bytes each is more than memory can "
                                             "hold",
                                             elements, type.size));
  }
  // For other types the extent is the size.
  const auto extent = static_cast<std::size_t>(type.extent);
  if (!type.dense && elements > 1 && type.size > 0 && !fit(type.extent < 0 ? 0 - extent : extent)) {
    throw Failure(MPI_ERR_COUNT, fmt::format("count {} of elements {} bytes apart is more than "
                                             "memory can hold",
                                             elements, type.extent));
  }
}

void Call::refuse_rank(const Communicator& on, int rank, const char* name) {
  throw Failure(MPI_ERR_RANK, fmt::format("{} {} is out of range for {} ({} ranks)", name, rank,
                                          on.name, on.peers().size()));
}

void Call::root(const Communicator& on, int rank) const {
  if (is_peer(on, rank)) return;
  if (on.remote && (rank == MPI_ROOT || rank == MPI_PROC_NULL)) return;
  throw Failure(MPI_ERR_ROOT, fmt::format("root {} is out of range for {} ({} ranks)", rank,
                                          on.name, on.peers().size()));
}

void Call::refuse_tag(int tag, const char* why) {
  throw Failure(MPI_ERR_TAG, fmt::format("tag {} is negative{}", tag, why));
}

void Call::refuse_pointer(const void* data, Bytes bytes, const char* name) {
  throw Failure(MPI_ERR_BUFFER,
                data == nullptr ? fmt::format("{} is null, but must hold {} bytes", name, bytes)
                : data == MPI_IN_PLACE
                    ? fmt::format("{} is MPI_IN_PLACE, which is not allowed here", name)
                    : fmt::format("{} is not a valid address", name));
}

void Call::refuse_result(const char* name) {
  throw Failure(MPI_ERR_ARG, fmt::format("{} is null; pass the address of a variable", name));
}

void Call::refuse_request(MPI_Request handle) {
  if (is_predefined(handle)) {
    throw Failure(MPI_ERR_REQUEST, fmt::format("invalid request handle {:#x}",
                                               reinterpret_cast<std::uintptr_t>(handle)));
  }
  const bool is_dead = reinterpret_cast<RequestObject*>(handle)->magic == RequestObject::dead;
  throw Failure(MPI_ERR_REQUEST,
                is_dead ? "invalid request: completed or freed" : "invalid request handle");
}

}  // namespace wormcube::mpi
