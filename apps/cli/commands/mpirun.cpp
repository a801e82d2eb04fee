// wormcube mpirun: an MPI program, its ranks as nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/explore.hpp"
#include "wormcube/apps/cli/commands/mpi_command_line.hpp"
#include "wormcube/apps/cli/commands/mpirun_report.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/core/signal_exit.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/model.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/options/trace.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/mpi/engine/observers/recording.hpp"
#include "wormcube/apps/mpi/engine/run/deadlock.hpp"
#include "wormcube/apps/mpi/engine/run/run.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/print_error.hpp"
#include "wormcube/runtime/schedule/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

namespace wormcube::cli {
namespace {

struct MpirunCommand {
  std::string on, eager = "64K", unexpected_memory = "64M", stack = "8M", executor = "fibers";
  int ranks = 0, workers = 0;
  std::vector<std::string> algorithms;
  std::string auto_by = "formula";
  bool strict = false, report = false;
  double time_limit = 0, stall = 10;
  std::string matrix, trace, schedule, clock = "wall";
  double compute_speed = 1;
  ModelOptions model;
  std::optional<std::uint64_t> shuffle;
  int explore = 0;
  OutputOptions output;
  bool placed = false;                  // no effect
  std::vector<std::string> placements;  // no effect
  std::vector<std::string> variables;
};

/// The most square torus of so many nodes.
std::string square_torus(int ranks) {
  int side = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
  while (side > 1 && ranks % side != 0) --side;
  if (side <= 1) return fmt::format("ring:{}", ranks);
  return fmt::format("torus:{}x{}", ranks / side, side);
}

/// The program's file: as a path, or in PATH.
std::string found_program(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (name.find('/') != std::string::npos || fs::is_regular_file(name, ignored)) {
    if (!fs::is_regular_file(name, ignored)) {
      throw UsageError(fmt::format("mpirun: there is no program {}", name));
    }
    return name;
  }
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, end)) / name;
    if (access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate, ignored))
      return candidate.string();
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  throw UsageError(fmt::format("mpirun: there is no program {}, here or in PATH", name));
}

/// "alltoall=suh-torus": checked on the whole network.
void add_algorithm(const std::string& text, const Topology& topology, bool is_whole,
                   std::map<std::string, Collective>& algorithms) {
  if (text == "auto") return;
  const auto equals = text.find('=');
  if (equals == std::string::npos) {
    throw UsageError(
        fmt::format("--algorithm {}: name an operation and its algorithm, allreduce=ring", text));
  }
  const Operation operation = parse_operation(text.substr(0, equals));
  const std::string name = text.substr(equals + 1);
  if (name == "auto") return;
  Arguments arguments;
  if (operation->reduces) arguments.reduction = find_reduction("sum", "double");
  const Collective collective = parse_collective(operation, name, arguments);
  if (is_whole) collective.require(topology);
  algorithms.insert_or_assign(std::string(operation->name), collective);
}

void write_recording(const Context& context, mpi::Recording& recording, const TraceOptions& trace,
                     const MpirunCommand& options, const Topology& topology) {
  if (trace.wanted()) {
    const TraceCounts counts = write_trace_file(trace, [&](const auto& write) {
      return recording.write_trace(write,
                                   fmt::format("\"topology\":{}", Json(topology.name()).dump()));
    });
    if (!options.output.quiet) {
      print_error(fmt::format("# trace {}: {} slices{}\n", trace.file, counts.events,
                              counts.left_out > 0
                                  ? fmt::format(", {} left out by MPI_Pcontrol", counts.left_out)
                                  : ""));
    }
  }
  if (options.schedule.empty()) return;
  const mpi::Recording::Messages messages = recording.messages(topology);
  write_text(context, options.schedule, schedule_text(messages.schedule));
  if (options.output.quiet) return;
  print_error(fmt::format(
      "# schedule {}: {} messages in {} steps{}\n", options.schedule, messages.kept,
      messages.schedule.steps(),
      messages.left_out > 0
          ? fmt::format(", {} left out: never received, or by MPI_Pcontrol", messages.left_out)
          : ""));
}

