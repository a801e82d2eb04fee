// The explorer itself: it allows what the memory model allows, all of it, and
// finds faults that are planted.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/interleavings/explorer.hpp"

#include "wormcube/tests/interleavings/atomics.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <array>
#include <optional>
#include <set>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/core.h>

namespace interleavings {
namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, acq_rel = std::memory_order_acq_rel,
               seq_cst = std::memory_order_seq_cst;
using Outcomes = std::set<std::string>;

/// What a program can come to: with states that are one taken for one, and
/// without.
template <class World>
Outcomes all_of() {
  const Report merged = explore<World>();
  INFO(merged.failure);
  CHECK(merged.complete);
  const Outcomes found = outcomes();
  const Report alone = explore<World>({.merge = false});
  CHECK(alone.complete);
  CHECK(alone.executions >= merged.executions);
  CHECK(outcomes() == found);
  return found;
}
/// The first line of what is found.
template <class World>
std::string fault_in(const Bounds& bounds = {}) {
  const Report report = explore<World>(bounds);
  if (report.failure.empty()) {
    CHECK(report.complete);
    return "none";
  }
  CHECK_FALSE(report.complete);
  return report.failure.substr(0, report.failure.find('\n'));
}

// Two threads store a word each and load the other's.
template <std::memory_order Store, std::memory_order Load>
struct StoreBuffering {
  static constexpr int threads = 2;
  std::array<Atomic<int>, 2> word;
  std::array<Plain<int>, 2> seen;
  void thread(int i) {
    word[i].store(1, Store);
    seen[i] = word[1 - i].load(Load);
  }
  void end() { outcome(fmt::format("{}{}", int{seen[0]}, int{seen[1]})); }
};

// The same in the other order.
struct LoadBuffering {
  static constexpr int threads = 2;
  std::array<Atomic<int>, 2> word;
  std::array<Plain<int>, 2> seen;
  void thread(int i) {
    seen[i] = word[1 - i].load(relaxed);
    word[i].store(1, relaxed);
  }
  void end() { outcome(fmt::format("{}{}", int{seen[0]}, int{seen[1]})); }
};

// Each of two threads stores to both words: whose store stays?
template <std::memory_order Order>
struct TwoStores {
  static constexpr int threads = 2;
  std::array<Atomic<int>, 2> word;
  void thread(int i) {
    word[i].store(1, Order);
    word[1 - i].store(2, Order);
  }
  void end() { outcome(fmt::format("{}{}", word[0].load(relaxed), word[1].load(relaxed))); }
};

// Each stores to a word; one has stored to the other's before, the other then loads it.
template <std::memory_order Order>
struct StoreAndLoad {
  static constexpr int threads = 2;
  std::array<Atomic<int>, 2> word;
  Plain<int> seen = 0;
  void thread(int i) {
    if (i == 0) {
      word[0].store(1, Order);
      word[1].store(1, Order);
    } else {
      word[1].store(2, Order);
      seen = word[0].load(Order == release ? acquire : Order);
    }
  }
  void end() { outcome(fmt::format("{}{}", word[1].load(relaxed), int{seen})); }
};

// One stores to a word, then to a flag; the other sees the flag, then changes the word, or stores to
// it: does that come before the first store?
template <std::memory_order Store, std::memory_order Load, bool Changes>
struct StoreBehind {
  static constexpr int threads = 2;
  Atomic<int> word, flag;
  Plain<int> came = 0;
  void thread(int i) {
    if (i == 0) {
      word.store(1, relaxed);
      flag.store(1, Store);
    } else {
      came = flag.load(Load);
      Changes ? static_cast<void>(word.fetch_add(2, relaxed)) : word.store(2, relaxed);
    }
  }
  void end() { outcome(fmt::format("{}{}", int{came}, word.load(relaxed))); }
};

// Two store to a word. A third reads it twice; or sees by a flag, or by what the first does not see, that the first has
// stored, and reads it then.
enum class Knows { by_reading, by_flag, by_order };
template <Knows How>
struct TwoStoresAndLoads {
  static constexpr int threads = 3;
  Atomic<int> word, flag;
  std::array<Plain<int>, 2> seen;
  void thread(int i) {
    if (i == 0) {
      word.store(1, How == Knows::by_order ? seq_cst : relaxed);
      if (How == Knows::by_flag) flag.store(1, release);
      if (How == Knows::by_order) seen[0] = 1 - flag.load(seq_cst);
    } else if (i == 1) {
      word.store(2, relaxed);
    } else {
      if (How == Knows::by_reading) seen[0] = word.load(relaxed);
      if (How == Knows::by_flag) seen[0] = flag.load(acquire);
      if (How == Knows::by_order) flag.store(1, seq_cst);
      seen[1] = word.load(How == Knows::by_order ? seq_cst : relaxed);
    }
  }
  void end() { outcome(fmt::format("{}{}{}", int{seen[0]}, int{seen[1]}, word.load(relaxed))); }
};

// Nothing comes between what a read-modify-write has read and what it stores.
struct Additions {
  static constexpr int threads = 3;
  Atomic<int> word;
  void thread(int i) {
    if (i == 0) {
      word.store(4, relaxed);
    } else {
      word.fetch_add(i, relaxed);
    }
  }
  void end() { outcome(fmt::format("{}", word.load(relaxed))); }
};

// One thread stores data, then a flag; the other looks at the flag, then at the
// data.
template <std::memory_order Store, std::memory_order Load>
struct MessagePassing {
  static constexpr int threads = 2;
  Atomic<int> data, flag;
  Plain<int> came = 0, seen = 0;
  void thread(int i) {
    if (i == 0) {
      data.store(1, relaxed);
      flag.store(1, Store);
    } else {
      came = flag.load(Load);
      seen = data.load(relaxed);
    }
  }
  void end() { outcome(fmt::format("{}{}", int{came}, int{seen})); }
};

// A thread sees another's store, and says so by a flag; does a third see the
// store too?
template <std::memory_order Store>
struct Causality {
  static constexpr int threads = 3;
  Atomic<int> x, flag;
  std::array<Plain<int>, 3> seen;
  void thread(int i) {
    if (i == 0) {
      x.store(1, relaxed);
    } else if (i == 1) {
      seen[0] = x.load(relaxed);
      flag.store(1, Store);
    } else {
      seen[1] = flag.load(acquire);
      seen[2] = x.load(relaxed);
    }
  }
  void end() { outcome(fmt::format("{}{}{}", int{seen[0]}, int{seen[1]}, int{seen[2]})); }
};

// Do two threads see two others' stores in one order? The last is a storer and
// a reader.
template <std::memory_order Store, std::memory_order Load>
struct OneOrder {
  static constexpr int threads = 3;
  Atomic<int> x, y;
  std::array<Plain<int>, 3> seen;
  void thread(int i) {
    if (i == 0) {
      x.store(1, Store);
    } else if (i == 1) {
      seen[0] = x.load(Load);
      seen[1] = y.load(Load);
    } else {
      y.store(1, Store);
      seen[2] = x.load(Load);
    }
  }
  void end() { outcome(fmt::format("{}{}{}", int{seen[0]}, int{seen[1]}, int{seen[2]})); }
};

// A word is stored twice; what one thread reads goes forward.
struct Coherence {
  static constexpr int threads = 2;
  Atomic<int> word;
  Plain<int> first = 0, second = 0;
  void thread(int i) {
    if (i == 0) {
      word.store(1, relaxed);
      word.store(2, relaxed);
    } else {
      first = word.load(relaxed);
      second = word.load(relaxed);
    }
  }
  void end() { outcome(fmt::format("{}{}", int{first}, int{second})); }
};

// What a thread releases is passed on by another's read-modify-write, of
// whatever order, but not by its store.
template <bool Changes>
struct ReleaseSequence {
  static constexpr int threads = 3;
  Plain<int> data = 0;
  Atomic<int> flag;
  void thread(int i) {
    if (i == 0) {
      data = 1;
      flag.store(1, release);
    } else if (i == 1) {
      int one = 1;
      if (Changes) {
        static_cast<void>(flag.compare_exchange_strong(one, 2, relaxed, relaxed));
      } else if (flag.load(relaxed) == 1) {
        flag.store(2, relaxed);
      }
    } else if (flag.load(acquire) == 2) {
      require(data == 1, "the data is there");
    }
  }
  void end() {}
};

template <std::memory_order Store, std::memory_order Load>
struct Published {
  static constexpr int threads = 2;
  Plain<int> data = 0;
  Atomic<bool> ready = false;
  void thread(int i) {
    if (i == 0) {
      data = 7;
      ready.store(true, Store);
    } else if (ready.load(Load)) {
      require(data == 7, "the data is there");
    }
  }
  void end() {}
};

// A waiter says that it sleeps, looks again, and sleeps; who sets the flag
// wakes it if it says so.
template <std::memory_order Store, std::memory_order Load, bool Looks, bool Loops>
struct Sleeper {
  static constexpr int threads = 2;
  Atomic<int> flag, asleep;
  void thread(int i) {
    if (i == 0) {
      do {
        asleep.store(1, Store);
        if (Looks && flag.load(Load) == 1) return;
        sleep_while_equal(asleep, 1);
      } while (Loops && flag.load(Load) == 0);
      require(flag.load(Load) == 1, "it wakes when there is something");
    } else {
      flag.store(1, Store);
      if (asleep.load(Load) == 1) {
        asleep.store(0, Store);
        wake_sleepers(asleep);
      }
    }
  }
  void end() {}
};

template <bool Atomically>
struct Lock {
  static constexpr int threads = 3;
  Atomic<bool> taken = false;
  Plain<int> inside = 0;
  bool take() {
    if (Atomically) return !taken.exchange(true, acquire);
    if (taken.load(acquire)) return false;
    taken.store(true, relaxed);
    return true;
  }
  void thread(int /*i*/) {
    for (int round = 0; round < 2; ++round) {
      if (!take()) continue;
      inside = inside + 1;
      taken.store(false, release);
    }
  }
  void end() {}
};

template <bool InOneOrder>
struct TwoLocks {
  static constexpr int threads = 2;
  std::array<Atomic<int>, 2> taken;
  void take(Atomic<int>& lock) {
    for (int none = 0; !lock.compare_exchange_strong(none, 1, acquire, relaxed); none = 0)
      lock.await(0);
  }
  void thread(int i) {
    Atomic<int>& first = taken[InOneOrder ? 0 : i];
    Atomic<int>& second = taken[InOneOrder ? 1 : 1 - i];
    take(first);
    take(second);
    second.store(0, release);
    first.store(0, release);
  }
  void end() {}
};

struct Waits {
  static constexpr int threads = 2;
  Atomic<bool> flag = false;
  void thread(int i) {
    while (i == 0 && !flag.load(acquire)) {
    }
  }
  void end() {}
};

// The same, where each look is like the last.
struct GoesRound {
  static constexpr int threads = 2;
  Atomic<bool> flag = false;
  void thread(int i) {
    while (i == 0 && !flag.load(acquire)) forget(1);
  }
  void end() {}
};

// An object ends after a count that says that nobody uses it any more.
template <std::memory_order Order>
struct Ends {
  static constexpr int threads = 2;
  std::optional<Atomic<int>> object = std::optional<Atomic<int>>(std::in_place, 0);
  Atomic<int> users = 1;
  void thread(int i) {
    if (i == 0) {
      object->store(1, relaxed);
      users.store(0, Order);
    } else if (users.load(acquire) == 0) {
      object.reset();
    }
  }
  void end() {}
};
template <std::memory_order Order>
struct Begins {
  static constexpr int threads = 2;
  std::optional<Atomic<int>> object;
  Atomic<bool> there = false;
  void thread(int i) {
    if (i == 0) {
      object.emplace(7);
      there.store(true, Order);
    } else if (there.load(acquire)) {
      require(object->load(relaxed) == 7, "it is as it was made");
    }
  }
  void end() {}
};

template <bool Weak>
struct Compares {
  static constexpr int threads = 2;
  Atomic<int> word;
  void thread(int i) {
    int none = 0;
    if (i == 0) {
      require(Weak ? word.compare_exchange_weak(none, 1, relaxed, relaxed)
                   : word.compare_exchange_strong(none, 1, relaxed, relaxed),
              "nobody else changes it");
    }
  }
  void end() {}
};

template <bool Null>
struct Astray {
  static constexpr int threads = 2;
  struct Link {
    Plain<int> number = 0;
    Plain<Link*> next = nullptr;
  };
  alignas(Link) std::array<std::byte, sizeof(Link)> elsewhere{};
  Link link;
  Astray() { link.next = Null ? nullptr : reinterpret_cast<Link*>(elsewhere.data()); }
  void thread(int i) {
    Link* const next = link.next;
    if (i == 0) static_cast<void>(static_cast<Link*>(next->next));
  }
  void end() {}
};

struct Outside {
  static constexpr int threads = 2;
  Atomic<int> sum;
  void thread(int i) { sum.fetch_add(i + 1, relaxed); }
  void end() { require(sum.load(relaxed) == 2, "the sum is right"); }
};

}  // namespace

