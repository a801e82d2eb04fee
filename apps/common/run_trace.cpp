// Real runs as trace events.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/run_trace.hpp"

#include "wormcube/apps/common/trace_text.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/forwarding_node.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

/// As it is in the temporary file.
struct RunTrace::Event {
  enum class Kind : std::uint8_t {
    phase,
    step,
    wait,
    send,
    receive,
    local,
    rearrange,
    combine,
    arrival,  // of a message that was waited for: from when it was sent
    flow_start,
    flow_end,
    worm,  // leaves a lane
    flit,
    unseen_send,  // of a step that is left out: counted, not shown
    unseen_receive
  };
  std::int64_t begin = 0, length = 0;
  std::uint64_t order = 0;   // in which it was recorded: of equal ones the outer comes first
  std::uint64_t number = 0;  // a step, a message, or a lane
  Bytes bytes = 0;
  Rank rank = 0;
  std::int32_t subject = 0;  // a peer, or a phase's name
  Tag tag = 0;               // of a worm: its flits
  std::uint32_t run = 0;
  Kind kind = Kind::step;

  /// By time; longer events first; slices before the arrows that they contain.
  friend bool operator<(const Event& a, const Event& b) {
    return std::tuple(a.begin, -a.length, a.kind, a.rank, a.order) <
           std::tuple(b.begin, -b.length, b.kind, b.rank, b.order);
  }
};

namespace {

constexpr std::int64_t rows_of_a_node = 8;
constexpr std::int64_t lanes_of_a_link = 2;
constexpr std::size_t most_flits = 20'000;

std::int64_t row_of(std::int64_t rank, RunTrace::Event::Kind kind) {
  using Kind = RunTrace::Event::Kind;
  const std::int64_t first = (rank + 1) * rows_of_a_node;
  switch (kind) {
    case Kind::phase:
    case Kind::step:
    case Kind::wait:
      return first;
    case Kind::send:
    case Kind::flow_start:
      return first + 1;
    case Kind::receive:
    case Kind::arrival:
    case Kind::flow_end:
      return first + 2;
    case Kind::local:
    case Kind::rearrange:
    case Kind::combine:
      return first + 3;
    case Kind::worm:
    case Kind::flit:
    case Kind::unseen_send:
    case Kind::unseen_receive:
      break;
  }
  return first;
}

constexpr std::array row_names{"steps", "send", "receive", "local"};

}  // namespace

/// Forwards every call, and records it in the trace.
class RunTrace::SeenNode final : public ForwardingNode {
 public:
  SeenNode(Node& node, RunTrace& trace)
      : ForwardingNode(node), trace_(trace), seen_(trace.seen_[node.rank()]) {
    seen_.step = 0;
    ++trace_.observed_;
  }
  ~SeenNode() override {
    end_phase();
    --trace_.observed_;
  }
  SeenNode(const SeenNode&) = delete;
  SeenNode& operator=(const SeenNode&) = delete;

  using Node::step;
  void step(std::span<const Op> ops) override {
    const bool left_out = is_left_out();
    const std::int64_t begin = trace_.now();
    seen_.left_out = left_out;
    seen_.in_step = true;
    ForwardingNode::step(ops);
    seen_.in_step = false;
    const std::int64_t length = trace_.now() - begin;
    if (left_out) trace_.left_out_ += 1 + ops.size();
    const std::lock_guard lock(trace_.mutex_);
    if (!left_out) trace_.slice(event(Event::Kind::step, begin, length));
    for (const Op& op : ops) {
      using Kind = Event::Kind;
      Event message = event(op.is_send() ? Kind::send : Kind::receive, begin, length);
      message.subject = peer_of(topology(), rank(), op);
      message.bytes = op.bytes();
      message.tag = op.tag();
      if (!left_out) {
        trace_.slice(message);
      } else if (trace_.cut_.has(rank()) && trace_.cut_.has(message.subject)) {
        message.kind = op.is_send() ? Kind::unseen_send : Kind::unseen_receive;
        trace_.add(message);
      }
    }
    ++seen_.step;
  }
  void phase(std::string_view name) override {
    end_phase();
    const std::lock_guard lock(trace_.mutex_);
    const auto entry = trace_.phases_.try_emplace(std::string(name),
                                                  static_cast<std::int32_t>(trace_.phases_.size()));
    phase_ = entry.first->second;
    phase_begin_ = trace_.now();
  }

