// Real runs as trace events.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/run_trace.hpp"

#include "wormcube/apps/trace_text.hpp"
#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <queue>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

/// As it lies in the temporary file.
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
    flow_start,
    flow_end
  };
  std::int64_t begin = 0, length = 0;
  std::uint64_t order = 0;   // in which it was told: of equal ones the outer comes first
  std::uint64_t number = 0;  // a step, or a message
  Bytes bytes = 0;
  Rank rank = 0;
  std::int32_t subject = 0;  // a peer, or a phase's name
  Tag tag = 0;
  Kind kind = Kind::step;

  /// By time; what lasts longer first; slices before the arrows that they hold.
  friend bool operator<(const Event& a, const Event& b) {
    return std::tuple(a.begin, -a.length, a.kind, a.rank, a.order) <
           std::tuple(b.begin, -b.length, b.kind, b.rank, b.order);
  }
};

namespace {

constexpr std::int64_t rows_of_a_node = 8;

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
    case Kind::flow_end:
      return first + 2;
    case Kind::local:
    case Kind::rearrange:
    case Kind::combine:
      return first + 3;
  }
  return first;
}

constexpr std::array row_names{"steps", "send", "receive", "local"};

/// One sorted run of the temporary file, read piece by piece.
class SortedRun {
 public:
  SortedRun(std::FILE* file, std::size_t first, std::size_t count)
      : file_(file), at_(first), left_(count) {}
  bool next(RunTrace::Event& event) {
    if (place_ == piece_.size()) {
      constexpr std::size_t most = 1024;
      piece_.resize(std::min(most, left_));
      if (piece_.empty()) return false;
      if (std::fseek(file_, static_cast<long>(at_ * sizeof(RunTrace::Event)), SEEK_SET) != 0 ||
          std::fread(piece_.data(), sizeof(RunTrace::Event), piece_.size(), file_) !=
              piece_.size()) {
        throw UsageError("trace: the temporary file cannot be read again");
      }
      at_ += piece_.size();
      left_ -= piece_.size();
      place_ = 0;
    }
    event = piece_[place_++];
    return true;
  }

 private:
  std::FILE* file_;
  std::size_t at_, left_, place_ = 0;
  std::vector<RunTrace::Event> piece_;
};

}  // namespace