TEST_CASE("the explorer allows what weak orders allow, and no more", "[interleavings]") {
  const Outcomes all{"00", "01", "10", "11"};
  CHECK(all_of<StoreBuffering<relaxed, relaxed>>() == all);
  CHECK(all_of<StoreBuffering<release, acquire>>() == all);
  CHECK(all_of<StoreBuffering<seq_cst, acquire>>() == all);
  CHECK(all_of<StoreBuffering<release, seq_cst>>() == all);
  CHECK(all_of<StoreBuffering<seq_cst, seq_cst>>() == Outcomes{"01", "10", "11"});

  CHECK(all_of<MessagePassing<relaxed, relaxed>>() == all);
  CHECK(all_of<MessagePassing<release, relaxed>>() == all);
  CHECK(all_of<MessagePassing<relaxed, acquire>>() == all);
  CHECK(all_of<MessagePassing<release, acquire>>() == Outcomes{"00", "01", "11"});
  CHECK(all_of<MessagePassing<seq_cst, seq_cst>>() == Outcomes{"00", "01", "11"});

  CHECK(all_of<Coherence>() == Outcomes{"00", "01", "02", "11", "12", "22"});
  CHECK(all_of<Causality<relaxed>>().contains("110"));
  CHECK_FALSE(all_of<Causality<release>>().contains("110"));
  CHECK(all_of<OneOrder<release, acquire>>().contains("100"));
  CHECK_FALSE(all_of<OneOrder<seq_cst, seq_cst>>().contains("100"));
  CHECK(all_of<OneOrder<seq_cst, seq_cst>>().size() == 7);
}

