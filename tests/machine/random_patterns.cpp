// Derives a pattern from its seed, and a node's part in it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/machine/random_patterns.hpp"

#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/runtime/node/requests.hpp"
#include "wormcube/runtime/node/together.hpp"
#include "wormcube/runtime/node/views.hpp"

#include <array>
#include <deque>
#include <functional>
#include <numeric>
#include <ranges>
#include <utility>

#include <fmt/core.h>

namespace machine_tests::random_patterns {
namespace {

// ---------------------------------------------------------------------------------------- making

constexpr const char* networks[] = {"line:2",        "ring:3",
                                    "ring:7",        "line:5",
                                    "torus:3x3",     "torus:4x4",
                                    "torus:2x3x2",   "mesh:3x4",
                                    "hypercube:3",   "complete:6",
                                    "tree:4",        "ghc:3x3",
                                    "ring:3*line:3", "ring:3*complete:4",
                                    "petersen",      "torus:3x3~0-1",
                                    "mesh:3x3~0-1",  "hypercube:3~0-1~2-3",
                                    "star:5"};

Bytes random_size(Random& random) {
  const Bytes longest = random.of<Bytes>({300, 300, 5000, 70000});
  return random.one_in(6) ? random(3) : random(longest);
}

/// Moves of a message, the last dimension first, each once; none where there are no rings or lines.
std::vector<Move> random_moves(Random& random, const Topology& topology, Rank from, Rank& to) {
  std::vector<Move> moves;
  Rank at = from;
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const Shape shape = topology.factor(d).shape();
    const Rank n = topology.size(d), here = topology.coordinate(at, d);
    if ((shape != Shape::ring && shape != Shape::line) || n < 2 || random.one_in(2)) continue;
    const Rank there = mod(here + 1 + static_cast<Rank>(random(n - 1)), n);
    int hops = there - here;
    if (shape == Shape::ring && n > 2 && random.one_in(2)) hops += hops > 0 ? -n : n;
    moves.push_back({d, hops});
    at = topology.with(at, d, there);
  }
  if (!moves.empty()) to = at;
  return moves;
}

Rank other_rank(Random& random, Rank n) { return static_cast<Rank>(random(n)); }

/// A message between two nodes of a view; often on the way of the one before.
Message random_message(Random& random, const Topology& view, const std::vector<Message>& before,
                       bool by_moves) {
  Message message;
  if (!before.empty() && random.one_in(2)) {
    message = before[random(before.size())];
    if (random.one_in(4)) message.moves.clear();
  } else {
    message.from = other_rank(random, view.nodes());
    message.to = other_rank(random, view.nodes());
    message.tag = static_cast<Tag>(random(2));
    if (by_moves && !random.one_in(3)) {
      message.moves = random_moves(random, view, message.from, message.to);
    }
  }
  message.bytes = random_size(random);
  message.received_by_moves = !message.moves.empty() && random.one_in(2);
  return message;
}

/// Some nodes, or all, in any order.
std::vector<Rank> random_members(Random& random, Rank nodes) {
  std::vector<Rank> members(static_cast<std::size_t>(nodes));
  std::iota(members.begin(), members.end(), 0);
  for (std::size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[random(i)]);
  members.resize(1 + random(members.size()));
  return members;
}

Round random_steps(Random& random, const Topology& topology, Round::Kind kind) {
  Round round{.kind = kind};
  Topology view = topology;
  bool by_moves = true;
  if (kind == Round::Kind::group) {
    round.members = random_members(random, topology.nodes());
    view = Topology({Graph::complete(static_cast<Rank>(round.members.size()))});
    by_moves = false;
  } else if (kind == Round::Kind::along) {
    round.dimension = static_cast<int>(random(static_cast<std::uint64_t>(topology.dimensions())));
    view = Topology({topology.factor(round.dimension)});
  }
  const int parts = kind == Round::Kind::together ? 2 + static_cast<int>(random(3)) : 1;
  for (int part = 0; part < parts; ++part) {
    round.steps.push_back(1 + static_cast<int>(random(5)));
    for (int step = 0; step < round.steps.back(); ++step) {
      for (auto left = random(5); left > 0; --left) {
        Message message = random_message(random, view, round.messages, by_moves);
        message.part = part;
        message.step = step;
        round.messages.push_back(message);
      }
    }
  }
  round.on_stack = random.one_in(3);
  round.frees = random.one_in(2);
  return round;
}

Arguments random_arguments(Random& random, Operation operation, Rank nodes) {
  Arguments arguments;
  if (operation->reduces) {
    arguments.reduction =
        random.one_in(2) ? find_reduction("sum", "int32") : find_reduction("compose", "affine");
  }
  if (operation->rooted) arguments.root = other_rank(random, nodes);
  if (operation->shifts) {
    arguments.by = static_cast<std::int64_t>(random(2 * static_cast<std::uint64_t>(nodes))) - nodes;
  }
  if (operation->permutes) {
    const auto& names = Permutation::names;
    arguments.permutation = names[random(std::size(names))];
  }
  if (operation->has_sources) arguments.sources = {other_rank(random, nodes)};
  return arguments;
}

/// One or more collectives on the whole network, a group or a line; none, if no algorithm of the
/// operation applies there.
Round random_collectives(Random& random, const Topology& topology, const MachineOptions& options) {
  Round round{.kind = Round::Kind::collectives};
  Topology view = topology;
  // In lock step nodes outside of a group would have to take as many steps.
  const auto part = random(options.lock_step ? 2 : 3);
  if (part == 1) {
    round.dimension = static_cast<int>(random(static_cast<std::uint64_t>(topology.dimensions())));
    view = Topology({topology.factor(round.dimension)});
  } else if (part == 2) {
    round.members = random_members(random, topology.nodes());
    view = Topology({Graph::complete(static_cast<Rank>(round.members.size()))});
  }
  const auto& operations = all_operations;
  for (auto left = random.one_in(3) ? 1 + random(3) : 1; left > 0; --left) {
    const Operation operation = operations[random(operations.size())];
    if (!operation->moves_data) continue;  // nodes of a barrier count each other: one for all
    std::vector<Collective> all =
        admitted(operation, view, random_arguments(random, operation, view.nodes()));
    std::erase_if(all, [&](const Collective& each) {
      return each.algorithm->selection == Selection::any_order ||
             (each.algorithm->ports == Ports::all && !options.all_port);
    });
    if (all.empty()) continue;
    Collective collective = all[random(all.size())];
    const Bytes unit = contract_of(collective, view.nodes(), 0, 0).element_bytes();
    const Bytes bytes = unit * random.of<Bytes>({0, 1, 2, 7, 64, 300});
    collective.settle(view, CostModel{}, bytes);
    const Contract contract = contract_of(collective, view.nodes(), bytes, random(1000));
    round.calls.push_back({std::move(collective), contract});
  }
  return round;
}

Round random_requests(Random& random, const Topology& topology) {
  Round round{.kind = Round::Kind::requests, .steps = {static_cast<int>(random(3))}};
  for (auto left = random(12); left > 0; --left) {
    Message message = random_message(random, topology, round.messages, false);
    message.context = static_cast<std::uint32_t>(random(2));
    message.synchronous = random.one_in(4);
    message.is_persistent = random.one_in(4);
    round.messages.push_back(message);
  }
  return round;
}

MachineOptions random_options(Random& random) {
  MachineOptions options;
  options.executor = random.one_in(2) ? ExecutorKind::threads : ExecutorKind::fibers;
  options.workers = random.of({1, 2, 4});
  options.window = random.of({1, 2, 2, 3, 4, 8});
  options.lock_step = random.one_in(6);
  options.all_port = random.one_in(2);
  if (random.one_in(3)) {
    options.transport = Transport::flits;
    options.channel_capacity = random.of<std::size_t>({1, 2, 4});
    options.routers = random.of({1, 2, 3});
  }
  options.eager_limit = random.of<Bytes>({0, 16, 64, 1024, Bytes{64} << 10});
  options.messaging.unexpected_limit = random.of<Bytes>({0, 0, 2000});
  if (random.one_in(3)) options.messaging.shuffle = random(~0ULL);
  options.timing = random.one_in(8);
  options.stack_bytes = Bytes{256} << 10;
  options.time_limit = std::chrono::minutes(5);  // a hang is a failure with this seed's name
  return options;
}

// ------------------------------------------------------------------------------------- following

/// One node's part in a pattern.
class Follower {
 public:
  Follower(Node& node, const Pattern& pattern)
      : node_(node), pattern_(pattern), out_(pattern.messages), in_(pattern.messages) {
    Bytes given = 0, taken = 0;
    each_of_mine([&](const Message& message, Rank from, Rank to) {
      if (from == node_.rank()) out_[message.index] = given_.subspan(given, message.bytes);
      if (to == node_.rank()) in_[message.index] = taken_.subspan(taken, message.bytes);
      given += from == node_.rank() ? message.bytes : 0;
      taken += to == node_.rank() ? message.bytes : 0;
    });
    node_.local([&] {
      each_of_mine([&](const Message& message, Rank from, Rank to) {
        if (from == node_.rank()) fill(out_[message.index], key_of(message, from, to));
      });
    });
  }

