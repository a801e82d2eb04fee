// Files of pictures: SVG is ours, PDF and PNG are made from it by rsvg-convert.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wormcube::apps {

enum class PictureFormat : std::uint8_t { svg, pdf, png };

/// By the end of a file's name; any name but .pdf and .png means SVG.
PictureFormat picture_format(std::string_view file);
/// Throws UsageError if the format needs rsvg-convert and it is not installed. Call it before work
/// that takes long.
void require_picture_format(PictureFormat format);
/// The bytes of a file in this format. Throws UsageError if rsvg-convert fails.
std::string picture(const std::string& svg, PictureFormat format);

}  // namespace wormcube::apps
