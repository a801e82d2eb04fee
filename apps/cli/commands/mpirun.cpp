// wormcube mpirun: an MPI program, its ranks as nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/foreign_words.hpp"
#include "wormcube/apps/cli/endings.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/json.hpp"
#include "wormcube/apps/cli/output/print.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/mpi/engine/run.hpp"
#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/error.hpp"

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
  std::string on, eager = "64K", early_memory = "64M", stack = "8M", nodes_as = "fibers";
  int ranks = 0, workers = 0;
  std::vector<std::string> algorithms;
  bool strict = false, report = false;
  double time_limit = 0;
  std::string matrix;
  OutputOptions output;
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

std::string name_of_choice(const mpi::Choice& choice) {
  const std::string options = choice.options.text();
  return fmt::format("{}{}{}", choice.algorithm->name, options.empty() ? "" : ":", options);
}

/// How often each function was called, by all ranks.
std::vector<std::pair<std::string, std::uint64_t>> calls_of(const mpi::Job& job) {
  std::vector<std::pair<std::string, std::uint64_t>> all;
  for (std::size_t i = 0; i < static_cast<std::size_t>(mpi::Function::count); ++i) {
    std::uint64_t calls = 0;
    for (Rank r = 0; r < job.ranks(); ++r) calls += job.rank(r).calls[i];
    if (calls > 0) all.emplace_back(mpi::name_of(static_cast<mpi::Function>(i)), calls);
  }
  std::ranges::stable_sort(all, std::greater(), &std::pair<std::string, std::uint64_t>::second);
  return all;
}

Json report_json(const mpi::Run& run, const mpi::JobEnd& end, int code,
                 const std::vector<std::string>& left) {
  const mpi::Job& job = run.job();
  Json json;
  json["topology"] = job.topology().name();
  json["nodes"] = job.topology().nodes();
  json["ranks"] = job.ranks();
  json["exit_code"] = code;
  put(json, "ended_by", end.text.empty() ? Json(nullptr) : Json(end.text),
      "all ranks came to their end");
  json["calls"] = Json::object();
  for (const auto& [name, calls] : calls_of(job)) json["calls"][name] = calls;
  json["sent"] = Json::array();
  for (Rank r = 0; r < job.ranks(); ++r) {
    json["sent"].push_back(
        {{"rank", r}, {"messages", job.rank(r).sent}, {"bytes", job.rank(r).sent_bytes}});
  }
  json["communicators"] = Json::array();
  for (const mpi::CommunicatorFigures& each : job.communicators()) {
    Json communicator{{"name", each.name},
                      {"ranks", each.ranks},
                      {"made", each.made},
                      {"is_network", each.is_network},
                      {"collectives", Json::array()}};
    for (const mpi::Choice& choice : each.choices) {
      communicator["collectives"].push_back({{"operation", choice.operation},
                                             {"bytes", choice.block_bytes},
                                             {"algorithm", name_of_choice(choice)},
                                             {"asked_for", choice.asked_for},
                                             {"calls", choice.calls}});
    }
    json["communicators"].push_back(std::move(communicator));
  }
  json["left"] = left;
  const std::string_view no_figures = "the run was ended before its ranks";
  const auto& machine = run.statistics();
  const auto if_ended = [&](auto figure) { return machine ? Json(figure()) : Json(nullptr); };
  put(json, "wall_us",
      if_ended([&] { return std::chrono::duration<double, std::micro>(machine->wall).count(); }),
      no_figures);
  const auto sum = [&](auto member) {
    std::uint64_t all = 0;
    for (const NodeStatistics& node : machine->nodes) all += node.*member;
    return all;
  };
  put(json, "messages", if_ended([&] { return sum(&NodeStatistics::messages); }), no_figures);
  put(json, "bytes", if_ended([&] { return sum(&NodeStatistics::bytes); }), no_figures);
  put(json, "links_used", if_ended([&] { return machine->links.size(); }), no_figures);
  put(json, "link_bytes_max", if_ended([&] {
        Bytes most = 0;
        for (const LinkStatistics& link : machine->links) most = std::max(most, link.bytes);
        return most;
      }),
      no_figures);
  return json;
}

/// For people, on standard error: standard output is the program's.
void print_report(const Json& json) {
  std::string text = fmt::format("# mpirun: {} ranks on {}", json["ranks"].get<int>(),
                                 json["topology"].get<std::string>());
  if (!json["wall_us"].is_null()) {
    text += fmt::format(
        "\n# wall {:.3f} s; {} messages of {} bytes in all, collectives' and program's; {} links "
        "used, the "
        "busiest carried {} bytes",
        json["wall_us"].get<double>() / 1e6, json["messages"].get<std::uint64_t>(),
        json["bytes"].get<std::uint64_t>(), json["links_used"].get<std::uint64_t>(),
        json["link_bytes_max"].get<std::uint64_t>());
  }
  Table calls({{"function", "", true}, {"calls"}});
  for (const auto& [name, count] : json["calls"].items()) {
    calls.add({name, std::to_string(count.get<std::uint64_t>())});
  }
  text += "\n" + calls.text(false);
  Table collectives({{"communicator", "", true},
                     {"ranks"},
                     {"operation", "", true},
                     {"bytes"},
                     {"algorithm", "", true},
                     {"because", "", true},
                     {"calls"}});
  bool any = false;
  for (const Json& each : json["communicators"]) {
    for (const Json& choice : each["collectives"]) {
      any = true;
      collectives.add({each["name"].get<std::string>(), std::to_string(each["ranks"].get<int>()),
                       choice["operation"].get<std::string>(),
                       std::to_string(choice["bytes"].get<std::uint64_t>()),
                       choice["algorithm"].get<std::string>(),
                       choice["asked_for"].get<bool>()  ? "--algorithm"
                       : each["is_network"].get<bool>() ? "auto"
                                                        : "auto, on a part",
                       std::to_string(choice["calls"].get<std::uint64_t>())});
    }
  }
  if (any) text += collectives.text(false);
  fmt::print(stderr, "{}", text);
}

