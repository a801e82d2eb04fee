// Reads XML that keeps its data in attributes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/xml.hpp"

#include "wormcube/apps/io/text.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

class XmlReader {
 public:
  XmlReader(std::string_view text, std::string_view name, double most_bytes)
      : rest_(text), name_(name), most_bytes_(most_bytes) {}

  XmlElement read() {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
    skip_to_tag();
    if (rest_.empty()) fail("not XML: there is no element");
    XmlElement root = element(0);
    skip_to_tag();
    if (!rest_.empty()) fail("not XML: something follows the outermost element");
    return root;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw UsageError(fmt::format("{}:{}: {}", name_, line_, what));
  }

  void skip(std::size_t characters) {
    line_ += static_cast<std::size_t>(std::ranges::count(rest_.substr(0, characters), '\n'));
    rest_.remove_prefix(std::min(characters, rest_.size()));
  }
  /// Goes past `end`, which must come.
  std::string_view take_until(std::string_view end) {
    const std::size_t at = rest_.find(end);
    if (at == rest_.npos) fail(fmt::format("not XML: '{}' is missing", end));
    const std::string_view before = rest_.substr(0, at);
    skip(at + end.size());
    return before;
  }
  void skip_blanks() { skip(std::min(rest_.find_first_not_of(blanks), rest_.size())); }
  /// Goes to the next tag; past text, comments and declarations.
  void skip_to_tag() {
    while (true) {
      skip(std::min(rest_.find('<'), rest_.size()));
      if (rest_.starts_with("<!--")) {
        take_until("-->");
      } else if (rest_.starts_with("<?")) {
        take_until("?>");
      } else if (rest_.starts_with("<!")) {
        take_until(">");
      } else {
        return;
      }
    }
  }

  std::string_view word() {
    const std::size_t size = std::min(rest_.find_first_of(" \t\r\n=/<>\"'"), rest_.size());
    if (size == 0) fail(fmt::format("not XML: a name expected before '{}'", shown(rest_, 20)));
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return word;
  }

  /// An element, from its '<' on.
  XmlElement element(int depth) {
    constexpr int most_depth = 16;
    if (depth == most_depth) fail("elements are nested more than 16 deep");
    rest_.remove_prefix(1);
    XmlElement element{.name = word(), .line = line_};
    charge(sizeof(XmlElement));
    for (skip_blanks(); !rest_.empty() && rest_.front() != '>' && rest_.front() != '/';
         skip_blanks()) {
      const std::string_view key = word();
      skip_blanks();
      if (!rest_.starts_with('='))
        fail(fmt::format("not XML: '=' expected after '{}'", shown(key)));
      rest_.remove_prefix(1);
      skip_blanks();
      if (!rest_.starts_with('"') && !rest_.starts_with('\''))
        fail(fmt::format("not XML: the value of '{}' is not in quotes", shown(key)));
      const std::string_view quote = rest_.substr(0, 1);
      rest_.remove_prefix(1);
      const std::string_view value = take_until(quote);
      if (element.attribute(key)) fail(fmt::format("not XML: attribute {} twice", shown(key)));
      charge(2 * sizeof(element.attributes[0]));
      element.attributes.emplace_back(key, value);
    }
    if (rest_.starts_with("/>")) {
      rest_.remove_prefix(2);
      return element;
    }
    if (!rest_.starts_with('>')) fail(fmt::format("not XML: '>' of '{}' is missing", element.name));
    rest_.remove_prefix(1);
    for (skip_to_tag(); !rest_.starts_with("</"); skip_to_tag()) {
      if (rest_.empty()) fail(fmt::format("not XML: '</{}>' is missing", shown(element.name)));
      charge(sizeof(XmlElement));  // the vector grows to twice its size
      element.children.push_back(this->element(depth + 1));
    }
    rest_.remove_prefix(2);
    if (const std::string_view end = word(); end != element.name) {
      fail(fmt::format("not XML: '</{}>' ends '<{}>' of line {}", shown(end), shown(element.name),
                       element.line));
    }
    skip_blanks();
    if (!rest_.starts_with('>')) fail("not XML: '>' of an end tag is missing");
    rest_.remove_prefix(1);
    return element;
  }

  void charge(double bytes) {
    bytes_ += bytes;
    if (bytes_ > most_bytes_) {
      constexpr double mebibyte = 1024.0 * 1024;
      fail(fmt::format("the file would take more than {:.0f} MiB of memory",
                       most_bytes_ / mebibyte));
    }
  }

  static constexpr std::string_view blanks = " \t\r\n";
  std::string_view rest_, name_;
  std::size_t line_ = 1;
  double bytes_ = 0, most_bytes_;
};

}  // namespace

std::optional<std::string_view> XmlElement::attribute(std::string_view key) const {
  const auto found =
      std::ranges::find(attributes, key, [](const auto& each) { return each.first; });
  return found == attributes.end() ? std::nullopt : std::optional(found->second);
}

XmlElement parse_xml(std::string_view text, std::string_view name, double most_bytes) {
  return XmlReader(text, name, most_bytes).read();
}

}  // namespace wormcube::apps
