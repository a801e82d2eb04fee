// MPI's operators: the predefined ones on the types they are defined for, and user-defined ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wormcube::mpi {

/// inout[i] = in[i] (+) inout[i] for a predefined operator on `count` elements, which may be
/// unaligned.
using Combine = void (*)(const std::byte* in, std::byte* inout, std::size_t count);

/// Null if the operator is not defined on the (predefined) type.
Combine predefined_operator(MPI_Op op, MPI_Datatype type);

/// Whether predefined operators on the type give the same bits for every bracketing of the
/// operands. They do not if they round, or compare numbers that have two zeros.
bool is_exact(MPI_Datatype type);

/// "MPI_SUM"; empty if it is not a predefined operator.
std::string_view name_of_operator(MPI_Op op);

}  // namespace wormcube::mpi