 private:
  void work(Charge charge, Bytes bytes, FunctionRef work) override {
    const std::int64_t begin = trace_.now();
    ForwardingNode::work(charge, bytes, work);
    if (is_left_out()) {
      ++trace_.left_out_;
      return;
    }
    Event done = event(charge == Charge::none        ? Event::Kind::local
                       : charge == Charge::rearrange ? Event::Kind::rearrange
                                                     : Event::Kind::combine,
                       begin, trace_.now() - begin);
    done.bytes = bytes;
    const std::lock_guard lock(trace_.mutex_);
    trace_.slice(done);
  }
  bool is_left_out() const { return !trace_.cut_.has(rank()) || !trace_.cut_.has_step(seen_.step); }
  Event event(Event::Kind kind, std::int64_t begin, std::int64_t length) const {
    Event event;
    event.kind = kind;
    event.begin = begin;
    event.length = length;
    event.rank = rank();
    event.number = seen_.step;
    return event;
  }
  void end_phase() {
    if (!phase_) return;
    Event ended = event(Event::Kind::phase, phase_begin_, trace_.now() - phase_begin_);
    ended.subject = *phase_;
    phase_.reset();
    if (trace_.cut_.has(rank())) {
      const std::lock_guard lock(trace_.mutex_);
      trace_.slice(ended);
    } else {
      ++trace_.left_out_;
    }
  }

  RunTrace& trace_;
  Seen& seen_;
  std::optional<std::int32_t> phase_;
  std::int64_t phase_begin_ = 0;
};

RunTrace::RunTrace(const Topology& topology, TraceCut cut, std::size_t in_memory)
    : topology_(topology),
      cut_(std::move(cut)),
      in_memory_(in_memory),
      seen_(static_cast<std::size_t>(topology.nodes())),
      events_(std::make_unique<EventSpool<Event>>(in_memory)) {}

RunTrace::~RunTrace() = default;

Program RunTrace::traced(const Program& program) {
  ++run_;
  return [this, program](Node& node) {
    SeenNode seen(node, *this);
    program(seen);
  };
}

void RunTrace::waits(Rank rank) noexcept {
  Seen& seen = seen_[static_cast<std::size_t>(rank)];
  if (seen.in_step && !seen.left_out) seen.wait_begin = now();
}

void RunTrace::goes_on(Rank rank) noexcept {
  Seen& seen = seen_[static_cast<std::size_t>(rank)];
  if (!seen.in_step) return;
  if (seen.left_out) {
    ++left_out_;
    return;
  }
  Event waited;
  waited.kind = Event::Kind::wait;
  waited.begin = seen.wait_begin;
  waited.length = now() - seen.wait_begin;
  waited.rank = rank;
  waited.number = seen.step;
  const std::lock_guard lock(mutex_);
  slice(waited);
}

// A slice ends with the tail; of a worm whose head or tail is lost there is none.
void RunTrace::leaves(const LaneFlit& flit) noexcept {
  if (observed_.load(std::memory_order_relaxed) == 0) return;
  const bool is_seen = cut_.has(flit.from) && cut_.has(flit.to) && cut_.has_step(flit.step);
  if (!is_seen) {
    if (flit.tail) ++left_out_;
    return;
  }
  const std::int64_t lane = flit.link * lanes_of_a_link + flit.virtual_channel;
  Event seen;
  seen.begin = now();
  seen.number = static_cast<std::uint64_t>(lane);
  seen.rank = flit.from;
  seen.subject = flit.to;
  seen.bytes = flit.bytes;
  const std::lock_guard lock(mutex_);
  Passing& worm = lanes_[lane];
  if (flit.head) worm = {seen.begin, 0};
  ++worm.flits;
  if (flits_ < most_flits) {
    ++flits_;
    seen.kind = Event::Kind::flit;
    add(seen);
  }
  if (!flit.tail) return;
  seen.kind = Event::Kind::worm;
  seen.tag = worm.flits;
  seen.length = seen.begin - worm.begin;
  seen.begin = worm.begin;
  slice(seen);
}