TEST_CASE("the explorer lets stores take effect in each order that coherence allows",
          "[interleavings]") {
  CHECK(all_of<TwoStores<relaxed>>() == Outcomes{"11", "12", "21", "22"});
  CHECK(all_of<TwoStores<release>>() == Outcomes{"11", "12", "21", "22"});
  CHECK(all_of<TwoStores<seq_cst>>() == Outcomes{"12", "21", "22"});
  CHECK(all_of<StoreAndLoad<release>>() == Outcomes{"10", "11", "20", "21"});
  CHECK(all_of<StoreAndLoad<seq_cst>>() == Outcomes{"10", "11", "21"});

  const Outcomes changed{"01", "03", "11", "13"}, stored{"01", "02", "11", "12"};
  CHECK(all_of<StoreBehind<relaxed, acquire, true>>() == changed);
  CHECK(all_of<StoreBehind<release, relaxed, true>>() == changed);
  CHECK(all_of<StoreBehind<release, acquire, true>>() == Outcomes{"01", "03", "13"});
  CHECK(all_of<StoreBehind<relaxed, relaxed, false>>() == stored);
  CHECK(all_of<StoreBehind<release, acquire, false>>() == Outcomes{"01", "02", "12"});
  // 1 and then 2, and yet 2 is what comes before 1.
  CHECK(all_of<TwoStoresAndLoads<Knows::by_reading>>().contains("122"));
  CHECK_FALSE(all_of<TwoStoresAndLoads<Knows::by_reading>>().contains("121"));
  CHECK(all_of<TwoStoresAndLoads<Knows::by_flag>>().contains("122"));
  CHECK_FALSE(all_of<TwoStoresAndLoads<Knows::by_flag>>().contains("121"));
  CHECK(all_of<TwoStoresAndLoads<Knows::by_order>>().contains("122"));
  CHECK_FALSE(all_of<TwoStoresAndLoads<Knows::by_order>>().contains("121"));
  CHECK(all_of<Additions>() == Outcomes{"4", "5", "6", "7"});
}

