// Requests: messages below step, in every executor.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/node/requests.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/machine/requests/request_table.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"
#include "wormcube/runtime/node/views.hpp"
#include "wormcube/runtime/schedule/prove.hpp"
#include "wormcube/tests/machine/support.hpp"

#include <array>
#include <deque>
#include <numeric>
#include <set>
#include <thread>

using namespace machine_tests;
using Catch::Matchers::Contains;

namespace {

/// The machines of all variations, on fibers with one and with three workers.
template <class F>
void on_all(const char* topology, F&& f) {
  for (MachineOptions options : variations()) {
    for (const int workers : {1, 3}) {
      if (options.executor == ExecutorKind::threads && workers > 1) continue;
      options.workers = workers;
      CAPTURE(topology, describe(options), workers);
      Machine machine(Topology::parse(topology), options);
      f(machine);
    }
  }
}

void run_on_all(const char* topology, const Program& program) {
  on_all(topology, [&](Machine& machine) {
    for (int run = 0; run < 2; ++run) CHECK_NOTHROW(machine.run(program));
  });
}

template <class T>
ConstSpan out(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <class T>
Span in(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

TEST_CASE("requests exchange with all, completed in any way", "[machine][requests]") {
  for (const int way : {0, 1, 2, 3}) {
    CAPTURE(way);
    run_on_all("torus:3x4", [&](Node& node) {
      Requests& requests = requests_of(node);
      const Rank p = node.size(), r = node.rank();
      std::vector<std::vector<std::byte>> sent, received;
      for (Rank q = 0; q < p; ++q) {
        sent.emplace_back(some_size(9, r, q));
        received.emplace_back(some_size(9, q, r));
        fill(sent.back(), key(9, r, q, 0));
      }
      std::vector<Request> all;
      for (Rank q = 0; q < p; ++q) {
        all.push_back(requests.start(receive(q, Span(received[q]), 5)));
      }
      for (Rank q = 0; q < p; ++q) {
        all.push_back(requests.start(send(mod(r + q, p), ConstSpan(sent[mod(r + q, p)]), 5)));
      }
      std::vector<Status> statuses(all.size());
      if (way == 0) {
        requests.wait_all(all, statuses);
      } else if (way == 1) {
        for (std::size_t left = all.size(); left > 0; --left) {
          Status status;
          const auto at = requests.wait_any(all, status);
          expect(at.has_value() && all[*at].is_null(), "wait_any");
          statuses[*at] = status;
        }
        Status none;
        expect(!requests.wait_any(all, none), "nothing is left");
      } else if (way == 2) {
        for (std::size_t left = all.size(); left > 0;) {
          std::array<std::size_t, 5> indices;
          std::array<Status, 5> some;
          const std::size_t count = requests.wait_some(all, indices, some);
          expect(count >= 1 && count <= 5, "wait_some");
          for (std::size_t i = 0; i < count; ++i) statuses[indices[i]] = some[i];
          left -= count;
        }
      } else {
        for (std::size_t i = all.size(); i-- > 0;) {
          while (!requests.test(all[i], &statuses[i])) {
          }
        }
      }
      for (Rank q = 0; q < p; ++q) {
        expect(all[q].is_null(), "complete");
        expect(statuses[q].source == q && statuses[q].tag == 5, "status");
        expect(statuses[q].bytes == received[q].size() && !statuses[q].truncated, "size");
        expect_payload(received[q], key(9, q, r, 0), "a message");
      }
    });
  }
}

TEST_CASE("a wildcard takes what came first of each source, and steps are not its affair",
          "[machine][requests]") {
  run_on_all("ring:6", [](Node& node) {
    Requests& requests = requests_of(node);
    constexpr int each = 20;
    if (node.rank() == 0) {
      std::vector<int> last(6, -1);
      for (int i = 0; i < 5 * each; ++i) {
        std::vector<int> room(700);  // the messages are long and short
        Request request =
            requests.start(MessagePattern{.context = 3}, std::as_writable_bytes(std::span(room)));
        const Status status = requests.wait(request);
        expect(status.source >= 1 && status.source < 6, "a source");
        expect(room[0] == last[status.source] + 1, "the order of one source");
        expect(status.tag == room[0] % 4, "the tag");
        last[status.source] = room[0];
        if (i % 7 == 0) node.step();
      }
    } else {
      std::deque<std::vector<int>> sent;
      std::vector<Request> all;
      for (int i = 0; i < each; ++i) {
        sent.emplace_back(i % 3 == 0 ? 700 : 1, i);
        all.push_back(requests.start(send(0, std::as_bytes(std::span(sent.back())), i % 4), 3));
      }
      for (int i = 0; i < 15; ++i) node.step();
      requests.wait_all(all);
    }
    exchange(node, 4);  // with context and wildcards over
  });
}

TEST_CASE("of two receives that fit the one posted first is taken", "[machine][requests]") {
  run_on_all("ring:3", [](Node& node) {
    Requests& requests = requests_of(node);
    if (node.rank() == 1) {
      int a = 0, b = 0, c = 0, d = 0;
      std::array<Request, 4> all{requests.start(MessagePattern{.source = 0}, in(a)),
                                 requests.start(MessagePattern{.source = 0, .tag = 7}, in(b)),
                                 requests.start(MessagePattern{.tag = 7}, in(c)),
                                 requests.start(MessagePattern{.source = 0, .tag = 7}, in(d))};
      node.step();  // all are posted
      node.step({send(Rank{0}, ConstSpan{})});
      requests.wait_all(all);
      expect(a == 1 && b == 2 && c == 3 && d == 4, "the order of receives");
    } else if (node.rank() == 0) {
      node.step();
      node.step({receive(Rank{1}, Span{})});
      for (int i = 1; i <= 4; ++i) {
        Request sent = requests.start(send(1, out(i), 7));
        requests.wait(sent);
      }
    } else {
      node.idle(2);
    }
  });
}

TEST_CASE("contexts keep messages apart", "[machine][requests]") {
  run_on_all("line:2", [](Node& node) {
    Requests& requests = requests_of(node);
    const Rank other = 1 - node.rank();
    const int first = 10 + node.rank(), second = 20 + node.rank();
    std::array<Request, 2> sent{requests.start(send(other, out(first), 1), 1),
                                requests.start(send(other, out(second), 1), 2)};
    int of_second = 0, of_first = 0;
    Request late = requests.start(MessagePattern{.context = 2}, in(of_second));
    requests.wait(late);
    Request early =
        requests.start(MessagePattern{.source = other, .tag = 1, .context = 1}, in(of_first));
    requests.wait(early);
    requests.wait_all(sent);
    expect(of_first == 10 + other && of_second == 20 + other, "contexts");
  });
}

TEST_CASE("probes see, matched probes take away", "[machine][requests]") {
  for (const bool waits : {false, true}) {
    run_on_all("ring:4", [&](Node& node) {
      Requests& requests = requests_of(node);
      if (node.rank() != 0) {
        std::vector<std::byte> data(static_cast<std::size_t>(900 * node.rank()));
        fill(data, key(2, node.rank(), 0, 0));
        Request sent = requests.start(send(0, ConstSpan(data), 8));
        requests.wait(sent);
        return;
      }
      std::set<Rank> come;
      while (come.size() < 3) {
        Status seen, taken;
        if (waits) {
          seen = requests.wait_for({.tag = 8});
        } else {
          for (std::optional<Status> found; !found;) {
            found = requests.probe({.tag = 8});
            if (found) seen = *found;
          }
        }
        expect(seen.bytes == static_cast<Bytes>(900 * seen.source), "its size");
        Request request;
        if (waits) {
          request = requests.wait_to_take({.source = seen.source}, taken);
        } else {
          const auto found = requests.take({.source = seen.source}, taken);
          expect(found.has_value(), "what was seen is there");
          request = *found;
        }
        expect(taken.source == seen.source && taken.bytes == seen.bytes, "the same");
        expect(!requests.probe({.source = seen.source}), "nobody else gets it");
        std::vector<std::byte> room(taken.bytes);
        requests.receive(request, room);
        requests.wait(request);
        expect_payload(room, key(2, taken.source, 0, 0), "a taken message");
        expect(come.insert(taken.source).second, "each once");
      }
    });
  }
}

TEST_CASE("a message longer than the room fills the room and says so", "[machine][requests]") {
  run_on_all("line:3", [](Node& node) {
    Requests& requests = requests_of(node);
    for (const Bytes bytes : {Bytes{8}, Bytes{100}, Bytes{5000}}) {
      std::vector<std::byte> data(bytes);
      fill(data, bytes);
      if (node.rank() == 0) {
        Request sent = requests.start(send(2, ConstSpan(data)));
        expect(requests.wait(sent).bytes == bytes, "a send");
      } else if (node.rank() == 2) {
        for (const bool is_early : {true, false}) {
          if (is_early && bytes == 100) requests.wait_for({});
        }
        std::array<std::byte, 51> room{};
        Request request = requests.start(MessagePattern{.source = 0}, Span(room).first(50));
        const Status status = requests.wait(request);
        expect(status.bytes == bytes && status.truncated == (bytes > 50), "truncated");
        expect_payload(Span(room).first(std::min<Bytes>(bytes, 48)), bytes,
                       "what there was room for");
        expect(room[50] == std::byte{}, "and no more");
      }
    }
  });
}

TEST_CASE("a synchronous send is complete only when it is received", "[machine][requests]") {
  run_on_all("line:2", [](Node& node) {
    Requests& requests = requests_of(node);
    int number = 7;
    if (node.rank() == 0) {
      Request sent = requests.start(send(1, out(number)), 0, Requests::Mode::synchronous);
      Request standard = requests.start(send(1, out(number), 1), 0);
      node.step({send(1, out(number), 2)});  // node 1 has seen them, and posted nothing
      for (int i = 0; i < 10; ++i) expect(!requests.test(sent), "not yet received");
      node.step({send(1, out(number), 3)});
      requests.wait(sent);
      requests.wait(standard);
    } else {
      int room = 0;
      requests.wait_for({.tag = 0});
      requests.wait_for({.tag = 1});
      node.step({receive(0, in(room), 2)});
      node.step({receive(0, in(room), 3)});
      for (const Tag tag : {1, 0}) {
        room = 0;
        Request request = requests.start(receive(0, in(room), tag));
        requests.wait(request);
        expect(room == 7, "its data");
      }
    }
  });
}

TEST_CASE("a receive is cancelled if nothing has come for it", "[machine][requests]") {
  run_on_all("line:2", [](Node& node) {
    Requests& requests = requests_of(node);
    int a = 0, b = 0, c = 0;
    if (node.rank() == 0) {
      std::array<Request, 3> all{requests.start(MessagePattern{.tag = 1}, in(a)),
                                 requests.start(receive(1, in(b), 1)),
                                 requests.start(MessagePattern{}, in(c))};
      expect(requests.cancel(all[1]), "withdrawn");
      expect(requests.wait(all[1]).cancelled, "says so");
      expect(requests.cancel(all[2]), "withdrawn");
      node.step({send(1, ConstSpan{})});
      expect(!requests.wait(all[0]).cancelled && a == 5, "the other is there");
      expect(requests.wait(all[2]).cancelled && c == 0, "not touched");
      Request early = requests.start(receive(1, in(b), 1));
      requests.wait_for({.tag = 2});
      expect(!requests.cancel(early), "it has come");
      expect(!requests.wait(early).cancelled && b == 6, "its data");
      Request last = requests.start(receive(1, in(c), 2));
      requests.wait(last);
    } else {
      node.step({receive(0, Span{})});
      for (const auto& [number, tag] : {std::pair{5, 1}, std::pair{6, 1}, std::pair{7, 2}}) {
        Request sent = requests.start(send(0, out(number), tag));
        expect(!requests.cancel(sent), "a send goes on");
        requests.wait(sent);
      }
    }
  });
}

TEST_CASE("persistent requests start repeatedly", "[machine][requests]") {
  run_on_all("hypercube:3", [](Node& node) {
    Requests& requests = requests_of(node);
    std::vector<std::array<int, 2>> numbers(3);
    std::vector<Request> all;
    for (int d = 0; d < 3; ++d) {
      const Rank other = node.rank() ^ (1 << d);
      all.push_back(requests.prepare(send(other, out(numbers[d][0]), d)));
      all.push_back(requests.prepare(MessagePattern{.source = other, .tag = d}, in(numbers[d][1])));
    }
    Status none;
    expect(!requests.wait_any(all, none), "none is active");
    for (int round = 0; round < 30; ++round) {
      for (int d = 0; d < 3; ++d) numbers[d] = {100 * round + node.rank(), -1};
      for (const Request request : all) requests.restart(request);
      requests.wait_all(all);
      for (int d = 0; d < 3; ++d) {
        expect(numbers[d][1] == 100 * round + (node.rank() ^ (1 << d)), "a number");
      }
    }
    for (Request& request : all) {
      expect(!request.is_null() && requests.test(request), "inactive, not null");
      requests.free(request);
      expect(request.is_null(), "free");
    }
  });
}

TEST_CASE("requests go on while their node computes, or never looks again", "[machine][requests]") {
  run_on_all("line:3", [](Node& node) {
    Requests& requests = requests_of(node);
    std::vector<std::byte> data(3000);
    if (node.rank() == 0) {
      Request sent = requests.start(send(2, ConstSpan(data)));
      std::byte room{};
      node.step({receive(2, Span(&room, 1))});  // node 2 has it: nobody waited for the send
      expect(requests.test(sent), "complete");
    } else if (node.rank() == 2) {
      Request request = requests.start(receive(0, Span(data)));
      requests.wait(request);
      node.step({send(Rank{0}, ConstSpan(data).first(1))});
    }
  });
}

TEST_CASE("actions run one after the other where they arrive, whatever that node does",
          "[machine][requests]") {
  constexpr int turns = 50;
  on_all("torus:3x4", [&](Machine& machine) {
    std::vector<int> counts(12);  // not atomic: one action at a time
    const Statistics statistics = machine.run([&](Node& node) {
      Requests& requests = requests_of(node);
      const Rank p = node.size(), r = node.rank();
      int word = 0;
      if (r == 0) {  // waits for the last, and takes no part
        Request request = requests.start(receive(p - 1, in(word)));
        requests.wait(request);
        CHECK(counts[5] == turns * (p - 1));
        return;
      }
      int seen = -1;
      for (int turn = 0; turn < turns; ++turn) {
        requests.act_at(5, 8, [&] {
          CHECK(counts[5] > seen);
          seen = counts[5]++;
        });
        requests.act_at(r, 0, [&] { ++counts[static_cast<std::size_t>(r == 5 ? 0 : r)]; });
      }
      // Behind all others', by a chain.
      Request request = requests.start(receive(r == 1 ? 1 : r - 1, in(word)));
      if (r == 1) {
        Request own = requests.start(send(1, out(r)));
        requests.wait(own);
      }
      requests.wait(request);
      Request next = requests.start(send(r == p - 1 ? 0 : r + 1, out(r)));
      requests.wait(next);
    });
    CHECK(counts[0] == turns);
    CHECK(counts[1] == turns);
    // The account: an action's bytes are on its links.
    Bytes bytes = 0;
    for (const NodeStatistics& node : statistics.nodes) bytes += node.bytes;
    CHECK(bytes >= Bytes{8} * turns * 11);
  });
}

TEST_CASE("an action at no node is refused, one that throws ends the run", "[machine][requests]") {
  Machine machine(Topology::parse("ring:3"), {});
  CHECK_THROWS_WITH(machine.run([](Node& node) {
    if (node.rank() == 1) requests_of(node).act_at(3, 0, [] {});
  }),
                    Contains("peer 3 out of range [0, 3)"));
  CHECK_THROWS_WITH(machine.run([](Node& node) {
    if (node.rank() == 1) requests_of(node).act_at(2, 0, [] { throw UsageError("no such place"); });
  }),
                    Contains("node 1") && Contains("no such place"));
}

TEST_CASE("misuse is refused with an explanation", "[machine][requests]") {
  on_all("ring:4", [](Machine& machine) {
    const auto refusal_of = [&](const std::function<void(Node&, Requests&)>& misuse) {
      return message_of<UsageError>([&] {
        machine.run([&](Node& node) {
          node.step();
          if (node.rank() == 1) misuse(node, requests_of(node));
          exchange(node, 1);
        });
      });
    };
    int number = 0;
    CHECK_THAT(refusal_of([&](Node&, Requests& requests) { requests.start(send(9, out(number))); }),
               Contains("peer 9 out of range [0, 4)"));
    CHECK_THAT(refusal_of([&](Node&, Requests& requests) { requests.probe({.source = 4}); }),
               Contains("peer 4 out of range [0, 4)"));
    CHECK_THAT(refusal_of([&](Node&, Requests& requests) {
                 requests.start(send(Move{0, 1}, out(number)));
               }),
               Contains("moves are for steps only"));
    // Else a wildcard of it would take what a step waits for.
    constexpr std::uint32_t of_steps = 0xffff'ffff;
    CHECK_THAT(
        refusal_of(
            [&](Node&, Requests& requests) { requests.start(send(2, out(number)), of_steps); }),
        Contains("node 1 uses context 4294967295, which is reserved for steps; contexts 0 to "
                 "4294967294 are for requests"));
    CHECK_THAT(refusal_of([&](Node&, Requests& requests) {
                 requests.prepare(receive(2, in(number)), of_steps);
               }),
               Contains("uses context 4294967295"));
    CHECK_THAT(refusal_of([&](Node&, Requests& requests) {
                 requests.start(MessagePattern{.context = of_steps}, in(number));
               }),
               Contains("uses context 4294967295"));
    CHECK_THAT(
        refusal_of([&](Node&, Requests& requests) { requests.probe({.context = of_steps}); }),
        Contains("uses context 4294967295"));
    CHECK_THAT(refusal_of([&](Node& node, Requests& requests) {
                 Request request = requests.start(send(node.rank(), out(number)));
                 const Request copy = request;
                 Request other = requests.start(receive(node.rank(), in(number)));
                 requests.wait(request);
                 requests.wait(other);
                 Request ended = copy;
                 requests.wait(ended);
               }),
               Contains("invalid request"));
    CHECK_THAT(refusal_of([&](Node& node, Requests& requests) {
                 Request request = requests.start(receive(node.rank(), in(number)));
                 requests.restart(request);
               }),
               Contains("restarts a request that is active"));
    CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
  });
}

TEST_CASE("open requests and unreceived messages are reported", "[machine][requests]") {
  on_all("ring:4", [](Machine& machine) {
    static int number = 0;
    const auto error_of = [&](const std::function<void(Node&, Requests&)>& program) {
      return message_of<UsageError>([&] {
        machine.run([&](Node& node) {
          if (node.rank() == 2) program(node, requests_of(node));
        });
      });
    };
    CHECK(error_of([](Node&, Requests& requests) {
            requests.start(MessagePattern{.source = 3, .tag = 4}, in(number));
            requests.start(MessagePattern{}, in(number));
          }) ==
          "node 2 ends with 2 requests that no test or wait has completed: a receive of at most 4 "
          "bytes from node 3, tag 4, ..");
    CHECK(error_of([](Node&, Requests& requests) {
            Request sent = requests.start(send(3, ConstSpan{}, 6), 9);
            requests.wait(sent);
          }) == "node 3 never received a message of 0 bytes from node 2 with tag 6");
    CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
  });
}

TEST_CASE("a deadlock of requests says what they wait for", "[machine][requests]") {
  on_all("ring:3", [](Machine& machine) {
    for (const bool any : {false, true}) {
      const std::string text = message_of<Deadlock>([&] {
        machine.run([&](Node& node) {
          Requests& requests = requests_of(node);
          int room = 0;
          std::array<Request, 2> all{requests.start(MessagePattern{.tag = 3}, in(room)),
                                     requests.start(receive(0, in(room), 4))};
          if (node.rank() == 2) requests.wait_for({.source = 1});
          Status status;
          any ? static_cast<void>(requests.wait_any(all, status)) : requests.wait_all(all);
        });
      });
      CHECK_THAT(text, Contains("3 of 3 nodes wait") &&
                           Contains("a message of at most 4 bytes from any node (tag 3)") &&
                           Contains("a message of at most 4 bytes from node 0 (tag 4)") &&
                           Contains("a message of any size from node 1 (any tag)"));
    }
    CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
  });
}

TEST_CASE("a failure ends those that wait for requests", "[machine][requests]") {
  on_all("ring:5", [](Machine& machine) {
    for (int way = 0; way < 4; ++way) {
      CHECK_THROWS_AS(machine.run([&](Node& node) {
        Requests& requests = requests_of(node);
        if (node.rank() == 3) throw std::logic_error("3");
        std::vector<std::byte> room(5000);
        Request request = requests.start(MessagePattern{}, Span(room));
        Request sent = requests.start(send(3, ConstSpan(room)));
        Status status;
        for (;;) {
          if (way == 0) requests.wait(request);
          if (way == 1) requests.wait_any(std::span(&request, 1), status);
          if (way == 2) requests.test(sent);
          if (way == 3) requests.wait_for({.tag = 1});
        }
      }),
                      NodeFailure);
      CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
    }
  });
}

TEST_CASE("dry runs, proofs, views and traces have no requests", "[machine][requests]") {
  const Topology topology = Topology::parse("ring:4");
  const Program program = [](Node& node) { requests_of(node); };
  CHECK_THROWS_WITH(record(topology, program), Contains("not oblivious"));
  CHECK_THROWS_WITH(prove(topology, program), Contains("not oblivious"));
  Machine machine(topology, plain(ExecutorKind::fibers));
  CHECK_THROWS_WITH(machine.run([](Node& node) {
    auto line = node.along(0);
    requests_of(line);
  }),
                    Contains("use the underlying node"));
  Schedule trace{topology, {}};
  CHECK_THROWS_WITH(machine.run(program, trace), Contains("requests"));
}

// Random messages with random ways to send, receive and complete, in a loop; each node knows
// how many come, and the sum of what they say.
TEST_CASE("random requests, all of them complete and right", "[machine][requests][stress]") {
  for (MachineOptions options : variations()) {
    for (const std::uint64_t seed : {1U, 2U}) {
      CAPTURE(describe(options), seed);
      options.workers = static_cast<int>(1 + seed);
      Machine machine(Topology::parse("torus:3x3"), options);
      CHECK_NOTHROW(machine.run([&](Node& node) {
        Requests& requests = requests_of(node);
        const auto p = static_cast<std::uint64_t>(node.size());
        const auto r = static_cast<std::uint64_t>(node.rank());
        const int messages = 300 / patience;
        const auto target = [&](std::uint64_t from, int i) {
          return mix({seed, from, static_cast<std::uint64_t>(i)}) % p;
        };
        int expected = 0;
        for (std::uint64_t from = 0; from < p; ++from) {
          for (int i = 0; i < messages; ++i) expected += target(from, i) == r;
        }
        std::deque<std::vector<std::byte>> data;
        std::vector<Request> sends;
        std::vector<int> next(p, 0);  // of each source: which of its messages to here comes next
        const auto check = [&](const Status& status, Span room) {
          int& i = next[static_cast<std::size_t>(status.source)];
          while (target(static_cast<std::uint64_t>(status.source), i) != r) ++i;
          expect(status.bytes == some_size(seed + i, status.source, node.rank()), "its size");
          expect_payload(room.first(status.bytes), key(seed, status.source, node.rank(), i), "it");
          ++i;
        };
        std::vector<std::byte> room(4000);
        Request open;
        for (int i = 0; i < messages || expected > 0 || !open.is_null();) {
          const std::uint64_t dice = mix({seed, r, static_cast<std::uint64_t>(i), 7, data.size(),
                                          static_cast<std::uint64_t>(expected)});
          if (i < messages) {
            const auto to = static_cast<Rank>(target(r, i));
            auto& made = data.emplace_back(some_size(seed + i, node.rank(), to));
            fill(made, key(seed, node.rank(), to, i));
            sends.push_back(requests.start(
                send(to, ConstSpan(made), static_cast<Tag>(i % 3)), 0,
                dice % 5 == 0 ? Requests::Mode::synchronous : Requests::Mode::standard));
            ++i;
          }
          if (open.is_null() && expected > 0) {
            --expected;
            Status status;
            if (dice / 8 % 3 == 0) {
              if (const auto taken = requests.take({}, status)) {
                open = *taken;
                requests.receive(open, room);
              } else {
                ++expected;
              }
            } else {
              open = requests.start(MessagePattern{}, Span(room));
            }
          }
          Status status;
          if (!open.is_null() && (i == messages ? (status = requests.wait(open), true)
                                                : requests.test(open, &status))) {
            check(status, room);
          }
        }
        if (r % 2 == 0) {
          requests.wait_all(sends);
        } else {
          Status status;
          while (requests.wait_any(sends, status)) {
          }
        }
      }));
    }
  }
}

TEST_CASE("unreceived messages are reported where they are allowed", "[machine][requests]") {
  MachineOptions options;
  options.messaging.allow_unreceived = true;
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    options.executor = executor;
    Machine machine(Topology::parse("ring:3"), options);
    std::array<int, 3> room{};
    for (int run = 0; run < 2; ++run) {
      const Statistics statistics = machine.run([&](Node& node) {
        Requests& requests = requests_of(node);
        if (node.rank() == 0) requests.start(send(1, out(room[0]), 7), 5);
        if (node.rank() == 2)
          requests.start(MessagePattern{.source = 0}, in(room[2]));  // stays open
      });
      REQUIRE(statistics.unreceived.size() == 1);
      const UnreceivedMessage& message = statistics.unreceived.front();
      CHECK(message.from == 0);
      CHECK(message.to == 1);
      CHECK(message.tag == 7);
      CHECK(message.context == 5);
      CHECK(message.bytes == sizeof(int));
    }
    CHECK(machine.run([](Node&) {}).unreceived.empty());
  }
  options.messaging.allow_unreceived = false;
  Machine machine(Topology::parse("ring:3"), options);
  int value = 0;
  CHECK_THROWS_AS(machine.run([&](Node& node) {
    if (node.rank() == 0) {
      Request request = requests_of(node).start(send(1, out(value), 7));
      requests_of(node).wait(request);
    }
  }),
                  UsageError);
}

TEST_CASE("a deadlock's text can be the caller's, made from the table and what nobody received",
          "[machine][requests]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    MachineOptions options;
    options.executor = executor;
    options.messaging.deadlock_text = [](const std::string& table,
                                         std::span<const UnreceivedMessage> left) {
      REQUIRE(left.size() == 1);
      return "left: " + std::to_string(left.front().tag) + " " + table.substr(0, 8);
    };
    Machine machine(Topology::parse("ring:2"), options);
    int value = 0;
    CHECK_THROWS_WITH(machine.run([&](Node& node) {
      Requests& requests = requests_of(node);
      if (node.rank() == 0) requests.start(send(1, out(value), 8));
      Request request =
          requests.start(MessagePattern{.source = 1 - node.rank(), .tag = 9}, in(value));
      requests.wait(request);
    }),
                      "left: 8 deadlock");
  }
}

TEST_CASE("early messages are kept up to their own limits", "[machine][requests]") {
  MachineOptions options;
  options.executor = ExecutorKind::fibers;
  options.eager_limit = 16;
  options.messaging.unexpected_limit = 4096;
  options.messaging.unexpected_messages = 3;
  options.messaging.unexpected_bytes = 10000;
  Machine machine(Topology::parse("line:2"), options);
  // How many sends of this many bytes are complete before anything is received.
  const auto kept = [&](Bytes bytes) {
    int complete = 0;
    std::vector<std::byte> data(bytes), room(bytes);
    fill(data, key(1, 0, 1, 0));
    machine.run([&](Node& node) {
      Requests& requests = requests_of(node);
      constexpr int messages = 6;
      std::vector<Request> sent;
      if (node.rank() == 0) {
        for (int i = 0; i < messages; ++i) sent.push_back(requests.start(send(1, ConstSpan(data))));
        for (const Request request : sent) complete += requests.is_ready(request) ? 1 : 0;
        int go = 0;
        Request request = requests.start(send(1, out(go), 5));
        requests.wait_all(sent);
        requests.wait(request);
      } else {
        int go = 0;
        Request request = requests.start(MessagePattern{.source = 0, .tag = 5}, in(go));
        requests.wait(request);
        for (int i = 0; i < messages; ++i) {
          request = requests.start(MessagePattern{.source = 0, .tag = 0}, Span(room));
          CHECK(requests.wait(request).bytes == bytes);
          CHECK(room == data);
        }
      }
    });
    return complete;
  };
  CHECK(kept(16) == 3);  // by number
  CHECK(kept(3000) == 3);
  CHECK(kept(4000) == 2);  // by their bytes
  CHECK(kept(4097) == 0);  // too long
}

TEST_CASE("a request that is asked whether it is ready stays as it is", "[machine][requests]") {
  Machine machine(Topology::parse("line:2"), {});
  machine.run([](Node& node) {
    Requests& requests = requests_of(node);
    int value = node.rank() == 0 ? 17 : 0;
    if (node.rank() == 0) {
      Request request = requests.start(send(1, out(value), 3));
      requests.wait(request);
      return;
    }
    CHECK(requests.is_ready({}));
    Request request = requests.start(MessagePattern{}, in(value));
    while (!requests.is_ready(request)) {
    }
    for (int i = 0; i < 2; ++i) {
      const Status status = requests.look_at(request);
      CHECK(status.source == 0);
      CHECK(status.tag == 3);
      CHECK(status.bytes == sizeof value);
      CHECK(requests.is_ready(request));
    }
    CHECK(requests.wait(request).tag == 3);
    CHECK(request.is_null());
    CHECK(value == 17);
  });
}

TEST_CASE("after four thousand million requests of a slot none is null", "[machine][requests]") {
  CHECK(RequestTable::generation_after(0) == 1);
  CHECK(RequestTable::generation_after(~std::uint32_t{0}) == 1);
}

TEST_CASE("a request that is named twice in a wait is waited for once", "[machine][requests]") {
  run_on_all("line:2", [](Node& node) {
    Requests& requests = requests_of(node);
    int value = node.rank() == 0 ? 0 : 7;
    if (node.rank() == 1) {
      for (int turns = 0; turns < 200; ++turns) static_cast<void>(requests.probe({.tag = 9}));
      Request request = requests.start(send(0, out(value)));
      requests.wait(request);
      return;
    }
    Request request = requests.start(receive(1, in(value)));
    std::array<Request, 2> both{request, request};
    Status status;
    expect(requests.wait_any(both, status).has_value() && value == 7, "it has come");
  });
}

TEST_CASE("a request that is named twice in a wait for all or some is refused at its second end",
          "[machine][requests]") {
  on_all("line:2", [](Machine& machine) {
    for (const bool all : {true, false}) {
      int value = 0;
      const std::string refusal = message_of<UsageError>([&] {
        machine.run([&](Node& node) {
          Requests& requests = requests_of(node);
          int sent = 7;
          if (node.rank() == 1) {
            Request request = requests.start(send(0, out(sent)));
            return static_cast<void>(requests.wait(request));
          }
          Request request = requests.start(receive(1, in(value)));
          std::array<Request, 2> both{request, request};
          std::array<Status, 2> statuses{};
          std::array<std::size_t, 2> indices{};
          if (all) return requests.wait_all(both, statuses);
          requests.wait_some(both, indices, statuses);
        });
      });
      CHECK_THAT(refusal, Contains("invalid request"));
      CHECK(value == 7);
      CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
    }
  });
}

namespace {

[[gnu::noinline]] void throw_with_an_open_receive(Node& node) {
  std::array<std::byte, 60'000> room{};
  const RequestScope scope(requests_of(node));
  static_cast<void>(requests_of(node).start(receive(1, Span(room))));
  throw std::runtime_error("bad input");
}
[[gnu::noinline]] bool is_overwritten() {
  std::array<std::byte, 60'000> mine{};
  mine.fill(std::byte{7});
  asm volatile("" : : "r"(mine.data()) : "memory");
  for (int turns = 0; turns < 100; ++turns) std::this_thread::yield();
  asm volatile("" : : "r"(mine.data()) : "memory");
  return std::ranges::any_of(mine, [](std::byte byte) { return byte != std::byte{7}; });
}

}  // namespace

TEST_CASE("what a scope has started ends with it", "[machine][requests]") {
  for (MachineOptions options : variations()) {
    if (options.lock_step) continue;
    CAPTURE(describe(options));
    std::atomic<bool> overwritten{false};
    options.messaging.on_failure = [&](const std::exception_ptr&) {
      overwritten = is_overwritten();
    };
    Machine machine(Topology::parse("line:2"), options);
    const std::vector<std::byte> data(60'000, std::byte{1});
    for (int run = 0; run < 20; ++run) {
      const std::string text = message_of<NodeFailure>([&] {
        machine.run([&](Node& node) {
          if (node.rank() == 0) return throw_with_an_open_receive(node);
          Request request = requests_of(node).start(send(0, ConstSpan(data)));
          requests_of(node).wait(request);
        });
      });
      CHECK(text == "node 0: bad input");
      CHECK_FALSE(overwritten);
    }
    // Left without an exception: sends complete, receives are withdrawn, and the run ends well.
    CHECK_NOTHROW(machine.run([&](Node& node) {
      std::array<std::byte, 5000> room{};
      {
        const RequestScope outer(requests_of(node));
        static_cast<void>(requests_of(node).start(MessagePattern{.tag = 9}, Span(room)));
        const RequestScope inner(requests_of(node));
        Request request = requests_of(node).start(node.rank() == 0 ? send(1, ConstSpan(room))
                                                                   : receive(0, Span(room)));
        if (node.rank() == 1) requests_of(node).wait(request);
      }
    }));
  }
}

TEST_CASE("a node whose sends nobody receives throws what it was about to throw",
          "[machine][requests]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    Machine machine(Topology::parse("line:2"), plain(executor));
    const auto run = [&](bool catches) {
      machine.run([&](Node& node) {
        std::array<std::byte, 5000> data{};
        try {
          const RequestScope scope(requests_of(node));
          if (node.rank() == 0) {
            static_cast<void>(requests_of(node).start(send(1, ConstSpan(data))));
            throw std::runtime_error("bad input");
          }
        } catch (const std::runtime_error&) {
          if (!catches) throw;
        }
        if (node.rank() == 1) node.step({receive(0, Span(data).first(8), 5)});
      });
    };
    CHECK(message_of<NodeFailure>([&] { run(false); }) == "node 0: bad input");
    CHECK_THAT(message_of<Deadlock>([&] { run(true); }), Contains("node 1 to receive 5000 bytes"));
    CHECK_NOTHROW(machine.run([](Node& node) { exchange(node, 1); }));
  }
}
