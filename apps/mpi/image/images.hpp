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
  /// Runs what the copy has registered for its end: atexit, destructors of globals.
  void (*finish)() = nullptr;
  const std::byte* base = nullptr;  ///< where the copy lies
};

/// Loads a program as often as there are ranks: copies of its file and of its own shared libraries,
/// each opened by the system's loader under a name of its own. Constructors run copy by copy.
/// Nothing is ever unloaded: ranks may still be on their way when the process ends.
///
/// Threads  one at a time.
class Images {
 public:
  /// Throws UsageError, in one line with the way out, for what is no program made by `wormcube
  /// mpicc`, or cannot be loaded so often.
  Images(const std::string& program, Rank ranks);

  const Image& operator[](Rank rank) const { return images_[static_cast<std::size_t>(rank)]; }
  const std::string& program() const { return program_; }
  /// Whether it, or a library of its own, has parallel regions of OpenMP: these belong to the
  /// thread that began them.
  bool uses_openmp() const { return uses_openmp_; }

  /// An address as the program's file has it: an offset in the copy that it lies in. Nothing: it
  /// lies in none.
  std::optional<std::size_t> offset_of(const void* address) const;

 private:
  std::string program_;
  std::size_t bytes_ = 0;  // of memory that one takes
  std::vector<Image> images_;
  bool uses_openmp_ = false;
};

/// What dlopen() takes beside RTLD_NOW so that another MPI of this process is not found first.
int own_symbols_first();

/// "ring.c:41" of an offset in the program, if it has debug lines and addr2line is there; else
/// "ring+0x1234". Starts a process.
std::string place_in(const std::string& program, std::size_t offset);

}  // namespace wormcube::mpi
