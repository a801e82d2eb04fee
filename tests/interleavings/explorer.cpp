// Explores executions depth first, each from its start.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/interleavings/explorer.hpp"

#include "wormcube/runtime/base/fiber/fiber.hpp"
#include "wormcube/runtime/base/fiber/sanitizers.hpp"
#include "wormcube/tests/interleavings/atomics.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#ifdef WORMCUBE_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace interleavings {
namespace {

constexpr int most_threads = 4, most_locations = 40, most_stores = 250;
constexpr int host = most_threads - 1;  // begins and ends each execution
constexpr std::uint32_t cell_magic = 0x5ca1ab1e, trace_magic = 0x0ddba115;
constexpr int most_plain = 20'000;  // uses of plain variables in one execution

bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}
bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel ||
         order == std::memory_order_seq_cst;
}

/// What a thread knows, or learns when it acquires a store: of each word the
/// latest store, by its number in the word's order, that is not hidden; of each
/// thread how far it has come.
struct View {
  std::array<std::uint8_t, most_locations> seen = {};
  std::array<std::uint16_t, most_threads> clock = {};
  void join(const View& other) {
    for (int i = 0; i < most_locations; ++i) seen[i] = std::max(seen[i], other.seen[i]);
    for (int i = 0; i < most_threads; ++i) clock[i] = std::max(clock[i], other.clock[i]);
  }
};

struct Hash {
  std::uint64_t a = 0x243f6a8885a308d3, b = 0x13198a2e03707344;
  void add(std::uint64_t value) {
    a = (a ^ value) * 0x9e3779b97f4a7c15;
    a ^= a >> 29;
    b = (b ^ value) * 0xbf58476d1ce4e5b9;
    b ^= b >> 31;
  }
  void add(const Hash& other) {
    add(other.a);
    add(other.b);
  }
  void add(const View& view) {
    std::array<std::uint64_t, (sizeof(View) + 7) / 8> words = {};
    std::memcpy(words.data(), &view, sizeof view);
    for (const std::uint64_t word : words) add(word);
  }
  friend bool operator==(const Hash&, const Hash&) = default;
};

/// A set of hashes, in a table of which at most half is used.
class States {
 public:
  /// False: it is there.
  bool add(Hash hash) {
    if (hash == Hash{0, 0}) hash.a = 1;  // stands for an empty place
    if (2 * (count_ + 1) > table_.size()) grow();
    if (!put(hash)) return false;
    ++count_;
    return true;
  }

 private:
  bool put(const Hash& hash) {
    std::size_t at = hash.a & (table_.size() - 1);
    while (table_[at] != Hash{0, 0}) {
      if (table_[at] == hash) return false;
      at = (at + 1) & (table_.size() - 1);
    }
    table_[at] = hash;
    return true;
  }
  void grow() {
    const std::vector<Hash> old = std::exchange(
        table_, std::vector<Hash>(std::max<std::size_t>(2 * table_.size(), 1024), Hash{0, 0}));
    for (const Hash& hash : old) {
      if (hash != Hash{0, 0}) put(hash);
    }
  }
  std::vector<Hash> table_;
  std::size_t count_ = 0;
};

struct Store {
  std::uint64_t value;
  bool change;  // of a read-modify-write: nothing comes between it and what that has read
  View view;
  Hash hash;
};

struct Location {
  const Cell* cell = nullptr;  // null: it is no more
  std::vector<Store> stores;   // in the order in which they take effect
  int last_sequential = 0;     // no sequentially consistent load sees less
  View sleepers;               // the system's own lock
  std::array<std::uint16_t, most_threads> used = {};
};

struct Thread {
  enum class State : std::uint8_t { ready, asleep, awake, ended, lost };
  std::optional<wormcube::Fiber> fiber;
  State state = State::ended;
  Operation pending = {};
  const Cell* cell = nullptr;
  Cell::Result result = {};
  View view;
  Hash history;
  std::array<std::uint8_t, most_locations> again = {};  // the same overwritten store was seen
};

struct Event {
  int thread;
  int location;
  Operation operation;
  std::uint64_t value;
  bool done;
};

std::string_view file_of(const char* path) {
  const std::string_view text(path);
  return text.substr(text.rfind('/') + 1);
}

