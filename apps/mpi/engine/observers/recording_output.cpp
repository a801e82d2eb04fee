// A recording as a trace, and as a schedule.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/trace_text.hpp"
#include "wormcube/apps/mpi/abi/function.hpp"
#include "wormcube/apps/mpi/engine/observers/recording.hpp"
#include "wormcube/apps/mpi/engine/observers/recording_event.hpp"
#include "wormcube/apps/mpi/engine/observers/rounds.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

#include <fmt/core.h>

namespace wormcube::mpi {

using Event = Recording::Event;

namespace {

/// Joins the two ends of each message; they come in the order in which they started, across all
/// ranks. Calls f(sent, received).
template <class F>
class Ends {
 public:
  explicit Ends(F f) : f_(std::move(f)) {}
  void operator()(const Event& event) {
    const bool is_send = event.kind == Event::Kind::send;
    if (!is_send && event.kind != Event::Kind::receive) return;
    const auto [from, to] =
        is_send ? std::pair(event.rank, event.peer) : std::pair(event.peer, event.rank);
    const auto entry = waiting_.try_emplace({event.context, from, to, event.tag}).first;
    auto& others = entry->second;
    if (others.empty() || (others.front().kind == Event::Kind::send) == is_send) {
      others.push_back(event);
      return;
    }
    const Event other = others.front();
    others.pop_front();
    if (others.empty()) waiting_.erase(entry);
    is_send ? f_(event, other) : f_(other, event);
  }

 private:
  F f_;
  std::map<std::tuple<std::uint32_t, Rank, Rank, Tag>, std::deque<Event>> waiting_;
};

}  // namespace

TraceCounts Recording::write_trace(const std::function<void(std::string_view)>& write,
                                   std::string_view other) {
  using Kind = Event::Kind;
  close();
  if (!std::exchange(sorted_, true)) messages_->sort();
  calls_->sort();
  EventSpool<ByTime> shown(in_memory_);
  std::uint64_t messages = 0;
  Ends ends([&](const Event& sent, const Event& received) {
    if (!sent.on || !received.on) return;
    Event arrival = received;
    arrival.kind = Kind::arrival;
    const std::int64_t end = received.begin + received.length;
    arrival.begin = std::min(std::max(received.begin, sent.begin), end);
    arrival.length = end - arrival.begin;
    arrival.order = arrows_ + ++messages;
    shown.add({arrival});
    for (const bool starts : {true, false}) {
      Event arrow = arrival;
      arrow.kind = starts ? Kind::flow_start : Kind::flow_end;
      arrow.length = 0;
      if (starts) {
        arrow.rank = sent.rank;
        arrow.begin = sent.begin;
      }
      shown.add({arrow});
    }
  });
  merge<ByStart>({messages_.get()}, ends);
  shown.sort();

  const TraceCounts counts{slices_ + messages, left_out_};
  write(trace_head("wall", other, counts.events, counts.left_out));
  const auto digits = static_cast<int>(std::to_string(seen_.size() - 1).size());
  std::string comma;
  for (std::size_t rank = 0; rank < seen_.size(); ++rank) {
    write(comma + trace_name("thread_name", 1, static_cast<std::int64_t>(rank) + 1,
                             fmt::format("rank {:0{}}", rank, digits)));
    comma = ",\n";
  }
  write(comma + trace_name("process_name", 1, 0, "ranks"));
  merge<ByTime>({calls_.get(), &shown}, [&](const Event& e) {
    const std::string at =
        fmt::format(R"("pid":1,"tid":{},"ts":{})", e.rank + 1, trace_time(e.begin));
    const auto slice = [&](const char* category, const std::string& name,
                           const std::string& arguments) {
      return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}",{},"dur":{},"args":{{{}}}}})",
                         category, name, at, trace_time(e.length), arguments);
    };
    std::string line;
    switch (e.kind) {
      case Kind::call:
      case Kind::open_call:
        line = slice("call", name_of(static_cast<Function>(e.function)),
                     e.kind == Kind::call ? "" : R"("returned":false)");
        break;
      case Kind::mark:
        line = fmt::format(R"({{"ph":"i","s":"t","cat":"mark","name":"mark",{}}})", at);
        break;
      case Kind::arrival:
        line = slice("message", fmt::format("from {}", e.peer),
                     fmt::format(R"("bytes":{},"tag":{},"context":{})", e.bytes, e.tag, e.context));
        break;
      case Kind::access:
        line = slice("access", fmt::format("to {}", e.peer), fmt::format(R"("bytes":{})", e.bytes));
        break;
      case Kind::touch:
        line = slice("access",
                     fmt::format("{} by {}", name_of(static_cast<Function>(e.function)), e.peer),
                     fmt::format(R"("bytes":{})", e.bytes));
        break;
      default:
        line = fmt::format(R"({{"ph":"{}",{}"cat":"message","name":"m","id":{},{}}})",
                           e.kind == Kind::flow_start ? "s" : "f",
                           e.kind == Kind::flow_start ? "" : "\"bp\":\"e\",", e.order, at);
    }
    write(",\n" + line);
  });
  write("\n]}\n");
  return counts;
}

