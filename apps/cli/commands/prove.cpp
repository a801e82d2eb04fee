// wormcube prove: prove a collective that is written on MPI's point-to-point calls.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/prove_process.hpp"
#include "wormcube/apps/cli/core/child.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/io/temporary_folder.hpp"
#include "wormcube/apps/mpi/prove/proved_call.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/base/numbers.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::cli {
namespace {

struct ProveCommand {
  std::string file, ranks = "1..64", schedule, result;
  ProofSettings settings;
  OutputOptions output;
};

constexpr Rank most_ranks = 1024;

std::size_t number_in(std::string_view text, const std::string& all, std::size_t most) {
  const auto number = number_of<std::size_t>(text);
  if (number && *number <= most) return *number;
  throw UsageError(fmt::format("--ranks {}: '{}' is not a number up to {}; write 8, 1..64 or 2,4,8",
                               all, text, most));
}

/// "8", "1..64", "2,4,8..10"
std::vector<Rank> ranks_of(const std::string& text) {
  std::vector<Rank> ranks;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = std::string_view(text).substr(at, end - at);
    const std::size_t dots = part.find("..");
    const std::size_t first = number_in(part.substr(0, dots), text, most_ranks);
    const std::size_t last =
        dots == std::string_view::npos ? first : number_in(part.substr(dots + 2), text, most_ranks);
    if (first == 0 || last < first)
      throw UsageError(
          fmt::format("--ranks {}: '{}' contains no number of ranks; write numbers from 1 on, the "
                      "smaller first",
                      text, part));
    for (std::size_t p = first; p <= last; ++p) ranks.push_back(static_cast<Rank>(p));
    at = end + 1;
  }
  return ranks;
}

/// "mpicc", "mpicxx"; null: not a source file.
const char* compiler_of(const std::string& file) {
  const std::string ending = std::filesystem::path(file).extension().string();
  if (ending == ".c") return "mpicc";
  constexpr std::array<std::string_view, 4> of_cxx{".cc", ".cpp", ".cxx", ".C"};
  return std::ranges::find(of_cxx, ending) != of_cxx.end() ? "mpicxx" : nullptr;
}

/// A source file compiled as `wormcube mpicc` does, with a main() if it has none; a program as it
/// is.
std::string program_of(const std::string& file, const apps::TemporaryFolder& folder,
                       double limit_s) {
  if (!std::filesystem::is_regular_file(file))
    throw UsageError(fmt::format("prove: there is no file {}", file));
  const char* const compiler = compiler_of(file);
  if (compiler == nullptr) return file;
  const std::string main_file = folder.file("main.c");
  std::string program = folder.file("program");
  std::ofstream(main_file)
      << "int main(void) __attribute__((weak));\nint main(void) { return 0; }\n";
  const std::string main_object = folder.file("main.o");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"wormcube", "mpicc", "-c", main_file, "-o", main_object},
        std::vector<std::string>{"wormcube", compiler, "-g", "-O1", file, main_object, "-o",
                                 program}}) {
    const Child child = run_child("/proc/self/exe", words, true, milliseconds_of(limit_s));
    if (child.is_late)
      throw TimeLimit(
          fmt::format("prove: {} is not compiled after {} s, the time limit", file, limit_s));
    if (child.error != 0 || child.code != 0)
      throw UsageError(fmt::format("prove: {} does not compile:\n{}", file, child.out));
  }
  return program;
}

std::string rank_count(Rank ranks) {
  return fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s");
}

std::string figure_text(const Json& json, const char* key) {
  if (!json.contains(key)) return "-";
  return json[key].is_string() ? json[key].get<std::string>() : cell(json[key].get<double>());
}