std::set<std::string> all_outcomes;

}  // namespace

class Execution;
namespace {
Execution* current = nullptr;
}  // namespace

/// One program's exploration, and its execution under way.
class Execution {
 public:
  Execution(const Program& program, const Bounds& bounds, const Weakened* weakened)
      : program_(program),
        bounds_(bounds),
        weakened_(weakened),
        stacks_(static_cast<std::size_t>(program.threads), stack_bytes) {
    current = this;
  }
  ~Execution() { current = nullptr; }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  Report explore() {
    do {
      run_once();
      report_.longest = std::max(report_.longest, operations_);
      if (!failure_.empty()) {
        report_.failure = failure_;
        return report_;
      }
      if (report_.states >= bounds_.states) return report_;
    } while (next_path());
    report_.complete = report_.executions > 0;
    if (!report_.complete) report_.failure = "no execution ends: all go round";
    return report_;
  }

  void fail(std::string_view what) {
    if (!failure_.empty() || mode_ == Mode::finishing) return;
    failure_ = fmt::format("{}\n{}", what, story());
  }
  bool failed() const { return !failure_.empty(); }
  int running() const { return running_; }

  void forget(int where) {
    if (mode_ != Mode::threads) return;
    threads_[running_].history = {};
    threads_[running_].history.add(static_cast<std::uint64_t>(where));
  }

  // Of cells and traces.
  void born(Cell& cell) {
    cell.born_by_ = running_;
    cell.born_at_ = view().clock[running_];
  }
  void died(const Cell& cell) {
    if (cell.location_ < 0 || mode_ == Mode::finishing) return;
    Location& location = locations_[cell.location_];
    location.cell = nullptr;
    if (!is_before(location.used)) {
      fail(fmt::format("{}: {} ends while another thread may still use it", name(running_),
                       word(cell.location_)));
    }
  }
  Cell::Result perform(const Cell& cell, const Operation& operation) {
    require_ours(&cell, &cell.magic_, cell_magic);
    const bool untouched = cell.location_ < 0 && operation.kind == Operation::Kind::load;
    if (mode_ == Mode::ending && untouched) return {cell.value_, true};
    if (mode_ != Mode::threads) return apply(running_, cell, operation);
    Thread& thread = threads_[running_];
    thread.cell = &cell;
    thread.pending = operation;
    thread.fiber->suspend();
    return thread.result;
  }
  void born(Trace& trace, std::uint64_t value) {
    trace.writer_ = running_;
    trace.written_ = view().clock[running_];
    keep(trace, value);
  }
  void died(Trace& trace) {
    if (mode_ == Mode::finishing) return;
    use(trace);
    if (!is_read_before(trace)) race(trace, "ends it while another may read it");
    forget(trace);
    trace.hash_ = 0;
  }
  void require_ours(const Trace& trace) { require_ours(&trace, &trace.magic_, trace_magic); }
  void read(const Trace& trace, std::uint64_t value) {
    use(trace);
    trace.reads_[running_] = view().clock[running_];
    if (mode_ == Mode::threads) threads_[running_].history.add(value);
  }
  void write(Trace& trace, std::uint64_t value) {
    require_ours(&trace, &trace.magic_, trace_magic);
    use(trace);
    if (!is_read_before(trace)) race(trace, "writes it while another may read it");
    born(trace, value);
  }

 private:
  enum class Mode : std::uint8_t { beginning, threads, ending, finishing };
  static constexpr std::size_t stack_bytes = 64 << 10;

  View& view() {
    return mode_ == Mode::threads || mode_ == Mode::finishing ? threads_[running_].view
                                                              : host_view_;
  }

  // Choices: those of this execution, and how many there were of each.
  struct Choice {
    int taken, of;
  };
  int choose(int of) {
    if (of == 1) return 0;
    if (next_ < path_.size()) return path_[next_++].taken;
    path_.push_back({0, of});
    ++next_;
    return 0;
  }
  bool is_new() const { return next_ == path_.size(); }
  bool next_path() {
    while (!path_.empty() && path_.back().taken + 1 == path_.back().of) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }

