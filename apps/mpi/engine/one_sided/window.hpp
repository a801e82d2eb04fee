// Windows: memory that other ranks read and write, and the epochs that allow it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"
#include "wormcube/apps/mpi/engine/base/attributes.hpp"
#include "wormcube/apps/mpi/engine/base/groups.hpp"
#include "wormcube/apps/mpi/engine/base/info.hpp"
#include "wormcube/apps/mpi/engine/core/communicator.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace wormcube::mpi {

class Call;

/// The memory that one rank exposes to the others.
struct WindowPart {
  std::byte* base = nullptr;
  MPI_Aint bytes = 0;
  MPI_Aint unit = 1;  ///< the unit of a displacement
};

/// The lock on one rank's part: one exclusive holder or many shared ones, first come, first served.
///
/// Threads  the one that acts at the rank's node (Requests::act_at); holders: when all wait.
class WindowLock {
 public:
  /// Whether the lock is taken at once; otherwise the rank that releases it notifies `rank`.
  bool acquire(Rank rank, bool exclusive);
  /// Returns the ranks that acquire the lock now.
  std::vector<Rank> release(Rank rank);
  const std::vector<Rank>& holders() const { return holders_; }

 private:
  struct Waiting {
    Rank rank;
    bool exclusive;
  };
  bool is_free_for(bool exclusive) const {
    return holders_.empty() || (!exclusive && !is_exclusive_);
  }

  std::vector<Rank> holders_;
  bool is_exclusive_ = false;
  std::deque<Waiting> waiting_;
};

/// What the ranks of a window share.
///
/// Threads  parts: each rank writes its own before all meet; then all read. Locks, regions, and
/// others' access to a part's memory: the thread that acts at the rank's node (Requests::act_at).
struct SharedWindow {
  explicit SharedWindow(Rank ranks)
      : parts(static_cast<std::size_t>(ranks)),
        locks(static_cast<std::size_t>(ranks)),
        regions(static_cast<std::size_t>(ranks)) {}
  std::vector<WindowPart> parts;
  std::vector<WindowLock> locks;
  struct Region {
    std::byte* begin;
    MPI_Aint bytes;
  };
  std::vector<std::vector<Region>> regions;  ///< attached to a dynamic window
};

/// One rank's end of a window: the object behind an MPI_Win.
struct Window {
  static constexpr std::uint32_t alive = 0x57494e31, dead = 0x57494e30;
  std::uint32_t magic = alive;
  Communicator* on = nullptr;  ///< a copy of the window's communicator, for its own messages
  std::shared_ptr<SharedWindow> shared;
  int flavor = 0;
  std::unique_ptr<std::byte[]> allocated;

  // The open epochs.
  enum class Fence : std::uint8_t { none, open, used };
  Fence fence = Fence::none;
  std::vector<Rank> started;  ///< the targets of MPI_Win_start
  bool has_started = false, has_posted = false;
  std::vector<Request> completions;  ///< after MPI_Win_post: one from each origin
  std::vector<Rank> posted;
  std::vector<bool> locked;  ///< by target
  bool locked_all = false;
  std::vector<bool> locked_by_all;  ///< with lock_all, by target: own, and those accessed

  MPI_Errhandler errors = MPI_ERRORS_ARE_FATAL;
  std::string name;
  AttributeSet<MPI_Win> attributes;
  InfoKeys info;
  // The values that attributes point to.
  MPI_Aint size_attribute = 0;
  int unit_attribute = 0, flavor_attribute = 0, model_attribute = 0;

  /// Waits until all ranks have called this.
  void meet(Call& call) const;
  bool has_lock() const;
  /// The call that must end the open epoch before another kind can begin; null: none is open.
  const char* end_of_epoch() const;
  /// Whether the rank may access the target's part now.
  bool may_access(Rank target) const;
};

/// The window that a call names; its error handler handles failures. Throws Failure.
Window& window_of(Call& call, MPI_Win handle);

/// Before an access: in an epoch of MPI_Win_lock_all this takes the target's lock now, so that p
/// ranks do not take p locks each.
void lock_for_access(Call& call, Window& window, Rank target);

/// The window's own messages, on its communicator.
enum class WindowTag : Tag { post = 1, complete, lock };

void add_window_functions(WormcubeMpiFunctions& table);
void add_window_epoch_functions(WormcubeMpiFunctions& table);
void add_window_access_functions(WormcubeMpiFunctions& table);

}  // namespace wormcube::mpi
