// What a machine refuses or guarantees besides running programs: options, limits, whom errors
// blame.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/tests/machine/support.hpp"
#include "wormcube/tests/schedule/dies.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>

using namespace machine_tests;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

TEST_CASE("a usage error of one node names it", "[machine]") {
  for (const MachineOptions& options : variations()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("ring:5"), options);
    // The others have ended, or wait for this node.
    for (const bool others_go_on : {false, true}) {
      CAPTURE(others_go_on);
      CHECK(message_of<UsageError>([&] {
              machine.run([&](Node& node) {
                if (node.rank() == 2) throw UsageError("3 blocks, need 4");
                if (others_go_on) exchange(node, 2);
              });
            }) == "node 2: 3 blocks, need 4");
    }
    // The others have got further: node 4 has reported it.
    if (!options.lock_step) {
      CHECK(message_of<UsageError>([&] {
              machine.run([&](Node& node) {
                exchange(node, 1);
                if (node.rank() == 4) {
                  node.step();
                  node.step();
                  node.step({send(Rank{2}, ConstSpan{})});
                }
                if (node.rank() == 2) {
                  node.step({receive(4, Span{})});
                  throw UsageError("3 blocks, need 4");
                }
                exchange(node, 2);
              });
            }) == "node 2: 3 blocks, need 4");
    }
    CHECK(message_of<UsageError>([&] {
            machine.run([](Node& node) {
              throw UsageError("root " + std::to_string(node.rank()) + " of 5");
            });
          }).starts_with("node "));
  }
}

TEST_CASE("a usage error that all nodes throw alike stays as it is", "[machine]") {
  for (const MachineOptions& options : variations()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("ring:5"), options);
    for (int run = 0; run < 5; ++run) {
      for (const bool late : {false, true}) {
        CHECK(message_of<UsageError>([&] {
                machine.run([&](Node& node) {
                  if (late) exchange(node, 1);
                  throw UsageError("ring: 5 nodes, need 4");
                });
              }) == "ring: 5 nodes, need 4");
      }
    }
  }
}

TEST_CASE("what a step refuses names node and step", "[machine]") {
  for (const MachineOptions& options : variations()) {
    CAPTURE(describe(options));
    Machine machine(Topology::parse("line:3"), options);
    const auto refusal_of = [&](const Op& op) {
      return message_of<UsageError>([&] {
        machine.run([&](Node& node) {
          node.step();
          node.step();
          if (node.rank() == 1) node.step({op});
        });
      });
    };
    CHECK_THAT(refusal_of(receive(7, Span{})),
               Contains("node 1, step 2: peer 7 out of range [0, 3)"));
    CHECK_THAT(refusal_of(send(Move{0, 2}, ConstSpan{})), Contains("node 1, step 2: "));
    const std::array<Move, 2> twice{Move{0, 1}, Move{0, -1}};
    CHECK_THAT(refusal_of(send(std::span<const Move>(twice), ConstSpan{})),
               Contains("node 1, step 2: moves along dimension 0 and then 0"));
  }
}

TEST_CASE("a second run while the machine runs is refused, and the first one ends well",
          "[machine]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    Machine machine(Topology::parse("ring:3"), plain(executor));
    std::string from_outside, from_inside;
    const auto refused = [&](std::string& text) {
      try {
        machine.run([](Node&) {});
      } catch (const UsageError& error) {
        text = error.what();
      }
    };
    machine.run([&](Node& node) {
      exchange(node, 1);
      if (node.rank() == 1) {
        node.local([&] {
          std::thread(refused, std::ref(from_outside)).join();
          refused(from_inside);
        });
      }
      exchange(node, 2);
    });
    CHECK_THAT(from_outside, Contains("one run at a time"));
    CHECK(from_inside == from_outside);
    CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 3); }));
  }
}

TEST_CASE("the time limit comes amid messages that one worker moves, run after run", "[machine]") {
  for (const int workers : {1, 2}) {
    CAPTURE(workers);
    MachineOptions options = plain(ExecutorKind::fibers);
    options.workers = workers;
    options.time_limit = 1ms;
    Machine machine(Topology::parse("ring:5"), options);
    for (int run = 0; run < 20; ++run) {
      CHECK_THROWS_AS(machine.run([](Node& node) {
        for (;;) exchange(node, 1);
      }),
                      TimeLimit);
    }
  }
}

