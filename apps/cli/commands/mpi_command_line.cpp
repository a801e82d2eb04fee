// Arguments of another program.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/mpi_command_line.hpp"

#include "wormcube/apps/cli/commands/commands.hpp"

#include <string_view>

namespace wormcube::cli {
namespace {

/// The command if the program is started by a link of that name; nullptr: by its own name.
const char* command_of_name(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  if (name == "mpicc") return "mpicc";
  if (name == "mpicxx" || name == "mpic++" || name == "mpiCC") return "mpicxx";
  if (name == "mpirun" || name == "mpiexec") return "mpirun";
  return nullptr;
}

/// Whether the next word is this option's value.
bool takes_next(const CLI::App& command, std::string_view word) {
  if (word.find('=') != std::string_view::npos) return false;
  const CLI::Option* const option = command.get_option_no_throw(std::string(word));
  return option != nullptr && option->get_expected_min() > 0 && option->get_type_size() > 0;
}

}  // namespace

CommandLine split_command_line(int argc, const char* const* argv) {
  CommandLine line{{argv, argv + argc}, {}};
  std::vector<const char*>& own = line.own;
  if (const char* const command = argc > 0 ? command_of_name(argv[0]) : nullptr) {
    own.insert(own.begin() + 1, command);
  }
  std::size_t command = 1;
  while (command < own.size() && own[command][0] == '-') {
    command += std::string_view(own[command]) == "--plugin" ? 2 : 1;
  }
  if (command >= own.size()) return line;
  const std::string_view name = own[command];
  std::size_t end = own.size();
  if (name == "mpicc" || name == "mpicxx") {
    // The compiler has --help too; alone it is ours.
    const bool asks = own.size() == command + 2 && std::string_view(own[command + 1]) == "--help";
    end = asks ? own.size() : command + 1;
  } else if (name == "mpirun") {
    CLI::App probe;
    static_cast<void>(add_mpirun(probe));
    const CLI::App& mpirun = *probe.get_subcommands({}).front();
    end = command + 1;
    while (end < own.size() && own[end][0] == '-') {
      if (std::string_view(own[end]) == "--") {
        own.erase(own.begin() + static_cast<std::ptrdiff_t>(end));
        break;
      }
      if (std::string_view(own[end]) == "-np") own[end] = "-n";
      end += takes_next(mpirun, own[end]) ? 2 : 1;
    }
    end = std::min(end, own.size());
  }
  for (std::size_t i = end; i < own.size(); ++i) line.program.emplace_back(own[i]);
  own.resize(end);
  return line;
}

}  // namespace wormcube::cli
