// Faults in a schedule's text: messages that are dropped, doubled, swapped, sent elsewhere, ..
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace wormcube {

/// Text 2 in canonical form, step by step. The last step is `end`.
class EditedText {
 public:
  using Clauses = std::vector<std::string>;

  explicit EditedText(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      add(text.substr(at, end - at));
      at = end + 1;
    }
  }

  std::string text() const {
    std::string all = header_;
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      all += step + 1 == steps_.size() ? "end\n" : "step " + std::to_string(step) + "\n";
      for (const auto& [node, clauses] : steps_[step]) {
        std::string line;
        for (const std::string& clause : clauses) line += (line.empty() ? "" : ", ") + clause;
        if (!line.empty()) all += "node " + std::to_string(node) + ": " + line + "\n";
      }
    }
    return all;
  }

  /// Changes one thing, if the schedule has something of this kind.
  bool mutate(const std::string& kind, std::mt19937& random) {
    if (kind == "operands turned round") return turn_round(random);
    const auto sends = all_sends();
    if (sends.empty()) return false;
    const auto pick = [&] { return sends[random() % sends.size()]; };
    const Send one = pick();
    if (kind == "dropped") return take_receive(one), take(one), true;
    if (kind == "half dropped")
      return random() % 2 == 0 ? take(one) : take_receive(one).value_or(""), true;
    if (kind == "doubled") {
      auto& clauses = steps_[one.step][one.from];
      clauses.insert(clauses.begin() + static_cast<std::ptrdiff_t>(one.clause),
                     clauses[one.clause]);
      auto& others = steps_[one.step][peer(one)];
      const auto receive = find_receive(one);
      if (receive != others.end()) others.insert(receive, std::string(*receive));
      return true;
    }
    if (kind == "swapped") {
      const Send other = pick();
      std::string &a = clause(one), &b = clause(other);
      const std::string of_a = names(a), of_b = names(b);
      if (of_a == of_b || of_a.empty() || of_b.empty()) return false;
      a.replace(a.find('['), of_a.size(), of_b);
      b.replace(b.find('['), of_b.size(), of_a);
      return true;
    }
    if (kind == "sent elsewhere") {
      const int other = static_cast<int>(random() % nodes_);
      if (other == one.from || other == peer(one)) return false;
      const auto receive = take_receive(one);
      if (!receive) return false;
      steps_[one.step][other].push_back(*receive);
      std::string& send = clause(one);
      const std::string to = " to " + std::to_string(peer(one));
      send.replace(send.find(to), to.size(), " to " + std::to_string(other));
      if (const auto by = send.find(" by "); by != send.npos)
        send.erase(by, std::min(send.find(" [", by), send.size()) - by);
      return true;
    }
    if (kind == "wrong block") {
      std::string& send = clause(one);
      std::vector<std::size_t> digits;
      for (std::size_t at = std::min(send.find('['), send.size()); at < send.size(); ++at) {
        if (std::isdigit(send[at]) != 0) digits.push_back(at);
      }
      if (digits.empty()) return false;
      send[digits[random() % digits.size()]] =
          static_cast<char>('0' + random() % std::min<std::size_t>(nodes_, 10));
      return true;
    }
    if (kind == "wrong size") {
      const bool both = random() % 2 == 0;
      if (both) {
        auto& others = steps_[one.step][peer(one)];
        if (const auto receive = find_receive(one); receive != others.end()) enlarge(*receive);
      }
      enlarge(clause(one));
      return true;
    }
    if (kind == "a step early") {
      if (one.step == 0) return false;
      const auto receive = take_receive(one);
      if (!receive) return false;
      steps_[one.step - 1][peer(one)].push_back(*receive);
      steps_[one.step - 1][one.from].push_back(take(one));
      return true;
    }
    return false;
  }

 private:
  struct Send {
    std::size_t step;
    int from;
    std::size_t clause;
  };

  void add(const std::string& line) {
    if (line.empty()) return;
    if (line.starts_with("step ") || line == "end") {
      steps_.emplace_back();
    } else if (steps_.empty()) {
      header_ += line + "\n";
    } else {
      const std::size_t colon = line.find(": ");
      const int node = std::stoi(line.substr(5));
      nodes_ = std::max<std::size_t>(nodes_, static_cast<std::size_t>(node) + 1);
      Clauses& clauses = steps_.back()[node];
      for (std::size_t at = colon + 2; at < line.size();) {
        const std::size_t end = std::min(line.find(", ", at), line.size());
        clauses.push_back(line.substr(at, end - at));
        at = end + 2;
      }
    }
  }

  std::vector<Send> all_sends() const {
    std::vector<Send> sends;
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      for (const auto& [node, clauses] : steps_[step]) {
        for (std::size_t i = 0; i < clauses.size(); ++i) {
          if (clauses[i].starts_with("send ")) sends.push_back({step, node, i});
        }
      }
    }
    return sends;
  }
  std::string& clause(const Send& send) { return steps_[send.step][send.from][send.clause]; }
  static std::string names(const std::string& clause) {
    const auto at = clause.find('[');
    return at == clause.npos ? "" : clause.substr(at);
  }
  int peer(const Send& send) {
    const std::string& words = clause(send);
    return std::stoi(words.substr(words.find(" to ") + 4));
  }
  Clauses::iterator find_receive(const Send& send) {
    const std::string from = " from " + std::to_string(send.from);
    return std::ranges::find_if(steps_[send.step][peer(send)], [&](const std::string& clause) {
      return clause.starts_with("receive ") &&
             (clause.ends_with(from) || clause.find(from + " ") != clause.npos);
    });
  }
  std::optional<std::string> take_receive(const Send& send) {
    Clauses& clauses = steps_[send.step][peer(send)];
    const auto receive = find_receive(send);
    if (receive == clauses.end()) return std::nullopt;
    std::string taken = *receive;
    // A node may send to itself: the send is found by its number.
    clauses.erase(receive);
    return taken;
  }
  std::string take(const Send& send) {
    Clauses& clauses = steps_[send.step][send.from];
    const auto at = clauses.begin() + static_cast<std::ptrdiff_t>(send.clause);
    std::string taken = *at;
    clauses.erase(at);
    return taken;
  }
  static void enlarge(std::string& clause) {
    const std::size_t at = clause.find(' ') + 1,
                      end = std::min(clause.find(' ', at), clause.size());
    clause.replace(at, end - at, std::to_string(std::stoull(clause.substr(at, end - at)) + 8));
  }
  bool turn_round(std::mt19937& random) {
    std::vector<std::string*> combines;
    for (auto& step : steps_) {
      for (auto& [node, clauses] : step) {
        for (std::string& clause : clauses) {
          if (clause.starts_with("combine ") && clause.find('+') != clause.npos)
            combines.push_back(&clause);
        }
      }
    }
    if (combines.empty()) return false;
    std::string& clause = *combines[random() % combines.size()];
    // The first pair: up to a blank outside braces.
    const std::size_t begin = clause.find('[') + 1, plus = clause.find('+', begin);
    std::size_t end = plus;
    for (int depth = 0; end < clause.size(); ++end) {
      if (clause[end] == '{') ++depth;
      if (clause[end] == '}') --depth;
      if (depth == 0 && (clause[end] == ' ' || clause[end] == ']')) break;
    }
    const std::string left = clause.substr(begin, plus - begin),
                      right = clause.substr(plus + 1, end - plus - 1);
    clause.replace(begin, end - begin, right + "+" + left);
    return true;
  }

  std::string header_;
  std::vector<std::map<int, Clauses>> steps_;
  std::size_t nodes_ = 0;
};

}  // namespace wormcube
