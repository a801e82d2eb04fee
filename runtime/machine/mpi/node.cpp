// A node of an MPI process: its steps, and how it yields.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/mpi/impl.hpp"

#include <fmt/core.h>

namespace wormcube {

// Receives first, so that a message to the node itself finds its receive.
void MpiMachine::Impl::MpiNode::prepare(std::span<const Op> ops) {
  transfers_in_use = 0;
  for (const bool sends : {false, true}) {
    for (const Op& op : ops) {
      if (op.is_send() != sends) continue;
      const Rank peer = peer_of(machine_.topology_, rank_, op);
      if (transfers_in_use == transfers.size()) transfers.emplace_back();
      MpiTransfer& transfer = transfers[transfers_in_use++];
      transfer.from = sends ? rank_ : peer;
      transfer.to = sends ? peer : rank_;
      transfer.tag = op.tag();
      transfer.bytes = op.bytes();
      transfer.pieces = op.pieces();
      transfer.is_send = sends;
      transfer.done = false;
    }
  }
}

void MpiMachine::Impl::MpiNode::step(std::span<const Op> ops) {
  const Stopwatch watch(machine_.options_.timing, statistics.stepping);
  if (machine_.stopping_) machine_.unwind_when_drained(*this);
  try {
    prepare(ops);
  } catch (const UsageError& error) {
    throw UsageErrorOfStep(
        fmt::format("node {}, step {}: {}", rank_, statistics.steps, error.what()));
  }
  pending = transfers_in_use;
  // Once the machine stops, nothing is sent any more.
  for (std::size_t i = 0; i < transfers_in_use && !machine_.stopping_; ++i) {
    MpiTransfer& transfer = transfers[i];
    if (transfer.is_send) {
      ++statistics.messages;
      statistics.bytes += transfer.bytes;
      machine_.post_send(transfer);
    } else {
      machine_.post_receive(transfer);
    }
  }
  if (pending == 0) {
    if (++steps_in_a_row >= most_steps_in_a_row) machine_.let_others_run(*this);
  } else {
    steps_in_a_row = 0;
    ++statistics.parked;
    do {
      machine_.give_way(*this);
    } while (pending > 0 && !machine_.drained_);
    if (pending > 0) {
      stopped = true;
      throw Stopped();
    }
  }
  transfers_in_use = 0;
  ++statistics.steps;
}

void MpiMachine::Impl::unwind_when_drained(MpiNode& node) {
  while (!drained_) give_way(node);
  node.stopped = true;
  throw Stopped();
}

// For a node that need not wait: lets other nodes of the process run, and checks arrivals and the
// clock.
void MpiMachine::Impl::let_others_run(MpiNode& node) {
  node.steps_in_a_row = 0;
  if (node.fiber) {
    ready_.push_back(&node);
    node.fiber->suspend();
  } else {
    transport_.poll(*this);
    watch_clock();
  }
}

// Lets others run until this node may continue.
void MpiMachine::Impl::give_way(MpiNode& node) {
  node.suspended = true;
  if (node.fiber) {
    node.fiber->suspend();
  } else {
    turn();
  }
}

}  // namespace wormcube
