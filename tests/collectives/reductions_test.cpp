// Reductions: the ledger's formulas, all operators on all executors, errata, mutants.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/collectives/scan/elements.hpp"
#include "wormcube/runtime/schedule/prove.hpp"
#include "wormcube/tests/sanitized.hpp"
#include "wormcube/tests/worlds.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>
#include <tuple>
#include <utility>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

std::vector<Operation> reducing() {
  std::vector<Operation> all;
  for (const Operation operation : all_operations) {
    if (operation->reduces) all.push_back(operation);
  }
  return all;
}

Arguments with(const Reduction& reduction, Rank root = 0) {
  Arguments arguments;
  arguments.root = root;
  arguments.reduction = reduction;
  return arguments;
}

/// Dry counts alone.
CheckResult counted(Operation operation, const std::string& algorithm, const std::string& network) {
  CheckOptions options;
  options.prove_up_to = 0;
  return check_collective(parse_collective(operation, algorithm), Topology::parse(network),
                          options);
}

/// What a ledger's row says for p = 2^d nodes, in start-ups and blocks.
struct Figures {
  double startups, transmission, contended, combined;
};
struct FormulaRow {
  const char* row;
  Operation operation;
  const char* algorithm;
  const char* shape;  // "ring": ring:p; "square": mesh:sxs; "hypercube": hypercube:d
  double most;        // nodes
  Figures (*formula)(double d, double p);
};
// Operators that do not commute: rings and bruck carry two partial results.
const std::vector<FormulaRow> ledger{
    {"1.20", operations::reduce, "hypercube", "hypercube", 1024,
     [](double d, double) {
       return Figures{d, d, d, d};
     }},
    {"1.20", operations::reduce, "halving", "ring", 1024,
     [](double d, double) {
       return Figures{d, d, d, d};
     }},
    {"1.20", operations::reduce, "mesh", "square", 1024,
     [](double d, double) {
       return Figures{d, d, d, d};
     }},
    {"1.21", operations::reduce, "reduce-scatter-gather", "hypercube", 1024,
     [](double d, double p) {
       return Figures{2 * d, 2 * (p - 1) / p, 2 * (p - 1) / p, (p - 1) / p};
     }},
    {"2.20", operations::reduce_scatter, "ring", "ring", 256,
     [](double, double p) {
       return Figures{p - 1, p > 2 ? 2 * p - 3 : p - 1, p > 2 ? 2 * p - 3 : p - 1,
                      p > 2 ? p : p - 1};
     }},
    {"2.21", operations::reduce_scatter, "mesh", "square", 256,
     [](double, double p) {
       const double s = std::sqrt(p), line = s > 2 ? 2 * s - 3 : s - 1, sum = s > 2 ? s : s - 1;
       return Figures{2 * (s - 1), line * (s + 1), line * (s + 1), sum * (s + 1)};
     }},
    {"2.22", operations::reduce_scatter, "hypercube", "hypercube", 512,
     [](double d, double p) {
       return Figures{d, p - 1, p - 1, p - 1};
     }},
    {"3.1", operations::allreduce, "reduce-broadcast", "hypercube", 1024,
     [](double d, double) {
       return Figures{2 * d, 2 * d, 2 * d, d};
     }},
    {"3.1", operations::allreduce, "reduce-broadcast", "line", 1024,
     [](double d, double) {
       return Figures{2 * d, 2 * d, 2 * d, d};
     }},
    {"3.2", operations::allreduce, "recursive-doubling", "hypercube", 1024,
     [](double d, double) {
       return Figures{d, d, d, d};
     }},
    {"3.3", operations::allreduce, "allgather", "ring", 256,
     [](double, double p) {
       return Figures{p - 1, p - 1, p - 1, p - 1};
     }},
    {"3.4", operations::allreduce, "recursive-doubling", "line", 1024,
     [](double d, double p) {
       return Figures{d, d, p - 1, d};
     }},
    // The antipodal tie goes '+' for all: as on a line.
    {"3.4", operations::allreduce, "recursive-doubling", "ring", 1024,
     [](double d, double p) {
       return Figures{d, d, p - 1, d};
     }},
    {"3.6", operations::allreduce, "reduce-scatter-allgather:pattern=doubling", "hypercube", 512,
     [](double d, double p) {
       return Figures{2 * d, 2 * (p - 1) / p, 2 * (p - 1) / p, (p - 1) / p};
     }},
    {"3.6", operations::allreduce, "reduce-scatter-allgather:pattern=ring", "ring", 128,
     [](double, double p) {
       const double blocks = (p > 2 ? 3 * p - 4 : 2 * (p - 1)) / p;
       return Figures{2 * (p - 1), blocks, blocks, (p > 2 ? p : p - 1) / p};
     }},
    {"3.8", operations::scan, "hypercube", "hypercube", 1024,
     [](double d, double) {
       return Figures{d, d, d, d > 0 ? 2 * d - 1 : 0};
     }},
    {"3.8", operations::scan, "hypercube", "line", 1024,
     [](double d, double p) {
       return Figures{d, d, p - 1, d > 0 ? 2 * d - 1 : 0};
     }},
    {"3.8", operations::exscan, "hypercube", "hypercube", 1024,
     [](double d, double) {
       return Figures{d, d, d, d > 1 ? 2 * (d - 1) : 0};
     }},
};