  void run_once() {
    next_ = 0;
    operations_ = plain_uses_ = early_returns_ = 0;
    hash_ = {};
    count_ = 0;
    events_.clear();
    host_view_ = {};
    host_view_.clock[host] = 1;
    running_ = host;
    mode_ = Mode::beginning;
    program_.begin();
    mode_ = Mode::threads;
    for (int i = 0; i < program_.threads; ++i) start(i);
    const bool ended = failure_.empty() && go();
    if (ended) {
      ++report_.executions;
      end();
    }
    if (!failure_.empty()) finish();
    mode_ = Mode::finishing;
    running_ = host;
    program_.destroy();
    for (int i = 0; i < program_.threads; ++i) drop(i);
  }

  void start(int i) {
    Thread& thread = threads_[i];
    thread.state = Thread::State::ready;
    thread.view = host_view_;
    thread.view.clock[i] = 1;
    thread.history = {};
    thread.again = {};
    thread.fiber.emplace(stacks_, static_cast<std::size_t>(i), [this, i] {
      program_.thread(i);
      threads_[i].state = Thread::State::ended;
    });
    resume(i);
  }
  void resume(int i) {
    const int before = std::exchange(running_, i);
    threads_[i].fiber->resume();
    running_ = before;
  }
  void drop(int i) {
    threads_[i].fiber.reset();
#ifdef WORMCUBE_ASAN
    const auto stack = stacks_[static_cast<std::size_t>(i)];
    __asan_unpoison_memory_region(stack.data(), stack.size());
#endif
  }

  // To the end: true. False: this state is known, or it fails.
  bool go() {
    for (;;) {
      std::array<int, most_threads> able = {};
      int count = 0;
      bool all_ended = true;
      for (int i = 0; i < program_.threads; ++i) {
        all_ended &= threads_[i].state == Thread::State::ended;
        if (is_able(i)) able[count++] = i;
      }
      if (all_ended) return true;
      if (count == 0) {
        fail("all wait for each other, for ever");
        return false;
      }
      if (is_new() && is_known()) {
        ++report_.merged;
        return false;
      }
      if (++operations_ > bounds_.operations) {
        fail(fmt::format("no end after {} operations", bounds_.operations));
        return false;
      }
      step(able[choose(count)]);
      if (!failure_.empty()) return false;
    }
  }

  void step(int i) {
    Thread& thread = threads_[i];
    running_ = i;
    if (thread.state == Thread::State::awake) {
      thread.state = Thread::State::ready;
      thread.view.join(locations_[thread.cell->location_].sleepers);
    } else {
      thread.result = apply(i, *thread.cell, thread.pending);
      if (thread.state == Thread::State::asleep || !failure_.empty()) return;
    }
    thread.history.add(thread.result.value * 2 + (thread.result.done ? 1 : 0));
    resume(i);
  }

  void end() {
    mode_ = Mode::ending;
    running_ = host;
    for (int i = 0; i < program_.threads; ++i) host_view_.join(threads_[i].view);
    program_.end();
  }

  // After a failure: without choices, so that what the threads own is given
  // back if they come to their ends.
  void finish() {
    if (mode_ != Mode::threads) return;
    mode_ = Mode::finishing;
    for (int round = 0; round < 2000; ++round) {
      bool any = false;
      for (int i = 0; i < program_.threads; ++i) {
        Thread& thread = threads_[i];
        if (thread.state == Thread::State::ended || thread.state == Thread::State::lost) continue;
        if (thread.state == Thread::State::asleep) thread.state = Thread::State::awake;
        any = true;
        running_ = i;
        if (thread.state == Thread::State::awake) {
          thread.state = Thread::State::ready;
        } else if (thread.cell != nullptr &&
                   is_ours(thread.cell, &thread.cell->magic_, cell_magic)) {
          thread.result = apply(i, *thread.cell, thread.pending);
        } else {
          thread.state = Thread::State::lost;
          continue;
        }
        thread.cell = nullptr;
        mode_ = Mode::threads;
        unchecked_ = true;
        resume(i);
        unchecked_ = false;
        mode_ = Mode::finishing;
      }
      if (!any) return;
    }
  }

  // Of memory.

