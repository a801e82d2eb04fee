// The report of an MPI program's run.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/mpirun_report.hpp"

#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/runtime/base/host/print_error.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {
namespace {

std::string name_of_choice(const mpi::Choice& choice) {
  const std::string options = choice.options.text();
  return fmt::format("{}{}{}", choice.algorithm->name, options.empty() ? "" : ":", options);
}

/// Calls of each function by all ranks.
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

/// Minimum, median and maximum over the ranks, by this computer's clock.
std::string ranks_text(const Json& by_rank) {
  Table table({{"of a rank", "", true}, {"least"}, {"median"}, {"most"}, {"most at rank"}});
  const auto row = [&](const char* name, const char* key, double unit) {
    std::vector<std::pair<double, int>> values;
    for (const Json& each : by_rank) {
      if (!each[key].is_null())
        values.emplace_back(each[key].get<double>() / unit, each["rank"].get<int>());
    }
    if (values.empty()) return;
    std::ranges::sort(values);
    const auto text = [&](double value) {
      return unit == 1 ? fmt::format("{:.0f}", value) : fmt::format("{:.3f}", value);
    };
    table.add({name, text(values.front().first), text(values[values.size() / 2].first),
               text(values.back().first), std::to_string(values.back().second)});
  };
  row("point-to-point messages", "messages", 1);
  row("point-to-point bytes", "bytes", 1);
  row("ms in MPI calls (host)", "inside_us", 1000);
  row("ms outside (host)", "outside_us", 1000);
  row("unsuccessful polls", "polls", 1);
  row("unexpected bytes, peak", "unexpected_bytes_peak", 1);
  return table.text({});
}

}  // namespace

Json report_json(const mpi::Run& run, const mpi::JobEnd& end, int code,
                 const std::vector<std::string>& left) {
  const mpi::Job& job = run.job();
  Json json;
  json["topology"] = job.topology().name();
  json["nodes"] = job.topology().nodes();
  json["ranks"] = job.ranks();
  json["executor"] = run.ranks_are() == ExecutorKind::threads ? "threads" : "fibers";
  json["uses_openmp"] = run.uses_openmp();
  json["exit_code"] = code;
  put(json, "ended_by", end.text.empty() ? Json(nullptr) : Json(end.text), "all ranks ended");
  json["cost"] = job.options().by_work ? "work" : "formula";
  json["calls"] = Json::object();
  for (const auto& [name, calls] : calls_of(job)) json["calls"][name] = calls;
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
    if (each.grid) {
      communicator["grid"] = {{"sides", each.grid->sides},
                              {"hops", each.grid->hops.average},
                              {"hops_max", each.grid->hops.largest}};
    }
    json["communicators"].push_back(std::move(communicator));
  }
  json["left"] = left;
  const std::string_view no_figures = "the run was stopped before its ranks ended";
  const auto& machine = run.statistics();
  json["by_rank"] = Json::array();
  for (Rank r = 0; r < job.ranks(); ++r) {
    const mpi::RankState& rank = job.rank(r);
    Json of_rank{{"rank", r}, {"messages", rank.sent}, {"bytes", rank.sent_bytes}};
    const auto us = [](std::chrono::nanoseconds time) {
      return std::chrono::duration<double, std::micro>(time).count();
    };
    const auto* const node = machine ? &machine->nodes[static_cast<std::size_t>(r)] : nullptr;
    of_rank["inside_us"] = node ? Json(us(rank.inside)) : Json(nullptr);
    of_rank["outside_us"] = node ? Json(us(rank.whole - rank.inside)) : Json(nullptr);
    of_rank["polls"] = node ? Json(node->polls) : Json(nullptr);
    of_rank["unexpected_bytes_peak"] = node ? Json(node->peak_unexpected_bytes) : Json(nullptr);
    json["by_rank"].push_back(std::move(of_rank));
  }
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
  const mpi::ModelClock* const clock = job.clock();
  const auto latest = [&](mpi::ModelClock::Kind kind) {
    return clock != nullptr && clock->kind() == kind && machine ? Json(clock->latest())
                                                                : Json(nullptr);
  };
  json["clock"] = clock == nullptr                                ? "wall"
                  : clock->kind() == mpi::ModelClock::Kind::model ? "model"
                                                                  : "steps";
  const std::string_view other_clock = machine ? "another --clock" : no_figures;
  put(json, "model_us", latest(mpi::ModelClock::Kind::model), other_clock);
  put(json, "longest_chain", latest(mpi::ModelClock::Kind::steps), other_clock);
  json["busiest_links"] = Json::array();
  if (machine) {
    std::vector<LinkStatistics> links = machine->links;
    constexpr std::ptrdiff_t most = 5;
    const auto last = links.begin() + std::min(most, std::ssize(links));
    std::ranges::partial_sort(links, last, std::greater(), &LinkStatistics::bytes);
    for (auto link = links.begin(); link != last; ++link) {
      json["busiest_links"].push_back({{"link", job.topology().link_name(link->link)},
                                       {"messages", link->messages},
                                       {"bytes", link->bytes}});
    }
  }
  return json;
}

