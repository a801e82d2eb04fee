// A reader for XML files that keep their data in attributes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace wormcube::apps {

/// An element with its attributes and children. Views into the text; entities stay as written.
struct XmlElement {
  std::string_view name;
  std::size_t line = 0;
  std::vector<std::pair<std::string_view, std::string_view>> attributes = {};
  std::vector<XmlElement> children = {};

  std::optional<std::string_view> attribute(std::string_view key) const;
};

/// The outermost element. Comments, declarations and text between elements are skipped. Throws
/// UsageError, "NAME:LINE: what", for text that is not well formed, for elements nested more than
/// 16 deep, and if the elements would take more than `most_bytes`.
XmlElement parse_xml(std::string_view text, std::string_view name, double most_bytes);

}  // namespace wormcube::apps