// Both with the mutex held.
void RunTrace::slice(const Event& event) {
  ++slices_;
  add(event);
}
void RunTrace::add(Event event) {
  event.order = order_++;
  event.run = run_;
  events_->add(event);
}

/// The k-th message of one node to another with a tag is the k-th that this one receives. An arrow
/// needs both ends. It ends where the later of the two steps begins, or where both do. It starts in
/// the slice that begins first: a message that was waited for has a slice of its own, within the
/// one in which it was received. Returns the number of arrows.
std::uint64_t RunTrace::find_arrows(EventSpool<Event>& arrows) const {
  struct Ends {
    bool are_sends = false;
    std::deque<Event> events;  // whose other ends have not arrived
  };
  std::map<std::tuple<std::uint32_t, Rank, Rank, Tag>, Ends> half_seen;
  std::uint64_t next_id = 1, arrivals = 0;
  merge<Event>({events_.get()}, [&](const Event& event) {
    using Kind = Event::Kind;
    const bool is_send = event.kind == Kind::send || event.kind == Kind::unseen_send;
    if (!is_send && event.kind != Kind::receive && event.kind != Kind::unseen_receive) return;
    if (!cut_.has(event.subject)) return;
    const Rank from = is_send ? event.rank : event.subject,
               to = is_send ? event.subject : event.rank;
    const auto entry = half_seen.try_emplace({event.run, from, to, event.tag}).first;
    Ends& ends = entry->second;
    if (ends.events.empty() || ends.are_sends == is_send) {
      ends.are_sends = is_send;
      ends.events.push_back(event);
      return;
    }
    const Event other = ends.events.front();
    ends.events.pop_front();
    if (ends.events.empty()) half_seen.erase(entry);
    const Event &sent = is_send ? event : other, &received = is_send ? other : event;
    if (sent.kind == Kind::unseen_send || received.kind == Kind::unseen_receive) return;
    Event arrow;
    arrow.number = arrow.order = next_id++;
    arrow.kind = Kind::flow_start;
    arrow.rank = from;
    arrow.begin = sent.begin;
    arrows.add(arrow);
    arrow.kind = Kind::flow_end;
    arrow.rank = to;
    arrow.begin = std::max(sent.begin, received.begin);
    arrows.add(arrow);
    if (received.begin >= sent.begin) return;
    ++arrivals;
    arrow.kind = Kind::arrival;
    arrow.subject = from;
    arrow.length = std::max<std::int64_t>(0, received.begin + received.length - sent.begin);
    arrows.add(arrow);
  });
  return arrivals;
}

// Of processes and threads.
void RunTrace::write_names(const std::function<void(std::string_view)>& write) const {
  const auto digits = static_cast<int>(fmt::format("{}", topology_.nodes() - 1).size());
  const auto name = [&](const char* what, std::int64_t pid, std::int64_t tid, const auto& text) {
    write(trace_name(what, pid, tid, text) + ",\n");
  };
  for (Rank rank = 0; rank < topology_.nodes(); ++rank) {
    if (!cut_.has(rank)) continue;
    const std::int64_t pid = std::int64_t{rank} + 1;
    name("process_name", pid, 0, fmt::format("node {:0{}}", rank, digits));
    for (std::size_t row = 0; row < row_names.size(); ++row) {
      name("thread_name", pid, pid * rows_of_a_node + static_cast<std::int64_t>(row),
           row_names[row]);
    }
  }
  if (lanes_.empty()) return;
  const std::int64_t pid = std::int64_t{topology_.nodes()} + 1;
  name("process_name", pid, 0, "lanes");
  for (const auto& [lane, worm] : lanes_) {
    name("thread_name", pid, pid * rows_of_a_node + lane,
         fmt::format("{} vc {}", topology_.link_name(static_cast<Link>(lane / lanes_of_a_link)),
                     lane % lanes_of_a_link));
  }
}