TEST_CASE("a machine reports nodes that run on after the time limit", "[machine]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    MachineOptions options = plain(executor);
    options.time_limit = 30ms;
    options.overrun_grace = 20ms;
    std::atomic<bool> end{false};
    std::string reported;
    int calls = 0;
    options.on_overrun = [&](const std::string& text) {
      ++calls;
      reported = text;
      end = true;
    };
    Machine machine(Topology::parse("ring:3"), options);
    const auto run = [&](const std::function<void()>& work) {
      return message_of<TimeLimit>([&] {
        machine.run([&](Node& node) {
          if (node.rank() == 1) node.local(work);
          exchange(node, 1);
        });
      });
    };
    CHECK_THAT(run([&] {
                 while (!end) std::this_thread::sleep_for(1ms);
               }),
               Contains("30 ms"));
    CHECK(calls == 1);
    CHECK_THAT(reported, Contains("30 ms, the time limit; ") && Contains("nodes still run"));
  }
}

TEST_CASE("nodes that wait in steps end within the grace", "[machine]") {
  MachineOptions options = plain(ExecutorKind::threads);
  options.time_limit = 20ms;
  options.overrun_grace = 10s;
  int calls = 0;
  options.on_overrun = [&](const std::string&) { ++calls; };
  Machine machine(Topology::parse("ring:3"), options);
  CHECK_THROWS_AS(machine.run([](Node& node) {
    while (true) exchange(node, 1);
  }),
                  TimeLimit);
  CHECK(calls == 0);
}

TEST_CASE("a time limit beyond what clocks can count is none", "[machine]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    MachineOptions options = plain(executor);
    options.time_limit = std::chrono::milliseconds::max();
    Machine patient(Topology::parse("ring:3"), options);
    CHECK_NOTHROW(patient.run([](Node& node) {
      node.local([] { std::this_thread::sleep_for(5ms); });
      exchange(node, 1);
    }));
    options.time_limit = 5ms;
    options.overrun_grace = std::chrono::milliseconds::max();
    int calls = 0;
    options.on_overrun = [&](const std::string&) { ++calls; };
    Machine hasty(Topology::parse("ring:3"), options);
    CHECK_THROWS_AS(hasty.run([](Node& node) {
      node.local([] { std::this_thread::sleep_for(50ms); });
      exchange(node, 1);
    }),
                    TimeLimit);
    CHECK(calls == 0);
  }
}

namespace {

std::chrono::nanoseconds thread_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// Work that takes a core for a millisecond.
constexpr auto work_for_a_millisecond = [] {
  for (const auto start = thread_time(); thread_time() - start < 1ms;) {
  }
};

}  // namespace

TEST_CASE("what the time limit's listener throws comes when all nodes have ended", "[machine]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    MachineOptions options = plain(executor);
    options.time_limit = 20ms;
    options.overrun_grace = 10ms;
    std::atomic<bool> end{false};
    options.on_overrun = [&](const std::string&) {
      end = true;
      throw std::runtime_error("enough");
    };
    Machine machine(Topology::parse("ring:3"), options);
    for (int run = 0; run < 3; ++run) {
      end = false;
      std::atomic<int> alive{0};
      CHECK(message_of<std::runtime_error>([&] {
              machine.run([&](Node& node) {
                const Alive here(alive);
                if (node.rank() == 1) {
                  node.local([&] {
                    while (!end) std::this_thread::sleep_for(1ms);
                  });
                }
                for (;;) exchange(node, 1);
              });
            }) == "enough");
      CHECK(alive == 0);
    }
  }
}

TEST_CASE("a node that polls in steps starves nobody", "[machine]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    for (const bool to_itself : {false, true}) {
      CAPTURE(to_itself);
      MachineOptions options = plain(executor);
      options.workers = 1;
      Machine machine(Topology::parse("ring:5"), options);
      std::atomic<int> come{0};
      CHECK_NOTHROW(machine.run([&](Node& node) {
        if (node.rank() == 4) {
          ++come;
          return;
        }
        std::byte out{}, in{};
        ++come;
        while (come < 5) {  // the others only come when they run
          if (to_itself) {
            node.step({send(node.rank(), ConstSpan(&out, 1)), receive(node.rank(), Span(&in, 1))});
          } else {
            node.step();
          }
        }
      }));
    }
  }
}

TEST_CASE("a run in a forked process is refused, and the machine can go", "[machine]") {
  if (sanitized) return;  // they do not fork with threads
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    auto machine = std::make_unique<Machine>(Topology::parse("ring:3"), plain(executor));
    machine->run([](Node& node) { exchange(node, 1); });
    const End end = end_of([&] {
      try {
        machine->run([](Node&) {});
      } catch (const UsageError& error) {
        std::fputs(error.what(), stderr);
      }
      machine.reset();
      std::fputs("; gone", stderr);
    });
    CHECK(end.exit_code == 0);
    CHECK_THAT(end.text, Contains("forked") && Contains("; gone"));
    CHECK_NOTHROW(machine->run([](Node& node) { exchange(node, 1); }));
  }
}