  void require_ours(const void* address, const std::uint32_t* magic, std::uint32_t right) {
    const bool ours = is_ours(address, magic, right);
    if (ours && ++plain_uses_ < most_plain) return;
    fail(ours ? "no end of what is done between two atomic operations"
              : "looks at something that is none of the program's variables");
    if (mode_ == Mode::threads) {
      threads_[running_].state = Thread::State::lost;
      for (;;) threads_[running_].fiber->suspend();
    }
  }
  // Near null there is nothing to read. What a faulty program takes for an item
  // lies in the room else.
  static bool is_ours(const void* address, const std::uint32_t* magic, std::uint32_t right) {
    return reinterpret_cast<std::uintptr_t>(address) >= 1U << 16U && *magic == right;
  }

  bool is_before(const std::array<std::uint16_t, most_threads>& used) {
    for (int i = 0; i < most_threads; ++i) {
      if (i != running_ && used[i] > view().clock[i]) return false;
    }
    return true;
  }
  bool is_read_before(const Trace& trace) {
    for (int i = 0; i < most_threads; ++i) {
      if (i != running_ && trace.reads_[i] > view().clock[i]) return false;
    }
    return true;
  }
  void use(const Trace& trace) {
    if (trace.writer_ == running_ || trace.written_ <= view().clock[trace.writer_]) return;
    race(trace, "uses it while another may write it");
  }
  void race(const Trace& trace, const char* what) {
    if (unchecked_ || trace.shared_) return;
    fail(fmt::format("race: {} {}: the variable at byte {} of the program", name(running_), what,
                     offset(&trace)));
  }
  void keep(Trace& trace, std::uint64_t value) {
    Hash hash;
    hash.add(offset(&trace));
    hash.add(value);
    hash.add(static_cast<std::uint64_t>(trace.writer_) << 32U | trace.written_);
    forget(trace);
    trace.hash_ = hash.a;
    forget(trace);
  }
  // Takes it out of the hash of all, or into it.
  void forget(const Trace& trace) {
    hash_.a ^= trace.hash_;
    hash_.b ^= trace.hash_ * 0x94d049bb133111eb;
  }
  std::uint64_t offset(const void* address) const {
    return static_cast<std::uint64_t>(static_cast<const char*>(address) -
                                      static_cast<const char*>(program_.room));
  }

  Location& location_of(const Cell& cell) {
    if (cell.location_ >= 0) return locations_[cell.location_];
    if (count_ == most_locations) fail("too many atomics");
    const int number = count_ < most_locations ? count_++ : most_locations - 1;
    cell.location_ = number;
    Location& location = locations_[number];
    location.cell = &cell;
    location.stores.clear();
    location.last_sequential = 0;
    location.sleepers = {};
    location.used = {};
    Store first{cell.value_, false, {}, {}};
    seal(first);
    location.stores.push_back(first);
    return location;
  }
  static void seal(Store& store) {
    store.hash = {};
    store.hash.add(store.value);
    store.hash.add(static_cast<std::uint64_t>(store.change));
    store.hash.add(store.view);
  }

  std::memory_order met(Order::Of of, std::memory_order order, const Operation& operation) {
    if (order == std::memory_order_relaxed || operation.file == nullptr) return order;
    // Of each place once: what is written there stays.
    Order found{{}, operation.line, of, order};
    const auto key = std::pair(operation.file, operation.line * 4 + static_cast<int>(of));
    const auto known = std::ranges::find(places_, key, &Place::key);
    const Place* place = nullptr;
    if (known == places_.end()) {
      found.file = file_of(operation.file);
      report_.orders.insert(found);
      const bool changed = weakened_ != nullptr && weakened_->which == found;
      place = &places_.emplace_back(Place{key, changed ? weakened_->to : order});
    } else {
      place = &*known;
    }
    return place->order;
  }

  // One operation of a thread, or of the host: what it does to memory, and what
  // comes of it.
  Cell::Result apply(int i, const Cell& cell, const Operation& operation) {
    Location& location = location_of(cell);
    const int number = cell.location_;
    View& mine = view();
    if (!unchecked_ && mode_ != Mode::finishing) {
      if (cell.born_by_ != i && cell.born_at_ > mine.clock[cell.born_by_]) {
        fail(fmt::format("{} uses {} before it can know that it has begun", name(i), word(number)));
      }
      if (location.cell == nullptr)
        fail(fmt::format("{} uses {} after its end", name(i), word(number)));
    }
    location.used[i] = mine.clock[i];
    const Cell::Result result = apply(i, location, number, mine, operation);
    events_.push_back({i, number, operation, result.value, result.done});
    return result;
  }