namespace {

struct Message {
  Event sent, received;
  std::uint64_t send_ended = 0;  // 0: it has not ended
  std::uint32_t round = 0;
  bool is_access = false;  // there is no receive
};

}  // namespace

Recording::Messages Recording::messages(const Topology& topology) {
  close();
  if (!std::exchange(sorted_, true)) messages_->sort();
  std::vector<Message> all;
  std::map<std::uint64_t, std::uint64_t> send_ends;  // by the time of their start
  std::uint64_t sends = 0;
  Ends ends([&](const Event& sent, const Event& received) { all.push_back({sent, received}); });
  merge<ByStart>({messages_.get()}, [&](const Event& event) {
    const bool is_access = event.kind == Event::Kind::access;
    sends += event.kind == Event::Kind::send || is_access ? 1 : 0;
    if (is_access) all.push_back({event, event, event.ended, 0, true});
    if (event.kind == Event::Kind::send_end) send_ends.emplace(event.started, event.ended);
    ends(event);
  });
  for (Message& message : all) {
    if (message.is_access) continue;
    const auto end = send_ends.find(message.sent.started);
    if (end != send_ends.end()) message.send_ended = end->second;
  }
  std::vector<MessageEnds> ends_of_all;
  ends_of_all.reserve(all.size());
  for (const Message& m : all) {
    ends_of_all.push_back({m.sent.rank, m.received.rank, m.sent.started, m.send_ended,
                           m.received.started, m.received.ended, m.sent.waits, m.is_access});
  }
  const std::vector<std::uint32_t> rounds = rounds_of(ends_of_all, static_cast<Rank>(seen_.size()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i].round = rounds[i];
  std::erase_if(all, [](const Message& m) { return !m.sent.on || !m.received.on; });
  std::ranges::stable_sort(all, {},
                           [](const Message& m) { return std::tuple(m.round, m.sent.started); });

  Messages result{{topology, {}}, all.size(), sends - all.size()};
  result.schedule.ranks.resize(static_cast<std::size_t>(topology.nodes()));
  for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
    for (; last < all.size() && all[last].round == all[first].round; ++last) {
      const Event& sent = all[last].sent;
      const auto log = [&](Op::Kind kind, Rank at, Rank peer) {
        result.schedule.ranks[static_cast<std::size_t>(at)].ops.push_back(
            {kind, 0, peer, sent.tag, 0, sent.bytes});
      };
      log(Op::Kind::send, sent.rank, sent.peer);
      log(Op::Kind::receive, sent.peer, sent.rank);
    }
    for (RankLog& log : result.schedule.ranks) {
      log.step_ends.push_back(static_cast<std::uint32_t>(log.ops.size()));
    }
  }
  return result;
}

}  // namespace wormcube::mpi
