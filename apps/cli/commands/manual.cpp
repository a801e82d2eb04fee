// wormcube manual: the manual page, from the help texts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/version.hpp"

#include <sstream>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

/// Text in roff, with roff's special characters escaped.
std::string roff(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

/// Paragraphs are filled; lines that start with a blank are unchanged.
std::string roff_text(std::string_view text) {
  std::istringstream lines{std::string(text)};
  std::string out;
  bool as_is = false;
  for (std::string line; std::getline(lines, line);) {
    const bool keep = line.starts_with(' ');
    if (line.empty()) {
      out += as_is ? "\n" : ".PP\n";
      continue;
    }
    if (keep != as_is) out += keep ? ".nf\n" : ".fi\n.PP\n";
    as_is = keep;
    out += roff(line) + '\n';
  }
  return out + (as_is ? ".fi\n" : "");
}

std::string option_text(const CLI::Option& option) {
  std::string text = ".TP\n\\fB" + roff(option.get_name()) + "\\fR";
  if (option.nonpositional() && option.get_type_size() != 0) {
    text += " \\fI" + roff(type_text(option)) + "\\fR";
  }
  text += '\n' + roff(option.get_description());
  if (const std::string preset = default_text(option); option.nonpositional() && !preset.empty()) {
    text += " [" + roff(preset) + "]";
  }
  return text + '\n';
}

ExitCode manual(const CLI::App& program) {
  std::string text = fmt::format(
      ".TH WORMCUBE 1 \"\" \"wormcube {}\" \"User Commands\"\n.nh\n.ad l\n.SH NAME\nwormcube \\- a "
      "multicomputer on a "
      "workstation\n.SH SYNOPSIS\n.B wormcube\n[\\fB\\-\\-plugin\\fR \\fIFILE.so\\fR] "
      "\\fICOMMAND\\fR "
      "[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n",
      version);
  text += roff_text(program.get_description()) + ".PP\n" + roff_text(program.get_footer());
  text += ".SH OPTIONS\n";
  for (const CLI::Option* option : program.get_options()) text += option_text(*option);
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    text += ".SS " + roff(command->get_name()) + '\n' + roff_text(command->get_description());
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_name() != "-h,--help" && option->get_name() != "--help")
        text += option_text(*option);
    }
    text += ".PP\n" + roff_text(command->get_footer());
  }
  print_data(text);
  return passed;
}

}  // namespace

Action add_manual(CLI::App& program) {
  CLI::App& app =
      *program.add_subcommand("manual", "Print the manual page, with all commands and options");
  app.footer(
      "The output is the source of the page in roff, which man can format. Installing wormcube "
      "also installs the page; to read it, run `man wormcube`.\n\n"
      "Examples:\n"
      "  wormcube manual | man -l -");
  return [&program](Context&) { return manual(program); };
}

}  // namespace wormcube::cli
