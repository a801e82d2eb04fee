// A program's images: one loaded copy for each rank, each with its own globals.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace wormcube::mpi {

/// One copy of the program.
struct Image {
  int (*main)(int argc, char** argv, char** environment) = nullptr;
  /// Runs the copy's exit handlers: atexit functions, destructors of globals.
  void (*finish)() = nullptr;
  const std::byte* base = nullptr;  ///< where the copy lies
  void* handle = nullptr;           ///< the loader's
};

/// Loads a program once for each rank: copies of its file and of its own shared libraries, which
/// the system's loader opens under different names. Constructors run copy by copy. Nothing is ever
/// unloaded, because ranks may still run when the process ends.
///
/// Threads  one at a time.
class Images {
 public:
  /// Throws UsageError, in one line that says what to do, if the program was not made by `wormcube
  /// mpicc` or cannot be loaded often enough.
  Images(const std::string& program, Rank ranks);

  const Image& operator[](Rank rank) const { return images_[static_cast<std::size_t>(rank)]; }
  const std::string& program() const { return program_; }
  /// Whether it, or one of its own libraries, has parallel regions of OpenMP: these belong to the
  /// thread that began them.
  bool uses_openmp() const { return uses_openmp_; }

  /// A function that the copy's program, or one of its own libraries, defines; null: none does.
  void* find(Rank rank, const char* name) const;

  /// The offset in the program's file of an address in one of the copies. Nothing if the address is
  /// in none.
  std::optional<std::size_t> offset_of(const void* address) const;

 private:
  std::string program_;
  std::size_t bytes_ = 0;  // of memory for one copy
  std::vector<Image> images_;
  bool uses_openmp_ = false;
};

/// The dlopen() flags besides RTLD_NOW that keep another MPI in this process from being found
/// first.
int own_symbols_first();

/// "ring.c:41" for an offset in the program, if it has debug lines and addr2line is installed;
/// otherwise "ring+0x1234". Starts a process.
std::string place_in(const std::string& program, std::size_t offset);

}  // namespace wormcube::mpi
