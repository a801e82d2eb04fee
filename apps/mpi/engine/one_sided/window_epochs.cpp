// Epochs of windows: fences, start and post, locks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"
#include "wormcube/apps/mpi/engine/one_sided/window.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

using Waits = CurrentCall::Waits;

[[noreturn]] void not_in_order(const std::string& why) { throw Failure(MPI_ERR_RMA_SYNC, why); }

void require_asserts(int given, int known) {
  if ((given & ~known) == 0) return;
  throw Failure(MPI_ERR_ASSERT,
                fmt::format("this call does not allow assertion {:#x}", given & ~known));
}

/// Before an epoch of another kind. An epoch opened by a fence counts only if it was used.
void require_no_epoch(Window& window) {
  if (const char* const end = window.end_of_epoch())
    not_in_order(fmt::format("an epoch is still open: call {} first", end));
  window.fence = Window::Fence::none;
}

Tag tag_of(WindowTag tag) { return static_cast<Tag>(tag); }

/// A message without data whose end needs no receive.
void notify_rank(Call& call, const Window& window, Rank world, WindowTag tag) {
  Requests& requests = *call.rank().requests;
  Request request =
      requests.start(wormcube::send(world, ConstSpan(), tag_of(tag)), window.on->context());
  requests.wait(request);
}
Request hear(Call& call, const Window& window, Rank world, WindowTag tag) {
  return call.rank().requests->start(
      {.source = world, .tag = tag_of(tag), .context = window.on->context()}, Span());
}

/// For reports: the call that this rank waits for, and its ranks.
void note(Call& call, const char* what, std::vector<Rank> whom, const WindowLock* lock = nullptr) {
  CurrentCall& now = call.rank().call;
  now.waits = Waits::window;
  now.what = what;
  now.whom = std::move(whom);
  now.lock = lock;
}

/// The window's ranks in a group, as ranks of the world.
const Members& members_in(const Window& window, MPI_Group group) {
  const Members& members = members_of_group(group);
  for (const Rank member : members) {
    if (window.on->shared->rank_of(member) < 0) {
      throw Failure(MPI_ERR_GROUP,
                    fmt::format("rank {} of MPI_COMM_WORLD is in the group but not in {}", member,
                                window.on->name));
    }
  }
  return members;
}

int win_fence(int assertion, MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_fence);
  return call([&] {
    Window& window = window_of(call, handle);
    require_asserts(assertion,
                    MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED);
    if (window.fence == Window::Fence::used) window.fence = Window::Fence::open;
    require_no_epoch(window);
    window.meet(call);
    window.fence =
        (assertion & MPI_MODE_NOSUCCEED) != 0 ? Window::Fence::none : Window::Fence::open;
  });
}

// ---- Start and post ----

int win_post(MPI_Group group, int assertion, MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_post);
  return call([&] {
    Window& window = window_of(call, handle);
    require_asserts(assertion, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);
    const Members& members = members_in(window, group);
    if (window.has_posted) not_in_order("an epoch is still open: call MPI_Win_wait first");
    window.has_posted = true;
    window.posted = members;
    for (const Rank member : members) {
      window.completions.push_back(hear(call, window, member, WindowTag::complete));
    }
    for (const Rank member : members) notify_rank(call, window, member, WindowTag::post);
  });
}

int win_start(MPI_Group group, int assertion, MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_start);
  return call([&] {
    Window& window = window_of(call, handle);
    require_asserts(assertion, MPI_MODE_NOCHECK);
    const Members& members = members_in(window, group);
    if (const bool only_posted = window.has_posted && !window.has_started && !window.has_lock();
        !only_posted) {
      require_no_epoch(window);
    }
    window.fence = Window::Fence::none;
    std::vector<Request> posts;
    for (const Rank member : members) posts.push_back(hear(call, window, member, WindowTag::post));
    note(call, "MPI_Win_post", members);
    call.rank().requests->wait_all(posts);
    window.has_started = true;
    for (const Rank member : members) window.started.push_back(window.on->shared->rank_of(member));
  });
}