TraceCounts RunTrace::write(const std::function<void(std::string_view)>& write,
                            std::string_view other) {
  events_->sort();
  EventSpool<Event> arrows(in_memory_);
  const std::uint64_t arrivals = find_arrows(arrows);
  arrows.sort();
  const TraceCounts counts{slices_ + arrivals, left_out_.load()};
  write(trace_head("wall", other, counts.events, counts.left_out));
  write_names(write);
  const auto pid = [](Rank rank) { return std::int64_t{rank} + 1; };
  std::vector<std::string> names(phases_.size());
  for (const auto& [name, number] : phases_) {
    names[static_cast<std::size_t>(number)] = trace_quoted(name);
  }

  std::string comma;
  merge<Event>({events_.get(), &arrows}, [&](const Event& e) {
    if (e.kind == Event::Kind::unseen_send || e.kind == Event::Kind::unseen_receive) return;
    using Kind = Event::Kind;
    const bool on_lane = e.kind == Kind::worm || e.kind == Kind::flit;
    const std::string at = fmt::format(
        R"("pid":{},"tid":{},"ts":{})", pid(on_lane ? topology_.nodes() : e.rank),
        on_lane ? pid(topology_.nodes()) * rows_of_a_node + static_cast<std::int64_t>(e.number)
                : row_of(e.rank, e.kind),
        trace_time(e.begin));
    if (e.kind == Kind::flit) {
      write(fmt::format(R"({}{{"ph":"i","s":"t","cat":"flit","name":"{} -> {}",{}}})", comma,
                        e.rank, e.subject, at));
      comma = ",\n";
      return;
    }
    if (e.kind == Kind::flow_start || e.kind == Kind::flow_end) {
      const bool starts = e.kind == Kind::flow_start;
      write(fmt::format(R"({}{{"ph":"{}",{}"cat":"message","name":"m","id":{},{}}})", comma,
                        starts ? "s" : "f", starts ? "" : "\"bp\":\"e\",", e.number, at));
      comma = ",\n";
      return;
    }
    std::string name, arguments;
    const char* category = "step";
    switch (e.kind) {
      case Kind::phase:
        category = "phase";
        name = names[static_cast<std::size_t>(e.subject)];
        break;
      case Kind::step:
        name = fmt::format("step {}", e.number);
        break;
      case Kind::wait:
        category = "wait";
        name = "wait";
        arguments = fmt::format(R"("step":{})", e.number);
        break;
      case Kind::send:
      case Kind::receive:
        category = "message";
        name = fmt::format("{} {}", e.kind == Kind::send ? "to" : "from", e.subject);
        arguments = fmt::format(R"("bytes":{},"step":{},"tag":{})", e.bytes, e.number, e.tag);
        break;
      case Kind::worm:
        category = "worm";
        name = fmt::format("{} -> {}", e.rank, e.subject);
        arguments = fmt::format(R"("from":{},"to":{},"bytes":{},"flits":{})", e.rank, e.subject,
                                e.bytes, e.tag);
        break;
      case Kind::arrival:
        category = "arrival";
        name = fmt::format("comes from {}", e.subject);
        break;
      default:
        category = "local";
        name = e.kind == Kind::local       ? "local"
               : e.kind == Kind::rearrange ? "rearrange"
                                           : "combine";
        if (e.kind != Kind::local) arguments = fmt::format(R"("bytes":{})", e.bytes);
        break;
    }
    write(fmt::format(R"({}{{"ph":"X","cat":"{}","name":"{}",{},"dur":{},"args":{{{}}}}})", comma,
                      category, name, at, trace_time(e.length), arguments));
    comma = ",\n";
  });
  write(comma.empty() ? "]}\n" : "\n]}\n");
  return counts;
}

}  // namespace wormcube
