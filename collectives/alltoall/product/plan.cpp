// Expanding rounds, and following one node's plan.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/plan.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Calls f(exchange, t) for every exchange and step of the round, and step_done after each step.
template <class F, class StepDone>
void for_each_step(const Round& round, F f, StepDone step_done) {
  for (std::size_t i = 0; i < round.steps(); ++i) {
    const std::size_t t = round.taken.empty() ? i : round.taken[i];
    for (const Exchange& exchange : round.exchanges) {
      if (t < exchange.exchange->steps()) f(exchange, t);
    }
    step_done();
  }
}

/// Where a node keeps the blocks that are under way.
class Places {
 public:
  Places(Rank rank, Rank nodes) : rank_(rank), nodes_(nodes) {}

  /// The block leaves; its place is free from the next step on.
  std::pair<NodePlan::Where, Rank> leave(const Block& block) {
    if (block.source == rank_) return {NodePlan::Where::input, block.destination};
    const auto found = held_.find(number(block));
    if (found == held_.end()) {
      throw std::logic_error(
          fmt::format("product exchange: node {} does not hold the block {} -> {}", rank_,
                      block.source, block.destination));
    }
    const Rank place = found->second;
    held_.erase(found);
    leaving_.push_back(place);
    return {NodePlan::Where::held, place};
  }
  std::pair<NodePlan::Where, Rank> arrive(const Block& block) {
    if (block.destination == rank_) return {NodePlan::Where::output, block.source};
    if (free_.empty()) free_.push_back(places_++);
    const Rank place = free_.back();
    free_.pop_back();
    held_[number(block)] = place;
    return {NodePlan::Where::held, place};
  }
  void step_done() {
    free_.insert(free_.end(), leaving_.begin(), leaving_.end());
    leaving_.clear();
  }
  Rank count() const { return places_; }

 private:
  std::int64_t number(const Block& block) const {
    return std::int64_t{block.source} * nodes_ + block.destination;
  }
  Rank rank_, nodes_, places_ = 0;
  std::unordered_map<std::int64_t, Rank> held_;
  std::vector<Rank> free_, leaving_;
};

/// Addressed to a neighbour: along a line or ring with the sign that leads there.
NodePlan::Message message(const Topology& topology, Rank rank, Rank peer, Op::Kind kind,
                          std::pair<NodePlan::Where, Rank> place) {
  int d = 0;
  while (topology.coordinate(rank, d) == topology.coordinate(peer, d)) ++d;
  const Graph& graph = topology.factor(d);
  const int hops = graph.has_direction()
                       ? graph.hops(topology.coordinate(rank, d), topology.coordinate(peer, d))
                       : 0;
  return {kind, place.first, static_cast<std::int8_t>(d), static_cast<std::int8_t>(hops),
          peer, place.second};
}

}  // namespace

std::size_t Round::steps() const {
  if (!taken.empty()) return taken.size();
  std::size_t most = 0;
  for (const Exchange& exchange : exchanges) most = std::max(most, exchange.exchange->steps());
  return most;
}

std::size_t total_steps(const Rounds& rounds) {
  std::size_t sum = 0;
  for (const Round& round : rounds) sum += round.steps();
  return sum;
}

std::shared_ptr<const Rounds> kept_rounds(Rounds (*make)(const Topology&),
                                          const Topology& topology) {
  struct Last {
    Topology topology;
    std::shared_ptr<const Rounds> rounds;
  };
  static std::mutex mutex;
  static std::map<Rounds (*)(const Topology&), Last> last;
  const std::scoped_lock lock(mutex);
  const auto found = last.find(make);
  if (found != last.end() && found->second.topology == topology &&
      found->second.topology.name() == topology.name()) {  // one of equal graphs may know its group
    return found->second.rounds;
  }
  const auto rounds = std::make_shared<const Rounds>(make(topology));
  last.insert_or_assign(make, Last{topology, rounds});
  return rounds;
}