int win_complete(MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_complete);
  return call([&] {
    Window& window = window_of(call, handle);
    if (!std::exchange(window.has_started, false)) not_in_order("MPI_Win_start was not called");
    for (const Rank target : std::exchange(window.started, {}))
      notify_rank(call, window, window.on->world_rank(target), WindowTag::complete);
  });
}

void end_exposure(Call& call, Window& window) {
  note(call, "MPI_Win_complete", window.posted);
  call.rank().requests->wait_all(window.completions);
  window.completions.clear();
  window.posted.clear();
  window.has_posted = false;
}
void require_posted(const Window& window) {
  if (!window.has_posted) not_in_order("MPI_Win_post was not called");
}

int win_wait(MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_wait);
  return call([&] {
    Window& window = window_of(call, handle);
    require_posted(window);
    end_exposure(call, window);
  });
}
int win_test(MPI_Win handle, int* flag) {
  WORMCUBE_MPI_CALL(MPI_Win_test);
  return call([&] {
    Window& window = window_of(call, handle);
    require_posted(window);
    *flag = std::ranges::all_of(window.completions, [&](const Request request) {
      return call.rank().requests->is_ready(request);
    });
    if (*flag == 0) return call.unsuccessful_poll();
    end_exposure(call, window);
  });
}

// ---- Locks ----

void lock(Call& call, Window& window, Rank target, bool exclusive) {
  WindowLock& its = window.shared->locks[static_cast<std::size_t>(target)];
  const Rank own = call.rank().rank;
  bool has_it = false;
  call.rank().requests->act_at(window.on->world_rank(target), 0,
                               [&] { has_it = its.acquire(own, exclusive); });
  if (has_it) return;
  Request granted = hear(call, window, any_source, WindowTag::lock);
  note(call, "its lock", {}, &its);
  call.rank().requests->wait(granted);
}
void unlock(Call& call, const Window& window, Rank target) {
  WindowLock& its = window.shared->locks[static_cast<std::size_t>(target)];
  std::vector<Rank> next;
  call.rank().requests->act_at(window.on->world_rank(target), 0,
                               [&] { next = its.release(call.rank().rank); });
  for (const Rank rank : next) notify_rank(call, window, rank, WindowTag::lock);
}

int win_lock(int kind, int target, int assertion, MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_lock);
  return call([&] {
    Window& window = window_of(call, handle);
    if (kind != MPI_LOCK_EXCLUSIVE && kind != MPI_LOCK_SHARED) {
      throw Failure(MPI_ERR_LOCKTYPE, fmt::format("invalid lock type {}", kind));
    }
    call.destination(*window.on, target);
    require_asserts(assertion, MPI_MODE_NOCHECK);
    if (target == MPI_PROC_NULL) return;
    if (window.locked_all || window.has_started || window.fence == Window::Fence::used)
      require_no_epoch(window);
    if (window.locked[static_cast<std::size_t>(target)])
      not_in_order(fmt::format("rank {} is already locked", target));
    lock(call, window, target, kind == MPI_LOCK_EXCLUSIVE);
    window.locked[static_cast<std::size_t>(target)] = true;
    window.fence = Window::Fence::none;
  });
}
int win_unlock(int target, MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_unlock);
  return call([&] {
    Window& window = window_of(call, handle);
    call.destination(*window.on, target);
    if (target == MPI_PROC_NULL) return;
    if (!window.locked[static_cast<std::size_t>(target)])
      not_in_order(fmt::format("rank {} is not locked", target));
    window.locked[static_cast<std::size_t>(target)] = false;
    unlock(call, window, target);
  });
}
int win_lock_all(int assertion, MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_lock_all);
  return call([&] {
    Window& window = window_of(call, handle);
    require_asserts(assertion, MPI_MODE_NOCHECK);
    require_no_epoch(window);
    window.locked_by_all.assign(static_cast<std::size_t>(window.on->size()), false);
    window.locked_all = true;
    // Loads and stores without calls.
    lock_for_access(call, window, window.on->shared->rank_of(call.rank().rank));
  });
}
int win_unlock_all(MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_unlock_all);
  return call([&] {
    Window& window = window_of(call, handle);
    if (!std::exchange(window.locked_all, false)) not_in_order("MPI_Win_lock_all was not called");
    for (Rank target = 0; target < window.on->size(); ++target) {
      if (window.locked_by_all[static_cast<std::size_t>(target)]) unlock(call, window, target);
    }
  });
}

