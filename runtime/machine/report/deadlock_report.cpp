// The table of a deadlock, node by node.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/report/deadlock_report.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube {
namespace {

std::string awaited_text(const Seeker& seeker, const std::string& size) {
  return fmt::format("a message of {} from {} ({})", size,
                     seeker.from == any_source ? "any node" : fmt::format("node {}", seeker.from),
                     seeker.tag == any_tag ? "any tag" : fmt::format("tag {}", seeker.tag));
}

/// ", held by 3 -> 5", or nothing if no message has it.
std::string holder_text(std::span<const EmulatedNode> nodes, const Reservation* reservation) {
  std::string text;
  const auto look = [&](const Worm& worm) {
    if (worm.state != Worm::State::travelling || !text.empty()) return;
    for (std::size_t entry = 0; entry < worm.reserved; ++entry) {
      if (worm.path[entry] == reservation)
        text = fmt::format(", held by {} -> {}", worm.from, worm.to);
    }
  };
  for (const EmulatedNode& node : nodes) {
    node.each_incomplete(Cases{look, [](const Seeker&) {}});
  }
  return text;
}

/// What one node waits for; nothing if for no message.
std::string waits_text(const Network& network, std::span<const EmulatedNode> nodes,
                       const EmulatedNode& node) {
  constexpr std::size_t most_items = 8;
  std::string what;
  std::size_t items = 0;
  const auto of_step = [&](const Transfer& transfer) {
    return !node.has_steps_under_way() || transfer.step == node.waits_in_step()
               ? ""
               : fmt::format(" in step {}", transfer.step);
  };
  const auto say = [&](const std::string& text) {
    if (++items <= most_items) what += (what.empty() ? "" : "; ") + text;
  };
  const auto say_receive = [&](const Receive& receive) {
    if (receive.done) return;
    const std::string size =
        fmt::format("{}{} bytes", receive.exact ? "" : "at most ", receive.bytes);
    say(awaited_text(receive, size) + of_step(receive));
  };
  const auto say_query = [&](const TagQuery& query) {
    say(awaited_text(query, "any size") + of_step(query));
  };
  const auto say_worm = [&](const Worm& worm) {
    if (worm.state == Worm::State::absorbed) {
      say(fmt::format("node {} to receive {} bytes (tag {}){}", worm.to, worm.bytes, worm.tag,
                      of_step(worm)));
    } else if (worm.state == Worm::State::travelling && network.routers() != nullptr) {
      say(fmt::format("its message of {} bytes to node {}{}", worm.bytes, worm.to, of_step(worm)));
    } else if (worm.state == Worm::State::travelling && worm.reserved < worm.path.size()) {
      say(fmt::format("{} for its message to node {}{}{}", network.describe(worm, worm.reserved),
                      worm.to, of_step(worm), holder_text(nodes, worm.path[worm.reserved])));
      if (const std::string held = network.held_links(worm); !held.empty() && items <= most_items)
        what += " / holds " + held;
    }
  };
  node.each_incomplete(Cases{say_receive, say_query, say_worm});
  if (items > most_items) what += fmt::format("; and {} more", items - most_items);
  return what;
}

}  // namespace

std::string deadlock_table(const Network& network, std::span<const EmulatedNode> nodes,
                           const StepBarrier* barrier) {
  constexpr Rank most_rows = 64;
  const auto finished = static_cast<Rank>(
      std::ranges::count_if(nodes, [](const EmulatedNode& node) { return node.finished.load(); }));
  const auto all = static_cast<Rank>(nodes.size());
  std::string table = fmt::format(
      "deadlock: {} of {} nodes wait, {} have finished, nothing {}\n{:>6} {:>6}  {}",
      all - finished, all, finished, network.routers() != nullptr ? "moves" : "is in flight",
      "node", "step", "waits for / holds");
  Rank rows = 0;
  for (const EmulatedNode& node : nodes) {
    if (node.finished) continue;
    if (++rows > most_rows) continue;
    // There it waits for no message of its own, whatever requests are open.
    const std::string what = barrier != nullptr && barrier->is_parked(node.rank())
                                 ? "the other nodes at the barrier of the lock step"
                                 : waits_text(network, nodes, node);
    table += fmt::format("\n{:>6} {:>6}  {}", node.rank(), node.waits_in_step(), what);
  }
  if (rows > most_rows) table += fmt::format("\n   ... and {} more", rows - most_rows);
  return table;
}

}  // namespace wormcube