/// Passes everything on, and tells the trace.
class RunTrace::SeenNode final : public ForwardingNode {
 public:
  SeenNode(Node& node, RunTrace& trace)
      : ForwardingNode(node), trace_(trace), seen_(trace.seen_[node.rank()]) {
    seen_.messages.clear();
    seen_.step = 0;
  }
  ~SeenNode() override { end_phase(); }
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
    if (left_out) {
      trace_.left_out_ += 1 + ops.size();
    } else {
      trace_.slice(event(Event::Kind::step, begin, length));
    }
    for (const Op& op : ops) {
      Event message = event(op.is_send() ? Event::Kind::send : Event::Kind::receive, begin, length);
      message.subject = peer_of(topology(), rank(), op);
      message.bytes = op.bytes();
      message.tag = op.tag();
      if (!left_out) trace_.slice(message);
      trace_.message(rank(), op.is_send(), message.subject, op.tag(), begin, left_out);
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
  void work(Charge charge, Bytes bytes, Work work) override {
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
      seen_(static_cast<std::size_t>(topology.nodes())) {
  events_.reserve(std::min<std::size_t>(in_memory, 1024));
}

RunTrace::~RunTrace() {
  if (spilled_ != nullptr) std::fclose(spilled_);
}

Program RunTrace::traced(const Program& program) {
  half_seen_.clear();
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
  slice(waited);
}

void RunTrace::slice(const Event& event) {
  const std::lock_guard lock(mutex_);
  ++slices_;
  add(event);
}

/// The k-th message of one node to another with a tag is the k-th that this one gets: an arrow needs
/// both ends.
void RunTrace::message(Rank rank, bool is_send, Rank peer, Tag tag, std::int64_t begin,
                       bool left_out) {
  const std::uint32_t number =
      seen_[static_cast<std::size_t>(rank)].messages[{is_send, peer, tag}]++;
  // Without the other end there is no arrow; and with this one left out, none either.
  const auto step_is_in = [&] { return !left_out && cut_.has(peer); };
  if (!step_is_in()) return;
  const std::lock_guard lock(mutex_);
  const Rank from = is_send ? rank : peer, to = is_send ? peer : rank;
  const auto [entry, is_first] =
      half_seen_.try_emplace({from, to, tag, number}, HalfSeen{next_id_, rank, begin});
  if (is_first) {
    ++next_id_;
    return;
  }
  const std::int64_t other = entry->second.begin;
  Event arrow;
  arrow.number = entry->second.id;
  half_seen_.erase(entry);
  arrow.kind = Event::Kind::flow_start;
  arrow.rank = from;
  arrow.begin = is_send ? begin : other;
  const std::int64_t received = is_send ? other : begin;
  add(arrow);
  arrow.kind = Event::Kind::flow_end;
  arrow.rank = to;
  arrow.begin = std::max(arrow.begin, received);
  add(arrow);
}

void RunTrace::add(const Event& event) {
  events_.push_back(event);
  events_.back().order = order_++;
  if (events_.size() >= in_memory_) spill();
}

void RunTrace::spill() {
  if (spilled_ == nullptr) spilled_ = std::tmpfile();
  std::ranges::sort(events_, std::less<>());
  // Nodes run on without their trace; write() tells.
  failed_ = failed_ || spilled_ == nullptr || std::fseek(spilled_, 0, SEEK_END) != 0 ||
            std::fwrite(events_.data(), sizeof(Event), events_.size(), spilled_) != events_.size();
  if (!failed_) runs_.push_back(events_.size());
  events_.clear();
}

TraceCounts RunTrace::write(const std::function<void(std::string_view)>& write,
                            std::string_view other) {
  if (failed_) {
    throw UsageError(
        "trace: no room for its temporary file; trace fewer nodes or steps (--trace-nodes, "
        "--trace-steps)");
  }
  std::ranges::sort(events_, std::less<>());
  std::vector<SortedRun> runs;
  std::size_t first = 0;
  for (const std::size_t count : runs_) {
    runs.emplace_back(spilled_, first, count);
    first += count;
  }
  const TraceCounts counts{slices_, left_out_.load()};
  write(trace_head("wall", other, counts.events, counts.left_out));
  const auto digits = static_cast<int>(fmt::format("{}", topology_.nodes() - 1).size());
  const auto pid = [](Rank rank) { return std::int64_t{rank} + 1; };
  for (Rank rank = 0; rank < topology_.nodes(); ++rank) {
    if (!cut_.has(rank)) continue;
    write(trace_name("process_name", pid(rank), 0, fmt::format("node {:0{}}", rank, digits)) +
          ",\n");
    for (std::size_t row = 0; row < row_names.size(); ++row) {
      write(trace_name("thread_name", pid(rank),
                       (std::int64_t{rank} + 1) * rows_of_a_node + static_cast<std::int64_t>(row),
                       row_names[row]) +
            ",\n");
    }
  }
  std::vector<std::string> names(phases_.size());
  for (const auto& [name, number] : phases_) {
    names[static_cast<std::size_t>(number)] = trace_quoted(name);
  }

  // Of the runs of the file and the events in memory always the earliest.
  using Head = std::pair<Event, std::size_t>;
  const auto later = [](const Head& a, const Head& b) { return b.first < a.first; };
  std::priority_queue<Head, std::vector<Head>, decltype(later)> heads(later);
  std::size_t in_memory = 0;
  const auto refill = [&](std::size_t run) {
    Event event;
    if (run < runs.size() ? runs[run].next(event) : in_memory < events_.size()) {
      heads.emplace(run < runs.size() ? event : events_[in_memory++], run);
    }
  };
  for (std::size_t run = 0; run <= runs.size(); ++run) refill(run);
  std::string comma;
  while (!heads.empty()) {
    const auto [e, run] = heads.top();
    heads.pop();
    refill(run);
    using Kind = Event::Kind;
    const std::string at = fmt::format(R"("pid":{},"tid":{},"ts":{})", pid(e.rank),
                                       row_of(e.rank, e.kind), trace_time(e.begin));
    if (e.kind == Kind::flow_start || e.kind == Kind::flow_end) {
      const bool starts = e.kind == Kind::flow_start;
      write(fmt::format(R"({}{{"ph":"{}",{}"cat":"message","name":"m","id":{},{}}})", comma,
                        starts ? "s" : "f", starts ? "" : "\"bp\":\"e\",", e.number, at));
      comma = ",\n";
      continue;
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
  }
  write(comma.empty() ? "]}\n" : "\n]}\n");
  return counts;
}

}  // namespace wormcube
