// Reductions: operators on types, as collectives use them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/types/operators.hpp"
#include "wormcube/apps/mpi/engine/types/types.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

#include <cstdint>
#include <string_view>

namespace wormcube::mpi {

struct UserOperator;

/// An operator on a type, as a reduction of elements with the type's extent.
struct Operator {
  std::uint64_t key = 0;
  Combine combine = nullptr;
  UserOperator* user = nullptr;
  TypeView type;
  /// How operands travel: unchanged, gaps included; for user-defined types with gaps only their
  /// data, unpacked where the user's function is called.
  TypeView operand() const {
    TypeView result = type;
    if (is_packed()) return result;
    result.size = static_cast<Bytes>(type.extent);
    result.dense = true;
    return result;
  }
  bool is_packed() const { return user != nullptr && !type.dense; }
  std::string_view name() const;
  bool commutes() const;
  bool is_exact() const;
};

/// Throws Failure(MPI_ERR_OP). \param was_checked  an earlier call checked it; it may be freed
/// since
Operator operator_on(MPI_Op op, const TypeView& type, bool was_checked = false);
/// Lives independently of the type's handle.
Reduction reduction_of(const Operator& with);

void add_reduction_functions(WormcubeMpiFunctions& table);

}  // namespace wormcube::mpi
