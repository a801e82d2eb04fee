// Still pictures of an algorithm on the page: for print, for films, and for the gallery.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/commands/draw_play.hpp"
#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/draw/layout.hpp"
#include "wormcube/apps/draw/still.hpp"

#include <string>

namespace wormcube::cli {

/// Up to 12 steps, or one. \param step  -1: the first steps, or the first of each phase
apps::Sheet sheet_of(const Context& context, const Play& play, const apps::Layout& layout,
                     const Routing& routing, long step, Bytes block_bytes);
/// A picture of each step, all of one size, for ffmpeg: DIR/0000.png, DIR/0001.png, ..
void write_frames(const Context& context, const Play& play, const apps::Layout& layout,
                  const Routing& routing, const std::string& folder, Bytes block_bytes);
/// An empty folder for frames: those of another run would be mixed with them.
void make_empty_folder(const std::string& folder);
/// A thumbnail for the gallery's index: no text, in the page's colours.
std::string thumbnail_of(const Play& play, const apps::Layout& layout, const Routing& routing,
                         std::string title);
/// The page without JavaScript: the figures, and the first step.
std::string without_script(const apps::Sheet& sheet);

}  // namespace wormcube::cli