/// What is printed and kept of a proof; its schedule has a file of its own.
void add_proof(Results& results, const ProveCommand& command, Json json) {
  const bool is_right = json["finding"].is_null();
  std::vector<std::string> cells{std::to_string(json["ranks"].get<Rank>()),
                                 std::to_string(json["cases"].get<std::size_t>()),
                                 std::to_string(json["passed_on"].get<std::size_t>())};
  for (const char* const key : {"steps", "startups", "transmission_blocks", "combined_blocks",
                                "messages", "total_blocks", "order", "brackets"})
    cells.push_back(figure_text(json, key));
  cells.emplace_back(is_right ? "yes" : "NO");
  Json kept{{"file", command.file},
            {"operation", command.settings.operation},
            {"function", command.settings.function}};
  for (const char* const key : {"ranks", "cases", "passed_on"}) kept[key] = json[key];
  const std::string no_schedule =
      is_right ? json["no_schedule"].get<std::string>() : "a call fails";
  for (const char* const key :
       {"steps", "startups", "transmission_blocks", "combined_blocks", "messages", "total_blocks"})
    put(kept, key, json.contains(key) ? json[key] : Json(nullptr), no_schedule);
  for (const char* const key : {"order", "brackets"})
    put(kept, key, json.contains(key) ? json[key] : Json(nullptr), "no proved reduction");
  kept["any_source"] = json["any_source"];
  kept["arrival_orders"] = json["arrival_orders"];
  kept["collectives"] = json["collectives"];
  put(kept, "finding", json["finding"], "every call is right");
  kept["passed"] = is_right;
  results.add(cells, std::move(kept));
}

void note_details(Results& results, const Json& json) {
  if (json["passed_on"].get<std::size_t>() > 0) {
    results.note(
        "passed on: calls that the function passes on to the operation's own MPI function; for "
        "these, the proof covers the messages of the MPI function");
  }
  if (json["any_source"].get<bool>()) {
    results.note(
        "a receive or probe is from MPI_ANY_SOURCE: two orders of arrival are tried; such receives "
        "take the first message to arrive, or the last. Try others with `wormcube mpirun "
        "--explore`");
  }
  if (const auto names = json["collectives"].get<std::vector<std::string>>(); !names.empty()) {
    results.note(fmt::format("calls {}: these run wormcube's algorithms", fmt::join(names, ", ")));
  }
  if (const std::string why = json["no_schedule"]; !why.empty())
    results.note(fmt::format("no schedule and no counts: {}", why));
  if (json.contains("schedule_findings")) {
    for (const Json& finding : json["schedule_findings"])
      results.note(
          fmt::format("the schedule alone does not prove it: {}", finding.get<std::string>()));
  }
}

