// Windows: how they are made, described and freed.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/one_sided/window.hpp"

#include "wormcube/apps/mpi/engine/base/errors.hpp"
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/collectives/between_groups.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

std::shared_ptr<SharedWindow> shared_window(SharedCommunicator& on) {
  static std::mutex first_come;
  const std::lock_guard lock(first_come);
  if (on.window == nullptr) on.window = std::make_shared<SharedWindow>(on.size());
  return on.window;
}

/// The keys that the standard defines; others are ignored.
void add_hints(InfoKeys& hints, const InfoKeys& given) {
  for (const char* const known :
       {"no_locks", "accumulate_ordering", "accumulate_ops", "mpi_accumulate_granularity",
        "same_size", "same_disp_unit", "alloc_shared_noncontig", "mpi_assert_memory_alloc_kinds"}) {
    if (const std::string* const value = given.find(known)) hints.set(known, *value);
  }
}

/// Reuses a freed window.
std::shared_ptr<Window> new_window(RankState& rank) {
  const auto freed =
      std::ranges::find(rank.windows, Window::dead, [](const auto& each) { return each->magic; });
  if (freed == rank.windows.end()) return std::make_shared<Window>();
  std::shared_ptr<Window> window = std::move(*freed);
  rank.windows.erase(freed);
  *window = Window();
  return window;
}

/// \param on  the communicator of the window; all of its ranks take part
void make_window(Call& call, MPI_Comm handle, int flavor, WindowPart part, MPI_Info info,
                 std::unique_ptr<std::byte[]> allocated, MPI_Win* made) {
  call.result(made, "win");
  Communicator& parent = call.intracommunicator(handle);
  const InfoKeys keys = keys_of(info);
  const std::uint64_t number = parent.collectives++;
  parent.shared->come(number, parent.rank, {.function = call.function()});
  std::shared_ptr<Window> window = new_window(call.rank());
  MPI_Comm copy;
  window->on = &make_end(
      call, parent.shared->child(number, 0, parent.shared->members(), "a window on " + parent.name),
      parent, &copy);
  window->shared = shared_window(*window->on->shared);
  window->flavor = flavor;
  add_hints(window->info, keys);
  window->allocated = std::move(allocated);
  window->locked.assign(static_cast<std::size_t>(parent.size()), false);
  window->size_attribute = part.bytes;
  window->unit_attribute = static_cast<int>(part.unit);
  window->flavor_attribute = flavor;
  window->model_attribute = MPI_WIN_UNIFIED;
  window->shared->parts[static_cast<std::size_t>(window->on->rank)] = part;
  wait_for_all(call, *window->on);
  *made = reinterpret_cast<MPI_Win>(window.get());
  call.rank().windows.push_back(std::move(window));
}

void require_part(MPI_Aint bytes, MPI_Aint unit) {
  if (bytes < 0) throw Failure(MPI_ERR_SIZE, fmt::format("size {} is negative", bytes));
  if (unit <= 0) throw Failure(MPI_ERR_DISP, fmt::format("disp_unit {} is not positive", unit));
}

template <class Unit>
int create(Call& call, void* base, MPI_Aint bytes, Unit unit, MPI_Info info, MPI_Comm on,
           MPI_Win* made) {
  return call([&] {
    call.intracommunicator(on);
    require_part(bytes, unit);
    call.pointer(base, static_cast<Bytes>(bytes), "the base");
    make_window(call, on, MPI_WIN_FLAVOR_CREATE, {static_cast<std::byte*>(base), bytes, unit}, info,
                nullptr, made);
  });
}
int win_create(void* base, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm on, MPI_Win* made) {
  WORMCUBE_MPI_CALL(MPI_Win_create);
  return create(call, base, bytes, unit, info, on, made);
}
int win_create_c(void* base, MPI_Aint bytes, MPI_Aint unit, MPI_Info info, MPI_Comm on,
                 MPI_Win* made) {
  WORMCUBE_MPI_CALL(MPI_Win_create_c);
  return create(call, base, bytes, unit, info, on, made);
}