std::string network(const FormulaRow& row, int d) {
  const std::string shape = row.shape;
  if (shape == "hypercube") return "hypercube:" + std::to_string(d);
  if (shape != "square") return shape + ":" + std::to_string(1 << d);
  const std::string side = std::to_string(1 << d / 2);
  return "mesh:" + side + "x" + side;
}

}  // namespace

TEST_CASE("the ledger's formulas of reductions hold for 1 to 1024 nodes", "[reductions]") {
  for (const FormulaRow& row : ledger) {
    const bool square = row.shape == std::string("square");
    for (int d = 0; d <= most_dimensions && (1 << d) <= row.most; d += square ? 2 : 1) {
      if (d > 4 && d % 2 == 1 && (1 << d) < row.most) continue;  // a sample of the large ones
      const std::string on = network(row, d);
      INFO(row.row << " " << row.operation->name << " " << row.algorithm << " on " << on);
      const CheckResult result = counted(row.operation, row.algorithm, on);
      const Figures figures = row.formula(d, 1 << d);
      CHECK(result.failures == std::vector<std::string>{});
      CHECK(static_cast<double>(result.report.startups) == figures.startups);
      CHECK(result.transmission_blocks == Approx(figures.transmission));
      CHECK(result.link_blocks == Approx(figures.contended));
      CHECK(result.combined_blocks == Approx(figures.combined));
    }
  }
}

TEST_CASE("reductions keep the order of ranks on all networks, from all roots, in place too",
          "[reductions]") {
  for (const char* const on : {"ring:1", "ring:2", "line:3", "ring:6", "line:7", "mesh:3x5",
                               "torus:2x4", "mesh:2x3x2", "hypercube:3", "complete:5", "tree:6"}) {
    const Topology topology = Topology::parse(on);
    for (const Operation operation : reducing()) {
      for (Rank root = 0; root < (operation->rooted ? topology.nodes() : 1); ++root) {
        for (const Collective& collective :
             admitted(operation, topology, with(interval_reduction(), root))) {
          for (const bool in_place : {false, true}) {
            if (in_place && operation->place_of_input == nullptr) continue;
            INFO(operation->name << " " << collective.text() << " on " << on << " root " << root);
            CheckOptions options;
            options.in_place = in_place;
            CHECK(check_collective(collective, topology, options).failures ==
                  std::vector<std::string>{});
          }
        }
      }
    }
  }
}

TEST_CASE("every built-in operator on every type is right on threads and fibers", "[reductions]") {
  for (const char* const on : {"line:5", "mesh:2x3", "hypercube:3"}) {
    const Topology topology = Topology::parse(on);
    for (const ExecutorKind executor : {ExecutorKind::threads, ExecutorKind::fibers}) {
      Machine machine(topology, worlds::machine(executor));
      for (const BuiltIn& entry : built_in_reductions()) {
        const Reduction reduction = find_reduction(entry.operation, entry.type);
        for (const Operation operation : reducing()) {
          for (const Collective& collective :
               admitted(operation, topology, with(reduction, topology.nodes() / 2))) {
            INFO(operation->name << " " << collective.text() << " on " << on << ": "
                                 << entry.operation << " " << entry.type);
            const Contract contract =
                contract_of(collective, topology.nodes(), 13 * reduction.element_bytes, 3);
            Verification verification(contract);
            machine.run(collective_program(collective, contract, &verification));
            INFO(verification.first());
            REQUIRE(verification.passed());
          }
        }
      }
    }
  }
}