[[noreturn]] void end_process(int code) {
  std::fflush(nullptr);
  flush_output();
  if (const std::string failure = output_failure(); !failure.empty()) {
    complain(failure);
    if (code == passed) code = usage;
  }
  std::_Exit(SignalExit::conclude(code));
}

ExitCode run(Context& context, const MpirunCommand& options) {
  const std::vector<std::string>& words = context.program_words();
  if (words.empty()) {
    throw UsageError("mpirun: name a program: wormcube mpirun --on torus:4x4 ./ring");
  }
  if (std::ranges::find(words, ":") != words.end()) {
    throw UsageError(
        "mpirun: ':' (several programs, MPMD) is not provided; run one program, which asks its "
        "rank what to do");
  }
  if (options.on.empty() && options.ranks == 0) {
    throw UsageError(
        "mpirun: name a network, --on torus:4x4, or the number of ranks, -n 16 (the most square "
        "torus)");
  }
  const Topology topology =
      parse_topology(options.on.empty() ? square_torus(options.ranks) : options.on);
  mpi::RunOptions run;
  run.job.ranks = options.ranks == 0 ? topology.nodes() : options.ranks;
  if (run.job.ranks > topology.nodes()) {
    throw UsageError(fmt::format("mpirun: {} ranks, and {} has {} nodes; each rank is a node",
                                 run.job.ranks, topology.name(), topology.nodes()));
  }
  for (const std::string& text : options.algorithms) {
    add_algorithm(text, topology, run.job.ranks == topology.nodes(), run.job.algorithms);
  }
  run.job.by_work = options.auto_by == "work";
  if (options.explore > 0) {
    if (options.report || options.output.has_files() || !options.matrix.empty() ||
        !options.trace.empty() || !options.schedule.empty() || options.shuffle) {
      throw UsageError(
          "mpirun: --explore is for many runs; --report, --json, --matrix, --trace and "
          "--write-schedule "
          "are of "
          "one: name it by its --shuffle");
    }
    static_cast<void>(found_program(words.front()));
    return explore(context, options.explore);
  }
  run.program = found_program(words.front());
  run.arguments = words;
  for (const std::string& text : options.variables) {  // NAME alone is one that they have anyway
    if (const auto equals = text.find('='); equals != std::string::npos)
      setenv(text.substr(0, equals).c_str(), text.c_str() + equals + 1, 1);
  }
  const Bytes eager = parse_bytes(options.eager);
  run.job.eager = eager > 0;
  run.machine.executor =
      options.executor == "threads" ? ExecutorKind::threads : ExecutorKind::fibers;
  run.machine.messaging.unexpected_limit = eager;
  run.machine.eager_limit = std::min<Bytes>(run.machine.eager_limit, eager);
  run.machine.messaging.unexpected_messages = ~std::size_t{0};
  run.machine.messaging.unexpected_bytes = parse_bytes(options.unexpected_memory);
  run.machine.stack_bytes = parse_bytes(options.stack);
  run.machine.workers = options.shuffle && options.workers == 0 ? 1 : options.workers;
  run.machine.messaging.shuffle = options.shuffle;
  run.time_limit = milliseconds_of(options.time_limit);
  run.job.matrix = !options.matrix.empty();
  run.job.timing = options.report || options.output.has_files();
  run.job.record = !options.trace.empty() || !options.schedule.empty();
  if (options.clock != "wall") {
    const bool models = options.clock == "model";
    run.job.clock = {models ? mpi::ModelClock::Kind::model : mpi::ModelClock::Kind::steps,
                     options.model.resolve().model, options.compute_speed};
  }
  run.job.most_unexpected = eager;
  run.job.strict = options.strict;
  run.stall = milliseconds_of(options.stall);
  run.on_stall = [](const std::string& text) { complain("warning: " + text); };
  options.output.validate();
  require_writable(options.matrix);
  require_writable(options.schedule);
  const TraceOptions trace{options.trace, {}, {}};
  trace.validate();
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);             // a line of a rank stays whole
  auto* const job = new mpi::Run(topology, std::move(run));  // its ranks may outlive this
  if (job->uses_openmp() && options.executor != "threads" && !options.output.quiet)
    print_error(fmt::format("# ranks are threads, not fibers: {} uses OpenMP\n", words.front()));
  const mpi::JobEnd end = job->wait();
  flush_output();
  int code = end.code;
  if (!end.text.empty()) complain(end.text);
  std::vector<std::string> left;
  if (job->statistics()) {
    left = mpi::leftovers(job->job(), job->statistics()->unreceived);
    if (!left.empty() && (options.strict || !options.output.quiet)) {
      std::string text =
          options.strict ? "left over at the end:" : "warning: left over at the end:";
      for (const std::string& line : left) text += "\n" + line;
      complain(text);
      if (options.strict && code == 0) code = failed;
    }
  }
  if (options.report || options.output.has_files() || !options.output.text()) {
    const Json json = report_json(*job, end, code, left);
    if (options.report) print_report(json);
    write_results(context, options.output, {json}, true);
  }
  if (!options.matrix.empty()) write_text(context, options.matrix, matrix_text(job->job()));
  if (mpi::Recording* const recording = job->job().recording()) {
    recording->close();
    write_recording(context, *recording, trace, options, topology);
  }
  end_process(code);
}

}  // namespace