  void follow(bool ends) {
    for (std::size_t i = 0; i < pattern_.rounds.size(); ++i) {
      if (ends && i == pattern_.rounds.size() / 2) fail();
      const Round& round = pattern_.rounds[i];
      switch (round.kind) {
        case Round::Kind::steps:
          take_steps(node_, round, 0);
          break;
        case Round::Kind::together:
          take_together(round);
          break;
        case Round::Kind::group:
          take_in_group(round);
          break;
        case Round::Kind::along: {
          auto line = node_.along(round.dimension);
          take_steps(line, round, 0);
          break;
        }
        case Round::Kind::requests:
          make_requests(round, Random(mix({pattern_.seed, i, seed_of_node()})));
          break;
        case Round::Kind::collectives:
          call_collectives(round);
          break;
      }
      if (round.verifies) verify();
    }
    if (throws_in_operator_) throw std::runtime_error(failure_text);  // there was none
    if (ends) wait_for_ever();
    verify();
  }

 private:
  std::uint64_t seed_of_node() const { return static_cast<std::uint64_t>(node_.rank()); }
  std::uint64_t key_of(const Message& message, Rank from, Rank to) const {
    return key(pattern_.seed, from, to, message.index);
  }
  std::string name_of(const Message& message) const {
    return fmt::format("message {} to node {}", message.index, node_.rank());
  }