ExitCode prove(Context& context, const ProveCommand& command) {
  const mpi::ProvedFunction& function = mpi::proved_function(command.settings.operation);
  ProofSettings settings = command.settings;
  if (settings.function.empty()) settings.function = function.name;
  if (settings.root && !function.operation->rooted)
    throw UsageError(fmt::format("--root has no effect: {} has no root", settings.operation));
  if (settings.only_commuting && !function.operation->reduces)
    throw UsageError(
        fmt::format("--commutative has no effect: {} has no operator", settings.operation));
  static_cast<void>(parse_bytes(settings.eager));
  const std::vector<Rank> ranks = ranks_of(command.ranks);
  if (settings.root && *settings.root >= *std::ranges::min_element(ranks))
    throw UsageError(
        fmt::format("--root {} is out of range for {} ranks; use a root below that, or "
                    "more --ranks",
                    *settings.root, *std::ranges::min_element(ranks)));
  settings.keeps_schedule = !command.schedule.empty();
  if (!command.result.empty()) prove_here(command.file, settings, ranks.front(), command.result);
  if (settings.keeps_schedule && ranks.size() != 1)
    throw UsageError(
        fmt::format("--write-schedule writes one schedule, but --ranks {} names {} numbers of "
                    "ranks; name one, as in --ranks 8",
                    command.ranks, ranks.size()));
  command.output.validate();
  require_writable(command.schedule);
  const apps::TemporaryFolder folder("wormcube-prove");
  const std::string program = program_of(command.file, folder, settings.time_limit);

  print_setting(command.output, "prove", command.file);
  print_setting(command.output, "as", fmt::format("{}, {}", settings.operation, settings.function));
  print_setting(command.output, "ranks", command.ranks);
  print_setting(command.output, "counts",
                settings.counts.empty() ? mpi::default_counts_text(function)
                                        : fmt::format("{}", fmt::join(settings.counts, ", ")));
  print_setting(command.output, "eager", settings.eager);
  ProveCommand shown = command;
  shown.settings = settings;
  Results results(context, command.output,
                  {{.head = "ranks", .width = 5},
                   {.head = "calls", .width = 5},
                   {.head = "passed on", .width = 9, .drop = 4},
                   {.head = "steps", .width = 5, .drop = 3},
                   {.head = "start-ups", .width = 9},
                   {.head = "transmitted", .unit = "blocks", .width = 11},
                   {.head = "combined", .unit = "blocks", .width = 8},
                   {.head = "messages", .width = 8},
                   {.head = "sent", .unit = "blocks", .width = 7},
                   {.head = "order", .text = true, .width = 7, .drop = 2},
                   {.head = "brackets", .text = true, .width = 8, .drop = 1},
                   {.head = "proved", .text = true, .width = 6, .verdict = true}});
  Progress progress(context, command.output, fmt::format("prove {}", command.file));
  std::vector<double> work;
  for (const Rank p : ranks)
    work.push_back(
        mpi::work_of_cases(function, {settings.counts, settings.root, settings.only_commuting}, p));
  RowsDone proofs(progress, std::move(work));
  // As many at once as there are cores; results stay in order, and the first that fails ends it.
  std::deque<std::future<Json>> running;
  std::size_t started = 0, calls = 0;
  const auto start = [&] {
    const Rank p = ranks[started];
    running.push_back(std::async(std::launch::async, [=, &command, &folder, &settings] {
      const std::string result = folder.file(fmt::format("result-{}", p));
      return prove_in_process({command.file, program}, settings, p, result);
    }));
    ++started;
  };
  std::optional<Json> wrong;
  bool has_schedule = false;  // a file of this name may be of an earlier run
  while (!wrong && (started < ranks.size() || !running.empty())) {
    while (started < ranks.size() && running.size() < static_cast<std::size_t>(usable_cores()))
      start();
    const std::string doing =
        fmt::format("{} on {} ranks", settings.function, ranks[started - running.size()]);
    context.set_doing(doing);
    progress.doing(doing);
    progress(static_cast<long>(started - running.size()), std::ssize(ranks));
    Json json = running.front().get();
    proofs.add();
    running.pop_front();
    calls += json["cases"].get<std::size_t>();
    note_details(results, json);
    if (!json["finding"].is_null()) wrong = json;
    if (json.contains("schedule")) {
      write_text(context, command.schedule, json["schedule"].get<std::string>());
      has_schedule = true;
    }
    add_proof(results, shown, std::move(json));
  }
  results.finish(ranks.size() == 1);
  if (!wrong) {
    if (settings.keeps_schedule && !has_schedule)
      throw UsageError("--write-schedule: there is no schedule; the notes say why");
    print_fact(command.output, "proved", fmt::format("{} calls on {} ranks", calls, command.ranks));
    return passed;
  }
  const Json& finding = (*wrong)["finding"];
  print_fact(command.output, "FAILED",
             fmt::format("{}, {}", rank_count((*wrong)["ranks"].get<Rank>()),
                         finding["call"].get<std::string>()));
  const std::string text = finding["text"], cause = finding["cause"];
  if (text.find('\n') == std::string::npos) {
    print_fact(command.output, "wrong", text);
  } else {
    complain(text);  // a table
  }
  if (!cause.empty()) print_fact(command.output, "cause", cause);
  return static_cast<ExitCode>((*wrong)["code"].get<int>());
}

}  // namespace

