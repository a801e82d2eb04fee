// Routers: tasks that call each other over the bounded queues between them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/router_turns.hpp"

#include "wormcube/runtime/network/inbox.hpp"
#include "wormcube/tests/interleavings/scenarios/programs.hpp"

#include <array>
#include <cstddef>

namespace interleavings {
namespace programs {
namespace {

/// A lane of this capacity, in place of Boost's queue: who pushes releases the flit, who pops the
/// place.
template <int Capacity>
class Lane {
 public:
  bool has_room() const { return pushed_.load(relaxed) - popped_.load(acquire) < Capacity; }
  bool has_flits() const { return pushed_.load(acquire) != popped_.load(relaxed); }
  void push(int flit) {
    const int at = pushed_.load(relaxed);
    flits_[static_cast<std::size_t>(at % Capacity)] = flit;
    pushed_.store(at + 1, release);
  }
  int pop() {
    const int at = popped_.load(relaxed);
    const int flit = flits_[static_cast<std::size_t>(at % Capacity)];
    popped_.store(at + 1, release);
    return flit;
  }

 private:
  Atomic<int> pushed_ = 0, popped_ = 0;
  std::array<Plain<int>, Capacity> flits_;
};

/// What the machine does for its routers: calls as in Machine::call_router() and wait_for_call(), the
/// end as in all_wait().
template <int Routers>
struct Host : Nodes {
  std::array<Gate, Routers> gates;
  Atomic<bool> ended = false;

  Host() {
    for (Gate& gate : gates) gate.arm(1);  // nobody arrives
  }
  virtual ~Host() = default;
  /// Nobody runs: a node is freed, or the routers end.
  virtual void all_wait() = 0;

  bool all_nodes_have_ended() const { return ended.load(acquire); }
  virtual bool is_stopping() const { return false; }
  void answer_calls(int router) { gates[router].answer(); }
  void let_others_run(int /*router*/, bool moved) { forget(moved ? 1 : 2); }
  void wait_for_call(int router) {
    if (gates[router].park()) nodes.block(gates[router], [this] { all_wait(); });
    forget(3);
  }
  void call(int router) {
    if (gates[router].call()) wake(gates[router]);
  }
  void wake(Gate& gate) {
    nodes.wake(gate, [this] { all_wait(); });
  }
  void wait(Gate& gate) {
    if (gate.is_open()) return;
    if (gate.park()) nodes.block(gate, [this] { all_wait(); });
  }
  void end_routers() {
    ended.store(true, release);
    for (int router = 0; router < Routers; ++router) call(router);
  }
  template <class Turn>
  void route(int router, Turn&& turn) {
    wormcube::take_turns(*this, router, turn);
    nodes.end([this] { all_wait(); });
  }
};

// The first routers send flits over a lane each to the last, one in each turn. The lanes are full at
// first.
template <int Senders, int Flits, int Capacity>
struct Lanes : Host<Senders + 1> {
  static constexpr int threads = Senders + 1;
  std::array<Lane<Capacity>, Senders> lanes;
  std::array<Plain<int>, Senders> sent, received;
  Ghost<int> all = 0;

  Lanes() {
    this->nodes.begin(threads);
    for (int i = 0; i < Senders; ++i) {
      while (lanes[i].has_room()) push(i);
    }
  }
  void all_wait() override {
    require(all == Senders * Flits, "nobody waits before the last flit has come");
    this->end_routers();
  }
  void thread(int i) {
    if (i < Senders) {
      this->route(i, [&] { return send(i); });
    } else {
      this->route(i, [&] { return receive(); });
    }
  }
  void push(int i) {
    sent[i] = sent[i] + 1;
    lanes[i].push(sent[i]);
  }
  bool send(int i) {
    if (sent[i] == Flits || !lanes[i].has_room()) return false;
    push(i);
    this->call(Senders);
    return true;
  }
  bool receive() {
    bool any = false;
    for (int i = 0; i < Senders; ++i) {
      if (!lanes[i].has_flits()) continue;
      received[i] = received[i] + 1;
      require(lanes[i].pop() == received[i], "flits come in their order");
      all = all + 1;
      this->call(i);
      any = true;
    }
    return any;
  }
  void end() { require(all == Senders * Flits, "all flits have come"); }
};

// A node gives its router a worm, waits until it has arrived, and ends; then the router does.
struct Given : Host<1> {
  static constexpr int threads = 2;
  Gate step;
  wormcube::BasicInbox<Item, Explored> inbox;
  Item worm;
  Ghost<bool> node_has_ended = false;

  Given() {
    nodes.begin(threads);
    inbox.open();
    step.arm(1);
  }
  void all_wait() override {
    require(node_has_ended, "a worm that was given is moved");
    end_routers();
  }
  void thread(int i) {
    if (i == 0) {
      return route(0, [&] {
        Item* const given = inbox.take();
        if (given == nullptr) return false;
        require(given->data == 1, "what was given is there");
        given->handled = given->handled + 1;
        if (step.arrive()) wake(step);
        return true;
      });
    }
    worm.data = 1;
    static_cast<void>(inbox.put(worm));
    call(0);
    wait(step);
    require(worm.handled == 1, "it goes on when its worm has arrived");
    node_has_ended = true;
    nodes.end([this] { all_wait(); });
  }
  void end() {}
};

// A node waits for a message that a router writes into its memory, in its only turn, and is stopped
// meanwhile. It goes on when nobody moves anything any more.
struct StoppedNode : Nodes {
  static constexpr int threads = 3;
  Gate step, exit;
  Atomic<bool> stopping = false, exit_is_open = false;
  Plain<int> memory = 0;

  StoppedNode() {
    nodes.begin(2);  // the third thread is the one that runs the machine
    step.arm(1);
    exit.arm(1);
  }
  void all_wait() {
    if (!stopping.load(acquire)) return;
    if (exit_is_open.exchange(true, std::memory_order_acq_rel)) return;
    if (exit.arrive()) wake(exit);
  }
  void wake(Gate& gate) {
    nodes.wake(gate, [this] { all_wait(); });
  }
  void wait(Gate& gate) {
    if (!gate.is_open() && gate.park()) nodes.block(gate, [this] { all_wait(); });
    forget(1);
  }
  void thread(int i) {
    if (i == 2) {
      stopping.store(true, release);
      const bool waits = step.stop();
      forget(waits ? 1 : 2);
      if (waits) wake(step);
      return;
    }
    if (i == 0) {
      if (!stopping.load(acquire)) {
        memory = 1;
        const bool waits = step.arrive();
        forget(waits ? 1 : 2);
        if (waits) wake(step);
      }
    } else {
      wait(step);
      if (step.is_stopped()) wait(exit);
      memory = 2;  // its own again
    }
    forget(3);
    nodes.end([this] { all_wait(); });
  }
  void end() { require(memory == 2, "nobody writes into what is the node's again"); }
};

}  // namespace
}  // namespace programs

std::vector<Scenario> router_turns_scenarios() {
  return {
      quick<programs::Lanes<1, 2, 1>>("routers: 2, a lane of one flit", fewer),
      wide<programs::Lanes<1, 3, 2>>("routers: 2, a lane of two flits", fewer),
      wide<programs::Lanes<2, 1, 1>>("routers: 3, two lanes to one", fewer),
      quick<programs::Given>("routers: a worm is given, and all end", fewer),
      wide<programs::Given>("routers: a worm is given, and all end, wider"),
      quick<programs::StoppedNode>("routers: a stop and the last flit", fewer),
  };
}

}  // namespace interleavings
