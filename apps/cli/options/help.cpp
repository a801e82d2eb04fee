// The layout of --help.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/help.hpp"

#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/collectives/core/registry.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

namespace wormcube::cli {

namespace {

/// The column of descriptions: further left if lines are short.
std::size_t name_width() {
  constexpr std::size_t wide = 30, narrow = 24, wide_line = 90;
  return line_width() < wide_line ? narrow : wide;
}

/// Words in lines of at most line_width(); each line but the first starts with `indent` blanks, the
/// first one at `column`. \param broken  the text that ends each broken line
std::string wrap(std::string_view text, std::size_t column, std::size_t indent,
                 std::string_view broken = "") {
  const std::size_t most = line_width() - broken.size();
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column + 1 + word.size() > most && column > indent) {
      out.append(broken).append("\n").append(indent, ' ');
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

/// A line with blanks of its own. If it is too long for the terminal, it continues below its last
/// column; a command continues as a shell reads it.
std::string kept(const std::string& line) {
  if (line.size() <= line_width()) return line + '\n';
  const std::size_t start = line.find_first_not_of(' ');
  const bool is_command = line.compare(start, 9, "wormcube ") == 0;
  std::size_t column = start;
  for (std::size_t at = line.find("  ", start); at < line_width() / 2;
       at = line.find("  ", column)) {
    column = std::min(line.find_first_not_of(' ', at), line.size());
  }
  if (is_command && column > start) {  // the explanation, on a line of its own
    const std::size_t end = line.find_last_not_of(' ', column - 1) + 1;
    return kept(line.substr(0, end)) + kept(std::string(start + 4, ' ') + line.substr(column));
  }
  if (is_command) column = start;
  return line.substr(0, column) +
         wrap(std::string_view(line).substr(column), column, is_command ? start + 4 : column,
              is_command ? " \\" : "") +
         '\n';
}

std::string entry(const std::string& name, std::string_view description) {
  const std::size_t column = name_width();
  std::string out = "  " + name;
  if (name.size() + 2 >= column) {
    out += '\n' + std::string(column, ' ');
  } else {
    out += std::string(column - name.size() - 2, ' ');
  }
  return out + wrap(description, column, column) + '\n';
}

}  // namespace

std::string type_text(const CLI::Option& option) {
  // Validators follow a ':' outside of brackets and repeat the type.
  const std::string type = option.get_type_name();
  int depth = 0;
  for (std::size_t at = 0; at < type.size(); ++at) {
    depth += type[at] == '[' ? 1 : type[at] == ']' ? -1 : 0;
    if (type[at] == ':' && depth == 0) return type.substr(0, at);
  }
  return type;
}

std::string default_text(const CLI::Option& option) {
  std::string text = option.get_default_str();
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']')
    text = text.substr(1, text.size() - 2);  // CLI11 writes lists as "[1K]"
  return text;
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
  return wrap(app->get_description(), 0, 0) + "\n\n";
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = CLI::Formatter::make_usage(app, std::move(name));
  const std::string& command = app->get_name();
  const char* passed_on = command == "mpirun"                         ? " PROGRAM [ARGUMENT..]"
                          : command == "mpicc" || command == "mpicxx" ? " [ARGUMENT..]"
                                                                      : "";
  usage.insert(usage.find_last_not_of('\n') + 1, passed_on);
  return usage;
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string name = make_option_name(option, is_positional);
  std::string description = option->get_description();
  if (is_positional) return entry(name, description);
  if (option->get_type_size() != 0) {
    name += ' ' + type_text(*option);
    if (const std::string value = default_text(*option); !value.empty())
      description += " [" + value + "]";
    if (option->get_required()) description += " (required)";
  }
  return entry(name, description);
}

std::string HelpFormatter::make_group(std::string group, bool is_positional,
                                      std::vector<const CLI::Option*> options) const {
  std::string out = CLI::Formatter::make_group(group, is_positional, std::move(options));
  // CLI11 writes two empty lines before each group except the first.
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
    out += line.empty() ? "\n" : kept(line);
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