TEST_CASE("the explorer's memory has a restriction: no load sees a later store",
          "[interleavings]") {
  CHECK(all_of<LoadBuffering>() == Outcomes{"00", "01", "10"});  // C++20 allows 11 too
}

TEST_CASE("the explorer finds races by the orders that were used", "[interleavings]") {
  CHECK(fault_in<Published<release, acquire>>() == "none");
  CHECK(fault_in<Published<seq_cst, seq_cst>>() == "none");
  CHECK_THAT((fault_in<Published<relaxed, acquire>>()), Catch::StartsWith("race: thread 1"));
  CHECK_THAT((fault_in<Published<release, relaxed>>()), Catch::StartsWith("race: thread 1"));
  CHECK(fault_in<ReleaseSequence<true>>() == "none");
  CHECK_THAT(fault_in<ReleaseSequence<false>>(), Catch::StartsWith("race: thread 2"));
  CHECK(fault_in<Lock<true>>() == "none");
  CHECK_THAT(fault_in<Lock<false>>(), Catch::StartsWith("race: "));
}

TEST_CASE("the explorer finds lost wake-ups, deadlocks and what never ends", "[interleavings]") {
  const std::string all_wait = "all wait for each other, for ever";
  CHECK(fault_in<Sleeper<seq_cst, seq_cst, true, true>>() == "none");
  CHECK(fault_in<Sleeper<release, acquire, true, true>>() == all_wait);
  CHECK(fault_in<Sleeper<seq_cst, acquire, true, true>>() == all_wait);
  CHECK(fault_in<Sleeper<seq_cst, seq_cst, false, true>>() == all_wait);
  CHECK(fault_in<Sleeper<seq_cst, seq_cst, true, false>>() == "it wakes when there is something");
  CHECK(fault_in<Sleeper<seq_cst, seq_cst, true, false>>({.early_returns = 0}) == "none");
  CHECK(fault_in<TwoLocks<true>>() == "none");
  CHECK(fault_in<TwoLocks<false>>() == all_wait);
  CHECK(fault_in<Waits>() == "no end after 400 operations");
  CHECK(fault_in<GoesRound>() == "no execution ends: all go round");
}

