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

/// An operator on a type, as a reduction of elements of its extent.
struct Operator {
  std::uint64_t key = 0;
  Combine combine = nullptr;
  UserOperator* user = nullptr;
  TypeView type;
  /// How operands travel: as they lie, gaps and all; of types that the program has made with gaps,
  /// their data alone, which is laid out where the program's function is called.
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

/// Throws Failure(MPI_ERR_OP). \param was_checked  in an earlier call; it may have been freed since
Operator operator_on(MPI_Op op, const TypeView& type, bool was_checked = false);
/// Lives without the type's handle.
Reduction reduction_of(const Operator& with);

void add_reduction_functions(WormcubeMpiFunctions& table);

}  // namespace wormcube::mpi
