// Picture files: SVG, and PDF and PNG that rsvg-convert makes from it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wormcube::apps {

enum class PictureFormat : std::uint8_t { svg, pdf, png };

/// The format for a file name, SVG for one without an extension. Throws UsageError for others.
PictureFormat picture_format(std::string_view file);
/// Throws UsageError if the format needs rsvg-convert and it is not installed. Call it before long
/// work.
void require_picture_format(PictureFormat format);
/// A file's bytes in this format. Throws UsageError if rsvg-convert fails.
std::string picture(const std::string& svg, PictureFormat format);

}  // namespace wormcube::apps
