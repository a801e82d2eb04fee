// What the harness needs of a machine, be it one process or many: run programs, join what the
// processes found.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/machine.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace wormcube {

/// A multicomputer whose nodes live in one process or in several. All processes make the same calls
/// in the same order; each runs its own share of the nodes, and process 0 prints.
///
/// Threads  one at a time.
class Multicomputer {
 public:
  virtual ~Multicomputer() = default;
  Multicomputer() = default;
  Multicomputer(const Multicomputer&) = delete;
  Multicomputer& operator=(const Multicomputer&) = delete;

  virtual const Topology& topology() const = 0;

  /// Runs the program on every node, returns in every process when all have finished. Statistics
  /// are of this run alone, of all nodes, the same in every process.
  ///
  /// Throws, in every process the same: Deadlock, TimeLimit, UsageError, NodeFailure.
  virtual Statistics run(const Program& program) = 0;
  /// The same, traced. Process 0 has every node's log; the others only those of their own nodes.
  virtual Statistics run(const Program& program, Schedule& trace) = 0;

  /// This process and how many there are.
  virtual int process() const { return 0; }
  virtual int processes() const { return 1; }
  /// Processes on this computer, which share its memory.
  virtual int processes_here() const { return 1; }
  bool is_first_process() const { return process() == 0; }
  /// The nodes of this process, from the first to one past the last.
  virtual std::pair<Rank, Rank> nodes_here() const { return {0, topology().nodes()}; }
  bool is_here(Rank node) const { return nodes_here().first <= node && node < nodes_here().second; }
  /// Whether there are emulated links, of which Statistics tell. A real network keeps its own.
  virtual bool has_links() const { return true; }

  // Joining what the processes found, between runs; every process gets the result.
  virtual void sum(std::span<std::uint64_t> /*values*/) {}
  virtual void maximum(std::span<double> /*values*/) {}
  /// The text of the first process that has one.
  virtual std::string first_text(std::string text) { return text; }
  /// All processes have an array, and this one has written [begin, end) of it: afterwards each has
  /// what any has written. The parts do not overlap.
  virtual void join(Span /*array*/, std::size_t /*begin*/, std::size_t /*end*/) {}

  /// A counter that all nodes share outside the machine's messages, so that a test can see what
  /// messages alone must have ordered (a barrier). Slow.
  class Counter {
   public:
    virtual ~Counter() = default;
    /// Visible to every node when it returns.
    virtual void add_one() = 0;
    virtual std::uint64_t value() = 0;
  };
  /// A counter at 0. Made and destroyed by all processes together.
  virtual std::unique_ptr<Counter> counter() {
    class Here final : public Counter {
     public:
      void add_one() override { value_.fetch_add(1, std::memory_order_relaxed); }
      std::uint64_t value() override { return value_.load(std::memory_order_relaxed); }

     private:
      std::atomic<std::uint64_t> value_{0};
    };
    return std::make_unique<Here>();
  }
};

/// A machine of one process as a multicomputer. The machine must outlive it.
class OneProcess final : public Multicomputer {
 public:
  explicit OneProcess(Machine& machine) : machine_(machine) {}
  const Topology& topology() const override { return machine_.topology(); }
  Statistics run(const Program& program) override { return machine_.run(program); }
  Statistics run(const Program& program, Schedule& trace) override {
    return machine_.run(program, trace);
  }

 private:
  Machine& machine_;
};

}  // namespace wormcube
