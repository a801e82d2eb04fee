// A first node program: eight computers in a ring add up a number of each.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>

#include <wormcube/wormcube.hpp>

using namespace wormcube;

int main() {
  // A machine has a network and runs programs on all of its nodes at once. "torus:8x8", "mesh:4x6",
  // "hypercube:6", "tree:16" and products such as "ring:4*line:3" are networks too.
  Machine machine(Topology::parse("ring:8"));

  // What the nodes leave for the host: each writes to its own entry only.
  std::vector<double> sums(8);

  // The program. Every node runs this function, with a Node that knows who it is.
  machine.run([&sums](Node& node) {
    const Rank p = node.size(), r = node.rank();
    const Rank next = mod(r + 1, p), previous = mod(r - 1, p);

    // A node's memory is private: what others need is sent to them.
    const Memory sent = node.memory(sizeof(double)), received = node.memory(sizeof(double));
    double sum = 0;

    // Work on own memory stands in local(). That is what lets wormcube run the same program dry, to
    // count and check its messages without any data.
    node.local([&] {
      sum = r * r;
      as<double>(sent)[0] = sum;
    });

    // A step is all that a node sends and receives at one time; it returns when all of it has
    // happened. Each number goes once round the ring: the node hands on what came last.
    for (Rank t = 1; t < p; ++t) {
      node.step({send(next, sent), receive(previous, received)});
      node.local([&] {
        as<double>(sent)[0] = as<double>(received)[0];
        sum += as<double>(received)[0];
      });
    }
    node.local([&] { sums[static_cast<std::size_t>(r)] = sum; });
  });

  for (const double sum : sums) std::printf("%g ", sum);
  std::printf("\n");
  return sums == std::vector<double>(8, 140) ? 0 : 1;  // 0 + 1 + 4 + 9 + 16 + 25 + 36 + 49
}