  Cell::Result apply(int i, Location& location, int number, View& mine,
                     const Operation& operation) {
    using Kind = Operation::Kind;
    std::vector<Store>& stores = location.stores;
    const int latest = static_cast<int>(stores.size()) - 1;
    switch (operation.kind) {
      case Kind::load: {
        const auto order = met(Order::Of::load, operation.order, operation);
        const int first = first_visible(i, location, number, mine, order);
        return {see(i, location, number, mine, order, latest - choose_seen(latest - first + 1)),
                true};
      }
      case Kind::await: {
        for (int at = latest;; --at) {
          if (stores[at].value == operation.operand) {
            return {see(i, location, number, mine, operation.order, at), true};
          }
          if (at == 0 || mode_ == Mode::finishing) return {0, false};
        }
      }
      case Kind::store: {
        const auto order = met(Order::Of::store, operation.order, operation);
        const Places places(location, mine.seen[number], order);
        put(location, number, mine, operation.operand, order,
            places.after[choose_seen(places.count)], false);
        return {operation.operand, true};
      }
      case Kind::change: {
        const auto order = met(Order::Of::change, operation.order, operation);
        const Places places(location, mine.seen[number], order);
        const int at = places.after[choose_seen(places.count)];
        const std::uint64_t old = see(i, location, number, mine, order, at);
        put(location, number, mine, operation.apply(old, operation.operand), order, at, true);
        return {old, true};
      }
      case Kind::compare: {
        const auto success = met(Order::Of::change, operation.order, operation);
        const auto failure = met(Order::Of::failure, operation.failure, operation);
        Places fit(location, mine.seen[number], success);
        fit.keep([&](int at) { return stores[at].value == operation.expected; });
        const bool fits = stores[latest].value == operation.expected;
        const int first = first_visible(i, location, number, mine, failure);
        // Success first, then the stores that it may fail by, the latest first,
        // then for no reason.
        std::array<std::uint8_t, most_stores> others = {};
        int count = 0;
        for (int at = latest; at >= first && count < most_stores; --at) {
          if (stores[at].value != operation.expected)
            others[count++] = static_cast<std::uint8_t>(at);
        }
        const bool early = fits && operation.weak && may_return_early();
        int chosen = choose_seen(fit.count + count + (early ? 1 : 0));
        if (chosen < fit.count) {
          see(i, location, number, mine, success, fit.after[chosen]);
          put(location, number, mine, operation.operand, success, fit.after[chosen], true);
          return {operation.expected, true};
        }
        chosen -= fit.count;
        if (chosen < count) {
          return {see(i, location, number, mine, failure, others[chosen]), false};
        }
        ++early_returns_;
        return {see(i, location, number, mine, failure, latest), false};
      }
      case Kind::sleep: {
        // The system looks at the word under a lock of its own, which who wakes
        // takes too.
        mine.join(location.sleepers);
        int equal = -1, other = -1;
        for (int at = mine.seen[number]; at <= latest; ++at) {
          (stores[at].value == operation.operand ? equal : other) = at;
        }
        const bool early = equal >= 0 && may_return_early();
        int chosen = choose_seen((equal >= 0 ? 1 : 0) + (other >= 0 ? 1 : 0) + (early ? 1 : 0));
        if (equal >= 0 && chosen-- == 0) {
          if (mode_ == Mode::threads) threads_[i].state = Thread::State::asleep;
          return {0, true};
        }
        if (other >= 0 && chosen-- == 0) return {1, true};
        ++early_returns_;
        return {2, true};
      }
      case Kind::wake: {
        location.sleepers.join(mine);
        ++mine.clock[running_];
        for (int t = 0; t < program_.threads; ++t) {
          Thread& thread = threads_[t];
          if (thread.state == Thread::State::asleep && thread.cell->location_ == number) {
            thread.state = Thread::State::awake;
          }
        }
        return {0, true};
      }
    }
    return {};
  }

