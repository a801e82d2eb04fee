// MPI's operators: predefined ones on the types that they are for, and the user's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wormcube::mpi {

/// inout[i] = in[i] (+) inout[i], the predefined operators' on `count` elements that need not be
/// aligned.
using Combine = void (*)(const std::byte* in, std::byte* inout, std::size_t count);

/// Null where the operator is not defined on the type, which is predefined.
Combine predefined_operator(MPI_Op op, MPI_Datatype type);

/// Whether predefined operators on the type give the same bits however operands are bracketed: not
/// where they round, nor where they compare numbers, of which there are two zeros.
bool is_exact(MPI_Datatype type);

/// "MPI_SUM"; empty: it is none of the predefined operators.
std::string_view name_of_operator(MPI_Op op);

}  // namespace wormcube::mpi
