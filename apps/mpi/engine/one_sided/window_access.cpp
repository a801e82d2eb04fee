// One-sided access: reads, writes and accumulates in another rank's memory.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/messages/messages.hpp"
#include "wormcube/apps/mpi/engine/one_sided/window.hpp"
#include "wormcube/apps/mpi/engine/types/operators.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

/// A number of elements of a type, as a call names them.
struct Elements {
  TypeView type;
  std::size_t count = 0;

  Bytes bytes() const { return count * type.size; }
  /// The distances from the first element to the lowest byte of all, and past the highest.
  std::pair<std::int64_t, std::int64_t> reach() const {
    const std::int64_t first = type.first;
    std::int64_t last = 0, lowest = 0, behind = 0;
    if (__builtin_mul_overflow(static_cast<std::int64_t>(count - 1), type.extent, &last) ||
        __builtin_add_overflow(std::min<std::int64_t>(last, 0), first, &lowest) ||
        __builtin_add_overflow(std::max<std::int64_t>(last, 0), first + (**type.type).true_extent(),
                               &behind)) {
      throw Failure(MPI_ERR_COUNT, fmt::format("count {} of {} bytes each is more than memory can "
                                               "hold",
                                               count, type.extent));
    }
    return {lowest, behind};
  }
};

void copy(std::byte* to, const std::byte* from, Bytes bytes) {
  if (bytes > 0) std::memmove(to, from, bytes);
}
/// The packed data of the elements.
void read(const Elements& what, const void* from, std::byte* to) {
  what.type.dense ? copy(to, static_cast<const std::byte*>(from), what.bytes())
                  : pack(**what.type.type, from, what.bytes(), to);
}
void write(const Elements& what, const std::byte* from, void* to) {
  what.type.dense ? copy(static_cast<std::byte*>(to), from, what.bytes())
                  : unpack(**what.type.type, from, what.bytes(), to);
}

/// Whether each byte lies in one of the regions, which may be adjacent.
bool is_covered(const std::vector<SharedWindow::Region>& regions, const std::byte* first,
                const std::byte* behind) {
  while (first < behind) {
    const auto place = std::ranges::find_if(regions, [&](const SharedWindow::Region& region) {
      return first >= region.begin && first < region.begin + region.bytes;
    });
    if (place == regions.end()) return false;
    first = place->begin + place->bytes;
  }
  return true;
}

/// Used while another rank's thread acts for this rank: errors belong to this rank.
class ActingFor {
 public:
  explicit ActingFor(RankState& rank) : here_(std::exchange(current_rank, &rank)) {}
  ~ActingFor() { current_rank = here_; }
  ActingFor(const ActingFor&) = delete;
  ActingFor& operator=(const ActingFor&) = delete;

 private:
  RankState* const here_;
};

/// The memory at a target that a call names.
struct Target {
  Call& call;
  Window& window;
  Rank rank;
  MPI_Aint displacement;
  Elements elements;

  bool is_nobody() const { return rank == MPI_PROC_NULL; }

  /// Checks that an epoch allows the call, and takes the lock if needed. \param for_requests  calls
  /// that return requests need a lock
  void require_epoch(bool for_requests) const {
    if (is_nobody()) return;
    const bool is_locked = window.locked_all || window.locked[static_cast<std::size_t>(rank)];
    if (!window.may_access(rank) || (for_requests && !is_locked)) {
      throw Failure(MPI_ERR_RMA_SYNC,
                    fmt::format("no epoch is open for access to rank {}: call {} first", rank,
                                for_requests ? "MPI_Win_lock"
                                             : "MPI_Win_fence, MPI_Win_start or MPI_Win_lock"));
    }
    const bool is_started = std::ranges::find(window.started, rank) != window.started.end();
    if (!is_locked && !is_started) window.fence = Window::Fence::used;
    lock_for_access(call, window, rank);
  }