  /// Calls f(message, from, to) for what this node sends or receives; the ranks are the machine's.
  template <class F>
  void each_of_mine(F&& f) const {
    for (const Round& round : pattern_.rounds) {
      const Rank here = round.rank_of(node_.topology(), node_.rank());
      for (const Message& message : round.messages) {
        if (message.from != here && message.to != here) continue;
        f(message, round.node_of(node_.topology(), node_.rank(), message.from),
          round.node_of(node_.topology(), node_.rank(), message.to));
      }
    }
  }

  Bytes bytes_of(bool sent) const {
    Bytes sum = 0;
    each_of_mine([&](const Message& message, Rank from, Rank to) {
      if ((sent ? from : to) == node_.rank()) sum += message.bytes;
    });
    return sum;
  }

  void fail() {
    if (pattern_.ending != Pattern::Ending::failure || pattern_.involved[0] != node_.rank()) return;
    switch (pattern_.thrown) {
      case Pattern::Thrown::in_operator:
        throws_in_operator_ = true;
        return;
      case Pattern::Thrown::in_local:
        node_.local([] { throw std::runtime_error(failure_text); });
        return;
      case Pattern::Thrown::in_program:
        throw std::runtime_error(failure_text);
    }
  }
  /// Each node of the cycle waits for the next.
  void wait_for_ever() {
    if (pattern_.ending != Pattern::Ending::deadlock) return;
    const auto& cycle = pattern_.involved;
    const auto at = std::ranges::find(cycle, node_.rank());
    if (at == cycle.end()) return;
    const Rank next = at + 1 == cycle.end() ? cycle.front() : at[1];
    const Memory room = node_.memory(8);
    if (pattern_.by_requests) {
      Request request = requests_of(node_).start(receive(next, room.span(), 1000));
      requests_of(node_).wait(request);
    } else {
      node_.step({receive(next, room.span(), 1000)});
      node_.local([] {});
    }
  }