TEST_CASE("signals that are sent to the process are not handled on a node's stack", "[machine]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, nullptr, &before);
    Machine machine(Topology::parse("ring:3"), plain(executor));
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    CHECK(sigismember(&before, SIGINT) == sigismember(&after, SIGINT));
    std::atomic<int> blocked{0}, own{0};
    machine.run([&](Node&) {
      sigset_t here;
      pthread_sigmask(SIG_SETMASK, nullptr, &here);
      blocked += sigismember(&here, SIGINT) + sigismember(&here, SIGTERM) +
                 sigismember(&here, SIGUSR1) + sigismember(&here, SIGALRM);
      own += sigismember(&here, SIGSEGV) + sigismember(&here, SIGFPE) +
             sigismember(&here, SIGABRT) + sigismember(&here, SIGBUS);
    });
    CHECK(blocked == 4 * 3);
    CHECK(own == 0);
  }
}

TEST_CASE("the cores' time is the run's, in parts", "[machine]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    for (const int workers : {1, 5}) {
      MachineOptions options = plain(executor);
      options.timing = true;
      options.workers = workers;
      Machine machine(Topology::parse("ring:6"), options);
      for (int run = 0; run < 2; ++run) {
        const Statistics statistics = machine.run([](Node& node) {
          exchange(node, 1);
          node.local(work_for_a_millisecond);
          node.rearrange(1, work_for_a_millisecond);
          node.rearrange(1, work_for_a_millisecond);
          if (node.rank() < 3) node.combine(1, work_for_a_millisecond);
          exchange(node, 1);
        });
        const CoreTimes& cores = statistics.cores;
        CHECK(cores.cores >= 1);
        CHECK(cores.computing >= 6ms);
        CHECK(cores.rearranging >= 12ms);
        CHECK(cores.combining >= 3ms);
        CHECK(cores.moving_data > 0ns);
        CHECK(cores.network > 0ns);
        CHECK(cores.idle >= 0ns);
        CHECK(cores.computing + cores.rearranging + cores.combining + cores.moving_data +
                  cores.network + cores.idle ==
              cores.cores * statistics.wall);
      }
    }
  }
  Machine machine(Topology::parse("ring:3"), plain(ExecutorKind::fibers));
  CHECK(machine.run([](Node& node) { exchange(node, 1); }).cores.cores == 0);
}

TEST_CASE("times are measured when they are asked for", "[machine]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    for (const bool timing : {false, true}) {
      MachineOptions options = plain(executor);
      options.timing = timing;
      Machine machine(Topology::parse("ring:3"), options);
      const Statistics statistics = machine.run([](Node& node) {
        exchange(node, 1);
        node.rearrange(1, work_for_a_millisecond);
        node.local(work_for_a_millisecond);
      });
      for (const NodeStatistics& node : statistics.nodes) {
        CHECK((node.local >= 1ms) == timing);
        CHECK((node.rearranging >= 1ms) == timing);
        CHECK((node.stepping > 0ns) == timing);
        if (!timing) CHECK(node.local + node.rearranging + node.stepping == 0ns);
      }
    }
  }
}

TEST_CASE("a stack that is too small for anything is enlarged", "[machine]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    for (const Bytes stack_bytes : {0, 1, 4096, 10'000}) {
      MachineOptions options = plain(executor);
      options.stack_bytes = stack_bytes;
      Machine machine(Topology::parse("ring:4"), options);
      CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
      CHECK_THROWS_AS(machine.run([](Node& node) { node.step({receive(node.size(), Span{})}); }),
                      UsageError);
    }
  }
}

TEST_CASE("a stack that is too large is the reason given", "[machine]") {
  if (sanitized) return;  // they refuse such stacks in their own way
  MachineOptions options;
  options.stack_bytes = Bytes{1} << 50;
  CHECK_THAT(message_of<UsageError>([&] { Machine(Topology::parse("ring:4"), options); }),
             Contains("only 0 of 4") && Contains("use smaller stacks"));
  options.executor = ExecutorKind::fibers;
  CHECK_THAT(message_of<UsageError>([&] { Machine(Topology::parse("ring:4"), options); }),
             Contains("smaller stacks"));
}

TEST_CASE("a stack beyond all addresses does not become a small one", "[machine]") {
  constexpr Bytes all = ~Bytes{0};
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    // Rounded up, with a page or a handler's stack more, or four times: 0, or next to nothing.
    for (const Bytes stack_bytes : {all, all - 4096, all - (Bytes{32} << 10), all / 4 + 1}) {
      CAPTURE(executor, stack_bytes);
      if (sanitized && executor == ExecutorKind::threads && stack_bytes < all / 2) continue;
      MachineOptions options;
      options.executor = executor;
      options.stack_bytes = stack_bytes;
      CHECK_THAT(message_of<UsageError>([&] { Machine(Topology::parse("ring:4"), options); }),
                 Contains(std::to_string(stack_bytes)) && Contains("smaller stacks"));
    }
  }
}

