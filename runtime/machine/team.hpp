// The processes that run one multicomputer, and how they combine their results.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/op.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace wormcube {

/// A counter that all nodes share outside the machine's messages. It can test a barrier, which the
/// barrier's own messages cannot. Slow.
class SharedCounter {
 public:
  virtual ~SharedCounter() = default;
  /// Visible to every node when it returns.
  virtual void add_one() = 0;
  virtual std::uint64_t value() = 0;
};

/// Processes that make the same calls in the same order; process 0 prints.
///
/// Threads  one at a time.
class Team {
 public:
  virtual ~Team() = default;

  /// This process and how many there are.
  virtual int process() const = 0;
  virtual int processes() const = 0;
  /// Processes on this computer, which share its memory.
  virtual int processes_here() const = 0;
  bool is_first_process() const { return process() == 0; }

  // Called between runs; every process gets the result.
  virtual void sum(std::span<std::uint64_t> values) = 0;
  virtual void maximum(std::span<double> values) = 0;
  /// The text of the first process that has one.
  virtual std::string first_text(std::string text) = 0;
  /// All processes have an array, and this one has written [begin, end) of it: afterwards each has
  /// what every process has written. The parts do not overlap.
  virtual void join(Span array, std::size_t begin, std::size_t end) = 0;

  /// A counter at 0. Created and destroyed by all processes together.
  virtual std::unique_ptr<SharedCounter> counter() = 0;
};

/// A single process, which has everything already.
Team& team_of_one();

}  // namespace wormcube