int allocate(Call& call, int flavor, MPI_Aint bytes, MPI_Aint unit, MPI_Info info, MPI_Comm on,
             void* base, MPI_Win* made) {
  return call([&] {
    const Communicator& parent = call.intracommunicator(on);
    require_part(bytes, unit);
    if (flavor == MPI_WIN_FLAVOR_SHARED && parent.size() > 1) {
      throw Failure(MPI_ERR_RMA_SHARED,
                    fmt::format("the {} ranks of {} are separate nodes and share no memory",
                                parent.size(), parent.name));
    }
    auto memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes) + 1);
    std::byte* const data = memory.get();
    make_window(call, on, flavor, {data, bytes, unit}, info, std::move(memory), made);
    std::memcpy(base, &data, sizeof data);
  });
}
int win_allocate(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm on, void* base, MPI_Win* made) {
  WORMCUBE_MPI_CALL(MPI_Win_allocate);
  return allocate(call, MPI_WIN_FLAVOR_ALLOCATE, bytes, unit, info, on, base, made);
}
int win_allocate_c(MPI_Aint bytes, MPI_Aint unit, MPI_Info info, MPI_Comm on, void* base,
                   MPI_Win* made) {
  WORMCUBE_MPI_CALL(MPI_Win_allocate_c);
  return allocate(call, MPI_WIN_FLAVOR_ALLOCATE, bytes, unit, info, on, base, made);
}
int win_allocate_shared(MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm on, void* base,
                        MPI_Win* made) {
  WORMCUBE_MPI_CALL(MPI_Win_allocate_shared);
  return allocate(call, MPI_WIN_FLAVOR_SHARED, bytes, unit, info, on, base, made);
}
int win_allocate_shared_c(MPI_Aint bytes, MPI_Aint unit, MPI_Info info, MPI_Comm on, void* base,
                          MPI_Win* made) {
  WORMCUBE_MPI_CALL(MPI_Win_allocate_shared_c);
  return allocate(call, MPI_WIN_FLAVOR_SHARED, bytes, unit, info, on, base, made);
}

// Displacements in it are addresses.
int win_create_dynamic(MPI_Info info, MPI_Comm on, MPI_Win* made) {
  WORMCUBE_MPI_CALL(MPI_Win_create_dynamic);
  return call([&] { make_window(call, on, MPI_WIN_FLAVOR_DYNAMIC, {}, info, nullptr, made); });
}

/// This rank's regions, to change while no other rank accesses them.
template <class Change>
void change_regions(Call& call, Window& window, Change&& change) {
  if (window.flavor != MPI_WIN_FLAVOR_DYNAMIC) {
    throw Failure(MPI_ERR_RMA_FLAVOR, "the window was not made by MPI_Win_create_dynamic");
  }
  const auto own = static_cast<std::size_t>(window.on->rank);
  call.rank().requests->act_at(call.rank().rank, 0, [&] { change(window.shared->regions[own]); });
}
int win_attach(MPI_Win handle, void* base, MPI_Aint bytes) {
  WORMCUBE_MPI_CALL(MPI_Win_attach);
  return call([&] {
    Window& window = window_of(call, handle);
    if (bytes < 0) throw Failure(MPI_ERR_SIZE, fmt::format("size {} is negative", bytes));
    change_regions(call, window, [&](auto& regions) {
      regions.push_back({static_cast<std::byte*>(base), bytes});
    });
  });
}
int win_detach(MPI_Win handle, const void* base) {
  WORMCUBE_MPI_CALL(MPI_Win_detach);
  return call([&] {
    bool was_there = false;
    change_regions(call, window_of(call, handle), [&](auto& regions) {
      const auto found = std::ranges::find(regions, base, &SharedWindow::Region::begin);
      was_there = found != regions.end();
      if (was_there) regions.erase(found);
    });
    if (!was_there) throw Failure(MPI_ERR_BASE, "no attached memory begins at this address");
  });
}

int win_shared_query(MPI_Win handle, int rank, MPI_Aint* bytes, MPI_Aint* unit, void* base) {
  WORMCUBE_MPI_CALL(MPI_Win_shared_query_c);
  return call([&] {
    call.result(bytes, "size");
    call.result(unit, "disp_unit");
    const Window& window = window_of(call, handle);
    if (window.flavor != MPI_WIN_FLAVOR_SHARED) {
      throw Failure(MPI_ERR_RMA_FLAVOR, "the window was not made by MPI_Win_allocate_shared");
    }
    if (rank != MPI_PROC_NULL) call.destination(*window.on, rank);
    const WindowPart& part = window.shared->parts[0];
    *bytes = part.bytes;
    *unit = part.unit;
    std::memcpy(base, &part.base, sizeof part.base);
  });
}
int win_shared_query_int(MPI_Win handle, int rank, MPI_Aint* bytes, int* unit, void* base) {
  WORMCUBE_MPI_CALL(MPI_Win_shared_query);
  MPI_Aint wide = 0;
  const int error = win_shared_query(handle, rank, bytes, &wide, base);
  if (error == MPI_SUCCESS) *unit = static_cast<int>(wide);
  return error;
}