TEST_CASE("fibers run on as many threads as they are given", "[machine]") {
  for (const int workers : {1, 3, 100}) {
    MachineOptions options = plain(ExecutorKind::fibers);
    options.workers = workers;
    Machine machine(Topology::parse("ring:7"), options);
    std::array<std::thread::id, 7> threads;
    machine.run([&](Node& node) {
      exchange(node, 1);
      node.local(
          [&] { threads[static_cast<std::size_t>(node.rank())] = std::this_thread::get_id(); });
    });
    std::ranges::sort(threads);
    CHECK(std::unique(threads.begin(), threads.end()) - threads.begin() == std::min(workers, 7));
  }
}

TEST_CASE("pinned workers have a core each, pinned threads their neighbours' cores", "[machine]") {
  const std::vector<int> cores = bound_core_numbers();
  REQUIRE_FALSE(cores.empty());
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    MachineOptions options = plain(executor);
    options.pin = true;
    options.workers = static_cast<int>(cores.size());
    const auto nodes = static_cast<Rank>(2 * cores.size());
    Machine machine(Topology::parse("line:" + std::to_string(nodes)), options);
    for (int run = 0; run < 2; ++run) {
      std::vector<std::vector<int>> bound(static_cast<std::size_t>(nodes));
      machine.run([&](Node& node) {
        node.local([&] { bound[static_cast<std::size_t>(node.rank())] = bound_core_numbers(); });
      });
      for (std::size_t node = 0; node < bound.size(); ++node) {
        CAPTURE(executor, run, node);
        CHECK(bound[node] == std::vector<int>{cores[node / 2]});
      }
    }
  }
  CHECK(bound_core_numbers() == cores);  // ours are as before
}

TEST_CASE("threads that are not pinned may run on all cores", "[machine]") {
  const std::vector<int> cores = bound_core_numbers();
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    Machine machine(Topology::parse("line:3"), plain(executor));
    std::atomic<int> alike{0};
    machine.run([&](Node& node) { node.local([&] { alike += bound_core_numbers() == cores; }); });
    CHECK(alike == 3);
  }
}

TEST_CASE("more pinned workers than cores are refused", "[machine]") {
  const std::size_t cores = bound_core_numbers().size();
  MachineOptions options = plain(ExecutorKind::fibers);
  options.pin = true;
  options.workers = static_cast<int>(cores) + 1;
  CHECK_THAT(message_of<UsageError>([&] { Machine(Topology::parse("ring:1000"), options); }),
             Contains(std::to_string(cores + 1) + " workers") &&
                 Contains("bound to " + std::to_string(cores)));
}

namespace {

/// What is thrown for a machine in a child process that may only have so much more memory.
std::string refusal_with(Bytes more_bytes, const char* topology, const MachineOptions& options) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe";
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    double pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const auto limit = static_cast<rlim_t>(pages * static_cast<double>(sysconf(_SC_PAGESIZE)) +
                                           static_cast<double>(more_bytes));
    const rlimit addresses{limit, limit};
    setrlimit(RLIMIT_AS, &addresses);
    std::string text = "no error";
    try {
      const Machine machine(Topology::parse(topology), options);
    } catch (const UsageError& error) {
      text = error.what();
    } catch (...) {
      text = "another error";
    }
    static_cast<void>(!write(ends[1], text.data(), text.size()));
    _exit(0);
  }
  close(ends[1]);
  std::array<char, 1000> buffer{};
  const auto bytes = read(ends[0], buffer.data(), buffer.size());
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status)) return "the process died";
  return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))};
}

}  // namespace

TEST_CASE("fibers that do not get their threads say how many there can be", "[machine]") {
  if (sanitized) return;  // they need the addresses that this test takes away
  MachineOptions options = plain(ExecutorKind::fibers);
  options.workers = 1000;  // of 8 MiB of stack each, most likely; 1 MiB would be too much as well
  options.stack_bytes = Bytes{16} << 10;
  CHECK_THAT(refusal_with(100U << 20, "ring:1000", options),
             Contains("of 1000 worker threads") && Contains("ask for fewer"));
}

TEST_CASE("a machine that needs more memory than it gets is refused with the figures",
          "[machine]") {
  if (sanitized) return;
  CHECK_THAT(refusal_with(50U << 20, "complete:50000", plain(ExecutorKind::fibers)),
             Contains("complete:50000: a machine of 50000 nodes and 2499950000 channels needs") &&
                 Contains("MiB of memory") && Contains("RLIMIT_AS") && Contains("use fewer nodes"));
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (memory > 60e9) return;  // there would be room, and the test would fill it
  MachineOptions options;
  options.all_port = true;
  CHECK_THAT(message_of<UsageError>([&] { Machine(Topology::parse("complete:1048576"), options); }),
             Contains("1048576 nodes and 1099510579200 channels needs"));
}