/// Bytes from each rank (a line) to each: what the program and its collectives sent.
std::string matrix_text(const mpi::Job& job) {
  std::string text;
  for (Rank r = 0; r < job.ranks(); ++r) {
    const std::vector<Bytes>& to = job.rank(r).bytes_to;
    for (std::size_t q = 0; q < to.size(); ++q) text += (q == 0 ? "" : ",") + std::to_string(to[q]);
    text += "\n";
  }
  return text;
}

[[noreturn]] void end_process(int code) {
  std::fflush(nullptr);
  flush_output();
  std::_Exit(Running::conclude(code));
}

ExitCode run(const MpirunCommand& options) {
  const std::vector<std::string>& words = foreign_words();
  if (words.empty()) {
    throw UsageError("mpirun: name a program: wormcube mpirun --on torus:4x4 ./ring");
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
  run.program = found_program(words.front());
  run.arguments = words;
  const Bytes eager = parse_bytes(options.eager);
  run.job.eager = eager > 0;
  run.machine.nodes_as = options.nodes_as == "threads" ? NodesAs::threads : NodesAs::fibers;
  run.machine.early_limit = eager;
  run.machine.eager_limit = std::min<Bytes>(run.machine.eager_limit, eager);
  run.machine.early_messages = ~std::size_t{0};
  run.machine.early_bytes = parse_bytes(options.early_memory);
  run.machine.stack_bytes = parse_bytes(options.stack);
  run.machine.workers = options.workers;
  run.time_limit = milliseconds_of(options.time_limit);
  run.job.matrix = !options.matrix.empty();
  options.output.validate();
  require_writable(options.matrix);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);             // a line of a rank stays whole
  auto* const job = new mpi::Run(topology, std::move(run));  // its ranks may outlive this
  const mpi::JobEnd end = job->wait();
  std::fflush(stdout);
  int code = end.code;
  if (!end.text.empty()) complain(end.text);
  std::vector<std::string> left;
  if (job->statistics()) {
    left = job->job().leftovers(job->statistics()->unreceived);
    if (!left.empty() && (options.strict || !options.output.quiet)) {
      std::string text = options.strict ? "left at the end:" : "warning: left at the end:";
      for (const std::string& line : left) text += "\n" + line;
      complain(text);
      if (options.strict && code == 0) code = failed;
    }
  }
  if (options.report || options.output.has_files() || !options.output.text()) {
    const Json json = report_json(*job, end, code, left);
    if (options.report) print_report(json);
    write_results(options.output, {json}, true);
  }
  if (!options.matrix.empty()) write_text(options.matrix, matrix_text(job->job()));
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
         "Algorithms of collectives, by operation: allreduce=ring,alltoall=suh-torus; auto, "
         "the preset: the cheapest by formula")
      ->type_name("OPERATION=NAME[:OPTION=VALUE..]")
      ->delimiter(',')
      ->group("What");
  app.add_option("--nodes-as", options->nodes_as, "What a rank is: a fiber or an OS thread")
      ->type_name("fibers|threads")
      ->check(CLI::IsMember({"fibers", "threads"}))
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
         "--early-memory", options->early_memory,
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
               "What is left at the end, requests and messages, is a failure (exit code 1)")
      ->group("Machine");
  add_time_limit_option(app, options->time_limit, "Machine");
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
  add_output_options(app, options->output, false, false);
  app.footer(
      "The program is one that `wormcube mpicc` or `mpicxx` has linked; its own words follow its "
      "name. "
      "Each rank has globals of its own. Output goes where the program's does; what mpirun says "
      "goes to "
      "standard error.\n\n"
      "Exit codes: the program's own, the first that is not 0; of MPI_Abort its code; 1 after an "
      "error "
      "of MPI; 2 usage; 3 deadlock, with a table of who waits for whom; 4 time limit.\n\n"
      "Examples:\n"
      "  wormcube mpicc ring.c -o ring\n"
      "  wormcube mpirun --on torus:8x8 ./ring\n"
      "  wormcube mpirun -n 16 --algorithm alltoall=kim-recursive,allreduce=ring ./stencil 100\n"
      "  wormcube mpirun -n 4 --eager 0 ./ring");
  return [options] { return run(*options); };
}

}  // namespace wormcube::cli