int win_free(MPI_Win* handle) {
  WORMCUBE_MPI_CALL(MPI_Win_free);
  return call([&] {
    call.result(handle, "win");
    Window& window = window_of(call, *handle);
    if (const char* const end = window.end_of_epoch()) {
      throw Failure(MPI_ERR_RMA_SYNC, fmt::format("an epoch is still open: call {} first", end));
    }
    if (const int error = window.attributes.remove_all(*handle)) {
      throw Failure(error, "the delete function of an attribute returned an error");
    }
    window.meet(call);
    forget_number_of(*handle);
    window.magic = Window::dead;
    window.allocated.reset();
    window.shared.reset();
    end_communicator(call, *window.on);
    *handle = MPI_WIN_NULL;
  });
}

int win_get_group(MPI_Win handle, MPI_Group* group) {
  WORMCUBE_MPI_CALL(MPI_Win_get_group);
  return call([&] {
    call.result(group, "group");
    *group = new_group(window_of(call, handle).on->shared->members());
  });
}

int win_set_name(MPI_Win handle, const char* name) {
  WORMCUBE_MPI_CALL(MPI_Win_set_name);
  return call(
      [&] { window_of(call, handle).name = std::string(name).substr(0, MPI_MAX_OBJECT_NAME - 1); });
}
int win_get_name(MPI_Win handle, char* name, int* length) {
  WORMCUBE_MPI_CALL(MPI_Win_get_name);
  return call([&] {
    call.result(length, "resultlen");
    const std::string text =
        handle == MPI_WIN_NULL ? std::string("MPI_WIN_NULL") : window_of(call, handle).name;
    std::memcpy(name, text.c_str(), text.size() + 1);
    *length = static_cast<int>(text.size());
  });
}

int win_set_info(MPI_Win handle, MPI_Info info) {
  WORMCUBE_MPI_CALL(MPI_Win_set_info);
  return call([&] {
    Window& window = window_of(call, handle);
    add_hints(window.info, keys_of(info));
  });
}
int win_get_info(MPI_Win handle, MPI_Info* info) {
  WORMCUBE_MPI_CALL(MPI_Win_get_info);
  return call([&] {
    call.result(info, "info_used");
    InfoKeys keys = window_of(call, handle).info;
    const auto add_default = [&](const char* key, const char* value) {
      if (keys.find(key) == nullptr) keys.set(key, value);
    };
    add_default("no_locks", "false");
    add_default("accumulate_ordering", "rar,raw,war,waw");
    add_default("accumulate_ops", "same_op_no_op");
    add_default("mpi_accumulate_granularity", "0");
    add_default("same_size", "false");
    add_default("same_disp_unit", "false");
    *info = new_info(std::move(keys));
  });
}

int win_create_errhandler(MPI_Win_errhandler_function* function, MPI_Errhandler* handle) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Win_create_errhandler);
  return call([&] {
    call.result(handle, "errhandler");
    call.pointer(reinterpret_cast<const void*>(function), 1, "the function");
    *handle = reinterpret_cast<MPI_Errhandler>(
        new ErrorHandler{reinterpret_cast<MPI_Comm_errhandler_function*>(function)});
  });
}
int win_set_errhandler(MPI_Win handle, MPI_Errhandler errors) {
  WORMCUBE_MPI_CALL(MPI_Win_set_errhandler);
  return call([&] {
    Window& window = window_of(call, handle);
    require_handler(errors);
    window.errors = errors;
  });
}
int win_get_errhandler(MPI_Win handle, MPI_Errhandler* errors) {
  WORMCUBE_MPI_CALL(MPI_Win_get_errhandler);
  return call([&] {
    call.result(errors, "errhandler");
    *errors = window_of(call, handle).errors;
  });
}
int win_call_errhandler(MPI_Win handle, int code) {
  WORMCUBE_MPI_CALL(MPI_Win_call_errhandler);
  static_cast<void>(call([&] {
    window_of(call, handle);
    throw Failure(code, "reported by the program");
  }));
  return MPI_SUCCESS;
}

// ---- Attributes ----

std::shared_ptr<const AttributeKey<MPI_Win>> window_key(const Call& call, int number) {
  if (auto key = call.rank().window_keys.find(number)) return key;
  throw Failure(MPI_ERR_KEYVAL, fmt::format("invalid window keyval {}", number));
}
void need_success(int error) {
  if (error != MPI_SUCCESS)
    throw Failure(error, "the delete function of an attribute returned an error");
}

