// Your own collective: registered, checked, proved, run, and compared with a built-in one.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <wormcube/wormcube.hpp>

using namespace wormcube;

namespace {

// Allgather on a hypercube by recursive doubling: every node starts with one block and ends with
// the blocks of all nodes. In step t a node and its neighbour across dimension t exchange all
// blocks that they have, 2^t each.
void doubling(Node& node, const Call& call) {
  const Blocks all = call.output;
  const Rank p = node.size(), r = node.rank();
  node.local([&] { copy(call.input[0], all[r]); });
  // Invariant: this node has the blocks first .. first + have - 1, its own among them.
  for (Rank have = 1, first = r; have < p; have *= 2) {
    const Rank theirs = first ^ have;
    node.step(exchange(r ^ have, all.range(first, have), all.range(theirs, have)));
    first = first < theirs ? first : theirs;
  }
}

// The algorithm's description and claims. `check` verifies the claims.
const Algorithm my_doubling{
    .operation = operations::allgather,
    .name = "my-doubling",
    .summary = "recursive doubling; hypercubes",
    .source = "this file",
    .contention_free = true,  // neighbours only: no link carries two messages in a step
    .exactly_once = true,
    .needs = {needs::hypercube()},
    .instead = {"ring"},
    .predict =
        [](const Setting& setting) {
          const double p = setting.topology.nodes();
          return Prediction{.startups = double(log2_ceiling(setting.topology.nodes())),
                            .transmission_blocks = p - 1,
                            .rearranged_blocks = 0,
                            .working_blocks = 0};  // held beside input and output
        },
    .program = doubling,
};

}  // namespace

int main() {
  // From now on it is available like the built-in ones.
  add_algorithm(my_doubling, "own_collective.cpp");
  const auto network = Topology::parse("hypercube:5");
  const Collective mine = parse_collective(operations::allgather, "my-doubling");
  const Collective ring = parse_collective(operations::allgather, "ring");

  // The check counts and proves without moving data. `failures` lists wrong blocks, ports used
  // twice, shared links, and costs that differ from the prediction.
  const CheckResult checked = check_collective(mine, network);
  std::printf("start-ups %zu, transmission %g blocks, link load %u, delivered %s\n",
              std::size_t(checked.report.startups), checked.transmission_blocks,
              unsigned(checked.report.link_load_max), checked.delivered == true ? "yes" : "no");
  for (const std::string& failure : checked.failures) std::printf("failed: %s\n", failure.c_str());
  if (!checked.passed()) return 1;

  // The run moves real data and compares it byte by byte.
  Machine machine(network);
  const RunResult run = run_collective(machine, mine, {.block_bytes = 4096, .iterations = 5});
  std::printf("wrong bytes %llu\n", static_cast<unsigned long long>(run.wrong.value_or(1)));
  if (!run.passed()) return 1;

  // It does not apply to a ring, and refusal() has the reason. The cost model compares it with a
  // built-in algorithm on the same number of nodes, for blocks of 4 KiB.
  const auto other = Topology::parse("ring:32");
  if (const auto reason = refusal(mine, other)) std::printf("not here: %s\n", reason->c_str());
  const CostModel model;
  std::printf("my-doubling on hypercube:5 %6.1f us\n",
              predicted_us(mine.predict(network), model, 4096));
  std::printf("ring on ring:32            %6.1f us\n",
              predicted_us(ring.predict(other), model, 4096));
  return 0;
}