TEST_CASE("fewer elements than nodes, and none at all, are reduced too", "[reductions]") {
  const Topology topology = Topology::parse("line:7");
  const Reduction compose = find_reduction("compose", "affine");
  for (const Operation operation : reducing()) {
    for (const Collective& collective : admitted(operation, topology, with(compose, 3))) {
      for (const Bytes elements : {0, 1, 3}) {
        for (const bool in_place : {false, true}) {
          if (in_place && operation->place_of_input == nullptr) continue;
          INFO(operation->name << " " << collective.text() << " of " << elements << " elements");
          const Contract contract = contract_of(collective, 7, elements * compose.element_bytes, 3,
                                                Pattern::words, in_place);
          Verification verification(contract);
          prove(topology, collective_program(collective, contract, &verification));
          INFO(verification.first());
          CHECK(verification.passed());
        }
      }
    }
  }
}

TEST_CASE("what commutes travels as one partial result, and costs what is predicted",
          "[reductions]") {
  const Reduction sum = find_reduction("sum", "int64");
  for (const char* const on : {"ring:2", "ring:3", "ring:8", "line:5", "torus:3x4", "mesh:2x3x2"}) {
    const Topology topology = Topology::parse(on);
    for (const Operation operation : reducing()) {
      if (operation->sizes != Sizes::equal) continue;
      for (const Collective& collective : admitted(operation, topology, with(sum))) {
        INFO(operation->name << " " << collective.text() << " on " << on);
        const Prediction prediction = collective.predict(topology);
        if (!prediction.transmission_blocks) continue;  // the block's size decides
        const Bytes block = sizeof(std::int64_t) * static_cast<Bytes>(topology.nodes()) *
                            static_cast<Bytes>(collective.parts(topology));
        const ScheduleReport report = check_steps(collective, topology, block);
        const auto blocks = [&](Bytes bytes) { return static_cast<double>(bytes) / block; };
        CHECK(blocks(report.transmission) == Approx(*prediction.transmission_blocks));
        CHECK(blocks(report.combined) == Approx(*prediction.combined_blocks));
        if (prediction.link_blocks) {
          CHECK(blocks(report.contended) == Approx(*prediction.link_blocks));
        }
      }
    }
  }
  // Equation 4.2, and 4.14 on a ring.
  const Topology ring = Topology::parse("ring:8");
  const auto sent = [&](Operation operation, const char* algorithm) {
    const Collective collective = parse_collective(operation, algorithm, with(sum));
    return static_cast<double>(check_steps(collective, ring, 64).transmission) / 64;
  };
  CHECK(sent(operations::reduce_scatter, "ring") == 7);
  CHECK(sent(operations::allreduce, "reduce-scatter-allgather:pattern=ring") == 14.0 / 8);
}

TEST_CASE("allreduce has the same bits on all nodes though the sum depends on the order",
          "[reductions]") {
  const std::vector<double> terms{1e16, 1, -1e16, 0.1, 3e15, 0.7, -3e15, 1e-3, 5, 1e16, 0.3, -1e16};
  const auto sum_from = [&](std::size_t first, std::size_t count) {
    double sum = terms[first];
    for (std::size_t i = 1; i < count; ++i) sum += terms[(first + i) % count];
    return sum;
  };
  REQUIRE(sum_from(0, 12) != sum_from(3, 12));
  const Reduction sum = find_reduction("sum", "double");
  for (const char* const on : {"ring:5", "ring:7", "line:8", "ring:12", "mesh:3x4", "mesh:2x3"}) {
    const Topology topology = Topology::parse(on);
    for (Collective collective : admitted(operations::allreduce, topology, with(sum))) {
      for (const bool commutative : {false, true}) {
        collective.arguments.reduction.commutative = commutative;
        if (refusal(collective, topology)) continue;
        INFO(collective.text() << " on " << on << (commutative ? ", reordered" : ""));
        constexpr std::size_t elements = 15;  // more than nodes: parts of one and of two
        std::vector<std::vector<double>> results(12);
        prove(topology, [&](Node& node) {
          std::vector<double> mine(elements), result(elements);
          for (std::size_t i = 0; i < elements; ++i) {
            mine[i] = terms[(static_cast<std::size_t>(node.rank()) + i) % terms.size()];
          }
          collective.algorithm->program(node, {ConstBlocks(std::as_bytes(std::span(mine)), 1),
                                               Blocks(std::as_writable_bytes(std::span(result)), 1),
                                               collective.arguments, collective.options});
          node.local([&] { results[static_cast<std::size_t>(node.rank())] = result; });
        });
        for (Rank r = 1; r < topology.nodes(); ++r) {
          CHECK(std::memcmp(results[0].data(), results[static_cast<std::size_t>(r)].data(),
                            elements * sizeof(double)) == 0);
        }
      }
    }
  }
}

