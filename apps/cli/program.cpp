// Subcommands and exit codes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/program.hpp"

#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/mpi_command_line.hpp"
#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/core/launch.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/core/signal_exit.hpp"
#include "wormcube/apps/cli/options/distinct_files.hpp"
#include "wormcube/apps/cli/options/empty_values.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/version.hpp"
#include "wormcube/collectives/core/plugin.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/exceptions.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/base/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <malloc.h>

namespace wormcube::cli {

namespace {

/// The processes of a run, while it lasts.
class ClusterScope {
 public:
  ClusterScope(Context& context, Cluster* cluster) : context_(context) {
    context.set_cluster(cluster);
  }
  ~ClusterScope() { context_.set_cluster(nullptr); }
  ClusterScope(const ClusterScope&) = delete;
  ClusterScope& operator=(const ClusterScope&) = delete;

 private:
  Context& context_;
};

/// The program's exit code, with the error's text if there was one.
struct End {
  int code = passed;
  std::string text = {};
};

/// Of several processes the first reports errors for all, and all end with the highest code.
int conclude(const Context& context, End end) {
  flush_output();
  if (context.cluster() != nullptr) end.code = context.cluster()->agree(end.code, end.text);
  if (!end.text.empty() && context.is_first_process()) complain(end.text);
  return SignalExit::conclude(end.code);  // here, before the processes' library ends
}

/// \param text  of the exception: "node 5: std::bad_alloc"
End out_of_memory(const Context& context, std::string_view text) {
  std::string what = context.doing();
  what += text.substr(0, text.find("std::bad_alloc"));
  while (what.ends_with(' ') || what.ends_with(':')) what.pop_back();
  return {usage, out_of_memory_text(what, "use fewer nodes, smaller blocks or a smaller array")};
}

/// Missing memory, threads or files are not a wrong result.
End end_by(const Context& context, const std::exception& error) {
  if (holds<std::bad_alloc>(error)) return out_of_memory(context, error.what());
  if (holds<std::system_error>(error)) {
    return {usage, fmt::format("{}the system refused: {}", context.doing(), error.what())};
  }
  return {failed, error.what()};
}

End act(Context& context, const Action& action) {
  try {
    const ExitCode code = action(context);
    flush_output();
    if (std::string failure = output_failure(); !failure.empty())
      return {usage, std::move(failure)};
    return {code};
  } catch (const NobodyReads&) {
    return {};
  } catch (const UsageError& error) {
    return {usage, error.what()};
  } catch (const Deadlock& error) {
    return {deadlock, error.what()};
  } catch (const TimeLimit& error) {
    return {time_limit, error.what()};
  } catch (const std::exception& error) {
    return end_by(context, error);
  } catch (...) {
    return {failed, context.doing() + std::string(unknown_exception)};
  }
}

/// " (did you mean '--iterations'?)" for the first option that the command does not have.
std::string option_meant(const CLI::App& command, int argc, const char* const* argv) {
  std::vector<std::string> names;  // without dashes, so that only the word is compared
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (int i = 1; i < argc; ++i) {
    std::string_view word(argv[i], std::strcspn(argv[i], "="));
    if (!word.starts_with("--")) continue;
    word.remove_prefix(2);
    if (std::ranges::find(known, word) != known.end()) continue;
    return did_you_mean(word, known, "--");
  }
  return {};
}

/// The error for a first word that is not a command.
std::string unknown_command(const CLI::App& program, std::string_view first, int argc,
                            const char* const* argv) {
  std::vector<std::string_view> known;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  const std::string what =
      first.empty() ? "missing command"
      : first.starts_with("-")
          ? fmt::format("unknown option '{}'{}", first, option_meant(program, argc, argv))
          : fmt::format("unknown command '{}'{}", first, did_you_mean(first, known));
  return fmt::format(
      "{}; available:{}\n"
      "  see `wormcube --help`",
      what, listed(known));
}

/// CLI11's errors, reworded if its own text is unclear.
std::string explanation(const CLI::App& command, const CLI::ParseError& error, int argc,
                        const char* const* argv) {
  const std::string_view text = error.what();
  const auto unknown_option = [&](std::string_view option) {
    return fmt::format("unknown option {} for `{}`{}", option, command.get_name(),
                       option_meant(command, argc, argv));
  };
  if (const std::vector<std::string> left = command.remaining();
      dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !left.empty()) {
    if (left.front() == "--plugin" || left.front().starts_with("--plugin=")) {
      return fmt::format("--plugin must precede the command: wormcube --plugin FILE.so {} ..",
                         command.get_name());
    }
    if (const CLI::Option* const on = command.get_option_no_throw("--on");
        on != nullptr && on->count() == 0 && left.front().find(':') != std::string::npos) {
      return fmt::format("unexpected argument '{0}'; name a network with --on: --on {0}",
                         left.front());
    }
    if (left.front().starts_with("-")) return unknown_option(left.front());
    std::string words;
    for (const std::string& word : left) words += (words.empty() ? "" : " ") + word;
    return fmt::format("unexpected argument '{}'{}", words,
                       command.get_option_no_throw("--input") != nullptr
                           ? fmt::format("; to read a file, use --input {}", left.front())
                           : option_meant(command, argc, argv));
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    if (const CLI::Option* const on = command.get_option_no_throw("--on");
        argc == 2 && on != nullptr && on->get_positional()) {
      return fmt::format("missing network, as in: wormcube {} torus:8x8", command.get_name());
    }
    // The word that may have been meant for it, or another mistake.
    for (int i = 2; i < argc; ++i) {
      const std::string_view word = argv[i];
      if (!word.starts_with("--")) {
        const bool is_value = std::string_view(argv[i - 1]).starts_with("--");
        if (is_value || word.find(':') == word.npos ||
            command.get_option_no_throw("--on") == nullptr)
          continue;
        return fmt::format("{}; name a network with --on: --on {}", text, word);
      }
      const std::string name(word.substr(0, word.find('=')));
      if (command.get_option_no_throw(name) == nullptr) return unknown_option(word);
    }
  }
  constexpr std::string_view unconverted = "Could not convert: ";
  if (text.starts_with(unconverted)) {
    return fmt::format("invalid number: {}", text.substr(unconverted.size()));
  }
  if (const std::size_t at = text.find(": At Most 1 required"); at != text.npos) {
    return fmt::format("{}: given more than once", text.substr(0, at));
  }
  // "--route: At Most 2 required but received 3"
  constexpr std::string_view received = " required but received ";
  for (const std::string_view bound : {": At Most ", ": At least "}) {
    const std::size_t at = text.find(bound), end = text.find(received);
    if (at == text.npos || end == text.npos) continue;
    const std::string_view given = text.substr(end + received.size());
    return fmt::format("{} needs {} values, but {} {} given", text.substr(0, at),
                       text.substr(at + bound.size(), end - at - bound.size()), given,
                       given == "1" ? "is" : "are");
  }
  return std::string(text) + option_meant(command, argc, argv);
}

/// The first word after the plugins: the command; empty if there is none.
std::string_view first_word(int argc, const char* const* argv) {
  int at = 1;
  while (at < argc) {
    const std::string_view word = argv[at];
    if (word != "--plugin" && !word.starts_with("--plugin=")) return word;
    at += word == "--plugin" ? 2 : 1;
  }
  return {};
}

/// The mistake in the arguments, and where to look.
std::string mistake(const CLI::App& program, const CLI::ParseError& error, int argc,
                    const char* const* argv) {
  if (const auto parsed = program.get_subcommands(); !parsed.empty()) {
    return fmt::format(
        "{}\n"
        "  see `wormcube {} --help`",
        explanation(*parsed.front(), error, argc, argv), parsed.front()->get_name());
  }
  return unknown_command(program, first_word(argc, argv), argc, argv);
}

}  // namespace

namespace {

/// All options of a command with their values, given or default, for JSON. Flags are true or false,
/// lists are lists, all else is text; options without a value, and those that --help does not show,
/// are left out.
Json settings_of(const CLI::App& command) {
  Json settings = Json::object();
  for (const CLI::Option* option : command.get_options()) {
    const std::string name =
        option->get_lnames().empty() ? option->get_name() : option->get_lnames().front();
    if (name == "help" || option->get_group().empty()) continue;
    const bool given = option->count() > 0;
    if (option->get_items_expected_max() == 0) {
      settings[name] = given;
    } else if (option->get_items_expected_max() > 1) {
      const std::string default_value = option->get_default_str();
      if (given) {
        settings[name] = option->results();
      } else if (!default_value.empty()) {
        settings[name] =
            Json::array({default_value.substr(1, default_value.size() - 2)});  // "[1K]"
      }
    } else if (given || !option->get_default_str().empty()) {
      settings[name] = given ? option->results().front() : option->get_default_str();
    }
  }
  return settings;
}

int run_main(Context& context, int argc, const char* const* argv, const Parts& parts);

}  // namespace

int main(int argc, const char* const* argv, const Parts& parts) {
  Context context;
  const SignalExit process(context);
  try {
    return run_main(context, argc, argv, parts);
  } catch (const std::exception& error) {  // errors before a command begins
    const End end = end_by(context, error);
    complain(end.text);
    return SignalExit::conclude(end.code);
  }
}

namespace {

/// Whether the command line only requests help or the version.
bool asks_for_text(int argc, const char* const* argv) {
  constexpr std::array<std::string_view, 6> words{"help", "version", "--help",
                                                  "-h",   "-V",      "--version"};
  return argc < 2 || std::ranges::any_of(argv + 1, argv + argc, [&](const char* word) {
           return std::ranges::find(words, word) != words.end();
         });
}

/// The end of a process that mpirun started with others that do not work together; empty if it is
/// alone, or if they do. One process reports the error. The others end with success: mpirun ends
/// all at the first error, which could be theirs, before the first has reported it.
std::optional<End> end_of_wrongly_started(const Context& context, int argc, const char* const* argv,
                                          const Parts& parts) {
  const std::optional<Launch> launch = launch_of_several();
  if (!launch || (context.cluster() != nullptr && context.cluster()->processes() > 1)) return {};
  if (!launch->is_first()) return End{passed};
  if (asks_for_text(argc, argv)) return {};
  return End{usage, wrongly_started(*launch, wants_cluster(argc, argv),
                                    parts.mpi_library != nullptr ? parts.mpi_library() : "")};
}

struct KnownCommand {
  std::string_view name;
  Action (*add)(CLI::App&);
};

/// The command named `word`: the options of all take longer to build than most commands take. All
/// commands for help, for a wrong word, and for the two that describe all; none for the version.
std::vector<KnownCommand> commands_for(std::string_view word) {
  std::vector<KnownCommand> all{
#define WORMCUBE_COMMAND(name) {#name, add_##name},
#include "wormcube/apps/cli/commands/commands.inc"
#undef WORMCUBE_COMMAND
  };
  if (word == "--version" || word == "-V") return {};
  if (word == "completion" || word == "manual") return all;
  const auto named = std::ranges::find(all, word, &KnownCommand::name);
  return named == all.end() ? all : std::vector{*named};
}

int run_main(Context& context, int all, const char* const* all_words, const Parts& parts) {
  // Otherwise glibc raises its mmap threshold, and every node's thread keeps the large blocks that
  // it frees: memory that no estimate can include.
  constexpr int own_map_bytes = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, own_map_bytes);
  // Setting that also fixes at 128 KiB how much free memory the heap keeps: dry runs would return
  // the same tables to the system, and fault them in again, for each node.
  constexpr int kept_bytes = 32 << 20;
  mallopt(M_TRIM_THRESHOLD, kept_bytes);
  context.set_command_line(all, all_words);
  CommandLine line = split_command_line(all, all_words);
  context.set_program_words(std::move(line.program));
  const char* const* const argv = line.own.data();
  const int argc = static_cast<int>(line.own.size());
  theory::use_exchange_program(parts.exchange_program);
  const std::unique_ptr<Cluster> processes =
      parts.start_cluster != nullptr && wants_cluster(argc, argv) ? parts.start_cluster() : nullptr;
  const ClusterScope scope(context, processes.get());
  if (const std::optional<End> end = end_of_wrongly_started(context, argc, argv, parts)) {
    return conclude(context, *end);
  }
  CLI::App program(
      "wormcube: a multicomputer on a workstation. Programs run on emulated nodes that are "
      "connected by the links of a torus, mesh, hypercube or product network. Messages reserve "
      "their paths like worms and move real bytes.",
      "wormcube");
  program.set_version_flag("--version,-V", version_text(parts));
  program.require_subcommand(1);
  program.fallthrough(false);
  program.formatter(std::make_shared<HelpFormatter>());
  program.footer(
      "Examples:\n"
      "  wormcube fft                                        find the sunspot cycle on 64 nodes\n"
      "  wormcube list alltoall --on torus:8x8               algorithms for this network\n"
      "  wormcube check alltoall --on torus:8x8              count messages, prove delivery\n"
      "  wormcube run alltoall --on torus:8x8 --bytes 4K     move data and time it\n\n"
      "Exit codes: 0 pass, 1 wrong data or failed check, 2 usage error, 3 deadlock, 4 time limit; "
      "130 after Ctrl-C and 143 after SIGTERM (all results so far are kept).\n\n"
      "`wormcube COMMAND --help` explains a command, its options and its output. The documentation "
      "(docs/README.md), examples and schemas are in share/doc/wormcube of the installation.");

