// The proof for one number of ranks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/prove_process.hpp"

#include "wormcube/apps/cli/commands/mpi_crash.hpp"
#include "wormcube/apps/cli/core/child.hpp"
#include "wormcube/apps/cli/core/exit_code.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/mpi/engine/run/deadlock.hpp"
#include "wormcube/apps/mpi/engine/run/run.hpp"
#include "wormcube/apps/mpi/prove/prover.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/core.h>
#include <sys/prctl.h>

namespace wormcube::cli {
namespace {

/// Counts of the kept schedule, and its proof as a schedule.
void add_schedule(Json& json, NamedSchedule named, bool keeps_text) {
  const Schedule& schedule = named.schedule;
  constexpr int virtual_channels = 2;
  const ScheduleReport report =
      check(schedule, Routing(schedule.topology, virtual_channels), schedule.needs_all_ports());
  const ScheduledCall call = scheduled_call(*named.operation, schedule.topology.nodes());
  const Goal goal = goal_of(call.operation, call.arguments, schedule.topology.nodes());
  const NamedReport proof = prove_named(named, &goal);
  const double block = named.form.block ? static_cast<double>(*named.form.block) : 0;
  const auto blocks = [&](Bytes bytes) {
    return block > 0 ? static_cast<double>(bytes) / block : 0.0;
  };
  json["steps"] = report.steps;
  json["startups"] = report.startups;
  json["transmission_blocks"] = json_value(blocks(report.transmission));
  json["combined_blocks"] = json_value(blocks(report.combined));
  json["messages"] = report.messages;
  json["total_blocks"] = json_value(blocks(report.total_bytes));
  if (proof.order_changed) json["order"] = *proof.order_changed ? "changed" : "kept";
  if (proof.brackets_alike) json["brackets"] = *proof.brackets_alike ? "alike" : "differ";
  json["schedule_findings"] = proof.findings;
  if (keeps_text) json["schedule"] = named_schedule_text(named);
}

Json finding_json(const mpi::ProofOutcome& outcome) {
  if (!outcome.finding) return nullptr;
  const mpi::ProofFinding& finding = *outcome.finding;
  Json json{{"call", outcome.finding_case}, {"text", finding.text}, {"cause", finding.cause}};
  if (finding.rank) json["rank"] = *finding.rank;
  if (finding.block) json["block"] = *finding.block;
  if (finding.element) json["element"] = *finding.element;
  if (finding.bringer) {
    const mpi::ProofFinding::Bringer& by = *finding.bringer;
    json["brought_by"] = {{"rank", by.rank},     {"call", by.call}, {"at", by.at},
                          {"source", by.source}, {"tag", by.tag},   {"step", by.step}};
  }
  return json;
}

/// A message about the compiled program, about the file.
std::string in_words_of_file(std::string text, const ProvedProgram& what) {
  if (const auto at = text.find(what.program); at != std::string::npos)
    text.replace(at, what.program.size(), what.file);
  return text;
}

void write_result(const std::string& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << text;
}

}  // namespace

void prove_here(const std::string& program, const ProofSettings& settings, Rank ranks,
                const std::string& result_file) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not outlive `prove`
  const mpi::ProvedFunction& function = mpi::proved_function(settings.operation);
  auto* const prover = new mpi::Prover(
      function, settings.function,
      {settings.counts, settings.root, settings.only_commuting, settings.on_parts}, ranks);
  prover->takes_last = settings.takes_last;
  prover->on_case = [&](const std::string& text) { write_result(result_file, text); };
  mpi::RunOptions run;
  run.program = program;
  run.arguments = {program};
  run.job.ranks = prover->world_size();
  const Bytes eager = parse_bytes(settings.eager);
  run.job.eager = eager > 0;
  run.job.most_unexpected = eager;
  run.job.observer = prover;
  run.job.program = [prover](mpi::RankState& rank) { return prover->run_rank(rank); };
  run.machine.executor = ExecutorKind::fibers;
  run.machine.workers = 1;
  run.machine.messaging.unexpected_limit = eager;
  run.machine.eager_limit = std::min<Bytes>(run.machine.eager_limit, eager);
  run.machine.messaging.unexpected_messages = ~std::size_t{0};
  constexpr Bytes of_stack = Bytes{8} << 20U;
  run.machine.stack_bytes = of_stack;
  run.time_limit = milliseconds_of(settings.time_limit);
  run.stall = milliseconds_of(settings.stall);
  run.on_stall = [&](const std::string&) {
    mpi::Job& job = *mpi::running_job();
    job.end(deadlock, fmt::format("hangs: all ranks have only polled or waited for {} s\n{}",
                                  settings.stall, mpi::table_of_ranks(job)));
  };
  name_lines_of_crashes();
  // The ranks may outlive this function.
  auto* const job = new mpi::Run(Topology::parse(fmt::format("complete:{}", prover->world_size())),
                                 std::move(run));
  const mpi::JobEnd end = job->wait();
  const mpi::ProofOutcome& outcome = prover->outcome();
  Json json{{"ranks", ranks}, {"cases", outcome.cases}, {"passed_on", outcome.passed_on}};
  json["any_source"] = outcome.any_source;
  json["collectives"] = outcome.collectives;
  json["finding"] = finding_json(outcome);
  int code = outcome.finding ? failed : passed;
  if (!outcome.finding && (end.code != 0 || !end.text.empty())) {
    code = !outcome.refusal.empty()              ? usage
           : end.text.starts_with("deadlock:")   ? deadlock
           : end.text.starts_with("hangs:")      ? deadlock
           : end.text.starts_with("time limit ") ? time_limit
                                                 : failed;
    std::string returned, cause;
    for (const Rank rank : prover->returned()) returned += fmt::format(" {}", rank);
    if (!returned.empty()) {
      cause = fmt::format(
          "ranks that have returned from the call, and wait in MPI_Barrier for the others:{}",
          returned);
    }
    if (const std::string hint = outcome.refusal.empty() ? prover->hint() : ""; !hint.empty())
      cause += (cause.empty() ? "" : "; ") + hint;
    json["finding"] = {{"call", prover->current_case()}, {"text", end.text}, {"cause", cause}};
  } else if (outcome.schedule && !outcome.finding) {
    add_schedule(json, *outcome.schedule, settings.keeps_schedule);
  }
  json["no_schedule"] = outcome.no_schedule;
  json["code"] = code;
  write_result(result_file, json.dump());
  std::fflush(nullptr);
  std::_Exit(passed);
}