Action add_mpirun(CLI::App& program) {
  auto options = std::make_shared<MpirunCommand>();
  CLI::App& app = *program.add_subcommand(
      "mpirun", "Run an unmodified MPI program: its ranks are nodes, its messages worms");
  app.add_option("--on", options->on, "The network; each rank is a node")
      ->type_name("NETWORK")
      ->group("What");
  app.add_option(
         "-n,--ranks", options->ranks,
         "How many ranks: the first nodes of the network; without --on the most square torus of "
         "so many (-np means the same)")
      ->type_name("N")
      ->check(between(1, 1 << 20))
      ->group("What");
  app.add_option(
         "--algorithm", options->algorithms,
         "Algorithms of collectives, by operation: allreduce=ring,alltoall=suh-torus; else auto")
      ->type_name("OPERATION=NAME[:OPTION=VALUE..]")
      ->delimiter(',')
      ->group("What");
  app.add_option(
         "--cost", options->auto_by,
         "What decides for the others: formulas, of a network's time; or the work of emulating "
         "them, mostly the fastest on this computer, after dry runs of them all")
      ->type_name("formula|work")
      ->check(one_of({"formula", "work"}))
      ->capture_default_str()
      ->group("What");
  app.add_option("--executor", options->executor, "What a rank is: a fiber or an OS thread")
      ->type_name("fibers|threads")
      ->check(one_of({"fibers", "threads"}))
      ->capture_default_str()
      ->group("Machine");
  app.add_option("--workers", options->workers,
                 "Threads that fibers run on; 0: one per usable core. With 1 a run repeats exactly")
      ->type_name("N")
      ->check(between(0, 1024))
      ->capture_default_str()
      ->group("Machine");
  app.add_option(
         "--eager", options->eager,
         "Standard sends of at most so many bytes end before they are received; 0: none does, "
         "which finds programs that rely on it")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("Machine");
  app.add_option(
         "--unexpected-memory", options->unexpected_memory,
         "Memory of a rank for messages that came before they were asked for; of further ones "
         "the sender waits")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("Machine");
  app.add_option("--stack", options->stack, "Stack of a rank")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("Machine");
  app.add_flag("--strict", options->strict,
               "What is left at the end, requests and messages, is a failure (exit code 1); so are "
               "a message whose types are not "
               "those of its receive, and an MPI_Rsend without a receive")
      ->group("Machine");
  app.add_option(
         "--shuffle", options->shuffle,
         "A receive from any source takes one of the messages that are there at random, by this "
         "number, and "
         "ranks run in another order; on one worker (the preset then) a number repeats its run")
      ->type_name("SEED")
      ->group("Machine");
  app.add_option("--explore", options->explore,
                 "Run it so often more, with --shuffle 1, 2, .., and say which runs end or print "
                 "otherwise than "
                 "the first (exit code 1)")
      ->type_name("N")
      ->check(between(1, 1 << 20))
      ->group("Machine");
  app.add_option("--stall", options->stall,
                 "Warn, once, with a table of where ranks are, if all have only asked (MPI_Test, "
                 "MPI_Iprobe) or waited for so "
                 "long; 0: never")
      ->type_name("SECONDS")
      ->check(between(0.0, 1e6))
      ->capture_default_str()
      ->group("Machine");
  add_time_limit_option(app, options->time_limit, "Machine");
  app.get_option("--time-limit")->envname("MPIEXEC_TIMEOUT");  // as other MPIs' have it
  app.add_option("--clock", options->clock,
                 "What MPI_Wtime tells: this computer's time; model: each rank's time on a "
                 "modelled machine, its "
                 "own work as it is here and messages without contention; steps: messages on the "
                 "longest chain, "
                 "which repeats exactly")
      ->type_name("wall|model|steps")
      ->check(one_of({"wall", "model", "steps"}))
      ->capture_default_str()
      ->group("Modelled time");
  app.add_option("--compute-speed", options->compute_speed,
                 "Of --clock model: a rank's own work counts its processor time here, times this; "
                 "0: messages "
                 "alone, which is the same on any computer")
      ->type_name("X")
      ->check(between(0.0, 1e6))
      ->capture_default_str()
      ->group("Modelled time");
  app.add_option("--machine", options->model.machine,
                 "Of --clock model: a profile (`wormcube machines` lists them)")
      ->type_name("NAME|FILE.json")
      ->group("Modelled time");
  options->model.startup_option =
      app.add_option("--ts", options->model.startup, "The same: start-up of a message, us")
          ->type_name("TIME")
          ->capture_default_str()
          ->group("Modelled time");
  options->model.transfer_option =
      app.add_option("--tw", options->model.transfer, "The same: transfer of a byte, us")
          ->type_name("TIME")
          ->capture_default_str()
          ->group("Modelled time");
  app.add_option("--hop", options->model.hop, "The same: a hop, us; without it a byte's time")
      ->type_name("TIME")
      ->group("Modelled time");
  app.add_flag("--report", options->report,
               "Afterwards, on standard error: calls by function, messages, communicators and the "
               "algorithms that ran on them")
      ->group("Output");
  app.add_option(
         "--matrix", options->matrix,
         "Write the bytes that each rank (a line) sent to each, as CSV; collectives' messages too")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Output");
  app.add_option(
         "--trace", options->trace,
         "What each rank called and when, and its messages, by this computer's clock (Chrome trace "
         "event JSON, for Perfetto); MPI_Pcontrol(0) and (1) turn it off and on, (2) sets a mark")
      ->type_name("FILE.json")
      ->check(file_name())
      ->group("Output");
  app.add_option(
         "--write-schedule", options->schedule,
         "The messages of the run, in the steps that follow from who waited for what, as text that "
         "check, show and replay read (--schedule)")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Output");
  add_output_options(app, options->output, false, false);
  // Of other MPIs, in many makefiles: they place processes, of which there is one here.
  app.add_flag("--oversubscribe,--allow-run-as-root", options->placed)->group("");
  app.add_option("--hostfile,--machinefile,--bind-to,--map-by,--rank-by", options->placements)
      ->group("");
  app.add_option("-x", options->variables)->group("");
  app.footer(
      "The program is one that `wormcube mpicc` or `mpicxx` has linked; its own words follow its "
      "name. "
      "Each rank has globals of its own. Output goes where the program's does; what mpirun says "
      "goes to "
      "standard error. --oversubscribe, --allow-run-as-root, --hostfile, --bind-to, --map-by "
      "and --rank-by "
      "are accepted, as other MPIs have them, and ignored; -x NAME=VALUE sets a variable.\n\n"
      "Exit codes: the program's own, the first that is not 0; of MPI_Abort its code; 1 after an "
      "error "
      "of MPI; 2 usage; 3 deadlock, with a table of who waits for whom; 4 time limit.\n\n"
      "Examples:\n"
      "  wormcube mpicc ring.c -o ring\n"
      "  wormcube mpirun --on torus:8x8 ./ring\n"
      "  wormcube mpirun -n 16 --algorithm alltoall=kim-recursive,allreduce=ring ./stencil 100\n"
      "  wormcube mpirun -n 4 --eager 0 ./ring");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace wormcube::cli
