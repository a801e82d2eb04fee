// The text of `wormcube --version`.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/version.hpp"

#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/version.hpp"

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

std::string compiler_text() {
#if defined(__clang__)
  return fmt::format("clang++ {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

std::string fftw_text(const Parts& parts) {
  const std::string_view library = fftw_library();
  if (library.empty()) {
    return parts.glpk_version != nullptr
               ? "none: no `fft`"
               : "none: no `fft`; you may redistribute the program under the Apache\n"
                 "             License 2.0";
  }
  return fmt::format(
      "{}, under the GNU GPL: you may redistribute\n"
      "             this program under the GPL, version 3, with the sources.\n"
      "             wormcube's own sources are under the Apache License 2.0;\n"
      "             -D WORMCUBE_FFTW=OFF builds it without FFTW and `fft`",
      library);
}

std::string glpk_text(const Parts& parts) {
  if (parts.glpk_version == nullptr)
    return "none: bounds of total exchange come from cuts and distances";
  return fmt::format(
      "{}, also under the GNU GPL;\n"
      "             -D WORMCUBE_GLPK=OFF builds without it",
      parts.glpk_version());
}

}  // namespace

std::string version_text(const Parts& parts) {
  return fmt::format(
      "wormcube {}\n"
      "  commit     {}\n"
      "  build      {}\n"
      "  compiler   {}\n"
      "  MPI        {}\n"
      "  FFTW       {}\n"
      "  GLPK       {}",
      version, parts.commit, parts.build_type, compiler_text(),
      parts.mpi_library != nullptr ? parts.mpi_library() : "none: no --executor mpi",
      fftw_text(parts), glpk_text(parts));
}

}  // namespace wormcube::cli