  int choose_seen(int of) { return mode_ == Mode::threads && !unchecked_ ? choose(of) : 0; }
  bool may_return_early() const {
    return mode_ == Mode::threads && !unchecked_ && early_returns_ < bounds_.early_returns;
  }

  int first_visible(int i, const Location& location, int number, const View& mine,
                    std::memory_order order) const {
    const int latest = static_cast<int>(location.stores.size()) - 1;
    int first = mine.seen[number];
    if (order == std::memory_order_seq_cst) first = std::max(first, location.last_sequential);
    if (i < host && first < latest && threads_[i].again[number] > bounds_.stale_reads) ++first;
    return first;
  }
  std::uint64_t see(int i, Location& location, int number, View& mine, std::memory_order order,
                    int at) {
    const Store& store = location.stores[at];
    if (i < host) {
      auto& again = threads_[i].again[number];
      const bool overwritten = at + 1 < static_cast<int>(location.stores.size());
      again = !overwritten ? 0 : at == mine.seen[number] ? again + 1 : 1;
    }
    mine.seen[number] = static_cast<std::uint8_t>(at);
    if (acquires(order)) mine.join(store.view);
    if (order == std::memory_order_seq_cst)
      location.last_sequential = std::max(location.last_sequential, at);
    return store.value;
  }
  /// After which stores another can take effect, the latest first: none that its thread knows to be hidden, nor
  /// one that a read-modify-write has read.
  struct Places {
    Places(const Location& location, int known, std::memory_order order) {
      const int first =
          order == std::memory_order_seq_cst ? std::max(known, location.last_sequential) : known;
      const int latest = static_cast<int>(location.stores.size()) - 1;
      for (int at = latest; at >= first && count < most_stores; --at) {
        if (at == latest || !location.stores[at + 1].change)
          after[count++] = static_cast<std::uint8_t>(at);
      }
    }
    template <class Condition>
    void keep(Condition&& condition) {
      count = static_cast<int>(
          std::remove_if(after.begin(), after.begin() + count, std::not_fn(condition)) -
          after.begin());
    }
    std::array<std::uint8_t, most_stores> after = {};
    int count = 0;
  };
  // \param change  of a read-modify-write, which has read the store before: it goes on as part of its
  // release sequence
  void put(Location& location, int number, View& mine, std::uint64_t value, std::memory_order order,
           int after, bool change) {
    const int at = after + 1;
    if (at < static_cast<int>(location.stores.size())) make_room(location, number, at);
    if (location.stores.size() + 1 == most_stores) fail("too many stores to one word");
    mine.seen[number] = static_cast<std::uint8_t>(at);
    if (running_ < host) threads_[running_].again[number] = 0;
    Store store{value, change, {}, {}};
    if (releases(order)) store.view = mine;
    if (change) store.view.join(location.stores[after].view);
    store.view.seen[number] = static_cast<std::uint8_t>(at);
    seal(store);
    location.stores.insert(location.stores.begin() + at, store);
    if (order == std::memory_order_seq_cst)
      location.last_sequential = std::max(location.last_sequential, at);
    if (releases(order)) ++mine.clock[running_];  // it does not publish what follows
  }
  // What is stored from there on has the next number.
  void make_room(Location& location, int number, int from) {
    const auto renumber = [&](View& view) {
      if (view.seen[number] >= from) ++view.seen[number];
    };
    for (Thread& thread : threads_) renumber(thread.view);
    for (int i = 0; i < count_; ++i) {
      renumber(locations_[i].sleepers);
      for (Store& store : locations_[i].stores) {
        renumber(store.view);
        seal(store);
      }
    }
    if (location.last_sequential >= from) ++location.last_sequential;
  }

  bool is_able(int i) {
    const Thread& thread = threads_[i];
    if (thread.state == Thread::State::awake) return true;
    if (thread.state != Thread::State::ready) return false;
    if (thread.pending.kind != Operation::Kind::await) return true;
    const Location& location = location_of(*thread.cell);
    for (std::size_t at = thread.view.seen[thread.cell->location_]; at < location.stores.size();
         ++at) {
      if (location.stores[at].value == thread.pending.operand) return true;
    }
    return false;
  }