  void verify() {
    node_.local([&] {
      for (const Message* const message : come_) {
        expect_payload(in_[message->index], keys_[message->index], name_of(*message));
      }
    });
    come_.clear();
  }

  // ---- steps

  struct Place {
    const Message* message;
    bool is_send;
    std::array<Span, 3> pieces;
    std::vector<Move> back;  // a receive's moves
  };

  /// The ops of a step, each with its data where `room(message, is_send)` says.
  template <class F>
  void take_step(Node& at, const Round& round, int part, int step, F&& room) {
    std::deque<Place> places;
    std::vector<Op> ops;
    const Rank here = at.rank();
    for (const bool sends : {round.messages.size() % 2 == 0, round.messages.size() % 2 != 0}) {
      for (const Message& message : round.messages) {
        if (message.part != part || message.step != step) continue;
        if ((sends ? message.from : message.to) != here) continue;
        Place& place = places.emplace_back(Place{&message, sends, {}, {}});
        const Span data = room(message, sends);
        const Bytes a = data.size() / 3, b = data.size() - data.size() / (sends ? 4 : 2);
        place.pieces = {data.first(std::min(a, b)), data.subspan(a, b - std::min(a, b)),
                        data.subspan(std::max(a, b))};
        ops.push_back(op_of(message, place));
      }
    }
    at.step(std::span<const Op>(ops));
  }
  Op op_of(const Message& message, Place& place) const {
    const bool in_pieces = message.index % 3 == 0;
    const Span all = place.is_send ? out_or_room(place) : out_or_room(place);
    Op op = place.is_send ? send(message.to, all, message.tag)
                          : receive(message.from, all, message.tag);
    if (place.is_send && !message.moves.empty()) {
      op = message.moves.size() == 1 ? op.with(message.moves.front())
                                     : op.with(std::span<const Move>(message.moves));
    } else if (!place.is_send && message.received_by_moves) {
      for (const Move& move : message.moves) place.back.push_back({move.dimension, -move.hops});
      op = op.with(std::span<const Move>(place.back));
    }
    if (in_pieces) op = op.with_pieces(place.pieces);
    return op;
  }
  static Span out_or_room(const Place& place) {
    const auto& [a, b, c] = place.pieces;
    return {a.data(), a.size() + b.size() + c.size()};
  }

  void take_steps(Node& at, const Round& round, int part) {
    for (int step = 0; step < round.steps[static_cast<std::size_t>(part)]; ++step) {
      Bytes bytes = 0;
      for (const Message& message : round.messages) {
        if (message.part != part || message.step != step) continue;
        if (message.from == at.rank()) bytes += message.bytes;
        if (message.to == at.rank()) bytes += message.bytes;
      }
      if (round.on_stack && bytes <= most_on_stack) {
        take_on_stack(at, round, part, step);
      } else {
        take_in_memory(at, round, part, step);
        // The other parts' messages may not have come yet.
        if (round.frees && round.kind != Round::Kind::together) verify();
      }
    }
  }
  void take_in_memory(Node& at, const Round& round, int part, int step) {
    const auto is_freed = [&](const Message& message) {
      return round.frees && message.index % 3 == 1;
    };
    Bytes freed = 0, used = 0;
    for (const Message& message : round.messages) {
      if (message.part == part && message.step == step && message.to == at.rank())
        freed += is_freed(message) ? message.bytes : 0;
    }
    const Memory temporary = at.memory(freed);
    take_step(at, round, part, step, [&](const Message& message, bool is_send) {
      if (!is_send && is_freed(message)) {
        used += message.bytes;
        return temporary.subspan(used - message.bytes, message.bytes);
      }
      if (!is_send) remember(round, message);
      return is_send ? out_[message.index] : in_[message.index];
    });
  }
  void remember(const Round& round, const Message& message) {
    const auto node_of = [&](Rank rank) {
      return round.node_of(node_.topology(), node_.rank(), rank);
    };
    keys_[message.index] = key_of(message, node_of(message.from), node_of(message.to));
    come_.push_back(&message);
  }

