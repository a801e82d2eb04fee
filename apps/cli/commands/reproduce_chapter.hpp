// wormcube reproduce grama: the figures of a chapter.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/collectives/harness/check.hpp"

namespace wormcube::cli {

ExitCode reproduce_chapter(Context& context, const CheckOptions& check,
                           const OutputOptions& output);

}  // namespace wormcube::cli