TEST_CASE("prefix sums of an array on the nodes: 2n/p - 1 + 2(log p - 1) additions (row 3.9)",
          "[reductions]") {
  const auto scan = [](Node& node, std::span<const Bytes> counts, bool verified) {
    const auto r = static_cast<std::size_t>(node.rank());
    const Bytes before = std::accumulate(counts.begin(), counts.begin() + node.rank(), Bytes{0});
    const Memory memory = node.memory(counts[r] * sizeof(Interval));
    const auto at = [&](Bytes i) { return memory.data() + i * sizeof(Interval); };
    const auto position = [&](Bytes i) { return static_cast<std::int32_t>(before + i); };
    if (verified) {
      node.local([&] {
        for (Bytes i = 0; i < counts[r]; ++i) {
          const Interval own{position(i), position(i) + 1, 0, 0};
          std::memcpy(at(i), &own, sizeof(own));
        }
      });
    }
    scan_elements(node, interval_reduction(), memory, counts);
    if (verified) {
      node.local([&] {
        for (Bytes i = 0; i < counts[r]; ++i) {
          Interval found;
          std::memcpy(&found, at(i), sizeof(found));
          if (!(found == Interval{0, position(i) + 1, 0, 0})) throw UsageError("wrong prefix");
        }
      });
    }
  };
  for (int d = 1; d <= 10; ++d) {
    for (const Bytes each : {1, 2, 7}) {
      const Topology topology = Topology::parse("hypercube:" + std::to_string(d));
      const std::vector<Bytes> counts(static_cast<std::size_t>(topology.nodes()), each);
      const Schedule schedule = record(
          topology, [&](Node& node) { scan(node, counts, false); }, "scan_elements");
      const ScheduleReport report = check(schedule, Routing(topology), false);
      INFO("p = 2^" << d << ", n/p = " << each);
      CHECK(report.combined / sizeof(Interval) == 2 * each - 1 + 2 * (d - 1));
      CHECK(report.startups == static_cast<std::size_t>(d));
      CHECK(report.transmission == d * sizeof(Interval));
      CHECK(report.link_load_max == 1);
    }
  }
  const std::vector<std::vector<Bytes>> uneven{
      {3, 0, 1, 5, 0, 0, 2}, {0, 0, 0}, {0, 4}, {1}, {2, 2, 0}};
  for (const std::vector<Bytes>& counts : uneven) {
    const Topology topology = Topology::parse("complete:" + std::to_string(counts.size()));
    CHECK_NOTHROW(prove(topology, [&](Node& node) { scan(node, counts, true); }));
  }
  worlds::refused(
      "complete:3",
      [](Node& node) {
        const std::vector<Bytes> two{1, 1};
        scan_elements(node, interval_reduction(), {}, two);
      },
      "2 counts for 3 nodes");
}

// The errata of the ledger.

namespace {

/// A reduce_scatter or scan as it stands in the book, as an algorithm of ours.
Algorithm as_algorithm(Operation operation, void (*program)(Node&, const Call&)) {
  return {.operation = operation,
          .name = "book",
          .summary = "",
          .source = "",
          .contention_free = false,
          .program = program};
}

bool right(const Algorithm& algorithm, const char* on, const Reduction& reduction, Rank root = 0) {
  const Topology topology = Topology::parse(on);
  const Collective collective(algorithm, with(reduction, root));
  const bool witness = reduction.name == "interval";
  const Contract contract = contract_of(collective, topology.nodes(), 4 * reduction.element_bytes,
                                        5, witness ? Pattern::tags : Pattern::words);
  Verification verification(contract);
  prove(topology, collective_program(collective, contract, &verification));
  return verification.passed();
}

/// Right for commutative operators; the intervals show that the order is not kept.
void needs_commuting(const Algorithm& algorithm, const char* on, Rank root = 0) {
  CHECK(right(algorithm, on, find_reduction("sum", "int64"), root));
  CHECK_FALSE(right(algorithm, on, interval_reduction(), root));
  CHECK_FALSE(right(algorithm, on, find_reduction("compose", "affine"), root));
}

}  // namespace

TEST_CASE("E8: Algorithm 4.5 adds in a cyclic order", "[reductions][errata]") {
  const Algorithm book = as_algorithm(operations::reduce_scatter, [](Node& node, const Call& call) {
    const Rank p = node.size(), r = node.rank();
    const Memory sum = node.memory(call.output.all().size()), coming = node.memory(sum.size());
    const Span result = call.output.all();
    // Without the identity that it begins with: the first to pass a block on sends its own.
    for (Rank t = 1; t < p; ++t) {
      const Rank q = mod(r - t - 1, p);
      const ConstSpan going = t == 1 ? call.input[mod(r - 1, p)] : ConstSpan(sum);
      node.step({send(mod(r + 1, p), going), receive(mod(r - 1, p), coming)});
      combine(node, call.arguments.reduction, coming, call.input[q], q == r ? result : sum.span());
    }
  });
  needs_commuting(book, "ring:5");
  CHECK(right(find_algorithm(operations::reduce_scatter, "ring"), "ring:5", interval_reduction()));
}