TEST_CASE("the explorer finds what is used before its beginning or after its end",
          "[interleavings]") {
  CHECK(fault_in<Ends<release>>() == "none");
  CHECK_THAT(fault_in<Ends<relaxed>>(),
             Catch::Contains("ends while another thread may still use it"));
  CHECK(fault_in<Begins<release>>() == "none");
  CHECK_THAT(fault_in<Begins<relaxed>>(), Catch::Contains("before it can know that it has begun"));
  CHECK_THAT(fault_in<Astray<false>>(), Catch::StartsWith("looks at something"));
  if (!sanitized) {  // they end the process
    CHECK_THAT(fault_in<Astray<true>>(), Catch::StartsWith("looks at something"));
  }
}

TEST_CASE("the explorer finds what does not hold, and what relies on luck", "[interleavings]") {
  CHECK(fault_in<Outside>() == "the sum is right");
  CHECK(fault_in<Compares<false>>() == "none");
  CHECK(fault_in<Compares<true>>() == "nobody else changes it");
  CHECK(fault_in<Compares<true>>({.early_returns = 0}) == "none");
}

TEST_CASE("the explorer says when a bound has stopped it", "[interleavings]") {
  const Report report = explore<Lock<true>>({.states = 10});
  CHECK_FALSE(report.complete);
  CHECK(report.failure.empty());
}

TEST_CASE("an order can be weakened where it stands", "[interleavings]") {
  using World = Published<release, acquire>;
  const Report report = explore<World>();
  REQUIRE(report.orders.size() == 2);
  for (const Order& order : report.orders) {
    const Weakened weakened{order, relaxed};
    CHECK_THAT(explore<World>({}, &weakened).failure, Catch::StartsWith("race: "));
    const Weakened elsewhere{{order.file, order.line + 1, order.of, order.order}, relaxed};
    CHECK(explore<World>({}, &elsewhere).failure.empty());
  }
}

}  // namespace interleavings