void print_report(const Json& json) {
  std::string text =
      fmt::format("# mpirun: {} ranks on {}, as {}{}", json["ranks"].get<int>(),
                  json["topology"].get<std::string>(), json["executor"].get<std::string>(),
                  json["uses_openmp"].get<bool>() ? " (the program uses OpenMP)" : "");
  if (!json["wall_us"].is_null()) {
    text += fmt::format(
        "\n"
        "# wall {:.3f} s; {} messages with {} bytes in all, including collectives; {} links used, "
        "the busiest carried {} bytes",
        json["wall_us"].get<double>() / 1e6, json["messages"].get<std::uint64_t>(),
        json["bytes"].get<std::uint64_t>(), json["links_used"].get<std::uint64_t>(),
        json["link_bytes_max"].get<std::uint64_t>());
  }
  if (!json["model_us"].is_null())
    text += fmt::format("\n# modelled time {:.3f} us, without contention",
                        json["model_us"].get<double>());
  if (!json["longest_chain"].is_null())
    text += fmt::format("\n# longest chain of messages {}", json["longest_chain"].get<double>());
  Table calls({{"function", "", true}, {"calls"}});
  for (const auto& [name, count] : json["calls"].items()) {
    calls.add({name, std::to_string(count.get<std::uint64_t>())});
  }
  text += "\n" + calls.text({});
  text += ranks_text(json["by_rank"]);
  Table links({{"link", "", true}, {"messages"}, {"bytes"}});
  for (const Json& link : json["busiest_links"]) {
    links.add({link["link"].get<std::string>(),
               std::to_string(link["messages"].get<std::uint64_t>()),
               std::to_string(link["bytes"].get<std::uint64_t>())});
  }
  if (!json["busiest_links"].empty()) text += links.text({});
  Table grids({{"grid", "", true}, {"of"}, {"hops", "between neighbours, average"}, {"most"}});
  bool any_grid = false;
  for (const Json& each : json["communicators"]) {
    if (!each.contains("grid")) continue;
    any_grid = true;
    grids.add({each["name"].get<std::string>(), each["grid"]["sides"].get<std::string>(),
               fmt::format("{:.2f}", each["grid"]["hops"].get<double>()),
               std::to_string(each["grid"]["hops_max"].get<int>())});
  }
  if (any_grid) text += grids.text({});
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
                       choice["asked_for"].get<bool>()
                           ? "--algorithm"
                           : fmt::format("auto{}{}", json["cost"] == "work" ? " by work" : "",
                                         each["is_network"].get<bool>() ? "" : ", on a part"),
                       std::to_string(choice["calls"].get<std::uint64_t>())});
    }
  }
  if (any) text += collectives.text({});
  print_error(text);
}

std::string matrix_text(const mpi::Job& job) {
  std::string text;
  for (Rank r = 0; r < job.ranks(); ++r) {
    const std::vector<Bytes>& to = job.rank(r).sent_to.bytes;
    for (std::size_t q = 0; q < to.size(); ++q) text += (q == 0 ? "" : ",") + std::to_string(to[q]);
    text += "\n";
  }
  return text;
}

}  // namespace wormcube::cli