TEST_CASE("E8: Algorithm 4.8 combines groups that are no neighbours first",
          "[reductions][errata]") {
  const Algorithm book = as_algorithm(operations::reduce_scatter, [](Node& node, const Call& call) {
    const Rank p = node.size(), r = node.rank();
    const Memory held = node.memory(call.input.all().size()), in = node.memory(held.size());
    const Blocks blocks(held, p), coming(in, p);
    node.local([&] { copy(call.input.all(), held); });
    Rank low = 0;
    for (Rank bit = p / 2; bit >= 1; bit /= 2) {  // contiguous halves, the highest bit first
      const Rank partner = r ^ bit, mine = (r & bit) != 0 ? low + bit : low;
      const Rank theirs = (r & bit) != 0 ? low : low + bit;
      node.step(exchange(partner, blocks.range(theirs, bit), coming.range(mine, bit)));
      ConstSpan left = blocks.range(mine, bit), right = coming.range(mine, bit);
      if (partner < r) std::swap(left, right);
      combine(node, call.arguments.reduction, left, right, blocks.range(mine, bit));
      low = mine;
    }
    node.local([&] { copy(blocks[r], call.output[0]); });
  });
  needs_commuting(book, "hypercube:3");
  CHECK(right(find_algorithm(operations::reduce_scatter, "hypercube"), "hypercube:3",
              interval_reduction()));

  // The option is this program, message by message, and refuses what it would combine wrongly.
  const Collective option =
      parse_collective(operations::reduce_scatter, "hypercube:order=descending",
                       with(find_reduction("sum", "int64")));
  for (const char* const on : {"ring:2", "hypercube:3", "line:16", "mesh:4x8"}) {
    const Topology topology = Topology::parse(on);
    const auto messages = [&](const Collective& collective) {
      const Contract contract = contract_of(collective, topology.nodes(), 8, 5);
      const Schedule schedule = record(topology, collective_program(collective, contract, nullptr));
      std::vector<std::tuple<Rank, Rank, bool, Bytes>> all;
      for (Rank r = 0; r < topology.nodes(); ++r) {
        for (const OpRecord& op : schedule.ranks[static_cast<std::size_t>(r)].ops) {
          all.emplace_back(r, op.peer, op.kind == Op::Kind::send, op.bytes);
        }
      }
      return all;
    };
    CHECK(messages(option) == messages(Collective(book, option.arguments)));
  }
  const Collective reordered = parse_collective(
      operations::reduce_scatter, "hypercube:order=descending", with(interval_reduction()));
  CHECK_THAT(refusal(reordered, Topology::parse("hypercube:3")).value_or(""),
             Contains("use order=ascending"));
  for (int d = 1; d <= 6; ++d) {
    const double p = 1 << d;
    for (const auto& [shape, blocks] : {std::pair{"hypercube:" + std::to_string(d), p - 1},
                                        {"line:" + std::to_string(1 << d), (p * p - 1) / 3},
                                        {"complete:" + std::to_string(1 << d), p - 1}}) {
      const CheckResult result = check_collective(option, Topology::parse(shape));
      CHECK(result.failures == std::vector<std::string>{});
      CHECK(result.report.startups == static_cast<std::uint64_t>(d));
      CHECK(result.link_blocks == Approx(blocks));
    }
  }
}

TEST_CASE("E8: Algorithm 4.9 appends on the right", "[reductions][errata]") {
  const Algorithm book = as_algorithm(operations::scan, [](Node& node, const Call& call) {
    const Rank p = node.size(), r = node.rank();
    const Reduction& reduction = call.arguments.reduction;
    const Span result = call.output.all();
    const Memory message = node.memory(result.size()), number = node.memory(result.size());
    node.local([&] {
      copy(call.input.all(), result);
      copy(call.input.all(), message);
    });
    for (Rank bit = 1; bit < p; bit *= 2) {
      node.step(exchange(r ^ bit, message, number));
      combine(node, reduction, message, number, message);
      if ((r ^ bit) < r) combine(node, reduction, result, number, result);
    }
  });
  needs_commuting(book, "hypercube:3");
  CHECK(right(find_algorithm(operations::scan, "hypercube"), "hypercube:3", interval_reduction()));
}

