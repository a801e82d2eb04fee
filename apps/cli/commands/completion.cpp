// wormcube completion: a shell's completion script, generated from the options.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/common/machines.hpp"
#include "wormcube/collectives/core/permutation.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/topology/families.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

bool is_word(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+-") == text.npos;
}

/// The completions of an option's value by its type, as an argument of the script's `offer`: words,
/// or the name of one of its lists. \param files  whether file names complete it too
std::string values_of(std::string_view type, bool& files) {
  if (type == "TOPOLOGY") return "$networks";
  if (type == "OPERATION") return "$operations";
  if (type == "PAPER") return "kim suh dimakopoulos wang-tseng grama";
  if (type == "SHELL") return "bash zsh fish";
  if (type.starts_with("NAME[")) {
    return std::string(type.ends_with("|all") ? "auto all " : "") + "$(_wormcube_algorithms)";
  }
  std::string words;
  if (type == "NAME|FILE.json") words = "$machines";
  if (type.starts_with("PERMUTATION|")) words = permutation_names(" ");
  std::istringstream parts{std::string(type)};
  for (std::string part; std::getline(parts, part, '|');) {
    files = files || part.starts_with("FILE");
    if (is_word(part)) words += (words.empty() ? "" : " ") + part;
  }
  return words;
}

/// "run:--on) offer "$networks" ;;", a line for each option with known values; an operand has no
/// name there.
std::string values_text(const CLI::App& command) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view type) {
    bool files = false;
    const std::string words = values_of(type, files);
    if (words.empty() && !files) return;
    text += fmt::format("    {}:{}) offer \"{}\"{} ;;\n", command.get_name(), name, words,
                        files ? " files" : "");
  };
  for (const CLI::Option* option : command.get_options()) {
    if (option->nonpositional()) add(option->get_name(), type_text(*option));
    if (!option->get_positional()) continue;
    const std::string name = option->get_name(true);
    add("", name == "NAME" ? "NAME|FILE.json" : name);
  }
  return text;
}

/// The words that both scripts offer.
struct CompletedWords {
  std::string commands, operations, machines, networks;
};

void join(std::string& list, std::string_view word) {
  list.append(list.empty() ? "" : " ").append(word);
}

CompletedWords words_of(const CLI::App& program) {
  CompletedWords words;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    join(words.commands, command->get_name());
  }
  for (const Operation operation : all_operations) join(words.operations, operation->name);
  for (const MachineProfile& profile : machine_profiles()) join(words.machines, profile.name);
  for (const NetworkKind& kind : network_kinds()) {
    const bool is_whole = kind.example == kind.name;
    join(words.networks, std::string(kind.name) + (is_whole ? "" : ":"));
  }
  return words;
}

std::string algorithms_of(Operation operation) {
  std::string names;
  for (const Algorithm* algorithm : registry()) {
    if (algorithm->operation == operation) join(names, algorithm->name);
  }
  return names;
}

std::string bash_text(const CLI::App& program) {
  const CompletedWords words = words_of(program);
  std::string options, values, algorithms;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    std::string names, own_flags;
    for (const CLI::Option* option : command->get_options()) {
      if (!option->nonpositional()) continue;
      join(names, option->get_name());
      if (option->get_items_expected_max() == 0) join(own_flags, option->get_name());
    }
    options += fmt::format("    {}) words=\"{}\" flags=\"{}\" ;;\n", command->get_name(), names,
                           own_flags);
    values += values_text(*command);
  }
  for (const Operation operation : all_operations) {
    algorithms +=
        fmt::format("    {}) echo \"{}\" ;;\n", operation->name, algorithms_of(operation));
  }
  return fmt::format(R"(# bash completion for wormcube. Written by `wormcube completion bash`.
_wormcube_algorithms() {{
  case ${{COMP_WORDS[2]}} in
{algorithms}  esac
}}
_wormcube() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} words= flags= at last=
  local networks="{networks}" operations="{operations}" machines="{machines}"
  # A ':' divides words in bash: what stands before it is no part of what is completed.
  local line=${{COMP_LINE:0:COMP_POINT}}
  local whole=${{line##*[[:space:]]}}
  local item=${{whole##*,}}
  local before=${{item%"${{item##*:}}"}} kept=${{whole%"$item"}}
  kept=${{kept##*:}}
  offer() {{
    local found
    COMPREPLY=()
    for found in $(compgen -W "$1" -- "$item"); do
      if [[ -n $before ]]; then found=${{found#"$before"}}; else found=$kept$found; fi
      COMPREPLY+=("$found")
    done
    if [[ ${{2-}} == files ]]; then
      compopt -o filenames 2>/dev/null
      COMPREPLY+=($(compgen -f -- "$word"))
    fi
    [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *: ]] && compopt -o nospace 2>/dev/null
    return 0
  }}
  if [[ $COMP_CWORD -eq 1 ]]; then
    offer "{commands} help version --help --version --plugin"
    return
  fi
  case $command in
{options}    help) offer "{commands}"; return ;;
    *) return ;;
  esac
  if [[ $word == -* ]]; then offer "$words"; return; fi
  for ((at = COMP_CWORD - 1; at > 1; --at)); do
    if [[ ${{COMP_WORDS[at]}} == --* ]]; then last=${{COMP_WORDS[at]}}; break; fi
  done
  [[ " $flags " == *" $last "* ]] && last=
  case $command:$last in
{values}  esac
}}
complete -F _wormcube wormcube
)",
                     fmt::arg("algorithms", algorithms), fmt::arg("networks", words.networks),
                     fmt::arg("operations", words.operations), fmt::arg("machines", words.machines),
                     fmt::arg("commands", words.commands), fmt::arg("options", options),
                     fmt::arg("values", values));
}