  // With data on the stack a step is complete when it returns: no local work is needed.
  [[gnu::noinline]] void take_on_stack(Node& at, const Round& round, int part, int step) {
    std::array<std::byte, most_on_stack> data;
    data.fill(std::byte{0x5a});
    Bytes used = 0;
    std::vector<std::pair<const Message*, Span>> come;
    const auto node_of = [&](Rank rank) {
      return round.node_of(node_.topology(), node_.rank(), rank);
    };
    take_step(at, round, part, step, [&](const Message& message, bool is_send) {
      const Span room = Span(data).subspan(used, message.bytes);
      used += message.bytes;
      if (is_send) {
        fill(room, key_of(message, node_of(message.from), node_of(message.to)));
      } else {
        come.emplace_back(&message, room);
      }
      return room;
    });
    for (const auto& [message, room] : come) {
      expect_payload(room, key_of(*message, node_of(message->from), node_of(message->to)),
                     name_of(*message) + ", on the stack");
    }
    data.fill(std::byte{0xa5});
  }

  void take_together(const Round& round) {
    std::vector<Part> parts;
    for (int part = 0; part < static_cast<int>(round.steps.size()); ++part) {
      parts.emplace_back([this, &round, part](Node& at) { take_steps(at, round, part); });
    }
    together(node_, parts);
  }
  void take_in_group(const Round& round) {
    if (round.rank_of(node_.topology(), node_.rank()) < 0) {
      return node_.idle(static_cast<std::size_t>(round.steps[0]));
    }
    auto group = node_.group(round.members);
    take_steps(group, round, 0);
  }

  // ---- collectives

  void call_collectives(const Round& round) {
    if (round.dimension >= 0) {
      auto line = node_.along(round.dimension);
      call_all(line, round);
    } else if (round.members.empty()) {
      call_all(node_, round);
    } else if (round.rank_of(node_.topology(), node_.rank()) >= 0) {
      auto group = node_.group(round.members);
      call_all(group, round);
    }
  }
  void call_all(Node& at, const Round& round) {
    if (round.calls.size() == 1) return call(at, round.calls.front());
    std::vector<Part> parts;
    for (const Round::Call& each : round.calls) {
      parts.emplace_back([this, &each](Node& part) { call(part, each); });
    }
    together(at, parts);
  }
  void call(Node& at, const Round::Call& each) const {
    Collective collective = each.collective;
    if (throws_in_operator_ && collective.operation()->reduces) {
      collective.arguments.reduction.apply = [](auto...) {
        throw std::runtime_error(failure_text);
      };
    }
    Verification verification(each.contract);
    collective_program(collective, each.contract, &verification)(at);
    const Findings& found = verification.of(at.rank());
    expect(found.compared && found.wrong_bytes == 0,
           fmt::format("{} {} on {}, node {}: {}", collective.operation()->name, collective.text(),
                       at.topology().name(), at.rank(), found.first));
  }

  // ---- requests

  /// How a node asks for what comes to it: all its receives are of one kind.
  enum class Asks { by_name, any_source, any_tag, any };
  static MessagePattern pattern_of(Asks asks, const Message& message) {
    return {.source = asks == Asks::any_source || asks == Asks::any ? any_source : message.from,
            .tag = asks == Asks::any_tag || asks == Asks::any ? any_tag : message.tag,
            .context = message.context};
  }
  static bool fits(const MessagePattern& pattern, const Message& message) {
    return pattern.context == message.context &&
           (pattern.source == any_source || pattern.source == message.from) &&
           (pattern.tag == any_tag || pattern.tag == message.tag);
  }

  struct Wanted {
    MessagePattern pattern;
    Span room;
    Status status;
  };

