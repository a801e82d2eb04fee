// The shared libraries of a program that each rank has a copy of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/image/elf_file.hpp"

#include <string>
#include <vector>

namespace wormcube::mpi {

/// A file of which each rank loads a copy, and the names in it of others of them.
struct CopiedFile {
  ElfFile file;
  struct Name {
    std::size_t at;       ///< ElfFile::write_name()
    std::size_t library;  ///< which file it names: its place in the list of all
  };
  std::vector<Name> names = {};
};

/// The program, first, and all of its libraries but those of the system's C and C++ runtime. The
/// latter are loaded here, once: what a rank has in place of their functions is not for them.
///
/// Throws UsageError if it cannot be loaded once for each rank, or a library cannot.
std::vector<CopiedFile> files_to_copy(const std::string& program);

}  // namespace wormcube::mpi
