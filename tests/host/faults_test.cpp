// Stack overflows report node, step, algorithm and network in every execution mode.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/host/faults.hpp"

#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/node/together.hpp"
#include "wormcube/runtime/schedule/parallel.hpp"
#include "wormcube/runtime/schedule/prove.hpp"
#include "wormcube/tests/schedule/dies.hpp"

#include <atomic>
#include <barrier>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::StartsWith;

namespace {

/// Recursion deeper than any stack.
[[gnu::noinline]] int sink(volatile int* depth) {
  if (*depth < 0) return 0;  // never: an end that the compiler can see
  volatile char frame[256];
  frame[*depth % 256] = 1;
  *depth = *depth + 1;
  return sink(depth) + frame[*depth % 256];
}

void use_up_stack() {
  volatile int depth = 0;
  sink(&depth);
}

/// Node 2 uses up its stack after a step.
void program(Node& node) {
  node.step();
  if (node.rank() == 2) use_up_stack();
  node.step();
}

}  // namespace

TEST_CASE("a stack overflow in a dry run names algorithm, node, step and network", "[schedule]") {
  if (sanitized) return;
  const Topology topology = Topology::parse("ring:4");
  const End named = end_of([&] { record(topology, program, "barrier mine"); });
  CHECK(named.exit_code == 2);
  CHECK_THAT(named.text,
             StartsWith("barrier mine: node 2, step 1 on ring:4: a node program has used "
                        "up its stack in a dry run"));
  const End of_activity = end_of([&] {
    const Activity outer("alltoall mine"), inner("barrier theirs");
    record(topology, program);
  });
  CHECK_THAT(of_activity.text, StartsWith("barrier theirs: node 2, step 1 on ring:4: "));
}

TEST_CASE("a stack overflow in a proof names node, step and network", "[schedule]") {
  if (sanitized) return;
  const End end = end_of([&] {
    const Activity activity("barrier mine");
    prove(Topology::parse("ring:4"), program);
  });
  CHECK(end.exit_code == 2);
  CHECK(end.text ==
        "barrier mine: node 2, step 1 on ring:4: a node program has used up its stack of 262144 "
        "bytes in a proof (too deep a recursion, or too large a local array?)\n");
}

TEST_CASE("a stack overflow while a proof stops its programs names the node", "[schedule]") {
  if (sanitized) return;
  struct Sinks {
    ~Sinks() { use_up_stack(); }
  };
  const End end = end_of([&] {
    prove(Topology::parse("ring:4"), [](Node& node) {
      if (node.rank() == 3) throw 1;
      if (node.rank() != 1) return;
      const Sinks sinks;
      node.step({receive(Rank{3}, {})});
    });
  });
  CHECK(end.exit_code == 2);
  CHECK_THAT(end.text, StartsWith("node 1, step 0 on ring:4: a node program has used up"));
}

// A thread that has done nothing of the kind before, of a process that has: its first stack for signals.
TEST_CASE("a stack overflow in a dry run or a proof on a new thread is reported", "[schedule]") {
  if (sanitized) return;
  for (const bool proof : {false, true}) {
    const End end = end_of([&] {
      std::thread([&] {
        const Topology topology = Topology::parse("ring:4");
        proof ? prove(topology, program) : static_cast<void>(record(topology, program));
      }).join();
    });
    CHECK(end.exit_code == 2);
    CHECK_THAT(end.text, StartsWith("node 2, step 1 on ring:4: a node program has used up"));
  }
}

TEST_CASE(
    "a fault names where its thread is in a dry run or a proof, as far as there is room, and no "
    "other thread",
    "[schedule]") {
  const auto now = [](std::size_t most) {
    std::string text(most, ' ');
    text.resize(where_now(text));
    return text;
  };
  int asked = 0;
  const auto asks = [&](Node& node) {
    node.step();
    if (node.rank() != 1) return;
    ++asked;
    CHECK(now(100) == "node 1, step 1 on line:2: ");
    CHECK(now(6) == "node 1");
    std::string elsewhere = "?";
    std::thread([&] { elsewhere = now(100); }).join();
    CHECK(elsewhere.empty());
  };
  const Topology line = Topology::parse("line:2");
  record(line, asks);
  prove(line, asks);
  CHECK(asked == 2);
  CHECK(now(100).empty());
}

TEST_CASE("a fault in a proof that is no stack's goes where it went before", "[schedule]") {
  if (sanitized) return;
  CHECK(dies([&] {
    prove(Topology::parse("line:1"), [](Node& /*node*/) {
      volatile int* volatile nowhere = nullptr;
      *nowhere = 1;
    });
  }));
}

