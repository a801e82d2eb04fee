// How an MPI call begins, checks its arguments and ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/base/error.hpp"
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/core/job.hpp"
#include "wormcube/apps/mpi/engine/types/types.hpp"

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace wormcube::mpi {

/// When a function may be called.
enum class When : std::uint8_t { any_time, between };

/// Ends the job because of the current exception, which is not a Failure, in that function. If the
/// job has already ended (Stopped), the rank just stops.
[[noreturn]] void end_by_exception(const RankState& rank, const char* function) noexcept;

/// A call in progress. Its rank is the one that runs on this thread, and stays on it: a rank never
/// changes its thread. Each rank has its own errno, too.
class Call {
 public:
  // Inlined: every message passes through two calls or more.
  [[gnu::always_inline]] Call(Function function, const void* at, When when = When::between)
      : rank_(current_rank != nullptr ? *current_rank : refuse_thread(function)),
        errno_(*rank_.thread_errno) {
    CurrentCall& now = rank_.call;
    if (now.inside || rank_.timed || rank_.observers != nullptr) begin_special(function);
    now.function = function;
    now.at = at;
    now.inside = true;
    now.waits = CurrentCall::Waits::not_at_all;
    now.bytes = 0;
    now.communicator = nullptr;
    ++rank_.calls[static_cast<std::size_t>(function)];
    if (when == When::between && !(rank_.initialized && !rank_.finalized)) require_session(at);
  }
  [[gnu::always_inline]] ~Call() {
    std::atomic<std::uint64_t>& calls =
        is_unsuccessful_poll_ ? rank_.unsuccessful_polls : rank_.calls_done;
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (is_special_) {
      end_special();
    } else {
      rank_.call.inside = false;
    }
    current_rank = &rank_;
    *rank_.thread_errno = errno_;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  RankState& rank() const { return rank_; }
  /// The call was a poll without success.
  void unsuccessful_poll() { is_unsuccessful_poll_ = true; }
  Function function() const { return rank_.call.function; }

  /// Runs the body; a Failure goes to the error handler of the named communicator, if there is one.
  template <class Body>
  [[gnu::always_inline]] int operator()(Body&& body) noexcept {
    try {
      body();
      return MPI_SUCCESS;
    } catch (...) {
      catch_failure();
    }
    return failed();  // after the exception has ended: an error handler may call MPI, and wait
  }

  /// Failures go to another object's handler instead of a communicator's. \param object  for the
  /// program's handler
  void errors_go_to(MPI_Errhandler handler, void* object) {
    errors_ = handler;
    object_ = object;
  }

  // Checks of named arguments; each throws Failure.
  Communicator& communicator(MPI_Comm handle) {
    Communicator& found = handle == MPI_COMM_WORLD ? rank_.world : other_communicator(handle);
    named_ = &found;
    rank_.call.communicator = &found;
    return found;
  }
  /// The same for an intracommunicator.
  Communicator& intracommunicator(MPI_Comm handle);
  /// A non-negative count.
  std::size_t count(std::int64_t count, const char* name = "count") const {
    if (count < 0) refuse_count(count, name);
    return static_cast<std::size_t>(count);
  }
  /// The same for elements in memory, which must be able to hold them.
  std::size_t elements(std::int64_t count, const TypeView& type) const {
    const std::size_t elements = this->count(count);
    std::size_t bytes = 0;
    const bool fit = !__builtin_mul_overflow(elements, type.size, &bytes) && bytes <= most_bytes;
    if (!fit || !type.dense) require_room(elements, type);
    return elements;
  }
  /// A rank of the communicator, or PROC_NULL.
  void destination(const Communicator& on, int rank) const {
    if (!is_peer(on, rank) && rank != MPI_PROC_NULL) refuse_rank(on, rank, "dest");
  }
  void source(const Communicator& on, int rank) const {
    if (!is_peer(on, rank) && rank != MPI_PROC_NULL && rank != MPI_ANY_SOURCE)
      refuse_rank(on, rank, "source");
  }
  /// For an intercommunicator: a rank of the other group, ROOT or PROC_NULL.
  void root(const Communicator& on, int rank) const;
  void send_tag(int tag) const {
    if (tag < 0) refuse_tag(tag, tag == MPI_ANY_TAG ? " (MPI_ANY_TAG is for receives)" : "");
  }
  void receive_tag(int tag) const {
    if (tag < 0 && tag != MPI_ANY_TAG) refuse_tag(tag, "");
  }
  /// \param first  where the lowest byte is: absolute addresses are used with MPI_BOTTOM
  void pointer(const void* data, Bytes bytes, const char* name, std::int64_t first = 0) const {
    const std::uintptr_t lowest =
        reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(first);
    if (bytes > 0 && (lowest <= highest_of_no_address || data == MPI_IN_PLACE))
      refuse_pointer(data, bytes, name);
  }
  /// The place for a result.
  void result(const void* place, const char* name) const {
    if (place == nullptr) refuse_result(name);
  }
  RequestObject& request(MPI_Request handle) const {
    auto* const object = reinterpret_cast<RequestObject*>(handle);
    if (is_predefined(handle) || object->magic != RequestObject::alive) refuse_request(handle);
    return *object;
  }

 private:
  static constexpr std::size_t most_bytes = std::size_t{1}
                                            << 47U;  // the most that can be addressed
  static constexpr std::uintptr_t highest_of_no_address = 4095;

  static bool is_peer(const Communicator& on, int rank) {
    return rank >= 0 && rank < on.peers().size();
  }
  [[noreturn]] static void refuse_count(std::int64_t count, const char* name);
  static void require_room(std::size_t elements, const TypeView& type);
  [[noreturn]] static void refuse_rank(const Communicator& on, int rank, const char* name);
  [[noreturn]] static void refuse_tag(int tag, const char* why);
  [[noreturn]] static void refuse_pointer(const void* data, Bytes bytes, const char* name);
  [[noreturn]] static void refuse_result(const char* name);
  [[noreturn]] static void refuse_request(MPI_Request handle);
  [[noreturn]] static RankState& refuse_thread(Function function);
  Communicator& other_communicator(MPI_Comm handle) const;
  void begin_special(Function function);
  void end_special() noexcept;
  void require_session(const void* at) const;
  void catch_failure() noexcept;
  int failed() noexcept;

  RankState& rank_;
  const int errno_;
  const Communicator* named_ = nullptr;
  std::optional<MPI_Errhandler> errors_;
  void* object_ = nullptr;
  bool is_special_ = false;  // within another, timed or recorded
  bool is_unsuccessful_poll_ = false;
};

/// For functions in the table: their caller is the user's code.
#define WORMCUBE_MPI_CALL(name) Call call(Function::name, __builtin_return_address(0))
#define WORMCUBE_MPI_CALL_AT_ANY_TIME(name) \
  Call call(Function::name, __builtin_return_address(0), When::any_time)

// Functions with counts have two forms, int and MPI_Count (X_c), and one body.
#define WORMCUBE_MPI_CALL_OF(name)                                              \
  Call call(sizeof(Count) == sizeof(int) ? Function::name : Function::name##_c, \
            __builtin_return_address(0))

/// The displacements of X are addresses, those of X_c are counts.
template <class Count>
using Place = std::conditional_t<sizeof(Count) == sizeof(int), MPI_Aint, MPI_Count>;

}  // namespace wormcube::mpi
