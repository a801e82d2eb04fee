// The shared libraries of a program that each rank gets a copy of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/image/elf_file.hpp"

#include <string>
#include <vector>

namespace wormcube::mpi {

/// A file that each rank loads a copy of, and the names in it that refer to other such files.
struct CopiedFile {
  ElfFile file;
  struct Name {
    std::size_t at;       ///< ElfFile::write_name()
    std::size_t library;  ///< the index of the file that it names
  };
  std::vector<Name> names = {};
};

/// Throws UsageError if LD_PRELOAD names a library that calls MPI's profiling functions: it is loaded
/// once for all ranks, and before MPI's functions are there.
void refuse_preloaded_tools();

/// The program, first, and all of its libraries except those of the system's C and C++ runtime. The
/// latter are loaded here, once, so that they do not bind to a rank's replacements for their
/// functions.
///
/// Throws UsageError if the program or a library cannot be loaded once for each rank.
std::vector<CopiedFile> files_to_copy(const std::string& program);

}  // namespace wormcube::mpi