/// In single quotes, for fish.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// `complete -c wormcube -n 'CONDITION' ..` for the value of an option or an operand.
std::string fish_values(std::string_view type) {
  bool files = false;
  std::string words = values_of(type, files);
  const std::string_view algorithms = "$(_wormcube_algorithms)";
  if (const auto at = words.find(algorithms); at != words.npos) {
    words.replace(at, algorithms.size(), "(__wormcube_algorithms)");
  }
  for (const char* const list : {"networks", "operations", "machines"}) {
    if (words.starts_with(fmt::format("${}", list))) words.replace(0, 1, "$__wormcube_");
  }
  return fmt::format("{}{}", files ? " -F" : " -f",
                     words.empty() ? "" : fmt::format(" -a \"{}\"", words));
}

std::string fish_text(const CLI::App& program) {
  const CompletedWords words = words_of(program);
  std::string algorithms, options;
  for (const Operation operation : all_operations) {
    algorithms += fmt::format("    case {}\n      string split ' ' \"{}\"\n", operation->name,
                              algorithms_of(operation));
  }
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string within = fmt::format(
        "complete -c wormcube -n '__fish_seen_subcommand_from {}'", command->get_name());
    options += fmt::format("complete -c wormcube -n __fish_use_subcommand -f -a {} -d {}\n",
                           command->get_name(), fish_quoted(command->get_description()));
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional() || !option->nonpositional()) {
        const std::string name = option->get_name(true);
        options += within + fish_values(name == "NAME" ? "NAME|FILE.json" : name) + '\n';
      }
      for (const std::string& name : option->get_lnames()) {
        const bool flag = option->get_items_expected_max() == 0;
        options += fmt::format("{} -l {}{}\n", within, name,
                               flag ? "" : " -r" + fish_values(type_text(*option)));
      }
    }
  }
  return fmt::format(R"(# fish completion for wormcube. Written by `wormcube completion fish`.
set -g __wormcube_networks {networks}
set -g __wormcube_operations {operations}
set -g __wormcube_machines {machines}
function __wormcube_algorithms
  switch (commandline -opc)[3]
{algorithms}  end
end
complete -c wormcube -f
{options})",
                     fmt::arg("networks", words.networks), fmt::arg("operations", words.operations),
                     fmt::arg("machines", words.machines), fmt::arg("algorithms", algorithms),
                     fmt::arg("options", options));
}

ExitCode completion(const CLI::App& program, const std::string& shell) {
  const std::string text = shell == "fish" ? fish_text(program) : bash_text(program);
  print_data(shell == "zsh"
                 ? "#compdef wormcube\nautoload -U +X bashcompinit && bashcompinit\n" + text
                 : text);
  return passed;
}

}  // namespace

Action add_completion(CLI::App& program) {
  auto shell = std::make_shared<std::string>();
  CLI::App& app = *program.add_subcommand("completion", "Print a completion script for a shell");
  app.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  app.footer(
      "The script completes commands, options and their values, operations and their algorithms, "
      "networks, machines and files. Installing wormcube also installs the scripts for bash, zsh "
      "and fish.\n\n"
      "Examples:\n"
      "  source <(wormcube completion bash)\n"
      "  wormcube completion fish | source\n"
      "  wormcube completion zsh > \"${fpath[1]}/_wormcube\"");
  return [&program, shell](Context&) { return completion(program, *shell); };
}

}  // namespace wormcube::cli