TEST_CASE("E8: Algorithm 4.3 with the root by XOR turns the order round at all roots but 0",
          "[reductions][errata]") {
  const Algorithm book = as_algorithm(operations::reduce, [](Node& node, const Call& call) {
    const Rank p = node.size(), root = call.arguments.root, label = node.rank() ^ root;
    const Memory sum = node.memory(call.input.all().size()), number = node.memory(sum.size());
    node.local([&] { copy(call.input.all(), sum); });
    for (Rank bit = 1; bit < p; bit *= 2) {
      if (label % bit != 0) {
        node.step();
      } else if ((label & bit) != 0) {
        node.step({send((label ^ bit) ^ root, sum)});
      } else {
        node.step({receive((label ^ bit) ^ root, number)});
        combine(node, call.arguments.reduction, sum, number, sum);  // by labels: own is lower
      }
    }
    if (label == 0) node.local([&] { copy(sum, call.output.all()); });
  });
  const Algorithm& ours = find_algorithm(operations::reduce, "hypercube");
  CHECK(right(book, "hypercube:3", interval_reduction(), 0));
  for (Rank root = 1; root < 8; ++root) {
    needs_commuting(book, "hypercube:3", root);
    CHECK(right(ours, "hypercube:3", interval_reduction(), root));
  }
}

TEST_CASE("E17: Equation 4.14 is that of an all-to-all reduction and an all-to-all broadcast",
          "[reductions][errata]") {
  // Of parts of m/p, a reduction to one node and a broadcast would take 2 (ts + tw m/p) log p: less
  // than the 2 tw m (p-1)/p that any all-reduce takes, and less than Equation 4.14 says.
  for (const int d : {3, 5}) {
    const double p = 1 << d;
    const std::string on = "hypercube:" + std::to_string(d);
    const CheckResult split =
        counted(operations::allreduce, "reduce-scatter-allgather:pattern=doubling", on);
    const CheckResult whole = counted(operations::allreduce, "reduce-broadcast", on);
    CHECK(split.transmission_blocks == Approx(2 * (p - 1) / p));
    CHECK(static_cast<double>(split.report.startups) == 2 * d);
    CHECK(whole.transmission_blocks / p != Approx(split.transmission_blocks));
    CHECK(whole.transmission_blocks / p < *split.lower_bound.transmission_blocks);
  }
}

TEST_CASE("E19: the verdict of problem 4.6 turns at 1024 nodes", "[reductions][errata]") {
  const CostModel model{.startup_us = 100, .transfer_us = 1, .combine_us = 0, .hop_us = 0};
  const Reduction word = find_reduction("sum", "uint8");  // one "word" of one byte
  const auto time = [&](const char* algorithm, int p) {
    const Topology ring = Topology::parse("ring:" + std::to_string(p));
    const Collective collective = parse_collective(operations::allreduce, algorithm, with(word));
    return lock_step_time(check_steps(collective, ring, 1), model).total_us;
  };
  CHECK(time("recursive-doubling", 512) == 9 * 100 + 511);
  CHECK(time("reduce-broadcast", 512) == 2 * 101 * 9);
  CHECK(time("recursive-doubling", 512) < time("reduce-broadcast", 512));
  CHECK(time("recursive-doubling", 1024) == 2023);
  CHECK(time("reduce-broadcast", 1024) == 2020);
}

// Mutants: programs with a mistake that a real operator hides.

namespace {

/// A linear scan with a place for a mistake.
enum class Mistake { none, swapped, doubled, dropped, late };
template <Mistake mistake>
void faulty_scan(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank();
  const Reduction& reduction = call.arguments.reduction;
  const Span result = call.output.all();
  const Memory coming = node.memory(result.size());
  node.local([&] { copy(call.input.all(), result); });
  for (Rank t = 1; t < p; ++t) {
    if (r == t - 1) {
      node.step({send(r + 1, mistake == Mistake::late ? call.input.all() : ConstSpan(result))});
    } else if (r == t) {
      node.step({receive(r - 1, coming)});
      if (mistake == Mistake::dropped && r == 2) {
        node.local([&] { copy(coming, result); });
      } else if (mistake == Mistake::swapped) {
        combine(node, reduction, result, coming, result);
      } else {
        combine(node, reduction, coming, result, result);
      }
      if (mistake == Mistake::doubled && r == 2) {
        combine(node, reduction, result, call.input.all(), result);
      }
    } else {
      node.step();
    }
  }
}

/// The same, all-reduce: every node receives what the last one has.
template <Mistake mistake>
void faulty_allreduce(Node& node, const Call& call) {
  faulty_scan<mistake>(node, call);
  const Rank last = node.size() - 1;
  for (Rank q = 0; q < last; ++q) {
    if (node.rank() == last) {
      node.step({send(q, call.output.all())});
    } else if (node.rank() == q) {
      node.step({receive(last, call.output.all())});
    } else {
      node.step();
    }
  }
}

}  // namespace

