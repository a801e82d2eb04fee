// Reductions: predefined and user-defined operators on types.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/collectives/reductions.hpp"

#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/collectives/buffers.hpp"
#include "wormcube/apps/mpi/engine/types/operators.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include <fmt/core.h>

namespace wormcube::mpi {

/// The object behind an MPI_Op. Its memory stays, so a freed operator is recognised.
struct UserOperator {
  static constexpr std::uint32_t alive = 0x4f505231, dead = 0x4f505230;
  std::uint32_t magic = alive;
  RankState* owner = nullptr;
  MPI_User_function* function = nullptr;
  MPI_User_function_c* large_function = nullptr;  ///< used instead
  bool commutes = false;
  std::uint64_t serial = 0;

  /// Runs in the name of the rank that owns the operator, which may have waited since it entered
  /// MPI.
  void call(void* in, void* inout, std::size_t count, MPI_Datatype type) const {
    current_rank = owner;
    if (large_function != nullptr) {
      auto length = static_cast<MPI_Count>(count);
      return large_function(in, inout, &length, &type);
    }
    auto length = static_cast<int>(count);
    function(in, inout, &length, &type);
  }
};

namespace {

std::atomic<std::uint64_t> next_operator{4096};

UserOperator& user_operator(MPI_Op op) {
  auto* const object = reinterpret_cast<UserOperator*>(op);
  if (object->magic == UserOperator::alive) return *object;
  throw Failure(MPI_ERR_OP, object->magic == UserOperator::dead ? "the operator has been freed"
                                                                : "invalid operator handle");
}

// The user's function gets aligned elements, as in any MPI library.
void combine_by_user(const UserOperator& op, const TypeView& type, const std::byte* in,
                     std::byte* inout, std::size_t count) {
  constexpr std::size_t most = std::size_t{1} << 30;
  const auto extent = static_cast<std::size_t>(type.extent);
  const auto alignment = std::min<std::size_t>(
      alignof(std::max_align_t), extent == 0 ? 1 : std::size_t{1} << std::countr_zero(extent));
  const auto is_aligned = [&](const std::byte* data) {
    return reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
  };
  if (is_aligned(in) && is_aligned(inout)) {
    for (std::size_t done = 0; done < count; done += most) {
      op.call(const_cast<std::byte*>(in) + done * extent, inout + done * extent,
              std::min(most, count - done), type.handle);
    }
    return;
  }
  std::vector<std::max_align_t> left((count * extent + sizeof(std::max_align_t) - 1) /
                                     sizeof(std::max_align_t)),
      right(left.size());
  std::memcpy(left.data(), in, count * extent);
  std::memcpy(right.data(), inout, count * extent);
  op.call(left.data(), right.data(), count, type.handle);
  std::memcpy(inout, right.data(), count * extent);
}

/// The same for packed operands: unpacks them into memory with their natural alignment.
void combine_packed_by_user(const UserOperator& op, const TypeView& type, const Datatype& datatype,
                            const std::byte* in, std::byte* inout, std::size_t count) {
  constexpr std::int64_t aligned = alignof(std::max_align_t);
  const std::int64_t last = static_cast<std::int64_t>(count - 1) * type.extent;
  const std::int64_t lowest = std::min<std::int64_t>(last, 0) + type.first;
  const std::int64_t highest =
      std::max<std::int64_t>(last, 0) + type.first + datatype.true_extent();
  const std::int64_t before =
      (lowest % aligned + aligned) % aligned;  // so that element 0 is aligned
  const auto words = static_cast<std::size_t>((before + highest - lowest) / aligned + 1);
  std::vector<std::max_align_t> left(words), right(words);
  const auto first_of = [&](std::vector<std::max_align_t>& memory) {
    return reinterpret_cast<std::byte*>(memory.data()) + before - lowest;
  };
  const Bytes bytes = count * type.size;
  unpack(datatype, in, bytes, first_of(left));
  unpack(datatype, inout, bytes, first_of(right));
  op.call(first_of(left), first_of(right), count, type.handle);
  pack(datatype, first_of(right), bytes, inout);
}

}  // namespace

std::string_view Operator::name() const {
  return user == nullptr ? name_of_operator(reinterpret_cast<MPI_Op>(key))
                         : "the program's operator";
}
bool Operator::commutes() const { return user == nullptr || user->commutes; }
bool Operator::is_exact() const { return user == nullptr && mpi::is_exact((*type.type)->handle()); }

Operator operator_on(MPI_Op op, const TypeView& type, bool was_checked) {
  if (is_predefined(op)) {
    const std::string_view name = name_of_operator(op);
    if (name.empty() || op == MPI_OP_NULL) {
      throw Failure(MPI_ERR_OP, op == MPI_OP_NULL
                                    ? std::string("the operator is MPI_OP_NULL")
                                    : fmt::format("invalid operator handle {:#x}",
                                                  reinterpret_cast<std::uintptr_t>(op)));
    }
    const Combine combine = predefined_operator(op, (*type.type)->handle());
    if (combine == nullptr) {
      throw Failure(MPI_ERR_OP, fmt::format("{} is not defined on this datatype", name));
    }
    return {reinterpret_cast<std::uintptr_t>(op), combine, nullptr, type};
  }
  UserOperator& user = was_checked ? *reinterpret_cast<UserOperator*>(op) : user_operator(op);
  return {user.serial, nullptr, &user, type};
}

Reduction reduction_of(const Operator& with) {
  Reduction reduction;
  reduction.element_bytes = with.operand().size;
  reduction.commutative = with.commutes();
  reduction.exact = with.is_exact();
  reduction.name = with.name();
  reduction.apply = [with, type = *with.type.type](const std::byte* left, const std::byte* right,
                                                   std::byte* result, std::size_t elements) {
    const Bytes bytes = elements * with.operand().size;
    const auto join = [&](const std::byte* in, std::byte* inout) {
      if (with.user == nullptr) return with.combine(in, inout, elements);
      with.is_packed() ? combine_packed_by_user(*with.user, with.type, *type, in, inout, elements)
                       : combine_by_user(*with.user, with.type, in, inout, elements);
    };
    if (result == left && with.user == nullptr) return join(right, result);  // they all commute
    if (result == left) {
      thread_local std::vector<std::byte> kept;
      std::vector<std::byte> own = std::move(kept);
      own.assign(right, right + bytes);
      join(left, own.data());
      std::memcpy(result, own.data(), bytes);
      kept = std::move(own);
      return;
    }
    if (result != right) std::memcpy(result, right, bytes);
    join(left, result);
  };
  return reduction;
}

namespace {

template <class Count>
int reduce_local(const void* in, void* inout, Count count, MPI_Datatype type, MPI_Op op) {
  WORMCUBE_MPI_CALL(MPI_Reduce_local);
  return call([&] {
    const TypeView view = type_view(type);
    const Operator with = operator_on(op, view);
    const std::size_t many = call.count(count);
    const SendBuffer left(call, in, many, with.operand());
    ReceiveBuffer right(call, inout, many, with.operand());
    if (many == 0) return;
    reduction_of(with).apply(left.data().data(), right.data().data(), right.data().data(), many);
    right.deliver();
  });
}

MPI_Op new_operator(RankState& owner, int commutes) {
  auto* const made = new UserOperator;
  made->owner = &owner;
  made->commutes = commutes != 0;
  made->serial = next_operator++;
  return reinterpret_cast<MPI_Op>(made);
}

int op_create(MPI_User_function* function, int commutes, MPI_Op* op) {
  WORMCUBE_MPI_CALL(MPI_Op_create);
  return call([&] {
    call.result(op, "op");
    call.pointer(reinterpret_cast<const void*>(function), 1, "the function");
    *op = new_operator(call.rank(), commutes);
    user_operator(*op).function = function;
  });
}
int op_create_c(MPI_User_function_c* function, int commutes, MPI_Op* op) {
  WORMCUBE_MPI_CALL(MPI_Op_create_c);
  return call([&] {
    call.result(op, "op");
    call.pointer(reinterpret_cast<const void*>(function), 1, "the function");
    *op = new_operator(call.rank(), commutes);
    user_operator(*op).large_function = function;
  });
}

// The memory stays, so that a freed handle is recognised.
int op_free(MPI_Op* op) {
  WORMCUBE_MPI_CALL(MPI_Op_free);
  return call([&] {
    call.result(op, "op");
    if (is_predefined(*op)) throw Failure(MPI_ERR_OP, "a predefined operator cannot be freed");
    user_operator(*op).magic = UserOperator::dead;
    *op = MPI_OP_NULL;
  });
}

int op_commutative(MPI_Op op, int* commutes) {
  WORMCUBE_MPI_CALL(MPI_Op_commutative);
  return call([&] {
    call.result(commutes, "commute");
    *commutes = is_predefined(op) || user_operator(op).commutes ? 1 : 0;
  });
}

}  // namespace

void add_reduction_functions(WormcubeMpiFunctions& table) {
  table.MPI_Reduce_local = reduce_local<int>;
  table.MPI_Reduce_local_c = reduce_local<MPI_Count>;
  table.MPI_Op_create = op_create;
  table.MPI_Op_create_c = op_create_c;
  table.MPI_Op_free = op_free;
  table.MPI_Op_commutative = op_commutative;
}

}  // namespace wormcube::mpi
