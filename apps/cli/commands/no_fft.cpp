// wormcube fft, where the program is built without FFTW: says so.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/runtime/base/error.hpp"

namespace wormcube::cli {

std::string_view fftw_library() { return {}; }

Action add_fft(CLI::App& program) {
  CLI::App& app =
      *program.add_subcommand("fft", "Not in this program, which is built without FFTW");
  app.prefix_command();  // whatever follows
  return [](Context&) -> ExitCode {
    throw UsageError(
        "fft: this wormcube is built without FFTW (-D WORMCUBE_FFTW=OFF); build with it (Debian: "
        "libfftw3-dev) and mind its licence, the GNU GPL");
  };
}

}  // namespace wormcube::cli
