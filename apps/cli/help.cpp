// The form of --help.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/help.hpp"

#include "wormcube/collectives/registry.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

namespace wormcube::cli {

namespace {

constexpr std::size_t help_width = 100, name_width = 30;

/// Words in lines of at most help_width; each line but the first starts with `indent` blanks, the
/// first one at `column`.
std::string wrap(std::string_view text, std::size_t column, std::size_t indent) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column + 1 + word.size() > help_width && column > indent) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string entry(const std::string& name, std::string_view description) {
  std::string out = "  " + name;
  if (name.size() + 2 >= name_width) {
    out += '\n' + std::string(name_width, ' ');
  } else {
    out += std::string(name_width - name.size() - 2, ' ');
  }
  return out + wrap(description, name_width, name_width) + '\n';
}

/// What an option takes. Behind a ':' that is not in brackets stand the validators, which say the same
/// again.
std::string without_validators(const std::string& type) {
  int depth = 0;
  for (std::size_t at = 0; at < type.size(); ++at) {
    depth += type[at] == '[' ? 1 : type[at] == ']' ? -1 : 0;
    if (type[at] == ':' && depth == 0) return type.substr(0, at);
  }
  return type;
}

/// The default value as it would be typed; lists come as "[1K]".
std::string default_text(const CLI::Option& option) {
  std::string text = option.get_default_str();
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']')
    text = text.substr(1, text.size() - 2);
  return text;
}

}  // namespace

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrap(app->get_description(), 0, 0) + "\n\n";
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string name = make_option_name(option, is_positional);
  std::string description = option->get_description();
  if (is_positional) return entry(name, description);
  if (option->get_type_size() != 0) {
    name += ' ' + without_validators(option->get_type_name());
    if (const std::string value = default_text(*option); !value.empty())
      description += " [" + value + "]";
    if (option->get_required()) description += " (required)";
  }
  return entry(name, description);
}

std::string HelpFormatter::make_group(std::string group, bool is_positional,
                                      std::vector<const CLI::Option*> options) const {
  std::string out = CLI::Formatter::make_group(group, is_positional, std::move(options));
  // CLI11 leaves two empty lines before each group but the first.
  return is_positional || group == "Options" ? out : out.substr(1);
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  std::string out, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) out += wrap(paragraph, 0, 0) + '\n';
    paragraph.clear();
  };
  std::istringstream lines(app->get_footer());
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() != ' ') {
      paragraph += (paragraph.empty() ? "" : " ") + line;
      continue;
    }
    end_paragraph();
    out += line + '\n';
  }
  end_paragraph();
  return out;
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return entry(command->get_name(), command->get_description());
}

std::string operations_text() {
  std::string text;
  for (const Operation operation : all_operations) {
    text += (text.empty() ? "" : ", ") + std::string(operation->name);
  }
  return text;
}

}  // namespace wormcube::cli