  std::vector<std::string> plugins;
  program
      .add_option("--plugin", plugins,
                  "Load your own algorithms from a shared object (docs/how-to/plugins.md); write "
                  "it before the command, once per file")
      ->type_name("FILE.so")
      ->check(file_name())
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);

  std::vector<std::pair<CLI::App*, Action>> commands;
  for (const auto& [name, add] : commands_for(first_word(argc, argv))) {
    Action action = add(program);
    commands.emplace_back(program.get_subcommands({}).back(), std::move(action));
  }
  // `wormcube help run` is `wormcube run --help`, `wormcube version` is `wormcube --version`.
  std::vector<const char*> words(argv, argv + argc);
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    words.erase(words.begin() + 1);
    words.push_back("--help");
    const bool known = argc == 2 || argv[2][0] == '-' || std::string_view(argv[2]) == "help" ||
                       std::ranges::any_of(commands, [&](const auto& command) {
                         return command.first->get_name() == argv[2];
                       });
    if (!known) return conclude(context, {usage, unknown_command(program, argv[2], argc, argv)});
    if (argc > 2 && std::string_view(argv[2]) == "help") words.erase(words.begin() + 1);
  } else if (const std::string_view first = argc > 1 ? argv[1] : "";
             first == "version" || first == "--version" || first == "-V") {
    if (argc > 2) {
      return conclude(context,
                      {usage, fmt::format("{}: unexpected argument '{}'", first, argv[2])});
    }
    words.back() = "--version";
  }
  for (const std::string_view word : words) {  // the parser would report a missing value
    if (word.starts_with("--") && word.ends_with('=')) {
      return conclude(context, {usage, fmt::format("{}: empty value (unset shell variable?)",
                                                   word.substr(0, word.size() - 1))});
    }
  }
  try {
    program.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      std::ostringstream text;
      program.exit(error, text, text);
      print_data(text.str());
      return conclude(context, act(context, [](Context&) { return passed; }));
    }
    return conclude(context, {usage, mistake(program, error, argc, argv)});
  }
  for (const auto& [command, action] : commands) {
    if (!command->parsed()) continue;
    context.set_settings(settings_of(*command));
    return conclude(context, act(context, [&, &command = *command, &action = action](Context&) {
                      require_no_empty_values(command, argc, argv);
                      require_distinct_files(command, plugins);
                      for (const std::string& file : plugins) {
                        context.set_doing("plugin " + file);
                        load_plugin(file);
                      }
                      if (!plugins.empty()) context.set_command_line(argc, argv);
                      return action(context);
                    }));
  }
  return passed;
}

}  // namespace

}  // namespace wormcube::cli