  /// Runs act(memory) at the target; memory is where the first element is. \param bytes  to report
  template <class Act>
  void run(Bytes bytes, Act&& act) const {
    if (is_nobody() || elements.bytes() == 0) return;
    const auto [lowest, behind] = elements.reach();
    const Rank world = window.on->world_rank(rank);
    RankState& own = call.rank();
    count_sent(own, world, bytes);
    if (window.flavor != MPI_WIN_FLAVOR_DYNAMIC) {
      const WindowPart& part = window.shared->parts[static_cast<std::size_t>(rank)];
      if (displacement < 0)
        throw Failure(MPI_ERR_DISP, fmt::format("target_disp {} is negative", displacement));
      std::int64_t begin = 0, first = 0, end = 0;
      if (__builtin_mul_overflow(displacement, part.unit, &begin) ||
          __builtin_add_overflow(begin, lowest, &first) ||
          __builtin_add_overflow(begin, behind, &end)) {
        throw Failure(MPI_ERR_DISP, fmt::format("target_disp {} of {} bytes each is beyond all "
                                                "addresses",
                                                displacement, part.unit));
      }
      if (first < 0 || end > part.bytes) {
        throw Failure(MPI_ERR_RMA_RANGE,
                      fmt::format("bytes {} to {} are outside of rank {}'s window, which has {}",
                                  first, end, rank, part.bytes));
      }
      return own.requests->act_at(world, bytes, [&] {
        const ActingFor acting(own);
        act(part.base + begin);
      });
    }
    bool is_attached = false;
    auto* const memory = reinterpret_cast<std::byte*>(displacement);
    std::byte *const from = memory + lowest, *const to = memory + behind;
    own.requests->act_at(world, bytes, [&] {
      const ActingFor acting(own);
      is_attached = is_covered(window.shared->regions[static_cast<std::size_t>(rank)], from, to);
      if (is_attached) act(memory);
    });
    if (is_attached) return;
    throw Failure(
        MPI_ERR_RMA_RANGE,
        fmt::format("these {} bytes are not in memory attached by rank {}", behind - lowest, rank));
  }
};

Elements elements(const Call& call, std::int64_t count, MPI_Datatype type) {
  return {type_view(type), call.count(count)};
}

Target target(Call& call, MPI_Win handle, int rank, MPI_Aint displacement, std::int64_t count,
              MPI_Datatype type) {
  Window& window = window_of(call, handle);
  call.destination(*window.on, rank);
  return {call, window, rank, displacement, elements(call, count, type)};
}

void require_equal(const Elements& origin, const Elements& target, const char* name) {
  if (origin.bytes() == target.bytes()) return;
  throw Failure(MPI_ERR_TYPE, fmt::format("{} has {} bytes of data, but the target has {}", name,
                                          origin.bytes(), target.bytes()));
}

/// The data of elements in memory: in place, or a packed copy.
class OriginData {
 public:
  OriginData(const Call& call, const Elements& what, const void* data, const char* name) {
    call.pointer(data, what.bytes(), name, what.type.first);
    data_ = static_cast<const std::byte*>(data);
    if (what.type.dense) return;
    packed_ = std::make_unique_for_overwrite<std::byte[]>(what.bytes());
    read(what, data, packed_.get());
    data_ = packed_.get();
  }
  const std::byte* data() const { return data_; }

 private:
  const std::byte* data_;
  std::unique_ptr<std::byte[]> packed_;
};

void put(const Target& to, const Elements& from, const void* data, bool for_request) {
  to.require_epoch(for_request);
  if (to.is_nobody()) return;
  require_equal(from, to.elements, "the origin");
  const OriginData given(to.call, from, data, "the origin");
  to.run(from.bytes(), [&](std::byte* memory) { write(to.elements, given.data(), memory); });
}

void get(const Target& from, const Elements& to, void* data, bool for_request) {
  from.require_epoch(for_request);
  if (from.is_nobody()) return;
  require_equal(to, from.elements, "the origin");
  from.call.pointer(data, to.bytes(), "the origin", to.type.first);
  std::vector<std::byte> packed(to.type.dense ? 0 : to.bytes());
  std::byte* const row = to.type.dense ? static_cast<std::byte*>(data) : packed.data();
  from.run(to.bytes(), [&](const std::byte* memory) { read(from.elements, memory, row); });
  if (!to.type.dense) write(to, row, data);
}

// ---- Accumulates ----

/// Elements of one predefined type that an operator combines one by one.
struct Operands {
  Elements row;               ///< in combined form: pairs with their padding, others without gaps
  Combine combine = nullptr;  ///< null: replace, or keep
  bool replaces = false;
};

/// \throws Failure  MPI_ERR_TYPE, MPI_ERR_OP
Operands operands(const Elements& at_target, MPI_Op op) {
  MPI_Datatype basic = MPI_DATATYPE_NULL;
  bool is_one = true;
  (**at_target.type.type).each_named([&](MPI_Datatype each) {
    is_one = is_one && (basic == MPI_DATATYPE_NULL || basic == each);
    basic = each;
  });
  if (!is_one)
    throw Failure(MPI_ERR_TYPE, "the target's type has elements of several predefined types");
  if (basic == MPI_DATATYPE_NULL) basic = MPI_INT;  // there are no elements
  Operands result;
  result.row.type = type_view(basic);
  result.row.count = result.row.type.size == 0 ? 0 : at_target.bytes() / result.row.type.size;
  if (op == MPI_NO_OP) return result;
  result.replaces = op == MPI_REPLACE;
  if (result.replaces) return result;
  const std::string_view name = is_predefined(op) ? name_of_operator(op) : std::string_view();
  if (name.empty()) {
    throw Failure(MPI_ERR_OP, is_predefined(op)
                                  ? "invalid operator"
                                  : "accumulate calls do not allow user-defined operators");
  }
  result.combine = predefined_operator(op, basic);
  if (result.combine == nullptr)
    throw Failure(MPI_ERR_OP, fmt::format("{} is not defined on this datatype", name));
  return result;
}

