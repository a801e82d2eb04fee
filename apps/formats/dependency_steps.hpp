// Lays messages that require each other into steps: what GOAL and Chakra traces say.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

class DependencySteps {
 public:
  enum class Kind : std::uint8_t { send, receive, local };
  struct Operation {
    Kind kind = Kind::local;
    Rank rank = 0, peer = 0;
    Tag tag = 0;
    Bytes bytes = 0;
    std::size_t line = 0;  ///< of a text; else the number of its node
  };

  /// \param is_text  errors name the line; else rank and node
  DependencySteps(Rank ranks, std::string_view name, bool is_text = true)
      : ranks_(ranks), name_(name), is_text_(is_text) {}

  Rank ranks() const { return ranks_; }
  std::uint32_t add(const Operation& operation) {
    operations_.push_back(operation);
    return static_cast<std::uint32_t>(operations_.size() - 1);
  }
  /// \param finished  `later` starts when `earlier` has finished; otherwise: when it has started
  void require(std::uint32_t later, std::uint32_t earlier, bool finished) {
    edges_.push_back({earlier, later, finished});
  }

  /// On a complete network. Throws UsageError, "NAME:LINE: what" or "NAME: rank R, node N: what",
  /// for messages without their other end, sizes that differ, and cycles.
  ///
  /// \param charge  called with bytes before they are allocated
  Schedule schedule(const std::function<void(double)>& charge);

 private:
  struct Edge {
    std::uint32_t earlier, later;
    bool strict;
  };
  [[noreturn]] void fail(const Operation& operation, const std::string& what) const;
  std::string place(const Operation& operation) const;
  void match();
  void find_steps();

  Rank ranks_;
  std::string_view name_;
  bool is_text_;
  std::vector<Operation> operations_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> event_;  // of each operation: a message is one event
  std::size_t events_ = 0;
  std::vector<std::int64_t> step_;  // of each event; local work: the last step that it needs
};

}  // namespace wormcube::apps