  void make_requests(const Round& round, Random random) {
    Requests& requests = requests_of(node_);
    const Asks asks = random.of({Asks::by_name, Asks::any_source, Asks::any_tag, Asks::any});
    std::vector<const Message*> mine;  // that come
    Bytes longest = 0;
    for (const Message& message : round.messages) {
      if (message.to != node_.rank()) continue;
      mine.push_back(&message);
      longest = std::max(longest, message.bytes);
    }
    const Memory rooms = node_.memory(longest * mine.size());
    std::vector<Wanted> wanted;
    for (const Message* const message : mine) {
      wanted.push_back(
          {pattern_of(asks, *message), rooms.subspan(longest * wanted.size(), longest), {}});
    }
    Memory nothing = node_.memory(16);
    Request never = requests.start(MessagePattern{.tag = 99, .context = 1}, nothing.span());

    const bool posts = random.one_in(2);
    std::vector<Request> receives, sends, persistent;
    const auto start_receives = [&] {
      for (const Wanted& each : wanted) {
        receives.push_back(requests.start(each.pattern, each.room));
      }
    };
    const bool first = random.one_in(2);
    if (posts && first) start_receives();
    for (const Message& message : round.messages) {
      if (message.from != node_.rank()) continue;
      const Op op = send(message.to, ConstSpan(out_[message.index]), message.tag);
      const auto mode =
          message.synchronous ? Requests::Mode::synchronous : Requests::Mode::standard;
      if (message.is_persistent) {
        persistent.push_back(requests.prepare(op, message.context, mode));
        requests.restart(persistent.back());
        sends.push_back(persistent.back());
      } else {
        sends.push_back(requests.start(op, message.context, mode));
      }
    }
    if (posts && !first) start_receives();
    node_.idle(static_cast<std::size_t>(round.steps[0]));
    std::vector<Status> statuses(receives.size());
    if (posts) {
      complete(requests, random, receives, statuses);
      for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i].status = statuses[i];
    } else {
      for (Wanted& each : wanted) ask_and_receive(requests, random, each);
    }
    std::vector<Status> ignored(sends.size());
    complete(requests, random, sends, ignored);
    for (Request& request : persistent) requests.free(request);
    expect(requests.cancel(never), "a receive for which nothing has come is withdrawn");
    expect(requests.wait(never).cancelled, "its status says so");
    node_.local([&] { verify_requests(mine, wanted); });
  }

  void ask_and_receive(Requests& requests, Random& random, Wanted& wanted) const {
    Request request;
    Status seen;
    switch (random(4)) {
      case 0:
        seen = requests.wait_for(wanted.pattern);
        request = requests.start(MessagePattern{seen.source, seen.tag, wanted.pattern.context},
                                 wanted.room);
        break;
      case 1:
        request = requests.wait_to_take(wanted.pattern, seen);
        requests.receive(request, wanted.room);
        break;
      case 2:
        for (;;) {
          if (const auto found = requests.probe(wanted.pattern)) {
            seen = *found;
            break;
          }
        }
        request = requests.start(MessagePattern{seen.source, seen.tag, wanted.pattern.context},
                                 wanted.room);
        break;
      default:
        for (;;) {
          if (const auto taken = requests.take(wanted.pattern, seen)) {
            request = *taken;
            break;
          }
        }
        requests.receive(request, wanted.room);
    }
    wanted.status = requests.wait(request);
    expect(wanted.status.source == seen.source && wanted.status.tag == seen.tag &&
               wanted.status.bytes == seen.bytes,
           "what was looked at is what is received");
  }

  static void complete(Requests& requests, Random& random, std::vector<Request>& all,
                       std::vector<Status>& statuses) {
    switch (random(5)) {
      case 0:
        return requests.wait_all(all, statuses);
      case 1:
        for (std::size_t i = all.size(); i-- > 0;) statuses[i] = requests.wait(all[i]);
        return;
      case 2: {
        Status status;
        while (const auto i = requests.wait_any(all, status)) statuses[*i] = status;
        return;
      }
      case 3: {
        std::vector<std::size_t> indices(all.size());
        std::vector<Status> some(all.size());
        while (const std::size_t count = requests.wait_some(all, indices, some)) {
          for (std::size_t i = 0; i < count; ++i) statuses[indices[i]] = some[i];
        }
        return;
      }
      default:
        for (std::size_t i = 0; i < all.size(); ++i) {
          while (!requests.test(all[i], &statuses[i])) {
          }
        }
    }
  }

