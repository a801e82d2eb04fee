// One rank: its current call, its requests, its communicators.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/function.hpp"
#include "wormcube/apps/mpi/engine/base/attributes.hpp"
#include "wormcube/apps/mpi/engine/base/error.hpp"
#include "wormcube/apps/mpi/engine/core/communicator.hpp"
#include "wormcube/apps/mpi/engine/core/request_object.hpp"
#include "wormcube/apps/mpi/engine/core/sent_matrix.hpp"
#include "wormcube/apps/mpi/engine/observers/observer.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <csetjmp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace wormcube::mpi {

class Job;
class WindowLock;
class Recording;
struct Window;

/// A value that its rank changes and others may read at any time; they see some recent value.
template <class T>
class RelaxedAtomic {
 public:
  RelaxedAtomic(T value = {}) : value_(value) {}
  RelaxedAtomic(const RelaxedAtomic& other) : value_(other) {}
  RelaxedAtomic& operator=(const RelaxedAtomic& other) { return *this = static_cast<T>(other); }
  RelaxedAtomic& operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  operator T() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_;
};

/// The MPI call that a rank is in, for reports.
///
/// Threads  its rank's; each RelaxedAtomic: any; the rest: others while all wait.
struct CurrentCall {
  enum class Waits : std::uint8_t {
    not_at_all,
    send,
    receive,
    both,
    probe,
    requests,
    collective,
    window
  };
  RelaxedAtomic<Function> function = Function::count;  ///< count: none yet
  RelaxedAtomic<bool> inside = false;                  ///< otherwise it has returned
  RelaxedAtomic<Waits> waits = Waits::not_at_all;
  RelaxedAtomic<const void*> at = nullptr;  ///< its return address
  const Communicator* communicator = nullptr;
  RelaxedAtomic<int> peer = 0, tag = 0;  ///< as the caller named them
  RelaxedAtomic<std::int64_t> bytes = 0;
  RelaxedAtomic<int> source = 0, source_tag = 0;  ///< for `both`: the receive's
  const MPI_Request* requests = nullptr;
  RelaxedAtomic<int> request_count = 0;
  bool for_any = false;
  // For a window: the call that these ranks must make, or the lock that others hold.
  const char* what = "";
  std::vector<Rank> whom;
  const WindowLock* lock = nullptr;
  std::unique_ptr<CurrentCall> outer;  ///< the call during which a user's function made this one
};

/// The last messages that receives from any source took, for a deadlock's report.
///
/// Threads  its rank's; others while all wait.
class TakenMessages {
 public:
  struct Taken {
    std::uint32_t context;
    Rank source;  ///< in the world
    int tag;
    Function function;
    const void* at;  ///< where its receive began
  };
  void add(const Taken& taken) { last_[count_++ % last_.size()] = taken; }
  /// The newest one that matches; null: none is known.
  const Taken* find(std::uint32_t context, Rank source, int tag) const {
    for (std::size_t i = count_; i > 0 && count_ - i < last_.size(); --i) {
      const Taken& each = last_[(i - 1) % last_.size()];
      if (each.context == context && each.source == source &&
          (each.tag == tag || tag == MPI_ANY_TAG))
        return &each;
    }
    return nullptr;
  }

 private:
  std::array<Taken, 32> last_;
  std::size_t count_ = 0;
};

/// Error classes and codes that a rank added.
struct AddedErrors {
  struct Code {
    int its_class;  ///< its own number: a class
    std::string text;
  };
  std::map<int, Code> codes;
  int last = MPI_ERR_LASTCODE;  ///< no greater one is used
};

/// Threads  its own; others while all wait.
struct RankState {
  RankState(Job& its_job, Rank its_rank) : job(its_job), rank(its_rank) {}

  Job& job;
  const Rank rank;
  Node* node = nullptr;  ///< for collectives on all
  Requests* requests = nullptr;
  int* thread_errno = nullptr;     ///< on the thread that it stays on
  std::unique_ptr<Node> counted;   ///< with a matrix: the node that counts
  Recording* recording = nullptr;  ///< null: nothing is recorded
  Observers* observers = nullptr;  ///< null: there are none
  std::unique_ptr<ObservedRequests> observed_requests;
  std::unique_ptr<Node> observed;

  CurrentCall call;
  std::unique_ptr<Failure> failure;  ///< what its call has thrown, until the call reports it
  bool initialized = false, finalized = false, ending = false;
  std::atomic<bool> ended{false};
  int sessions = 0;  ///< begun and not finalized
  int exit_code = 0;
  std::jmp_buf entry;  // where a rank returns to when it abandons its frames

  AttributeKeys<MPI_Comm> communicator_keys;
  AttributeKeys<MPI_Datatype> type_keys;
  AttributeKeys<MPI_Win> window_keys;
  std::map<MPI_Datatype, std::string> type_names;  ///< that it gave to predefined types
  std::map<MPI_Datatype, AttributeSet<MPI_Datatype>> type_attributes;  ///< of predefined types
  /// Results of MPI_Type_create_f90_real and similar functions, by combiner and arguments.
  std::map<std::pair<int, std::vector<std::int64_t>>, MPI_Datatype> types_of_kinds;
  AddedErrors added_errors;
  Communicator world, self;
  std::vector<std::unique_ptr<Communicator>> communicators;  ///< the others; freed ones are reused
  std::vector<std::shared_ptr<Window>> windows;              ///< freed ones are reused
  RequestPool pool;
  TakenMessages taken;
  /// Its nonblocking collectives in progress; null: none so far.
  std::unique_ptr<ProgressEngine> nonblocking;
  /// By context, direction, peer and tag: how many partitioned requests it has made.
  std::map<std::tuple<std::uint32_t, bool, Rank, int>, std::uint64_t> made_in_partitions;
  std::shared_ptr<AttachedBuffer> attached_buffer;  ///< MPI_Buffer_attach

  // Kept between calls, so that the steady state does not allocate.
  std::vector<Request> inner;
  std::vector<Status> statuses;

  // Read by StallWatch, which checks whether all ranks only poll.
  std::atomic<std::uint64_t> calls_done{0}, unsuccessful_polls{0};

  using Clock = std::chrono::steady_clock;
  bool timed = false;  ///< JobOptions::timing
  Clock::time_point entered, began;
  std::chrono::nanoseconds inside{0}, whole{0};  ///< of MPI calls; of main()
  std::array<std::uint32_t, static_cast<std::size_t>(Function::count)> calls{};
  std::uint64_t sent = 0;
  Bytes sent_bytes = 0;
  SentMatrix sent_to;  ///< with JobOptions::matrix
};

/// For reports: counts a message that a rank sends.
inline void count_sent(RankState& rank, Rank to, Bytes bytes) {
  ++rank.sent;
  rank.sent_bytes += bytes;
  rank.sent_to.count(to, bytes);
}

/// The rank that runs on this thread: the last one to return from a call.
inline thread_local RankState* current_rank = nullptr;

}  // namespace wormcube::mpi