Action add_prove(CLI::App& program) {
  auto options = std::make_shared<ProveCommand>();
  ProofSettings& settings = options->settings;
  CLI::App& app = *program.add_subcommand(
      "prove", "Prove a collective built on MPI's point-to-point calls, or find its first error");
  app.add_option("FILE", options->file,
                 "The C or C++ source file that defines the function, or a program linked by "
                 "`wormcube mpicc`")
      ->type_name("FILE.c|PROGRAM")
      ->required()
      ->check(file_name())
      ->group("What");
  std::vector<std::string> operations;
  for (const mpi::ProvedFunction& each : mpi::proved_functions())
    operations.emplace_back(each.operation->name);
  app.add_option(
         "--as", settings.operation,
         fmt::format("The operation that the function performs: {}", fmt::join(operations, ", ")))
      ->type_name("OPERATION")
      ->required()
      ->check(one_of(operations))
      ->group("What");
  app.add_option("--function", settings.function,
                 "The function's name; it must have the prototype of the operation's MPI function "
                 "(default: that function, MPI_Allreduce for allreduce)")
      ->type_name("NAME")
      ->group("What");
  app.add_option("--ranks", options->ranks, "Numbers of ranks to prove the function for")
      ->type_name("A..B|N,N..")
      ->capture_default_str()
      ->group("What");
  app.add_option("--counts", settings.counts,
                 "Numbers of elements in a block (default: 0, 1, p - 1, p, 2 p + 1 and 1009 for p "
                 "ranks; 0, 1, 7 and 67 if each rank has one block for every rank)")
      ->type_name("N,N..")
      ->delimiter(',')
      ->check(between(0, 1 << 20))
      ->group("What");
  app.add_option("--root", settings.root, "Prove the function for this root only (default: all)")
      ->type_name("RANK")
      ->check(between(0, most_ranks - 1))
      ->group("What");
  app.add_flag("--commutative", settings.only_commuting,
               "Call the function only with commutative operators, whose operands may be combined "
               "in any order")
      ->group("What");
  app.add_option("--eager", settings.eager,
                 "Eager limit in bytes for standard sends; 0 forces rendezvous, which exposes "
                 "functions that rely on buffering")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("Machine");
  app.add_option(
         "--stall", settings.stall,
         "Report a hang if all ranks only poll (MPI_Test, MPI_Iprobe) or wait for this many "
         "seconds (0: never)")
      ->type_name("SECONDS")
      ->check(between(0.0, 1e6))
      ->capture_default_str()
      ->group("Machine");
  app.add_option(
         "--time-limit", settings.time_limit,
         "For each number of ranks, stop the calls after this many seconds (exit code 4; 0: no "
         "limit). Compiling FILE, and starting the program, may take as long")
      ->type_name("SECONDS")
      ->check(between(0.0, 1e6))
      ->capture_default_str()
      ->group("Machine");
  app.add_option("--write-schedule", options->schedule,
                 "Write the messages of one call, with their contents, as a schedule for the "
                 "--schedule option of check, draw, replay and others; --ranks must be one number")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Output");
  // For the process of one proof.
  app.add_option("--result", options->result)->group("");
  app.add_flag("--take-last", settings.takes_last)->group("");
  app.add_flag("--on-parts", settings.on_parts)->group("");
  add_output_options(app, options->output, true, false);
  app.footer(
      "Each rank calls the function on marked elements: 8-byte handles that record which ranks' "
      "elements they combine, and in which order. The calls cover every number of ranks, count and "
      "root; separate buffers and in-place calls; datatypes with gaps, on both sides and on one; "
      "both commutative and noncommutative operators; and communicators that are a permuted part "
      "of "
      "MPI_COMM_WORLD, while other messages travel on MPI_COMM_WORLD. A request that is not "
      "complete when the "
      "function returns is an error. If a receive is from MPI_ANY_SOURCE, the calls on all ranks "
      "are "
      "made twice: in "
      "the first proof such receives take the first message to arrive, in the second the last. The "
      "first wrong element is reported with the MPI call that delivered it. If a call hangs, the "
      "deadlock table of `wormcube mpirun` is printed. The start-ups, blocks and messages in the "
      "table are those of the last call: one element for each rank, not in place, root 0.\n\n"
      "Exit codes: 0 proved; 1 a wrong result; 2 usage error; 3 deadlock; 4 time limit.\n\n"
      "Examples:\n"
      "  wormcube prove my_allreduce.c --as allreduce\n"
      "  wormcube prove tree.c --as broadcast --function tree_broadcast --ranks 1..16\n"
      "  wormcube prove ring.c --as allreduce --ranks 8 --write-schedule ring.txt\n"
      "  wormcube draw --schedule ring.txt --html ring.html");
  return [options](Context& context) { return prove(context, *options); };
}

}  // namespace wormcube::cli
