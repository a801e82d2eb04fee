// What runs beside a node's program: requests that are not messages, and a progress engine.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/requests.hpp"
#include "wormcube/tests/machine/support.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <vector>

using namespace machine_tests;
using Catch::Matchers::Contains;

namespace {

/// Sends a number round the ring, each node adding 1, and settles a request when it has come back or passed.
class Round final : public ProgressEngine {
 public:
  explicit Round(Node& node)
      : requests_(requests_of(node)),
        rank_(node.rank()),
        next_((rank_ + 1) % node.size()),
        before_((rank_ + node.size() - 1) % node.size()) {
    requests_.set_progress_engine(this);
    whole_ = requests_.open();
    if (rank_ == 0) send_on();
    coming_ = requests_.start_background(receive(before_, bytes(number_)), context);
  }
  ~Round() override { requests_.set_progress_engine(nullptr); }

  void progress() override {
    if (!coming_.is_null() && requests_.end_background(coming_)) {
      ++number_;
      if (rank_ != 0) send_on();
    }
    if (!going_.is_null()) static_cast<void>(requests_.end_background(going_));
    if (coming_.is_null() && going_.is_null() && !has_settled_) {
      has_settled_ = true;
      requests_.settle(whole_);
    }
  }
  Request whole() const { return whole_; }
  int number() const { return number_; }

 private:
  static constexpr std::uint32_t context = 77;
  static Span bytes(int& number) { return std::as_writable_bytes(std::span(&number, 1)); }
  void send_on() {
    sent_ = number_;
    going_ = requests_.start_background(send(next_, bytes(sent_)), context);
  }

  Requests& requests_;
  Rank rank_, next_, before_;
  Request whole_, coming_, going_;
  int number_ = 0, sent_ = 0;
  bool has_settled_ = false;
};

}  // namespace

TEST_CASE("a progress engine goes on while its node waits for something else",
          "[machine][requests]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    for (const Rank nodes : {2, 3, 8}) {
      CAPTURE(executor == ExecutorKind::fibers, nodes);
      Machine machine(Topology({Graph::ring(nodes)}), plain(executor));
      std::atomic<int> wrong = 0;
      machine.run([&](Node& node) {
        Round round(node);
        std::array<std::byte, 1> out{}, in{};
        // Node 0 gives nothing before the number has been round: the others wait in a step meanwhile.
        Requests& requests = requests_of(node);
        Request whole = round.whole();
        if (node.rank() == 0) {
          requests.wait(whole);
          for (Rank r = 1; r < node.size(); ++r) node.step({send(r, out)});
        } else {
          node.step({receive(0, in)});
          std::array<Request, 2> both{whole, Request()};
          Status status;
          if (requests.wait_any(both, status) != 0 || !both[0].is_null()) ++wrong;
        }
        if (round.number() != (node.rank() == 0 ? node.size() : node.rank())) ++wrong;
      });
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("a progress engine goes on while its node asks", "[machine][requests]") {
  Machine machine(Topology::parse("ring:4"), plain(ExecutorKind::fibers));
  std::atomic<int> wrong = 0;
  machine.run([&](Node& node) {
    Round round(node);
    Request whole = round.whole();
    while (!requests_of(node).test(whole)) {
    }
    if (round.number() != (node.rank() == 0 ? 4 : node.rank())) ++wrong;
  });
  REQUIRE(wrong == 0);
}

TEST_CASE("a request that nobody settles is a deadlock, and one left open is reported",
          "[machine][requests]") {
  Machine machine(Topology::parse("ring:2"), plain(ExecutorKind::fibers));
  REQUIRE_THROWS_AS(machine.run([&](Node& node) {
    Request open = requests_of(node).open();
    requests_of(node).wait(open);
  }),
                    Deadlock);
  REQUIRE_THROWS_WITH(machine.run([&](Node& node) { requests_of(node).open(); }),
                      Contains("one that is not a message"));
}

TEST_CASE("a progress engine needs a window of one step, and no lock step", "[machine][requests]") {
  MachineOptions options = plain(ExecutorKind::fibers);
  options.window = 2;
  Machine machine(Topology::parse("ring:2"), options);
  REQUIRE_THROWS_WITH(machine.run([&](Node& node) { Round round(node); }),
                      Contains("needs a window of one step"));
  options.window = 1;
  options.lock_step = true;
  Machine in_step(Topology::parse("ring:2"), options);
  REQUIRE_THROWS_WITH(in_step.run([&](Node& node) { Round round(node); }),
                      Contains("not in lock step"));
}

namespace {

/// Sleeps whenever it is called, until it has heard from all other nodes.
class Sleeper final : public ProgressEngine {
 public:
  explicit Sleeper(Node& node) : requests_(requests_of(node)) {
    requests_.set_progress_engine(this);
    for (Rank r = 0; r < node.size(); ++r) {
      if (r == node.rank()) continue;
      under_way_.push_back(requests_.start_background(receive(r, Span()), context));
      under_way_.push_back(requests_.start_background(send(r, ConstSpan()), context));
    }
    whole_ = requests_.open();
  }
  ~Sleeper() override { requests_.set_progress_engine(nullptr); }

  void progress() override {
    requests_.sleep(std::chrono::microseconds(10));
    requests_.sleep({});
    if (std::erase_if(under_way_, [&](Request& each) { return requests_.end_background(each); }) >
            0 &&
        under_way_.empty()) {
      requests_.settle(whole_);
    }
  }
  Request whole() const { return whole_; }

 private:
  static constexpr std::uint32_t context = 78;
  Requests& requests_;
  std::vector<Request> under_way_;
  Request whole_;
};

}  // namespace

TEST_CASE("a progress engine may sleep", "[machine][requests]") {
  for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
    CAPTURE(executor == ExecutorKind::fibers);
    MachineOptions options = plain(executor);
    options.workers = 2;
    Machine machine(Topology::parse("ring:6"), options);
    machine.run([&](Node& node) {
      Sleeper sleeper(node);
      Request whole = sleeper.whole();
      requests_of(node).wait(whole);
    });
  }
}