// Every access is complete at both ends when its call returns, so there is nothing to flush.
int flush(Call& call, int target, MPI_Win handle) {
  return call([&] {
    const Window& window = window_of(call, handle);
    call.destination(*window.on, target);
    if (target != MPI_PROC_NULL && !window.locked_all &&
        !window.locked[static_cast<std::size_t>(target)])
      not_in_order(fmt::format("rank {} is not locked", target));
  });
}
int flush_all(Call& call, MPI_Win handle) {
  return call([&] {
    if (!window_of(call, handle).has_lock()) not_in_order("no rank is locked");
  });
}
int win_flush(int target, MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_flush);
  return flush(call, target, handle);
}
int win_flush_local(int target, MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_flush_local);
  return flush(call, target, handle);
}
int win_flush_all(MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_flush_all);
  return flush_all(call, handle);
}
int win_flush_local_all(MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_flush_local_all);
  return flush_all(call, handle);
}

// What others have written to this rank's memory is visible from here on: their actions precede
// this one.
int win_sync(MPI_Win handle) {
  WORMCUBE_MPI_CALL(MPI_Win_sync);
  return call([&] {
    window_of(call, handle);
    call.rank().requests->act_at(call.rank().rank, 0, [] {});
  });
}

}  // namespace

void lock_for_access(Call& call, Window& window, Rank target) {
  if (!window.locked_all || window.locked_by_all[static_cast<std::size_t>(target)]) return;
  lock(call, window, target, false);
  window.locked_by_all[static_cast<std::size_t>(target)] = true;
}

bool WindowLock::acquire(Rank rank, bool exclusive) {
  if (!waiting_.empty() || !is_free_for(exclusive)) {
    waiting_.push_back({rank, exclusive});
    return false;
  }
  holders_.push_back(rank);
  is_exclusive_ = exclusive;
  return true;
}

std::vector<Rank> WindowLock::release(Rank rank) {
  holders_.erase(std::ranges::find(holders_, rank));
  std::vector<Rank> next;
  while (!waiting_.empty() && is_free_for(waiting_.front().exclusive)) {
    is_exclusive_ = waiting_.front().exclusive;
    next.push_back(waiting_.front().rank);
    holders_.push_back(waiting_.front().rank);
    waiting_.pop_front();
  }
  return next;
}

void add_window_epoch_functions(WormcubeMpiFunctions& table) {
  table.MPI_Win_fence = win_fence;
  table.MPI_Win_post = win_post;
  table.MPI_Win_start = win_start;
  table.MPI_Win_complete = win_complete;
  table.MPI_Win_wait = win_wait;
  table.MPI_Win_test = win_test;
  table.MPI_Win_lock = win_lock;
  table.MPI_Win_unlock = win_unlock;
  table.MPI_Win_lock_all = win_lock_all;
  table.MPI_Win_unlock_all = win_unlock_all;
  table.MPI_Win_flush = win_flush;
  table.MPI_Win_flush_local = win_flush_local;
  table.MPI_Win_flush_all = win_flush_all;
  table.MPI_Win_flush_local_all = win_flush_local_all;
  table.MPI_Win_sync = win_sync;
}

}  // namespace wormcube::mpi
