// Random communication patterns on random machines: every byte arrives where it should, in order,
// and every run ends as its seed requires. WORMCUBE_SEEDS is their number,
// WORMCUBE_FIRST_SEED the first.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/machine/random_patterns.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <cstdlib>
#include <optional>

#include <fmt/core.h>

namespace machine_tests::random_patterns {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// What is wrong with a run; nothing: it has ended as it should.
std::optional<std::string> fault_of(Machine& machine, const Pattern& pattern, bool ends,
                                    WrongResult& wrong) {
  const auto ending = ends ? pattern.ending : Pattern::Ending::none;
  try {
    machine.run([&](Node& node) { follow(node, pattern, ends, wrong); });
    if (ending == Pattern::Ending::deadlock) return "the deadlock was not found";
    if (ending == Pattern::Ending::failure) return "the failure was not reported";
  } catch (const Deadlock& deadlock) {
    if (ending != Pattern::Ending::deadlock) return deadlock.what();
    for (std::size_t i = 0; i < pattern.involved.size(); ++i) {
      const Rank next = pattern.involved[(i + 1) % pattern.involved.size()];
      const std::string row = fmt::format("\n{:>6} ", pattern.involved[i]);
      const std::string_view text = deadlock.what();
      const auto at = text.find(row);
      const auto line =
          at == text.npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
      if (line.find(fmt::format("from node {} (tag 1000)", next)) == line.npos) {
        return fmt::format("node {} is not in the report:\n{}", pattern.involved[i], text);
      }
    }
  } catch (const NodeFailure& failure) {
    const std::string expected = fmt::format("node {}: as the seed has it", pattern.involved[0]);
    if (ending != Pattern::Ending::failure || failure.what() != expected) return failure.what();
  } catch (const std::exception& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("random patterns on random machines", "[machine][stress]") {
  const std::uint64_t first = number_from("WORMCUBE_FIRST_SEED", 0);
  const std::uint64_t seeds = number_from("WORMCUBE_SEEDS", sanitized ? 100 : 1000);
  std::uint64_t messages = 0, collectives = 0, deadlocks = 0, failures = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const Pattern pattern = random_pattern(seed);
    INFO(pattern.text());
    Machine machine(Topology::parse(pattern.network), pattern.options);
    for (const bool ends : {true, false}) {
      WrongResult wrong;
      const auto fault = fault_of(machine, pattern, ends, wrong);
      if (fault) UNSCOPED_INFO(*fault);
      CHECK_FALSE(fault.has_value());
      CHECK(wrong.text().empty());
    }
    messages += 2 * pattern.messages;
    for (const Round& round : pattern.rounds) collectives += 2 * round.calls.size();
    deadlocks += pattern.ending == Pattern::Ending::deadlock ? 1 : 0;
    failures += pattern.ending == Pattern::Ending::failure ? 1 : 0;
  }
  fmt::print("{} seeds: {} messages, {} collectives, {} deadlocks, {} failures\n", seeds, messages,
             collectives, deadlocks, failures);
}

}  // namespace machine_tests::random_patterns
