// The proof of a schedule finds what a run with data finds: faults in every algorithm's schedule.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/tests/dataflow/mutated_text.hpp"
#include "wormcube/tests/dataflow/named_calls.hpp"
#include "wormcube/tests/dataflow/named_vectors.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

/// A run of a schedule with numbers, without the proof's code: names are places, what is sent and
/// combined are random numbers. It throws where a run would hang, or send what nobody has written.
class DataRun {
 public:
  DataRun(const NamedSchedule& named, const Goal& goal)
      : named_(named),
        goal_(goal),
        nodes_(named.schedule.topology.nodes()),
        held_(static_cast<std::size_t>(nodes_)),
        known_(static_cast<std::size_t>(nodes_)) {
    for (Rank node = 0; node < nodes_; ++node) {
      known_[index(node)].insert(node);
      for (Rank block = 0; block < goal.gives(node); ++block) {
        for (Rank part = 0; part < named.form.parts; ++part)
          held_[index(node)][{{node}, block, part}] = input(node, block, part);
      }
    }
  }

  /// Why it is not right; empty: it is.
  std::string fault() {
    try {
      if (!named_.after_end.empty()) return "a node goes on after its end";
      const std::size_t steps = named_.schedule.steps();
      for (std::size_t step = 0; step <= steps; ++step) {
        for (Rank node = 0; node < nodes_; ++node) combine(node, step);
        if (step < steps) exchange(step);
      }
      return wrong_result();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }

 private:
  using Nodes = std::vector<Rank>;
  using Name = std::tuple<Nodes, Rank, Rank>;  // nodes in order, block, part
  /// Maps x to factor x + term: their composition does not commute, but is associative.
  struct Data {
    std::uint64_t factor, term;
    friend bool operator==(const Data&, const Data&) = default;
  };
  static constexpr std::uint64_t prime = 2147483647;
  static std::size_t index(Rank node) { return static_cast<std::size_t>(node); }

  Data combined(const Data& a, const Data& b) const {
    if (named_.commutative) return {1, (a.term + b.term) % prime};
    return {a.factor * b.factor % prime, (a.factor * b.term + a.term) % prime};
  }
  Data input(Rank node, Rank block, Rank part) const {
    std::seed_seq seed{node, block, part};
    std::mt19937 random(seed);
    const std::uint64_t factor = 2 + random() % (prime - 2), term = 1 + random() % (prime - 1);
    return {named_.commutative ? 1 : factor, term};
  }
  Name name(const NamedValue& value) const {
    return {named_.words.nodes_of(value.word), value.block, value.part};
  }
  const Data& read(Rank node, const NamedValue& value) const {
    const auto found = held_[index(node)].find(name(value));
    if (found == held_[index(node)].end()) throw std::runtime_error("a value is not there");
    return found->second;
  }

  void combine(Rank node, std::size_t step) {
    const RankNames& names = named_.names[index(node)];
    std::size_t begin = 0;
    for (const RankNames::Gap& gap : names.gaps) {
      Bytes bytes = 0;
      for (std::size_t i = begin; gap.step == step && i < gap.end; ++i) {
        const auto& [left, right] = names.pairs[i];
        if (left.block != right.block || left.part != right.part)
          throw std::runtime_error("two places of the result");
        auto [nodes, block, part] = name(left);
        const Nodes more = named_.words.nodes_of(right.word);
        nodes.insert(nodes.end(), more.begin(), more.end());
        held_[index(node)][{nodes, block, part}] = combined(read(node, left), read(node, right));
        bytes += named_.form.bytes(named_.words, left).value();
      }
      if (gap.step == step && bytes != gap.bytes) throw std::runtime_error("another length");
      begin = gap.end;
    }
  }

  void exchange(std::size_t step) {
    struct Message {
      Bytes bytes;
      std::vector<std::pair<Name, Data>> content;
    };
    std::map<std::tuple<Rank, Rank, Tag>, std::deque<Message>> sent;
    const auto known = known_;
    for (Rank node = 0; node < nodes_; ++node) {
      const RankLog& log = named_.schedule.ranks[index(node)];
      const auto ops = named_.schedule.ops(node, step);
      for (const OpRecord& op : ops) {
        if (op.kind != Op::Kind::send) continue;
        Message message{op.bytes, {}};
        std::set<Name> once;
        Bytes bytes = 0;
        for (const NamedValue& value :
             named_.names[index(node)].of(static_cast<std::size_t>(&op - log.ops.data()))) {
          message.content.emplace_back(name(value), read(node, value));
          if (!once.insert(name(value)).second) throw std::runtime_error("a value comes twice");
          bytes += named_.form.bytes(named_.words, value).value();
        }
        if (!goal_.barrier && bytes != op.bytes) throw std::runtime_error("another length");
        sent[{node, op.peer, op.tag}].push_back(std::move(message));
      }
    }
    for (Rank node = 0; node < nodes_; ++node) {
      for (const OpRecord& op : named_.schedule.ops(node, step)) {
        if (op.kind == Op::Kind::send) continue;
        auto& queue = sent[{op.peer, node, op.tag}];
        if (queue.empty() || queue.front().bytes != op.bytes)
          throw std::runtime_error("a receive waits for ever, or gets another length");
        for (const auto& [place, data] : queue.front().content) held_[index(node)][place] = data;
        known_[index(node)].insert(known[index(op.peer)].begin(), known[index(op.peer)].end());
        queue.pop_front();
      }
    }
    for (const auto& [ends, queue] : sent) {
      if (!queue.empty()) throw std::runtime_error("a message that nobody receives");
    }
  }

  std::string wrong_result() const {
    for (Rank node = 0; node < nodes_; ++node) {
      if (goal_.barrier && known_[index(node)].size() != known_.size())
        return "a node leaves early";
      for (Rank block = 0; !goal_.barrier && block < goal_.ends_with(node); ++block) {
        const Goal::Wanted wanted = goal_.result(node, block);
        for (Rank part = 0; wanted.first < wanted.last && part < named_.form.parts; ++part) {
          if (!has_result(node, wanted, part)) return "a node ends with another result";
        }
      }
    }
    return "";
  }
  bool has_result(Rank node, const Goal::Wanted& wanted, Rank part) const {
    Nodes in_order;
    Data right = input(wanted.first, wanted.block, part);
    for (Rank each = wanted.first; each < wanted.last; ++each) {
      in_order.push_back(each);
      if (each > wanted.first) right = combined(right, input(each, wanted.block, part));
    }
    // The node takes as its result what the schedule names so; its data decide.
    for (const auto& [place, data] : held_[index(node)]) {
      auto [nodes, block, its_part] = place;
      if (block != wanted.block || its_part != part) continue;
      std::ranges::sort(nodes);
      if (nodes == in_order && data == right) return true;
    }
    return false;
  }

  const NamedSchedule& named_;
  const Goal& goal_;
  Rank nodes_;
  std::vector<std::map<Name, Data>> held_;
  std::vector<std::set<Rank>> known_;
};

struct Verdicts {
  bool is_proved;
  std::string fault;  // of the run with data
};

Verdicts verdicts_of(NamedSchedule& named) {
  const Rank nodes = named.schedule.topology.nodes();
  const ScheduledCall call = scheduled_call(*named.operation, nodes);
  const Goal goal = goal_of(call.operation, call.arguments, nodes);
  std::string fault = DataRun(named, goal).fault();
  const NamedReport report = prove_named(named, &goal);
  const ScheduleReport counted = check(named.schedule, Routing(named.schedule.topology, 2), true);
  return {report.findings.empty() && report.delivered == true && counted.unmatched == 0,
          std::move(fault)};
}

const char* const fault_kinds[]{"dropped",    "half dropped",   "doubled",
                                "swapped",    "sent elsewhere", "wrong block",
                                "wrong size", "a step early",   "operands turned round"};

struct Tally {
  int mutants = 0, right = 0, refused = 0;
};

/// Mutants of every algorithm on a network, by kind.
void mutate_all(const std::string& network, int of_each_kind, std::map<std::string, Tally>& tallies,
                int& schedules) {
  std::mt19937 random(42);
  each_named_call(network, [&](const Algorithm& algorithm, const NamedSchedule& named) {
    const std::string text = named_schedule_text(named);
    ++schedules;
    for (const char* const kind : fault_kinds) {
      for (int i = 0; i < of_each_kind; ++i) {
        EditedText edited(text);
        REQUIRE(edited.text() != "");
        if (!edited.mutate(kind, random)) continue;
        const std::string mutant = edited.text();
        CAPTURE(network, algorithm.operation->name, algorithm.name, kind, mutant);
        Tally& tally = tallies[kind];
        ++tally.mutants;
        try {
          NamedSchedule read = parse_named_schedule(mutant, "mutant", operation_facts);
          const auto [is_proved, fault] = verdicts_of(read);
          if (is_proved) ++tally.right;
          CHECK(is_proved == fault.empty());
          CHECK((is_proved ? "" : fault) == fault);  // its words, if they differ
        } catch (const UsageError&) {
          ++tally.refused;  // such as the path of a message that now leads elsewhere
        }
      }
    }
  });
}

void print_tallies(const std::map<std::string, Tally>& tallies, int schedules) {
  std::string text = std::to_string(schedules) + " schedules";
  for (const auto& [kind, tally] : tallies) {
    text += "; " + kind + ": " + std::to_string(tally.mutants) + " mutants, " +
            std::to_string(tally.right) + " right, " + std::to_string(tally.refused) + " refused";
  }
  WARN(text);
}

}  // namespace