TEST_CASE("the intervals see swapped, doubled, dropped and late contributions",
          "[reductions][mutants]") {
  const Topology topology = Topology::parse("line:5");
  const auto passes = [&](Operation operation, void (*program)(Node&, const Call&)) {
    const Algorithm algorithm = as_algorithm(operation, program);
    return check_collective(Collective(algorithm), topology).delivered == true;
  };
  using enum Mistake;
  CHECK(passes(operations::scan, faulty_scan<none>));
  CHECK_FALSE(passes(operations::scan, faulty_scan<swapped>));
  CHECK_FALSE(passes(operations::scan, faulty_scan<doubled>));
  CHECK_FALSE(passes(operations::scan, faulty_scan<dropped>));
  CHECK_FALSE(passes(operations::scan, faulty_scan<late>));
  CHECK(passes(operations::allreduce, faulty_allreduce<none>));
  CHECK_FALSE(passes(operations::allreduce, faulty_allreduce<swapped>));
  CHECK_FALSE(passes(operations::allreduce, faulty_allreduce<doubled>));
  CHECK_FALSE(passes(operations::allreduce, faulty_allreduce<dropped>));
  // A scan that is off by one: node r has what node r - 1 should.
  CHECK_FALSE(passes(operations::scan, find_algorithm(operations::exscan, "hypercube").program));
}

TEST_CASE("where the operator must commute the witness does, and sees all but the order",
          "[reductions][mutants]") {
  using enum Mistake;
  const auto checked = [](void (*program)(Node&, const Call&), bool needs_commutative) {
    Algorithm algorithm = as_algorithm(operations::allreduce, program);
    algorithm.needs_commutative = needs_commutative;
    return check_collective(Collective(algorithm), Topology::parse("line:5"));
  };
  CHECK(checked(faulty_allreduce<none>, true).delivered == true);
  const CheckResult swapped_order = checked(faulty_allreduce<swapped>, true);
  CHECK(swapped_order.delivered == true);
  CHECK(swapped_order.exactly_once == true);
  CHECK(checked(faulty_allreduce<swapped>, false).delivered == false);
  for (const auto program : {faulty_allreduce<doubled>, faulty_allreduce<dropped>}) {
    const CheckResult wrong = checked(program, true);
    CHECK(wrong.delivered == false);
    CHECK(wrong.exactly_once == true);  // combined twice or not at all, but received once
    CHECK_THAT(wrong.proof, Contains("not the combination of nodes 0 to 4, block 0, but other "
                                     "blocks, or one of them more than once"));
  }
  // Blocks of one node must not be mixed up either.
  Algorithm mixed = as_algorithm(operations::reduce_scatter, [](Node& node, const Call& call) {
    const Rank p = node.size(), r = node.rank();
    node.local([&] { copy(call.input[r], call.output.all()); });
    const Memory coming = node.memory(call.output.all().size());
    for (Rank t = 1; t < p; ++t) {
      const Rank to = mod(r + t, p), wrong = r == 0 && t == 1 ? mod(to + 1, p) : to;
      node.step({send(to, call.input[wrong]), receive(mod(r - t, p), coming)});
      combine(node, call.arguments.reduction, call.output.all(), coming, call.output.all());
    }
  });
  mixed.needs_commutative = true;
  CHECK(check_collective(Collective(mixed), Topology::parse("ring:3")).delivered == false);
}