/// Unpacks into the form that is combined.
Bytes row_bytes(const Elements& row) { return row.count * static_cast<Bytes>(row.type.extent); }
std::vector<std::byte> spread(const Elements& row, const std::byte* packed) {
  std::vector<std::byte> result(row_bytes(row));
  write(row, packed, result.data());
  return result;
}

/// Stores the old value in result (if wanted), then combines the target with the origin's data.
void accumulate(const Target& at, MPI_Op op, const Elements& from, const void* data,
                const Elements* to, void* result, bool for_request) {
  at.require_epoch(for_request);
  if (at.is_nobody()) return;
  const Operands with = operands(at.elements, op);
  const bool gives = with.combine != nullptr || with.replaces;
  std::optional<OriginData> given;
  if (gives) {
    require_equal(from, at.elements, "the origin");
    given.emplace(at.call, from, data, "the origin");
  }
  if (to != nullptr) {
    require_equal(*to, at.elements, "the result");
    at.call.pointer(result, to->bytes(), "the result", to->type.first);
  }
  const Bytes bytes = at.elements.bytes();
  std::vector<std::byte> old(to != nullptr ? bytes : 0);
  const bool in_place = at.elements.type.dense && with.row.type.dense;
  std::vector<std::byte> in;
  if (with.combine != nullptr && !in_place) in = spread(with.row, given->data());
  at.run((gives ? bytes : 0) + old.size(), [&](std::byte* memory) {
    if (to != nullptr) read(at.elements, memory, old.data());
    if (with.replaces) return write(at.elements, given->data(), memory);
    if (with.combine == nullptr) return;
    if (in_place) return with.combine(given->data(), memory, with.row.count);
    std::vector<std::byte> packed(bytes);
    read(at.elements, memory, packed.data());
    std::vector<std::byte> joined = spread(with.row, packed.data());
    with.combine(in.data(), joined.data(), with.row.count);
    read(with.row, joined.data(), packed.data());
    write(at.elements, packed.data(), memory);
  });
  if (to != nullptr) write(*to, old.data(), result);
}

/// A request that is already complete.
void complete_request(Call& call, const Window& window, MPI_Request* request) {
  *request = reinterpret_cast<MPI_Request>(&start_send(
      call, nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, window.on->handle, Requests::Mode::standard));
}

template <class Count>
int win_put(const void* data, Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
            Count target_count, MPI_Datatype target_type, MPI_Win window) {
  WORMCUBE_MPI_CALL_OF(MPI_Put);
  return call([&] {
    put(target(call, window, rank, displacement, target_count, target_type),
        elements(call, count, type), data, false);
  });
}
template <class Count>
int win_rput(const void* data, Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
             Count target_count, MPI_Datatype target_type, MPI_Win window, MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Rput);
  return call([&] {
    const Target to = target(call, window, rank, displacement, target_count, target_type);
    put(to, elements(call, count, type), data, true);
    complete_request(call, to.window, request);
  });
}
template <class Count>
int win_get(void* data, Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
            Count target_count, MPI_Datatype target_type, MPI_Win window) {
  WORMCUBE_MPI_CALL_OF(MPI_Get);
  return call([&] {
    get(target(call, window, rank, displacement, target_count, target_type),
        elements(call, count, type), data, false);
  });
}
template <class Count>
int win_rget(void* data, Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
             Count target_count, MPI_Datatype target_type, MPI_Win window, MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Rget);
  return call([&] {
    const Target from = target(call, window, rank, displacement, target_count, target_type);
    get(from, elements(call, count, type), data, true);
    complete_request(call, from.window, request);
  });
}

template <class Count>
int win_accumulate(const void* data, Count count, MPI_Datatype type, int rank,
                   MPI_Aint displacement, Count target_count, MPI_Datatype target_type, MPI_Op op,
                   MPI_Win window) {
  WORMCUBE_MPI_CALL_OF(MPI_Accumulate);
  return call([&] {
    accumulate(target(call, window, rank, displacement, target_count, target_type), op,
               elements(call, count, type), data, nullptr, nullptr, false);
  });
}
template <class Count>
int win_raccumulate(const void* data, Count count, MPI_Datatype type, int rank,
                    MPI_Aint displacement, Count target_count, MPI_Datatype target_type, MPI_Op op,
                    MPI_Win window, MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Raccumulate);
  return call([&] {
    const Target to = target(call, window, rank, displacement, target_count, target_type);
    accumulate(to, op, elements(call, count, type), data, nullptr, nullptr, true);
    complete_request(call, to.window, request);
  });
}

