// Subcommands and exit codes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/program.hpp"

#include "wormcube/apps/cli/cluster.hpp"
#include "wormcube/apps/cli/help.hpp"
#include "wormcube/apps/cli/output.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/version.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

/// How the program ends, with the text of an error if there was one.
struct End {
  int code = passed;
  std::string text = {};
};

/// Of several processes the first says what any has to say, and all end with the highest code.
int conclude(End end) {
  std::fflush(stdout);
  if (cluster() != nullptr) end.code = cluster()->agree(end.code, end.text);
  if (!end.text.empty() && is_first_process()) fmt::print(stderr, "wormcube: {}\n", end.text);
  return end.code;
}

End act(const Action& action) {
  try {
    const ExitCode code = action();
    if (std::fflush(stdout) != 0) return {failed, "cannot write to standard output"};
    return {code};
  } catch (const UsageError& error) {
    return {usage, error.what()};
  } catch (const Deadlock& error) {
    return {deadlock, error.what()};
  } catch (const TimeLimit& error) {
    return {time_limit, error.what()};
  } catch (const std::exception& error) {
    return {failed, error.what()};
  }
}

/// What was wrong with the arguments, and where to look.
std::string mistake(const CLI::App& program, const CLI::ParseError& error, int argc,
                    const char* const* argv) {
  if (const auto parsed = program.get_subcommands(); !parsed.empty()) {
    return fmt::format("{}\n  `wormcube {} --help` shows what is possible", error.what(),
                       parsed.front()->get_name());
  }
  std::string known;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    known += " " + command->get_name();
  }
  const std::string_view first = argc > 1 ? argv[1] : "";
  const std::string what = first.empty() ? "a command is missing"
                           : first.starts_with("-")
                               ? fmt::format("no command, and no option '{}'", first)
                               : fmt::format("unknown command '{}'", first);
  return fmt::format("{}; commands are:{}\n  `wormcube --help` explains them", what, known);
}

}  // namespace

namespace {

/// Ctrl-C and SIGTERM: a thread waits for them, so that what it does then is ordinary code.
void finish_on_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // in all threads started from now on
  std::thread([signals] {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) return;
    Results::finish_now();
    std::fflush(stdout);
    if (is_first_process()) {
      fmt::print(stderr, "wormcube: stopped by {}\n", signal == SIGINT ? "SIGINT" : "SIGTERM");
    }
    std::_Exit(128 + signal);
  }).detach();
}

}  // namespace

int main(int argc, const char* const* argv, StartCluster start_cluster) {
  set_command_line(argc, argv);
  finish_on_signals();
  const std::unique_ptr<Cluster> processes =
      start_cluster != nullptr && wants_cluster(argc, argv) ? start_cluster() : nullptr;
  const ClusterScope scope(processes.get());
  CLI::App program(
      "wormcube: a multicomputer on a workstation. Programs run on emulated nodes, joined by the "
      "links of a torus, mesh, "
      "hypercube or any product network; messages reserve their path like worms and move real "
      "bytes.",
      "wormcube");
  program.set_version_flag("--version,-V", fmt::format("wormcube {}", version));
  program.require_subcommand(1);
  program.fallthrough(false);
  program.formatter(std::make_shared<HelpFormatter>());
  program.footer(
      "Examples:\n"
      "  wormcube fft                                        the sunspot cycle, found by 64 nodes\n"
      "  wormcube list alltoall --on torus:8x8               algorithms that this network admits\n"
      "  wormcube check alltoall --on torus:8x8              count and prove, without moving data\n"
      "  wormcube run alltoall --on torus:8x8 --bytes 4K     move data and time it\n\n"
      "Exit codes: 0 pass, 1 wrong data or a failed check, 2 usage, 3 deadlock, 4 time limit; 130 "
      "and 143 after Ctrl-C and SIGTERM, with all results so far.\n\n"
      "`wormcube COMMAND --help` explains a command, its options and what it prints.");

  using Add = Action (*)(CLI::App&);
  constexpr std::array adders{add_list, add_run,       add_check,     add_show,    add_topology,
                              add_fft,  add_transpose, add_reproduce, add_deadlock};
  std::vector<std::pair<CLI::App*, Action>> commands;
  for (const Add add : adders) {
    Action action = add(program);
    commands.emplace_back(program.get_subcommands({}).back(), std::move(action));
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    return conclude({usage, mistake(program, error, argc, argv)});
  }
  for (const auto& [command, action] : commands) {
    if (command->parsed()) return conclude(act(action));
  }
  return passed;
}

}  // namespace wormcube::cli
