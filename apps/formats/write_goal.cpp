// Writes a schedule as GOAL text.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/goal.hpp"

#include <iterator>

#include <fmt/core.h>
#include <fmt/format.h>

namespace wormcube::apps {

std::string goal_text(const Schedule& schedule) {
  fmt::memory_buffer text;
  const auto print = [&]<class... T>(fmt::format_string<T...> format, T&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<T>(arguments)...);
  };
  print("num_ranks {}\n", schedule.ranks.size());
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    print("\nrank {} {{\n", rank);
    const std::size_t steps = schedule.ranks[rank].step_ends.size();
    std::size_t join = steps;  // the step whose join comes last; none so far
    bool empty = true;
    for (std::size_t step = 0; step < steps; ++step) {
      const auto ops = schedule.ops(static_cast<Rank>(rank), step);
      std::size_t written = 0;
      for (const OpRecord& op : ops) {
        // A message to oneself waits for ever in LogGOPSim, and moves nothing.
        if (op.peer == static_cast<Rank>(rank)) continue;
        print("s{}_{}: {} {}b {} {} tag {}\n", step, written,
              op.kind == Op::Kind::send ? "send" : "recv", op.bytes,
              op.kind == Op::Kind::send ? "to" : "from", op.peer, step);
        if (join != steps) print("s{}_{} requires j{}\n", step, written, join);
        ++written;
      }
      if (written == 0) continue;
      empty = false;
      print("j{}: calc 0\n", step);
      for (std::size_t i = 0; i < written; ++i) print("j{} requires s{}_{}\n", step, step, i);
      join = step;
    }
    if (empty) print("c: calc 0\n");
    print("}}\n");
  }
  return fmt::to_string(text);
}

}  // namespace wormcube::apps
