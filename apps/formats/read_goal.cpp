// Reads GOAL text: operations of each rank with what they require, laid into steps.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/dependency_steps.hpp"
#include "wormcube/apps/formats/goal.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/line_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

class GoalReader : private LineReader {
 public:
  using LineReader::LineReader;

  Schedule read() {
    next_goal_line();
    expect("num_ranks");
    const auto ranks = number<Rank>("a number of ranks");
    constexpr Rank most_ranks = 1 << 20;
    if (ranks < 1 || ranks > most_ranks)
      fail(fmt::format("num_ranks {}; expected 1 to {}", ranks, most_ranks));
    expect_end();
    DependencySteps all(ranks, name_);
    for (Rank rank = 0; rank < ranks; ++rank) {
      next_goal_line();
      expect("rank");
      if (number<Rank>("a rank") != rank) fail(fmt::format("'rank {}' expected", rank));
      if (!accept('{')) fail("'{' expected");
      expect_end();
      read_rank(all, rank);
    }
    next_goal_line();
    if (!line_.empty()) fail(fmt::format("'{}' after the last rank", shown(line_)));
    return all.schedule([this](double bytes) { charge(bytes); });
  }

 private:
  /// Comments are lines of their own, and may span lines.
  void next_goal_line() {
    for (next_line();; next_line()) {
      if (line_.starts_with("/*")) {
        while (!line_.empty() && line_.find("*/") == line_.npos) next_line();
        continue;
      }
      if (!line_.starts_with("//")) return;
    }
  }

  void read_rank(DependencySteps& all, Rank rank) {
    std::unordered_map<std::string_view, std::uint32_t> labels;
    for (next_goal_line(); !line_.starts_with('}'); next_goal_line()) {
      if (line_.empty()) fail("'}' expected");
      charge(sizeof(DependencySteps::Operation) + 64);
      std::string_view label;
      if (line_.find(':') != line_.npos) {
        label = word();
        if (!accept(':')) fail("':' expected after the label");
      }
      if (label.empty() && peek() != "send" && peek() != "recv" && peek() != "calc") {
        require(all, labels);
        continue;
      }
      const std::uint32_t number = read_operation(all, rank);
      if (!label.empty() && !labels.try_emplace(label, number).second)
        fail(fmt::format("label {} twice; readers of GOAL ignore the second", shown(label)));
    }
    line_.remove_prefix(1);
    expect_end();
  }

  std::string_view word() {
    skip_blanks();
    const std::size_t size = std::min(line_.find_first_of(" \t\r:{}"), line_.size());
    if (size == 0) fail(fmt::format("a label expected before '{}'", shown(line_)));
    const std::string_view word = line_.substr(0, size);
    line_.remove_prefix(size);
    return word;
  }

  std::uint32_t read_operation(DependencySteps& all, Rank rank) {
    using Kind = DependencySteps::Kind;
    DependencySteps::Operation operation{.rank = rank, .line = number_};
    if (accept("calc")) {
      static_cast<void>(number<std::uint64_t>("a number of nanoseconds"));
    } else {
      const bool is_send = accept("send");
      if (!is_send) expect("recv");
      operation.kind = is_send ? Kind::send : Kind::receive;
      operation.bytes = byte_count();
      if (!accept('b')) fail("'b' expected after the number of bytes");
      expect(is_send ? "to" : "from");
      operation.peer = number<Rank>("a rank");
      if (operation.peer == -1) fail("from -1: a wildcard; a schedule must name each sender");
      if (operation.peer < 0 || operation.peer >= all.ranks())
        fail(fmt::format("rank {} of {}", operation.peer, all.ranks()));
      if (operation.peer == rank) fail("a message to its own rank waits for ever");
      if (accept("tag")) {
        operation.tag = number<Tag>("a tag");
        if (operation.tag == -1) fail("tag -1: a wildcard; a schedule must name each message");
      }
    }
    for (const char* const unit : {"cpu", "nic"}) {
      if (accept(unit) && number<int>("a number") != 0)
        fail(fmt::format("{} above 0: nodes have one", unit));
    }
    expect_end();
    return all.add(operation);
  }

  void require(DependencySteps& all,
               const std::unordered_map<std::string_view, std::uint32_t>& labels) {
    const auto find = [&] {
      const std::string_view label = word();
      const auto found = labels.find(label);
      if (found == labels.end()) fail(fmt::format("unknown label '{}'", shown(label)));
      return found->second;
    };
    const std::uint32_t later = find();
    const bool finished = accept("requires");
    if (!finished) expect("irequires");
    all.require(later, find(), finished);
    expect_end();
  }
};

}  // namespace

bool is_goal(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && (text.substr(first).starts_with("num_ranks"));
}

Schedule parse_goal(std::string_view text, std::string_view name, double most_bytes) {
  return GoalReader(text, name, most_bytes).read();
}

}  // namespace wormcube::apps
