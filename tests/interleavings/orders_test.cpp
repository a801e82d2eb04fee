// What threads share, in every execution of the scenarios; and whether each of
// its memory orders is needed.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/interleavings/scenarios.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

namespace interleavings {
namespace {

/// Explores it, which must find nothing; reports how much that was.
Report explored(const Scenario& scenario) {
  Report report = scenario.explore();
  INFO(scenario.name << '\n' << report.failure);
  CHECK(report.complete);
  fmt::print("{}{}: {}\n", scenario.name,
             scenario.bounds.stale_reads == 0 ? " (fewer stale reads, no early returns)" : "",
             report.counts());
  return report;
}

/// The next weaker ones.
std::vector<std::memory_order> weaker(const Order& order) {
  switch (order.order) {
    case std::memory_order_seq_cst:
      if (order.of == Order::Of::load || order.of == Order::Of::failure)
        return {std::memory_order_acquire};
      if (order.of == Order::Of::store) return {std::memory_order_release};
      return {std::memory_order_acq_rel};
    case std::memory_order_acq_rel:
      return {std::memory_order_acquire, std::memory_order_release};
    case std::memory_order_acquire:
    case std::memory_order_release:
      return {std::memory_order_relaxed};
    default:
      return {};
  }
}

/// The source's lines, by file: what an order is named by, as line numbers
/// change.
class Lines {
 public:
  std::string of(const Order& order) {
    auto& lines = files_[order.file];
    if (lines.empty()) {
      for (const char* const folder :
           {"runtime/network/", "runtime/machine/executor/", "runtime/machine/node/"}) {
        std::ifstream text(std::filesystem::path(WORMCUBE_SOURCE_DIR) / folder / order.file);
        for (std::string line; std::getline(text, line);) lines.push_back(line);
      }
    }
    if (order.line < 1 || static_cast<std::size_t>(order.line) > lines.size()) return "?";
    const std::string& line = lines[static_cast<std::size_t>(order.line) - 1];
    return line.substr(std::min(line.find_first_not_of(' '), line.size()));
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

const char* word_of(Order::Of of) {
  switch (of) {
    case Order::Of::load:
      return "load";
    case Order::Of::store:
      return "store";
    case Order::Of::change:
      return "change";
    default:
      return "failure";
  }
}

/// As in tests/interleavings/equivalent.txt: "file: line: of from -> to".
std::string key(const Order& order, std::memory_order to, Lines& lines) {
  return fmt::format("{}: {}: {} {} -> {}", order.file, lines.of(order), word_of(order.of),
                     name_of(order.order), name_of(to));
}

/// What was judged: the key and the reason.
std::map<std::string, std::string> judged() {
  std::map<std::string, std::string> found;
  std::ifstream text(std::filesystem::path(WORMCUBE_SOURCE_DIR) /
                     "tests/interleavings/equivalent.txt");
  for (std::string line; std::getline(text, line);) {
    const std::size_t at = line.find(" ## ");
    if (!line.starts_with('#') && at != std::string::npos)
      found[line.substr(0, at)] = line.substr(at + 4);
  }
  return found;
}

}  // namespace

TEST_CASE("what threads share holds in every execution of wide scenarios", "[.][interleavings]") {
  for (const Scenario& scenario : scenarios()) {
    if (scenario.wide) explored(scenario);
  }
}

TEST_CASE("a message that follows another of its step is passed where nothing waits for it",
          "[interleavings]") {
  const Report report = passing_without_its_rule().explore();
  CHECK(report.failure.find("messages arrive in the order sent") != std::string::npos);
}

// Then each order is weakened where it stands, step by step: a scenario must
// fail, or a reason be given.
TEST_CASE(
    "what threads share holds in every execution, and each of its orders "
    "is needed or judged",
    "[interleavings]") {
  struct Met {
    const Scenario* scenario;
    std::set<Order> orders;
    std::size_t states;
  };
  std::vector<Met> all;
  std::set<Order> orders;
  for (const Scenario& scenario : scenarios()) {
    if (scenario.wide) continue;
    if (sanitized && all.size() == 3) return;  // the others, and the weaker orders: minutes
    const Report report = explored(scenario);
    all.push_back({&scenario, report.orders, report.states});
    for (const Order& order : all.back().orders) {
      if (!order.file.ends_with(".cpp") && order.file != "atomics.hpp") orders.insert(order);
    }
  }
  REQUIRE(orders.size() > 20);
  std::ranges::stable_sort(all, {}, &Met::states);  // what is soon explored is tried first
  Lines lines;
  const std::map<std::string, std::string> reasons = judged();
  std::set<std::string> unused;
  for (const auto& [name, reason] : reasons) unused.insert(name);
  std::size_t found = 0;
  for (const Order& order : orders) {
    const std::string any = fmt::format("{}: {}: {} {} -> *", order.file, lines.of(order),
                                        word_of(order.of), name_of(order.order));
    if (unused.erase(any) > 0 || reasons.contains(any)) continue;
    std::vector<std::memory_order> left = weaker(order);
    while (!left.empty()) {
      const std::memory_order to = left.back();
      left.pop_back();
      const std::string name = key(order, to, lines);
      if (unused.erase(name) > 0 || reasons.contains(name)) {
        for (const std::memory_order next : weaker({order.file, order.line, order.of, to}))
          left.push_back(next);
        continue;
      }
      const Weakened weakened{order, to};
      const bool fails = std::ranges::any_of(all, [&](const Met& met) {
        return met.orders.contains(order) && !met.scenario->explore(&weakened).failure.empty();
      });
      INFO(name);
      CHECK(fails);
      found += fails ? 1 : 0;
    }
  }
  fmt::print("{} orders, {} weaker ones found, {} judged\n", orders.size(), found, reasons.size());
  CHECK(unused == std::set<std::string>{});  // reasons for what is not there any more
}

}  // namespace interleavings