TEST_CASE("a stack overflow on the machine names node, step and network", "[machine]") {
  if (sanitized) return;
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    MachineOptions options;
    options.executor = executor;
    const auto text_of = [&](const Program& run) {
      return end_of([&] {
        Machine other(Topology::parse("ring:3"), options),
            machine(Topology::parse("ring:4"), options);
        const Activity activity("barrier mine");
        machine.run(run);
      });
    };
    const End end = text_of(program);
    CHECK(end.exit_code == 2);
    CHECK_THAT(
        end.text,
        StartsWith("barrier mine: node 2, step 1 on ring:4: a node program has used up its stack"));
    // Parts of a step have stacks of their own.
    const End part = text_of([](Node& node) {
      together(node, {[](Node& inner) { inner.step(); },
                      [](Node& inner) {
                        inner.step();
                        if (inner.rank() == 2) use_up_stack();
                      }});
    });
    CHECK(part.exit_code == 2);
    CHECK_THAT(part.text, StartsWith("barrier mine: node 2, step 1 on ring:4: "));
  }
}

TEST_CASE("a fault that nobody knows goes where it went before, and ours are gone afterwards",
          "[machine]") {
  if (sanitized) return;
  const auto fault = [] {
    volatile int* volatile nowhere = nullptr;
    *nowhere = 1;
  };
  CHECK(dies([&] { Machine(Topology::parse("ring:3")).run([&](Node&) { fault(); }); }));
  CHECK(end_of([&] {
          std::signal(SIGSEGV, [](int) { _exit(7); });
          {
            const FaultReports reports([](auto, std::span<char>) { return std::size_t{0}; });
          }
          fault();
        }).exit_code == 7);
}

TEST_CASE("a SIGSEGV that is sent ends the process, with a machine there or not", "[machine]") {
  if (sanitized) return;
  const auto send = [] {
    kill(getpid(), SIGSEGV);
    for (int i = 0; i < 1000; ++i) usleep(1000);
  };
  CHECK(dies([&] {
    const Machine machine(Topology::parse("ring:3"));
    send();
  }));
  CHECK(end_of([&] {  // who ignores it goes on, and real faults are still reported
          std::signal(SIGSEGV, SIG_IGN);
          Machine machine(Topology::parse("ring:4"));
          kill(getpid(), SIGSEGV);
          machine.run(program);
        })
            .exit_code == 2);
}

TEST_CASE("an activity is reported until it ends, and truncated if it is long", "[machine]") {
  CHECK(Activity::prefix().empty());
  {
    const Activity outer("one");
    {
      const Activity inner(std::string(1000, 'x'));
      CHECK(Activity::prefix().size() == 300);
    }
    CHECK(Activity::prefix() == "one: ");
  }
  CHECK(Activity::prefix().empty());
}

// Each ends while the other's has begun: what one of them restores must not become the other's.
TEST_CASE("the activity of one thread is not another one's", "[machine]") {
  std::barrier both(2);
  std::atomic<int> wrong{0};
  const auto expect = [&](std::string_view wanted) {
    if (Activity::prefix() != wanted) ++wrong;
  };
  const auto follow = [&](const char* name, bool ends_first) {
    expect("");
    both.arrive_and_wait();
    std::optional<Activity> activity(name);
    both.arrive_and_wait();
    expect(std::string(name) + ": ");
    both.arrive_and_wait();
    if (ends_first) activity.reset();
    both.arrive_and_wait();
    expect(ends_first ? "" : std::string(name) + ": ");
    activity.reset();
    both.arrive_and_wait();
    expect("");
  };
  std::thread other(follow, "other", true);
  follow("one", false);
  other.join();
  CHECK(wrong == 0);
  CHECK(Activity::prefix().empty());
}

TEST_CASE("a loop, a proof and a machine take their caller's activity to all their threads",
          "[machine][schedule]") {
  const Activity activity("barrier mine");
  std::atomic<int> wrong{0};
  parallel_for_each_index(5000, [&](std::size_t) {
    if (Activity::prefix() != "barrier mine: ") ++wrong;
    const Activity inner("inner");
  });
  CHECK(wrong == 0);
  const auto says_where = [&](Node& node) {
    node.step();
    std::string text(12, ' ');
    text.resize(where_now(text));
    if (text != "barrier mine") ++wrong;
  };
  record(Topology::parse("ring:1500"), says_where);
  prove(Topology::parse("ring:1500"), says_where);  // of several threads
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    MachineOptions options;
    options.executor = executor;
    Machine(Topology::parse("ring:5"), options).run(says_where);
  }
  CHECK(wrong == 0);
  CHECK(Activity::prefix() == "barrier mine: ");
}