TEST_CASE("a sum is counted and proved as it runs, and in a second proof in the order of ranks",
          "[reductions][mutants]") {
  using enum Mistake;
  const Reduction sum = find_reduction("sum", "double");
  const auto checked = [&](const Algorithm& algorithm, const char* on) {
    return check_collective(Collective(algorithm, with(sum)), Topology::parse(on));
  };
  CHECK(
      checked(as_algorithm(operations::allreduce, faulty_allreduce<none>), "line:5").keeps_order ==
      true);
  const CheckResult swapped_order =
      checked(as_algorithm(operations::allreduce, faulty_allreduce<swapped>), "line:5");
  CHECK(swapped_order.delivered == true);  // sums commute
  CHECK(swapped_order.keeps_order == false);
  REQUIRE(swapped_order.failures.size() == 1);
  CHECK_THAT(swapped_order.failures[0], Contains("with an operator that does not commute"));
  const CheckResult needs_sum =
      checked(find_algorithm(operations::reduce_scatter, "circulant"), "ring:5");
  CHECK_FALSE(needs_sum.keeps_order.has_value());
  CHECK_THAT(needs_sum.order, Contains("needs a commutative operator"));
  // The blocks of `run`: a ring that keeps the order of ranks takes 2.75.
  Collective ring =
      parse_collective(operations::allreduce, "reduce-scatter-allgather:pattern=ring", with(sum));
  const CheckResult of_sum = check_collective(ring, Topology::parse("ring:16"));
  CHECK(of_sum.transmission_blocks == 1.875);
  CHECK(of_sum.keeps_order == true);
  ring.arguments = with(find_reduction("compose", "affine"));
  CHECK(check_collective(ring, Topology::parse("ring:16")).transmission_blocks == 2.75);
}

TEST_CASE("real operators hide mistakes that the intervals see", "[reductions][mutants]") {
  using enum Mistake;
  const Algorithm swap = as_algorithm(operations::allreduce, faulty_allreduce<swapped>);
  const Algorithm twice = as_algorithm(operations::allreduce, faulty_allreduce<doubled>);
  const Algorithm drop = as_algorithm(operations::allreduce, faulty_allreduce<dropped>);
  CHECK(right(swap, "line:5", find_reduction("sum", "int32")));
  CHECK(right(twice, "line:5", find_reduction("max", "int32")));
  CHECK_FALSE(right(drop, "line:5", find_reduction("sum", "int32")));
  for (const Algorithm* const mutant : {&swap, &twice, &drop}) {
    CHECK_FALSE(right(*mutant, "line:5", interval_reduction()));
  }
}

TEST_CASE("reductions refuse unsupported calls and suggest alternatives", "[reductions]") {
  const auto refused = [](Operation operation, const char* algorithm, const char* on, Rank root) {
    return refusal(parse_collective(operation, algorithm, with(interval_reduction(), root)),
                   Topology::parse(on))
        .value_or("");
  };
  CHECK_THAT(refused(operations::reduce, "hypercube", "complete:6", 2), Contains("use halving"));
  CHECK(refused(operations::reduce, "hypercube", "complete:6", 0).empty());
  CHECK_THAT(refused(operations::reduce_scatter, "ring", "mesh:2x3", 0),
             Contains("use order=rank"));
  CHECK_THAT(refused(operations::reduce_scatter, "hypercube", "ring:6", 0), Contains("use bruck"));
  for (const auto& [operation, algorithm] :
       {std::pair<Operation, const char*>{operations::allreduce, "reduce-scatter-allgather"},
        {operations::reduce, "reduce-scatter-gather"}}) {
    CHECK_THAT(refused(operation, fmt::format("{}:pattern=mesh", algorithm).c_str(), "tree:6", 0),
               Contains("use pattern=ring"));
  }
  worlds::refused(
      "ring:3",
      [](Node& node) {
        std::vector<std::byte> in(2), out(1);
        parse_collective(operations::reduce_scatter, "pairwise",
                         with(find_reduction("sum", "uint8")))(node, ConstBlocks(ConstSpan(in), 2),
                                                               Blocks(Span(out), 1));
      },
      "reduce_scatter: 2 blocks in and 1 out; node ");
}

namespace {

Prediction of_ring(const char* network) {
  Arguments sum;
  sum.reduction = find_reduction("sum", "double");
  return parse_collective(operations::allreduce, "ring-vectors", sum)
      .predict(Topology::parse(network));
}

}  // namespace

TEST_CASE("combined bytes of a long ring stay unknown: counting visits p^2 blocks",
          "[reductions]") {
  CHECK(of_ring("ring:64").combined_blocks.has_value());
  const Prediction prediction = of_ring("ring:5000");
  CHECK(prediction.startups == 4999);
  CHECK_FALSE(prediction.combined_blocks.has_value());
}

TEST_CASE("a ring's nodes hold two blocks that pass, and what waits for its other half",
          "[reductions]") {
  // Of 2 ranks the own one waits for the other; of 4, rank 1 keeps 1, then 2 joins 3, then 0 comes;
  // of 3, node 1 keeps 1 while 2 comes, which has no other half.
  for (const auto& [network, blocks] :
       {std::pair{"ring:1", 3}, {"ring:2", 4}, {"ring:3", 5}, {"ring:4", 5}}) {
    INFO(network);
    CHECK(of_ring(network).working_blocks == blocks);
  }
}