namespace {

Json prove_once(const ProvedProgram& what, const ProofSettings& settings, Rank ranks,
                const std::string& result_file) {
  std::vector<std::string> words{"wormcube",
                                 "prove",
                                 what.program,
                                 "--as",
                                 settings.operation,
                                 "--ranks",
                                 std::to_string(ranks),
                                 "--function",
                                 settings.function,
                                 "--eager",
                                 settings.eager,
                                 "--stall",
                                 fmt::format("{}", settings.stall),
                                 "--time-limit",
                                 fmt::format("{}", settings.time_limit),
                                 "--result",
                                 result_file};
  for (const std::size_t count : settings.counts) {
    words.emplace_back("--counts");
    words.push_back(std::to_string(count));
  }
  if (settings.root) {
    words.emplace_back("--root");
    words.push_back(std::to_string(*settings.root));
  }
  if (settings.only_commuting) words.emplace_back("--commutative");
  if (settings.keeps_schedule) words.insert(words.end(), {"--write-schedule", "-"});
  if (settings.takes_last) words.emplace_back("--take-last");
  if (settings.on_parts) words.emplace_back("--on-parts");
  write_result(result_file, "");
  // It ends by itself at the limit of its calls, unless it has not got so far.
  constexpr double grace_s = 2;
  const Child child =
      run_child("/proc/self/exe", words, true,
                milliseconds_of(settings.time_limit > 0 ? settings.time_limit + grace_s : 0));
  if (child.error != 0)
    throw UsageError(fmt::format("prove: cannot start a proof: {}", std::strerror(child.error)));
  std::ifstream stream(result_file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const auto ended_early = [&](const std::string& why, int code) -> Json {
    return {{"ranks", ranks},
            {"cases", 0},
            {"passed_on", 0},
            {"any_source", false},
            {"collectives", Json::array()},
            {"finding", {{"call", text}, {"text", why}, {"cause", ""}}},
            {"no_schedule", ""},
            {"code", code}};
  };
  if (child.is_late && !text.starts_with("{")) {
    return ended_early(fmt::format("time limit of {} s: {}", settings.time_limit,
                                   text.empty() ? "the program has not begun its first call"
                                                : "the process does not end"),
                       time_limit);
  }
  if (text.starts_with("{")) {
    Json json = Json::parse(text);
    if (json["code"] == usage)
      throw UsageError(in_words_of_file(json["finding"]["text"].get<std::string>(), what));
    return json;
  }
  // It ended before its result: the last lines say why.
  std::string last = child.out;
  while (last.ends_with('\n')) last.pop_back();
  if (text.empty() && child.code == usage) {
    constexpr std::string_view prefix = "wormcube: ";
    throw UsageError(
        in_words_of_file(last.starts_with(prefix) ? last.substr(prefix.size()) : last, what));
  }
  if (const auto rank = last.rfind(": rank "); rank != std::string::npos)
    last.erase(0, rank + std::string_view(": ").size());  // the command line
  constexpr std::size_t most = 2000;
  if (last.size() > most) last = ".." + last.substr(last.size() - most);
  return ended_early(fmt::format("the process ends with code {}: {}", child.code, last), failed);
}

}  // namespace

Json prove_in_process(const ProvedProgram& what, const ProofSettings& settings, Rank ranks,
                      const std::string& result_file) {
  Json json = prove_once(what, settings, ranks, result_file);
  const bool any_source = json["any_source"].get<bool>();
  json["arrival_orders"] = Json::array();
  if (any_source) json["arrival_orders"] = {"first"};
  /// Other calls of the same proof, unless it has failed already.
  const auto add = [&](bool ProofSettings::*kind, const char* which) {
    if (!json["finding"].is_null()) return;
    ProofSettings other = settings;
    other.*kind = true;
    other.keeps_schedule = false;
    Json more = prove_once(what, other, ranks, result_file);
    for (const char* const key : {"cases", "passed_on"})
      json[key] = json[key].get<std::size_t>() + more[key].get<std::size_t>();
    if (more["finding"].is_null()) return;
    json["finding"] = more["finding"];
    json["finding"]["call"] = json["finding"]["call"].get<std::string>() + which;
    json["code"] = more["code"];
    json.erase("schedule");
  };
  add(&ProofSettings::on_parts, "");
  if (!any_source) return json;
  if (json["finding"].is_null()) json["arrival_orders"].push_back("last");
  add(&ProofSettings::takes_last, "; receives from MPI_ANY_SOURCE take the last message to arrive");
  return json;
}

}  // namespace wormcube::cli