int win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove,
                      int* key, void* extra) {
  WORMCUBE_MPI_CALL(MPI_Win_create_keyval);
  return call([&] {
    call.result(key, "win_keyval");
    *key = call.rank().window_keys.create(copy, remove, extra);
  });
}
int win_free_keyval(int* key) {
  WORMCUBE_MPI_CALL(MPI_Win_free_keyval);
  return call([&] {
    call.result(key, "win_keyval");
    window_key(call, *key);
    call.rank().window_keys.free(*key);
    *key = MPI_KEYVAL_INVALID;
  });
}
int win_set_attr(MPI_Win handle, int key, void* value) {
  WORMCUBE_MPI_CALL(MPI_Win_set_attr);
  return call([&] {
    Window& window = window_of(call, handle);
    need_success(window.attributes.set(handle, window_key(call, key), value));
  });
}
int win_delete_attr(MPI_Win handle, int key) {
  WORMCUBE_MPI_CALL(MPI_Win_delete_attr);
  return call([&] {
    Window& window = window_of(call, handle);
    need_success(window.attributes.remove(handle, *window_key(call, key)));
  });
}
int win_get_attr(MPI_Win handle, int key, void* value, int* flag) {
  WORMCUBE_MPI_CALL(MPI_Win_get_attr);
  return call([&] {
    call.result(flag, "flag");
    Window& window = window_of(call, handle);
    const auto report = [&](void* found) {
      *static_cast<void**>(value) = found;
      *flag = 1;
    };
    switch (key) {
      case MPI_WIN_BASE:
        return report(window.shared->parts[static_cast<std::size_t>(window.on->rank)].base);
      case MPI_WIN_SIZE:
        return report(&window.size_attribute);
      case MPI_WIN_DISP_UNIT:
        return report(&window.unit_attribute);
      case MPI_WIN_CREATE_FLAVOR:
        return report(&window.flavor_attribute);
      case MPI_WIN_MODEL:
        return report(&window.model_attribute);
      default: {
        void* const* const set = window.attributes.find(*window_key(call, key));
        *flag = 0;
        if (set != nullptr) report(*set);
      }
    }
  });
}

}  // namespace

void Window::meet(Call& call) const {
  on->shared->come(on->collectives++, on->rank, {.function = call.function()});
  wait_for_all(call, *on);
}

const char* Window::end_of_epoch() const {
  return locked_all             ? "MPI_Win_unlock_all"
         : has_lock()           ? "MPI_Win_unlock"
         : has_started          ? "MPI_Win_complete"
         : has_posted           ? "MPI_Win_wait"
         : fence == Fence::used ? "MPI_Win_fence"
                                : nullptr;
}

bool Window::has_lock() const {
  return locked_all || std::ranges::find(locked, true) != locked.end();
}

bool Window::may_access(Rank target) const {
  return locked_all || locked[static_cast<std::size_t>(target)] || fence != Fence::none ||
         std::ranges::find(started, target) != started.end();
}

Window& window_of(Call& call, MPI_Win handle) {
  if (is_predefined(handle)) {
    throw Failure(MPI_ERR_WIN, handle == MPI_WIN_NULL
                                   ? std::string("the window is MPI_WIN_NULL")
                                   : fmt::format("invalid window handle {:#x}",
                                                 reinterpret_cast<std::uintptr_t>(handle)));
  }
  auto* const found = reinterpret_cast<Window*>(handle);
  if (found->magic != Window::alive) {
    throw Failure(MPI_ERR_WIN, found->magic == Window::dead ? "the window has been freed"
                                                            : "invalid window handle");
  }
  call.errors_go_to(found->errors, handle);
  call.rank().call.communicator = found->on;
  return *found;
}

void add_window_functions(WormcubeMpiFunctions& table) {
  table.MPI_Win_create = win_create;
  table.MPI_Win_create_c = win_create_c;
  table.MPI_Win_allocate = win_allocate;
  table.MPI_Win_allocate_c = win_allocate_c;
  table.MPI_Win_allocate_shared = win_allocate_shared;
  table.MPI_Win_allocate_shared_c = win_allocate_shared_c;
  table.MPI_Win_create_dynamic = win_create_dynamic;
  table.MPI_Win_attach = win_attach;
  table.MPI_Win_detach = win_detach;
  table.MPI_Win_shared_query = win_shared_query_int;
  table.MPI_Win_shared_query_c = win_shared_query;
  table.MPI_Win_free = win_free;
  table.MPI_Win_get_group = win_get_group;
  table.MPI_Win_set_name = win_set_name;
  table.MPI_Win_get_name = win_get_name;
  table.MPI_Win_set_info = win_set_info;
  table.MPI_Win_get_info = win_get_info;
  table.MPI_Win_create_errhandler = win_create_errhandler;
  table.MPI_Win_set_errhandler = win_set_errhandler;
  table.MPI_Win_get_errhandler = win_get_errhandler;
  table.MPI_Win_call_errhandler = win_call_errhandler;
  table.MPI_Win_create_keyval = win_create_keyval;
  table.MPI_Win_free_keyval = win_free_keyval;
  table.MPI_Win_set_attr = win_set_attr;
  table.MPI_Win_delete_attr = win_delete_attr;
  table.MPI_Win_get_attr = win_get_attr;
  add_window_epoch_functions(table);
  add_window_access_functions(table);
}

}  // namespace wormcube::mpi