TEST_CASE("a schedule with a fault is proved if and only if a run with data is right",
          "[dataflow][mutants]") {
  std::map<std::string, Tally> tallies;
  int schedules = 0;
  for (const char* const network : {"ring:4", "torus:2x3"})
    mutate_all(network, 1, tallies, schedules);
  REQUIRE(tallies.size() == std::size(fault_kinds));
  for (const auto& [kind, tally] : tallies) {
    CAPTURE(kind);
    CHECK(tally.mutants > 20);
    if (kind == "doubled") {  // what comes twice is right
      CHECK(tally.right == tally.mutants);
    } else {
      CHECK(tally.right + tally.refused < tally.mutants);
    }
  }
}

TEST_CASE("schedules with faults on many networks", "[dataflow][mutants][.]") {
  std::map<std::string, Tally> tallies;
  int schedules = 0;
  for (const char* const network : {"hypercube:3", "mesh:2x4", "torus:4x4", "complete:7", "line:5",
                                    "tree:8", "torus:3x3", "ring:6", "ghc:4x3"})
    mutate_all(network, 3, tallies, schedules);
  print_tallies(tallies, schedules);
}

// The comparison is worth something only if it can fail.
TEST_CASE("a run with data sees faults that a wrong proof would miss", "[dataflow][mutants]") {
  for (const vectors::Vector& vector : vectors::all) {
    CAPTURE(vector.name);
    NamedSchedule right = parse_named_schedule("wormcube schedule 2\n" + std::string(vector.text),
                                               "right", operation_facts);
    CHECK(verdicts_of(right).is_proved);
    if (right.form.block || !right.form.sizes.empty() || right.operation->name == "barrier")
      CHECK(verdicts_of(right).fault.empty());
  }
  const auto fault_of = [](const std::string& more) {
    NamedSchedule wrong =
        parse_named_schedule("wormcube schedule 2\ntopology line:2\nblock 8\nsteps 1\n" + more,
                             "wrong", operation_facts);
    const auto [is_proved, fault] = verdicts_of(wrong);
    CHECK(!is_proved);
    return fault;
  };
  const std::string exchange =
      "operation allreduce\nstep 0\nnode 0: send 8 to 1 [0], receive 8 from 1\n"
      "node 1: send 8 to 0 [1], receive 8 from 0\nend\n";
  CHECK(fault_of(exchange + "node 0: combine 8 [0+1]\nnode 1: combine 8 [1+0]\n") ==
        "a node ends with another result");
  CHECK(fault_of(exchange + "node 0: combine 8 [0+1]\n") == "a node ends with another result");
  CHECK(fault_of(exchange + "node 0: combine 9 [0+1]\nnode 1: combine 8 [0+1]\n") ==
        "another length");
  CHECK(fault_of("operation allgather\nstep 0\nnode 0: send 8 to 1 [0]\nnode 1: send 8 to 0 [1], "
                 "receive 8 from 0\nend\n") == "a message that nobody receives");
}
