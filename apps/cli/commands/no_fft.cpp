// wormcube fft in a program without FFTW: explains how to get it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/runtime/base/error.hpp"

namespace wormcube::cli {

std::string_view fftw_library() { return {}; }

Action add_fft(CLI::App& program) {
  CLI::App& app =
      *program.add_subcommand("fft", "Not available: this program was built without FFTW");
  app.prefix_command();  // whatever follows
  return [](Context&) -> ExitCode {
    throw UsageError(
        "fft: this wormcube is built without FFTW (-D WORMCUBE_FFTW=OFF); rebuild with it (Debian: "
        "libfftw3-dev), which is under the GNU GPL");
  };
}

}  // namespace wormcube::cli