/// The origin's type does not matter if it contributes nothing.
Elements origin_of(const Call& call, std::int64_t count, MPI_Datatype type, MPI_Op op) {
  return op == MPI_NO_OP ? Elements() : elements(call, count, type);
}
template <class Count>
int win_get_accumulate(const void* data, Count count, MPI_Datatype type, void* result,
                       Count result_count, MPI_Datatype result_type, int rank,
                       MPI_Aint displacement, Count target_count, MPI_Datatype target_type,
                       MPI_Op op, MPI_Win window) {
  WORMCUBE_MPI_CALL_OF(MPI_Get_accumulate);
  return call([&] {
    const Elements to = elements(call, result_count, result_type);
    accumulate(target(call, window, rank, displacement, target_count, target_type), op,
               origin_of(call, count, type, op), data, &to, result, false);
  });
}
template <class Count>
int win_rget_accumulate(const void* data, Count count, MPI_Datatype type, void* result,
                        Count result_count, MPI_Datatype result_type, int rank,
                        MPI_Aint displacement, Count target_count, MPI_Datatype target_type,
                        MPI_Op op, MPI_Win window, MPI_Request* request) {
  WORMCUBE_MPI_CALL_OF(MPI_Rget_accumulate);
  return call([&] {
    const Elements to = elements(call, result_count, result_type);
    const Target at = target(call, window, rank, displacement, target_count, target_type);
    accumulate(at, op, origin_of(call, count, type, op), data, &to, result, true);
    complete_request(call, at.window, request);
  });
}

void require_predefined(MPI_Datatype type) {
  if (is_predefined(type)) return;
  throw Failure(MPI_ERR_TYPE, "the type must be predefined");
}

int fetch_and_op(const void* data, void* result, MPI_Datatype type, int rank, MPI_Aint displacement,
                 MPI_Op op, MPI_Win window) {
  WORMCUBE_MPI_CALL(MPI_Fetch_and_op);
  return call([&] {
    const Target at = target(call, window, rank, displacement, 1, type);
    require_predefined(type);
    accumulate(at, op, at.elements, data, &at.elements, result, false);
  });
}

int compare_and_swap(const void* data, const void* compared, void* result, MPI_Datatype type,
                     int rank, MPI_Aint displacement, MPI_Win window) {
  WORMCUBE_MPI_CALL(MPI_Compare_and_swap);
  return call([&] {
    const Target at = target(call, window, rank, displacement, 1, type);
    require_predefined(type);
    if (predefined_operator(MPI_BAND, type) == nullptr &&
        predefined_operator(MPI_LAND, type) == nullptr) {
      throw Failure(MPI_ERR_TYPE,
                    "values of this type cannot be compared; use integers, bytes or logicals");
    }
    at.require_epoch(false);
    if (at.is_nobody()) return;
    const Bytes bytes = at.elements.bytes();
    for (const auto& [memory, name] :
         {std::pair{data, "the origin"}, std::pair{compared, "what is compared"},
          std::pair{static_cast<const void*>(result), "the result"}}) {
      call.pointer(memory, bytes, name);
    }
    at.run(3 * bytes, [&](std::byte* memory) {
      const bool is_equal = std::memcmp(memory, compared, bytes) == 0;
      std::memcpy(result, memory, bytes);
      if (is_equal) std::memcpy(memory, data, bytes);
    });
  });
}

}  // namespace

void add_window_access_functions(WormcubeMpiFunctions& table) {
  table.MPI_Put = win_put;
  table.MPI_Put_c = win_put;
  table.MPI_Rput = win_rput;
  table.MPI_Rput_c = win_rput;
  table.MPI_Get = win_get;
  table.MPI_Get_c = win_get;
  table.MPI_Rget = win_rget;
  table.MPI_Rget_c = win_rget;
  table.MPI_Accumulate = win_accumulate;
  table.MPI_Accumulate_c = win_accumulate;
  table.MPI_Raccumulate = win_raccumulate;
  table.MPI_Raccumulate_c = win_raccumulate;
  table.MPI_Get_accumulate = win_get_accumulate;
  table.MPI_Get_accumulate_c = win_get_accumulate;
  table.MPI_Rget_accumulate = win_rget_accumulate;
  table.MPI_Rget_accumulate_c = win_rget_accumulate;
  table.MPI_Fetch_and_op = fetch_and_op;
  table.MPI_Compare_and_swap = compare_and_swap;
}

}  // namespace wormcube::mpi
