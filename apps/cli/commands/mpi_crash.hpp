// How the crash of an MPI program is reported.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace wormcube::cli {

/// From now on a crash names its line: "rank 2: segmentation fault at ring.c:41 (address 0x0), after
/// MPI_Barrier".
void name_lines_of_crashes();

}  // namespace wormcube::cli