  /// The receives of one pattern take the messages of each source in the order of their starts.
  void verify_requests(const std::vector<const Message*>& mine,
                       const std::vector<Wanted>& wanted) const {
    std::vector<bool> is_taken(mine.size());
    for (const Wanted& each : wanted) {
      bool found = false;
      for (std::size_t i = 0; i < mine.size() && !found; ++i) {
        const Message& message = *mine[i];
        if (is_taken[i] || message.from != each.status.source || !fits(each.pattern, message)) {
          continue;
        }
        found = is_taken[i] = true;
        expect(message.tag == each.status.tag && message.bytes == each.status.bytes,
               name_of(message) + ": a later one was received in its place");
        expect_payload(each.room.first(message.bytes), key_of(message, message.from, message.to),
                       name_of(message));
      }
      expect(found, "a receive has taken a message that is not its own");
    }
  }

  static constexpr Bytes most_on_stack = 8192;
  static constexpr const char* failure_text = "as the seed has it";

  Node& node_;
  const Pattern& pattern_;
  Memory given_ = node_.memory(bytes_of(true)), taken_ = node_.memory(bytes_of(false));
  std::vector<Span> out_, in_;  // by a message's index
  std::vector<std::uint64_t> keys_ = std::vector<std::uint64_t>(pattern_.messages);
  std::vector<const Message*> come_;  // to be looked at
  bool throws_in_operator_ = false;
};

}  // namespace

Rank Round::rank_of(const Topology& topology, Rank node) const {
  if (dimension >= 0) return topology.coordinate(node, dimension);
  if (members.empty()) return node;
  const auto at = std::ranges::find(members, node);
  return at == members.end() ? -1 : static_cast<Rank>(at - members.begin());
}

Rank Round::node_of(const Topology& topology, Rank node, Rank rank) const {
  if (dimension >= 0) return topology.with(node, dimension, rank);
  return members.empty() ? rank : members[static_cast<std::size_t>(rank)];
}

std::string Pattern::text() const {
  return fmt::format("seed {} on {}: {}, {} workers, {} rounds, {} messages", seed, network,
                     describe(options), options.workers, rounds.size(), messages);
}

Pattern random_pattern(std::uint64_t seed) {
  Random random(mix(seed));
  Pattern pattern{.seed = seed};
  pattern.network = networks[random(std::size(networks))];
  pattern.options = random_options(random);
  const Topology topology = Topology::parse(pattern.network);
  using Kind = Round::Kind;
  for (auto left = 1 + random(6); left > 0; --left) {
    const Kind kind =
        random.of({Kind::steps, Kind::steps, Kind::together, Kind::together, Kind::group,
                   Kind::along, Kind::requests, Kind::collectives, Kind::collectives});
    pattern.rounds.push_back(kind == Kind::requests ? random_requests(random, topology)
                             : kind == Kind::collectives
                                 ? random_collectives(random, topology, pattern.options)
                                 : random_steps(random, topology, kind));
    pattern.rounds.back().verifies = random.one_in(3);
    for (Message& message : pattern.rounds.back().messages) {
      message.index = pattern.messages++;
      // A receive of any source must not take what a node that is a round ahead has sent.
      message.context += 2 * static_cast<std::uint32_t>(pattern.rounds.size());
    }
  }
  pattern.ending = random.of({Pattern::Ending::none, Pattern::Ending::none,
                              Pattern::Ending::deadlock, Pattern::Ending::failure});
  const auto involved = pattern.ending == Pattern::Ending::deadlock
                            ? 1 + random(static_cast<std::uint64_t>(topology.nodes()))
                            : 1;
  const auto begin = random(static_cast<std::uint64_t>(topology.nodes()));
  for (std::uint64_t i = 0; i < involved; ++i) {
    pattern.involved.push_back(static_cast<Rank>((begin + i) % topology.nodes()));
  }
  pattern.by_requests = random.one_in(2);
  using Thrown = Pattern::Thrown;
  pattern.thrown = random.of({Thrown::in_program, Thrown::in_local, Thrown::in_operator});
  return pattern;
}

void follow(Node& node, const Pattern& pattern, bool ends, WrongResult& wrong) {
  try {
    Follower(node, pattern).follow(ends);
  } catch (const std::logic_error& error) {  // of expect()
    wrong.add(error.what());
    throw;
  }
}

}  // namespace machine_tests::random_patterns