ExchangeTemplate expand(Rank nodes, const Rounds& rounds) {
  std::vector<std::vector<Transfer>> steps(1);
  for (const Round& round : rounds) {
    for_each_step(
        round,
        [&](const Exchange& exchange, std::size_t t) {
          for (Rank line = 0; line < nodes; ++line) {
            if (exchange.axis.digit(line) != 0) continue;  // one node of each copy
            for (const Transfer& transfer : exchange.exchange->step(t)) {
              const auto block = exchange.carried(line, transfer);
              if (!block) continue;
              steps.back().push_back({exchange.axis.with(line, transfer.from),
                                      exchange.axis.with(line, transfer.to), block->source,
                                      block->destination});
            }
          }
        },
        [&] { steps.emplace_back(); });
  }
  return {nodes, 1, steps};
}

NodePlan make_plan(const Topology& topology, Rank rank, const Rounds& rounds) {
  NodePlan plan;
  Places places(rank, topology.nodes());
  for (const Round& round : rounds) {
    for_each_step(
        round,
        [&](const Exchange& exchange, std::size_t t) {
          const Axis& axis = exchange.axis;
          const ExchangeTemplate& transfers = *exchange.exchange;
          const Rank digit = axis.digit(rank);
          for (const std::uint32_t i : transfers.sent_by(digit, t)) {
            const Transfer& transfer = transfers.transfers()[i];
            if (const auto block = exchange.carried(rank, transfer)) {
              plan.messages.push_back(message(topology, rank, axis.with(rank, transfer.to),
                                              Op::Kind::send, places.leave(*block)));
            }
          }
          for (const std::uint32_t i : transfers.received_by(digit, t)) {
            const Transfer& transfer = transfers.transfers()[i];
            if (const auto block = exchange.carried(rank, transfer)) {
              plan.messages.push_back(message(topology, rank, axis.with(rank, transfer.from),
                                              Op::Kind::receive, places.arrive(*block)));
            }
          }
        },
        [&] {
          places.step_done();
          plan.step_ends.push_back(static_cast<std::uint32_t>(plan.messages.size()));
        });
  }
  plan.held = places.count();
  return plan;
}

void run_rounds(Node& node, std::string_view algorithm, Rounds (*make)(const Topology&),
                ConstBlocks out, Blocks in) {
  const NodePlan& plan = node.plan<NodePlan>(algorithm, {}, [&] {
    return make_plan(node.topology(), node.rank(), *kept_rounds(make, node.topology()));
  });
  run(node, plan, out, in);
}

void run(Node& node, const NodePlan& plan, ConstBlocks out, Blocks in) {
  using Message = NodePlan::Message;
  const Bytes m = out.bytes();
  const Memory held = node.memory(static_cast<Bytes>(plan.held) * m, Purpose::blocks);
  node.local([&] { copy(out[node.rank()], in[node.rank()]); });

  const auto leaves = [&](const Message& message) -> ConstSpan {
    return message.where == NodePlan::Where::input ? out[message.place]
                                                   : held.subspan(message.place * m, m);
  };
  const auto arrives = [&](const Message& message) -> Span {
    return message.where == NodePlan::Where::output ? in[message.place]
                                                    : held.subspan(message.place * m, m);
  };
  std::vector<Op> ops;
  std::size_t next = 0;
  for (const std::uint32_t end : plan.step_ends) {
    ops.clear();
    for (; next < end; ++next) {
      const Message& message = plan.messages[next];
      if (message.kind == Op::Kind::receive) {
        ops.push_back(receive(message.peer, arrives(message)));
      } else if (message.hops != 0) {
        ops.push_back(send(Move{message.dimension, message.hops}, leaves(message)));
      } else {
        ops.push_back(send(message.peer, leaves(message)));
      }
    }
    node.step(ops);
  }
}

}  // namespace wormcube
