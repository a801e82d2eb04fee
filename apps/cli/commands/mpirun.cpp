// wormcube mpirun: run an MPI program with its ranks as nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/explore.hpp"
#include "wormcube/apps/cli/commands/mpi_command_line.hpp"
#include "wormcube/apps/cli/commands/mpi_crash.hpp"
#include "wormcube/apps/cli/commands/mpirun_report.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/core/signal_exit.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
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
  std::vector<const CLI::Option*> of_clock;  // have an effect with --clock model only
  std::optional<std::uint64_t> shuffle;
  int explore = 0;
  OutputOptions output;
  bool placed = false;                  // no effect
  std::vector<std::string> placements;  // no effect
  std::vector<std::string> variables;
  std::vector<std::string> in_flits;  // options of run that do not apply here
};

/// The most square torus of this many nodes.
std::string square_torus(int ranks) {
  int side = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
  while (side > 1 && ranks % side != 0) --side;
  if (side <= 1) return fmt::format("ring:{}", ranks);
  return fmt::format("torus:{}x{}", ranks / side, side);
}

/// The program's file: a path; for a name without a slash, found in PATH or else here, as with
/// other MPIs.
std::string found_program(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool is_here = fs::is_regular_file(name, ignored);
  if (name.find('/') != std::string::npos) {
    if (!is_here) throw UsageError(fmt::format("mpirun: there is no program {}", name));
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
  if (is_here) return "./" + name;
  throw UsageError(fmt::format("mpirun: there is no program {} in PATH or here", name));
}

/// "alltoall=suh-torus": checked on the whole network.
void add_algorithm(const std::string& text, const Topology& topology, bool is_whole,
                   std::map<std::string, Collective>& algorithms) {
  if (text == "auto") return;
  const auto equals = text.find('=');
  if (equals == std::string::npos) {
    throw UsageError(
        fmt::format("--algorithm {}: expected OPERATION=ALGORITHM, as in allreduce=ring", text));
  }
  const Operation operation = parse_operation(text.substr(0, equals));
  const std::string name = text.substr(equals + 1);
  if (name == "auto") return;
  const Collective collective = parse_collective(operation, name, plain_arguments(operation));
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
  if (!options.in_flits.empty()) {
    throw UsageError(
        "mpirun: --transport, --capacity, --routers and --fault apply to run and the applications; "
        "an MPI program's messages are copied once");
  }
  if (std::ranges::find(words, ":") != words.end()) {
    throw UsageError(
        "mpirun: ':' (several programs, MPMD) is not supported; run one program that branches on "
        "its rank");
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
    throw UsageError(fmt::format("mpirun: {} ranks, but {} has {} nodes; each rank is a node",
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
          "mpirun: --explore makes many runs, but --report, --json, --matrix, --trace and "
          "--write-schedule concern one; use --shuffle N for a single run");
    }
    static_cast<void>(found_program(words.front()));
    return explore(context, options.explore);
  }
  run.program = found_program(words.front());
  if (!options.output.quiet && run.program == "./" + words.front())
    print_error(fmt::format("# {} is not in PATH: runs ./{}\n", words.front(), words.front()));
  run.arguments = words;
  for (const std::string& text : options.variables) {  // NAME alone is already in the environment
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
  if (run.machine.stack_bytes < MachineOptions::least_stack_bytes) {
    throw UsageError(fmt::format("--stack {}: a rank's stack has {} or more", options.stack,
                                 size_text(MachineOptions::least_stack_bytes)));
  }
  run.machine.workers = options.shuffle && options.workers == 0 ? 1 : options.workers;
  run.machine.messaging.shuffle = options.shuffle;
  run.time_limit = milliseconds_of(options.time_limit);
  run.job.matrix = !options.matrix.empty();
  run.job.timing = options.report || options.output.has_files();
  run.job.record = !options.trace.empty() || !options.schedule.empty();
  if (options.clock != "wall") {
    const bool models = options.clock == "model";
    const ModelOptions::Resolved resolved = options.model.resolve();
    run.job.clock = {models ? mpi::ModelClock::Kind::model : mpi::ModelClock::Kind::steps,
                     resolved.model, options.compute_speed};
    if (models) run.job.costs = resolved.cost;
  }
  for (const CLI::Option* const option : options.of_clock) {
    if (options.clock == "model" || option->count() == 0) continue;
    throw UsageError(fmt::format("{} has no effect without --clock model", option->get_name()));
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
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // keeps a rank's lines whole
  name_lines_of_crashes();
  auto* const job = new mpi::Run(topology, std::move(run));  // its ranks may outlive this function
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
      "mpirun", "Run an unmodified MPI program: each rank is a node, and messages are worms");
  app.add_option("--on", options->on, "The network; each rank is a node")
      ->type_name("NETWORK")
      ->group("What");
  app.add_option("-n,--ranks", options->ranks,
                 "Number of ranks (same as -np), placed on the first nodes of the network (default "
                 "network: the most nearly square torus of this size)")
      ->type_name("N")
      ->check(between(1, 1 << 20))
      ->group("What");
  app.add_option("--algorithm", options->algorithms,
                 "Algorithms for collective operations, as in allreduce=ring,alltoall=suh-torus "
                 "(default: auto)")
      ->type_name("OPERATION=NAME[:OPTION=VALUE..]")
      ->delimiter(',')
      ->group("What");
  app.add_option(
         "--cost", options->auto_by,
         "The cost that `auto` minimises. formula: modelled time on the network; work: cost of "
         "emulation, from dry runs; this usually picks the fastest algorithm on this computer")
      ->type_name("formula|work")
      ->check(one_of({"formula", "work"}))
      ->capture_default_str()
      ->group("What");
  app.add_option("--executor", options->executor, "Run each rank as a fiber or an OS thread")
      ->type_name("fibers|threads")
      ->check(one_of({"fibers", "threads"}))
      ->capture_default_str()
      ->group("Machine");
  app.add_option("--workers", options->workers,
                 "Number of worker threads that run the fibers (0: one per usable core). With 1, "
                 "runs repeat exactly")
      ->type_name("N")
      ->check(between(0, 1024))
      ->capture_default_str()
      ->group("Machine");
  app.add_option("--eager", options->eager,
                 "Eager limit in bytes for standard sends; 0 forces rendezvous, which exposes "
                 "programs that rely on buffering")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("Machine");
  app.add_option("--unexpected-memory", options->unexpected_memory,
                 "Memory per rank for unexpected messages; once it is full, senders wait")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("Machine");
  app.add_option("--stack", options->stack, "Stack size of each rank")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("Machine");
  app.add_flag("--strict", options->strict,
               "Fail (exit code 1) if requests or messages are left at the end, if a message's "
               "types differ from those of its receive, or if MPI_Rsend finds no matching receive")
      ->group("Machine");
  app.add_option("--shuffle", options->shuffle,
                 "Choose at random, with this seed, which message a receive from any source gets "
                 "and in which order the ranks run. With one worker (the default with --shuffle), "
                 "the same seed repeats the same run")
      ->type_name("SEED")
      ->group("Machine");
  app.add_option("--explore", options->explore,
                 "Run the program N more times, with --shuffle 1, 2, .., and report each run whose "
                 "exit code or output differs from that of the first (exit code 1)")
      ->type_name("N")
      ->check(between(1, 1 << 20))
      ->group("Machine");
  app.add_option(
         "--stall", options->stall,
         "If all ranks only poll (MPI_Test, MPI_Iprobe) or wait for this many seconds, warn once "
         "with a table that shows where each rank is (0: never)")
      ->type_name("SECONDS")
      ->check(between(0.0, 1e6))
      ->capture_default_str()
      ->group("Machine");
  add_time_limit_option(app, options->time_limit, "Machine");
  app.get_option("--time-limit")->envname("MPIEXEC_TIMEOUT");  // as in other MPIs
  app.add_option(
         "--clock", options->clock,
         "The time that MPI_Wtime returns. wall: this computer's time; model: each rank's time on "
         "a modelled machine, from its processor time on this computer and modelled message times "
         "without contention; steps: number of messages on the longest chain of dependent "
         "messages, the same in every run")
      ->type_name("wall|model|steps")
      ->check(one_of({"wall", "model", "steps"}))
      ->capture_default_str()
      ->group("Modelled time");
  app.add_option("--compute-speed", options->compute_speed,
                 "With --clock model: multiply a rank's processor time on this computer by this "
                 "factor; with 0, only messages count, and times are the same on any computer")
      ->type_name("X")
      ->check(between(0.0, 1e6))
      ->capture_default_str()
      ->group("Modelled time");
  app.add_option(
         "--machine", options->model.machine,
         "With --clock model: the machine profile (`wormcube machines` lists the profiles); the "
         "algorithms of collectives are also chosen for this machine")
      ->type_name("NAME|FILE.json")
      ->group("Modelled time");
  options->model.startup_option =
      app.add_option("--ts", options->model.startup,
                     "With --clock model: start-up time per message, in microseconds")
          ->type_name("TIME")
          ->capture_default_str()
          ->group("Modelled time");
  options->model.transfer_option =
      app.add_option("--tw", options->model.transfer,
                     "With --clock model: transfer time per byte, in microseconds")
          ->type_name("TIME")
          ->capture_default_str()
          ->group("Modelled time");
  app.add_option("--hop", options->model.hop,
                 "With --clock model: time per hop, in microseconds (default: the transfer time of "
                 "one byte)")
      ->type_name("TIME")
      ->group("Modelled time");
  for (const char* const name : {"--compute-speed", "--machine", "--ts", "--tw", "--hop"}) {
    options->of_clock.push_back(app.get_option(name));
  }
  app.add_flag("--report", options->report,
               "After the run, print a report to standard error: calls by function, messages, and "
               "communicators with their algorithms")
      ->group("Output");
  app.add_option(
         "--matrix", options->matrix,
         "Write a CSV file with one line per rank: the number of bytes that it sent to each "
         "rank, including those of collectives")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Output");
  app.add_option("--trace", options->trace,
                 "Trace each rank's calls and messages with this computer's clock (Chrome trace "
                 "event JSON, for Perfetto). MPI_Pcontrol(0) turns the trace off, MPI_Pcontrol(1) "
                 "turns it on, and MPI_Pcontrol(2) sets a mark")
      ->type_name("FILE.json")
      ->check(file_name())
      ->group("Output");
  app.add_option("--write-schedule", options->schedule,
                 "Write the run's messages as a schedule, which check, show and replay can read "
                 "with --schedule; the steps are derived from the ranks' waits")
      ->type_name("FILE")
      ->check(file_name())
      ->group("Output");
  add_output_options(app, options->output, false, false);
  // Options of other MPIs, common in makefiles: they place processes, but there is only one here.
  app.add_flag("--oversubscribe,--allow-run-as-root", options->placed)->group("");
  app.add_option("--hostfile,--machinefile,--bind-to,--map-by,--rank-by", options->placements)
      ->group("");
  app.add_option("-x", options->variables)->group("");
  app.add_option("--transport,--capacity,--routers,--fault", options->in_flits)->group("");
  app.footer(
      "Link the program with `wormcube mpicc` or `wormcube mpicxx`. Write the program's arguments "
      "after its name. Each rank has its own global variables. The program's output is unchanged; "
      "messages from mpirun itself go to standard error. --oversubscribe, --allow-run-as-root, "
      "--hostfile, --bind-to, --map-by and --rank-by are accepted for compatibility and ignored. "
      "-x NAME=VALUE sets an environment variable.\n\n"
      "Exit codes: the first nonzero exit code of a rank; the code given to MPI_Abort; 1 MPI "
      "error; 2 usage error; 3 deadlock, with a table that shows which rank waits for which; 4 "
      "time limit.\n\n"
      "Examples:\n"
      "  wormcube mpicc ring.c -o ring\n"
      "  wormcube mpirun --on torus:8x8 ./ring\n"
      "  wormcube mpirun -n 16 --algorithm alltoall=kim-recursive,allreduce=ring ./stencil 100\n"
      "  wormcube mpirun -n 4 --eager 0 ./ring");
  return [options](Context& context) { return run(context, *options); };
}

}  // namespace wormcube::cli
