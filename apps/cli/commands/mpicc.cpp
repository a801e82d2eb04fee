// wormcube mpicc, mpicxx: run a compiler with the options that a program needs to be a rank.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/mpi_command_line.hpp"
#include "wormcube/apps/cli/core/child.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/mpi/engine/run/run.hpp"
#include "wormcube/compilers.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

namespace wormcube::cli {
namespace {

/// The purpose of a compiler's command line.
struct CompilerCall {
  bool links = true, makes_library = false, has_input = false, shows = false;
  std::string shown_part;  ///< "-compile-info" or "-link-info"
};

bool is_show(std::string_view word) { return word == "-show" || word == "--showme"; }

bool is_fortran(std::string_view file) {
  constexpr std::array<std::string_view, 9> endings{".f",   ".F",   ".for", ".f77", ".f90",
                                                    ".F90", ".f95", ".f03", ".f08"};
  return std::ranges::any_of(endings, [&](auto ending) { return file.ends_with(ending); });
}

CompilerCall understood(const std::vector<std::string>& words) {
  // Options whose value is the next word.
  constexpr std::array<std::string_view, 24> with_value{
      "-o",       "-I",       "-D",  "-U",       "-L",          "-l",
      "-include", "-imacros", "-x",  "-isystem", "-iquote",     "-idirafter",
      "-MF",      "-MT",      "-MQ", "-Xlinker", "-Xassembler", "-Xpreprocessor",
      "-T",       "-u",       "-z",  "-e",       "--param",     "-aux-info"};
  constexpr std::array<std::string_view, 7> no_link{"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only",
                                                    "-r"};
  constexpr std::array<std::string_view, 6> not_for_ranks{"-static",  "-no-pie",  "-nopie",
                                                          "-fno-pic", "-fno-PIC", "-static-pie"};
  CompilerCall call;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (std::ranges::find(not_for_ranks, word) != not_for_ranks.end()) {
      throw UsageError(
          fmt::format("mpicc: {}: a program is loaded once per rank, so it must be "
                      "position-independent; leave {} out",
                      word, word));
    }
    if (std::ranges::find(no_link, word) != no_link.end()) call.links = false;
    if (word == "-shared" || word == "--shared") call.makes_library = true;
    if (is_show(word)) call.shows = true;
    if (word == "-compile-info" || word == "-link-info") call.shown_part = word;
    if (std::ranges::find(with_value, word) != with_value.end()) {
      ++i;
    } else if (word[0] != '-' || word == "-" || word.starts_with("-l")) {
      if (is_fortran(word))
        throw UsageError(fmt::format(
            "mpicc: {}: Fortran is not supported; only C and C++ programs can be built", word));
      call.has_input = true;
    }
  }
  return call;
}

/// The first line of a compiler's output.
std::string answer_of(std::vector<std::string> compiler, const std::string& question) {
  compiler.push_back(question);
  const std::string program = compiler.front();
  const std::string out = run_child(program, std::move(compiler)).out;
  return out.substr(0, out.find('\n'));
}

/// The compiler as words: a path to an executable file is one word, blanks included; other text is
/// split at blanks, "ccache gcc-12". No shell interprets it.
std::vector<std::string> compiler_words(const std::string& text, const char* variable) {
  std::error_code ignored;
  if (text.find('/') != std::string::npos && access(text.c_str(), X_OK) == 0 &&
      std::filesystem::is_regular_file(text, ignored)) {
    return {text};
  }
  std::vector<std::string> words;
  std::size_t from = 0;
  while ((from = text.find_first_not_of(' ', from)) != std::string::npos) {
    const std::size_t to = std::min(text.find(' ', from), text.size());
    words.push_back(text.substr(from, to - from));
    from = to;
  }
  if (words.empty()) {
    throw UsageError(
        fmt::format("{} is blank; name a compiler, as in {}=gcc-12", variable, variable));
  }
  return words;
}

/// For a shell.
std::string quoted(const std::string& word) {
  if (word.find_first_of(" '\"$`\\") == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

/// The options for linking a program. \param linker_alone  in the form that CMake's FindMPI passes
/// on, -Wl but not -shared; the compiler links an ordinary program then
std::vector<std::string> link_words(const mpi::Kit& kit, bool makes_library, bool linker_alone) {
  std::vector<std::string> words{"-L" + kit.library, "-Wl,-rpath," + kit.library};
  if (!makes_library) {
    words.insert(words.end(), {linker_alone ? "-Wl,-shared" : "-shared", "-Wl,-Bsymbolic"});
    // main may be in an archive that precedes its use.
    words.insert(words.end(), {"-Wl,-u,wormcube_rank_main", "-Wl,-u,main"});
    if (!linker_alone)
      words.insert(words.end(), {"-Wl,-z,now", "-Wl,-z,relro", "-Wl,-z,defs", "-Wl,-e,_start"});
  }
  return words;
}

std::vector<std::string> whole_command(const std::vector<std::string>& compiler,
                                       const std::vector<std::string>& words,
                                       const CompilerCall& call) {
  const mpi::Kit kit = mpi::find_kit();
  std::vector<std::string> command = compiler;
  // First, so that the caller's options win. It keeps arrays on a rank's stack from reaching past
  // its guard.
  command.emplace_back("-fstack-clash-protection");
  for (const std::string& word : words) {
    if (!is_show(word) && word != "-pie") command.push_back(word);
  }
  command.push_back("-I" + kit.include);
  command.emplace_back("-fPIC");  // last, so that it wins
  if (!call.links || (!call.has_input && !call.shows)) return command;
  for (std::string& word : link_words(kit, call.makes_library, false)) command.push_back(word);
  if (!call.makes_library) {
    command.push_back(answer_of(compiler, "-print-file-name=Scrt1.o"));
    command.emplace_back("-lwormcube_rank");
  }
  command.emplace_back("-lmpi_abi");
  return command;
}

/// The answer to -compile-info or -link-info, which CMake's FindMPI uses.
std::vector<std::string> part_of_command(const std::string& part) {
  const mpi::Kit kit = mpi::find_kit();
  // FindMPI drops -fPIC unless it follows another word, which it splits at the semicolon later.
  if (part == "-compile-info") return {"-I" + kit.include, "-fstack-clash-protection\\;-fPIC"};
  std::vector<std::string> words = link_words(kit, false, true);
  words.insert(words.end(), {"-lwormcube_rank", "-lmpi_abi"});
  return words;
}

ExitCode run(const Context& context, bool is_cxx) {
  const char* const variable = is_cxx ? "WORMCUBE_CXX" : "WORMCUBE_CC";
  const char* const named = std::getenv(variable);
  const std::vector<std::string> compiler =
      compiler_words(named != nullptr && *named != '\0' ? named
                     : is_cxx                           ? cxx_compiler
                                                        : c_compiler,
                     variable);
  const std::vector<std::string>& words = context.program_words();
  const CompilerCall call = understood(words);
  std::vector<std::string> command = call.shown_part.empty() ? whole_command(compiler, words, call)
                                                             : part_of_command(call.shown_part);
  if (call.shows || !call.shown_part.empty()) {
    std::string text;
    for (const std::string& word : command) {
      text += (text.empty() ? "" : " ") + (call.shows ? quoted(word) : word);
    }
    print_data(text + "\n");
    return passed;
  }
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  flush_output();
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  execvp(arguments.front(), arguments.data());
  throw UsageError(fmt::format("{}: {}; name a compiler by {}", arguments.front(),
                               std::strerror(errno), variable));
}

Action add_compiler(CLI::App& program, const std::string& name, bool is_cxx) {
  CLI::App& app = *program.add_subcommand(
      name, fmt::format("Compile and link an MPI program in {} for `wormcube mpirun`",
                        is_cxx ? "C++" : "C"));
  app.footer(fmt::format(
      "Everything after {0} is passed to the compiler that wormcube was built with, or to ${1} if "
      "it is set. {0} adds the options that are needed to load a program once per rank. -show "
      "prints the resulting compiler command.\n"
      "{1} is either the path of an executable file (the path may contain spaces) or a command "
      "whose words are separated by spaces (ccache gcc-12). No shell interprets it.\n\n"
      "Examples:\n"
      "  wormcube {0} -O2 ring.{2} -o ring\n"
      "  make {3}=\"wormcube {0}\"\n"
      "  ./configure {3}=\"wormcube {0}\"\n"
      "  wormcube {0} -show",
      name, is_cxx ? "WORMCUBE_CXX" : "WORMCUBE_CC", is_cxx ? "cpp" : "c", is_cxx ? "CXX" : "CC"));
  return [is_cxx](Context& context) { return run(context, is_cxx); };
}

}  // namespace

Action add_mpicc(CLI::App& program) { return add_compiler(program, "mpicc", false); }
Action add_mpicxx(CLI::App& program) { return add_compiler(program, "mpicxx", true); }

}  // namespace wormcube::cli