  // All that the future depends on: what each thread knows, where it
  // stands, memory.
  bool is_known() {
    if (!bounds_.merge) {
      ++report_.states;
      return false;
    }
    Hash hash = hash_;
    hash.add(static_cast<std::uint64_t>(early_returns_));
    std::array<std::uint8_t, most_locations> first;
    first.fill(255);
    for (int i = 0; i < program_.threads; ++i) {
      const Thread& thread = threads_[i];
      hash.add(thread.history);
      hash.add(thread.view);
      hash.add(static_cast<std::uint64_t>(thread.state));
      for (int at = 0; at < count_; ++at) {
        if (thread.again[at] != 0)
          hash.add(static_cast<std::uint64_t>(at) * 256 + thread.again[at]);
        first[at] = std::min(first[at], thread.view.seen[at]);
      }
    }
    for (int at = 0; at < count_; ++at) {
      const Location& location = locations_[at];
      hash.add(offset(location.cell));
      hash.add(static_cast<std::uint64_t>(location.last_sequential));
      hash.add(location.sleepers);
      for (std::size_t store = first[at]; store < location.stores.size(); ++store) {
        hash.add(location.stores[store].hash);
      }
    }
    if (!known_.add(hash)) return true;
    ++report_.states;
    return false;
  }

  // Words.
  static std::string name(int i) { return i == host ? "the host" : fmt::format("thread {}", i); }
  std::string word(int number) const {
    const Cell* const cell = locations_[number].cell;
    return cell == nullptr ? fmt::format("word {}", number)
                           : fmt::format("word {} at byte {}", number, offset(cell));
  }
  std::string story() const {
    static constexpr std::array<const char*, 7> kinds{"load",  "store", "change", "compare",
                                                      "sleep", "wake",  "await"};
    std::string text;
    for (const Event& event : events_) {
      const Operation& operation = event.operation;
      text += fmt::format("  {}: {} word {}", name(event.thread),
                          kinds[static_cast<std::size_t>(operation.kind)], event.location);
      if (operation.file != nullptr) {
        text += fmt::format(" ({}, {}:{})", name_of(operation.order), file_of(operation.file),
                            operation.line);
      }
      text += fmt::format(" -> {:x}{}\n", event.value, event.done ? "" : ", fails");
    }
    return text;
  }

  const Program& program_;
  const Bounds& bounds_;
  const Weakened* weakened_;
  Report report_;
  std::string failure_;

  std::vector<Choice> path_;
  std::size_t next_ = 0;
  States known_;
  struct Place {
    std::pair<const char*, int> key;
    std::memory_order order;
  };
  std::vector<Place> places_;

  Mode mode_ = Mode::beginning;
  bool unchecked_ = false;
  int running_ = host;
  int operations_ = 0, plain_uses_ = 0, early_returns_ = 0;
  Hash hash_;  // of plain variables
  View host_view_;
  int count_ = 0;
  std::array<Location, most_locations> locations_;
  wormcube::Stacks stacks_;
  std::array<Thread, most_threads> threads_;
  std::vector<Event> events_;
};

Cell::Cell(std::uint64_t value) : magic_(cell_magic), value_(value) { current->born(*this); }
Cell::~Cell() { current->died(*this); }
Cell::Result Cell::perform(Operation operation) const { return current->perform(*this, operation); }

Trace::Trace(std::uint64_t value, bool shared) : magic_(trace_magic), shared_(shared) {
  current->born(*this, value);
}
Trace::~Trace() { current->died(*this); }
void Trace::require_ours() const { current->require_ours(*this); }
void Trace::read(std::uint64_t value) const { current->read(*this, value); }
void Trace::write(std::uint64_t value) { current->write(*this, value); }

Report explore(const Program& program, const Bounds& bounds, const Weakened* weakened) {
  all_outcomes.clear();
  return Execution(program, bounds, weakened).explore();
}

void require(bool holds, const char* what) {
  if (!holds) current->fail(what);
}
void forget(int where) { current->forget(where); }
void outcome(const std::string& text) { all_outcomes.insert(text); }
const std::set<std::string>& outcomes() { return all_outcomes; }

std::string Report::counts() const {
  return fmt::format(
      "{} executions to their end, {} to a state that was "
      "known, {} states, at most {} operations",
      executions, merged, states, longest);
}

const char* name_of(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
    default:
      return "consume";
  }
}

}  // namespace interleavings
