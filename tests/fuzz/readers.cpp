// Fuzz targets of everything that reads text or files.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/chakra.hpp"
#include "wormcube/apps/formats/goal.hpp"
#include "wormcube/apps/formats/mscclpp.hpp"
#include "wormcube/apps/formats/search.hpp"
#include "wormcube/apps/io/csv.hpp"
#include "wormcube/apps/io/npy.hpp"
#include "wormcube/apps/io/text.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/dataflow/named.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/schedule/text.hpp"
#include "wormcube/runtime/topology/routing.hpp"
#include "wormcube/runtime/topology/topology.hpp"
#include "wormcube/tests/fuzz/file.hpp"
#include "wormcube/tests/fuzz/targets.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace wormcube::fuzz {

using namespace apps;

namespace {

/// Calls f; a refusal is an answer, with a text that fits on a screen.
template <class F>
void accept_or_refuse(const F& f) {
  try {
    f();
  } catch (const UsageError& error) {
    require(std::string_view(error.what()).size() < 4000, "error texts are short");
  }
}

}  // namespace

void topology(std::string_view bytes) {
  if (bytes.size() > 200 || bytes.find("graph:") != bytes.npos) return;  // opens no files
  accept_or_refuse([&] {
    const auto parsed = Topology::parse(bytes);
    const auto again = Topology::parse(parsed.name());
    require(again == parsed && again.nodes() == parsed.nodes() && again.links() == parsed.links(),
            "a topology's name is parsed as the same topology");
    for (const Rank rank : {Rank{0}, parsed.nodes() / 2, parsed.nodes() - 1}) {
      require(parsed.rank(parsed.coordinates(rank)) == rank, "coordinates lead back to the rank");
      if (parsed.ports(rank) > 0) {
        const Link link = parsed.link(rank, parsed.ports(rank) - 1);
        require(parsed.link_ends(link).from == rank, "a node's link starts at the node");
        require(parsed.link(parsed.place(link)) == link, "a link's place leads back to it");
      }
    }
  });
}

void graph(std::string_view bytes) {
  accept_or_refuse([&] {
    const MemoryFile file(bytes);
    const Graph graph = Graph::read(file.name());
    const Rank far = graph.nodes() - 1;
    bool up = true;
    Rank at = 0;
    for (int hops = 0; at != far; ++hops) {
      require(hops < graph.nodes(), "a route ends");
      at = graph.ends(graph.next(at, far, up)).to;
    }
  });
}

void npy(std::string_view bytes) {
  accept_or_refuse([&] {
    const MemoryFile file(bytes);
    const Array array = read_npy(file.name());
    require(to_complex(array).size() == array.elements(), "every element becomes complex");
    const MemoryFile copy("");
    write_npy(copy.name(), array);
    const Array again = read_npy(copy.name());
    require(again.type == array.type && again.shape == array.shape && again.data == array.data,
            "what is written is read again");
  });
}

void csv(std::string_view bytes) {
  if (bytes.empty()) return;
  const char chosen = bytes.front();
  bytes.remove_prefix(1);
  const std::string column = chosen >= '1' && chosen <= '9' ? std::string(1, chosen)
                             : chosen == 'v'                ? "value"
                                                            : "";
  accept_or_refuse([&] {
    static_cast<void>(kind_of(bytes, "file"));
    const std::vector<double> values = parse_csv_column(bytes, "file", column);
    require(!values.empty(), "an empty column is refused");
    for (const double value : values) require(std::isfinite(value), "values are finite");
  });
}

void schedule(std::string_view bytes) {
  if (bytes.find("graph:") != bytes.npos) return;  // opens no files
  constexpr double most_bytes = 1 << 20;
  const auto count = [](const Schedule& read) {
    if (read.topology.nodes() <= 64) static_cast<void>(check(read, Routing(read.topology), false));
  };
  const auto prove_again = [](MscclVerdict verdict) {
    if (!verdict.proved || !verdict.schedule) return;
    NamedSchedule& named = *verdict.schedule;
    const auto call = scheduled_call(*named.operation, named.schedule.topology.nodes());
    const Goal goal = goal_of(call.operation, call.arguments, named.schedule.topology.nodes());
    require(prove_named(named, &goal).delivered == true, "both proofs agree");
  };
  accept_or_refuse([&] {
    if (is_msccl(bytes)) {
      prove_again(judge_msccl(parse_msccl(bytes, "file", most_bytes)));
    } else if (is_mscclpp(bytes)) {
      prove_again(judge_mscclpp(parse_mscclpp(bytes, "file", most_bytes)));
    } else if (bytes.starts_with("\x1f\x8b") || is_chakra(bytes)) {
      // Two ranks, with the same trace.
      const std::string trace = unpacked(bytes, "file", most_bytes);
      require(!is_chakra(trace) || !trace.empty(), "a trace has bytes");
      const Schedule read = parse_chakra(std::vector{trace, trace}, "file", most_bytes);
      static_cast<void>(chakra_trace(read, 0));
      count(read);
    } else if (is_goal(bytes)) {
      const Schedule read = parse_goal(bytes, "file", most_bytes);
      static_cast<void>(goal_text(read));
      static_cast<void>(chakra_trace(read, 0));
      if (read.topology.nodes() <= 12) {
        const auto call = scheduled_call({.name = "allgather"}, read.topology.nodes());
        const Goal goal = goal_of(call.operation, call.arguments, read.topology.nodes());
        static_cast<void>(
            search_contents(read, goal, {.name = "allgather"}, common_block_bytes(read)));
      }
      count(read);
    } else if (is_named_schedule(bytes)) {
      NamedSchedule read = parse_named_schedule(bytes, "file", operation_facts, most_bytes);
      const std::string text = named_schedule_text(read);
      if (read.after_end.empty()) {
        require(named_schedule_text(parse_named_schedule(text, "file", operation_facts)) == text,
                "the canonical form is read as it was written");
      }
      if (read.schedule.topology.nodes() <= 64) static_cast<void>(prove_named(read, nullptr));
      count(read.schedule);
    } else {
      const Schedule read = parse_schedule(bytes, "file", most_bytes);
      const std::string text = schedule_text(read);
      require(parse_schedule(text, "file") == read,
              "a schedule's text is read as the same schedule");
      count(read);
    }
  });
}

}  // namespace wormcube::fuzz
