// wormcube mpicc, mpicxx: a compiler's command, with what a program needs to be a rank.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/child.hpp"
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/foreign_words.hpp"
#include "wormcube/apps/cli/output/print.hpp"
#include "wormcube/apps/mpi/engine/run.hpp"
#include "wormcube/compilers.hpp"
#include "wormcube/runtime/error.hpp"

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

/// What a command line of a compiler asks for.
struct CompilerCall {
  bool links = true, makes_library = false, has_input = false, shows = false;
};

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
          fmt::format("mpicc: {}: a program is loaded once for each rank, so it must be able to "
                      "lie anywhere; leave {} out",
                      word, word));
    }
    if (std::ranges::find(no_link, word) != no_link.end()) call.links = false;
    if (word == "-shared" || word == "--shared") call.makes_library = true;
    if (word == "-show" || word == "-compile-info" || word == "-link-info" || word == "--showme") {
      call.shows = true;
    }
    if (std::ranges::find(with_value, word) != with_value.end()) {
      ++i;
    } else if (word[0] != '-' || word == "-" || word.starts_with("-l")) {
      call.has_input = true;
    }
  }
  return call;
}

/// The first line that a compiler prints.
std::string answer_of(std::vector<std::string> compiler, const std::string& question) {
  compiler.push_back(question);
  const std::string program = compiler.front();
  const std::string out = run_child(program, std::move(compiler)).out;
  return out.substr(0, out.find('\n'));
}

/// The compiler as words: a path to an executable file is one word, whatever blanks it has; other
/// text ends its words at blanks, "ccache gcc-12". No shell reads it.
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

std::vector<std::string> whole_command(const std::vector<std::string>& compiler,
                                       const std::vector<std::string>& words, bool is_cxx,
                                       const CompilerCall& call) {
  const mpi::Kit kit = mpi::find_kit();
  std::vector<std::string> command = compiler;
  for (const std::string& word : words) {
    if (word != "-show" && word != "--showme" && word != "-pie") command.push_back(word);
  }
  command.push_back("-I" + kit.include);
  command.emplace_back("-fPIC");  // last, so that it wins
  const bool is_clang = answer_of(compiler, "--version").find("clang") != std::string::npos;
  // Else inline variables, statics of templates and of inline functions are one for all ranks.
  if (is_cxx && !is_clang) command.emplace_back("-fno-gnu-unique");
  if (!call.links || (!call.has_input && !call.shows)) return command;
  command.push_back("-L" + kit.library);
  command.push_back("-Wl,-rpath," + kit.library);
  if (!call.makes_library) {
    const std::string start = answer_of(compiler, "-print-file-name=Scrt1.o");
    // main may lie in an archive that comes before what asks for it.
    for (const char* const word :
         {"-shared", "-Wl,-Bsymbolic", "-Wl,-z,now", "-Wl,-z,relro", "-Wl,-z,defs", "-Wl,-e,_start",
          "-Wl,-u,wormcube_rank_main", "-Wl,-u,main"}) {
      command.emplace_back(word);
    }
    command.push_back(start);
    command.emplace_back("-lwormcube_rank");
  }
  command.emplace_back("-lmpi_abi");
  return command;
}

ExitCode run(bool is_cxx) {
  const char* const variable = is_cxx ? "WORMCUBE_CXX" : "WORMCUBE_CC";
  const char* const named = std::getenv(variable);
  const std::vector<std::string> compiler =
      compiler_words(named != nullptr && *named != '\0' ? named
                     : is_cxx                           ? cxx_compiler
                                                        : c_compiler,
                     variable);
  const std::vector<std::string>& words = foreign_words();
  const CompilerCall call = understood(words);
  std::vector<std::string> command = whole_command(compiler, words, is_cxx, call);
  if (call.shows) {
    std::string text;
    for (const std::string& word : command) text += (text.empty() ? "" : " ") + quoted(word);
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
      "Everything behind {0} goes to the compiler that wormcube was built with, or ${1}, with what "
      "a program needs to be loaded once for each rank. -show prints that command.\n"
      "{1} is the path of an executable file, which may have blanks, or words between "
      "blanks (ccache gcc-12). No shell reads it.\n\n"
      "Examples:\n"
      "  wormcube {0} -O2 ring.{2} -o ring\n"
      "  make {3}=\"wormcube {0}\"\n"
      "  ./configure {3}=\"wormcube {0}\"\n"
      "  wormcube {0} -show",
      name, is_cxx ? "WORMCUBE_CXX" : "WORMCUBE_CC", is_cxx ? "cpp" : "c", is_cxx ? "CXX" : "CC"));
  return [is_cxx] { return run(is_cxx); };
}

}  // namespace

Action add_mpicc(CLI::App& program) { return add_compiler(program, "mpicc", false); }
Action add_mpicxx(CLI::App& program) { return add_compiler(program, "mpicxx", true); }

}  // namespace wormcube::cli
