// A first node program: eight computers in a ring add up one number from each.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>

#include <wormcube/wormcube.hpp>

using namespace wormcube;

int main() {
  // A machine has a network and runs programs on all of its nodes at once. "torus:8x8", "mesh:4x6",
  // "hypercube:6", "tree:16" and products such as "ring:4*line:3" are networks too.
  Machine machine(Topology::parse("ring:8"));

  // Results for the host: each node writes only to its own entry.
  std::vector<double> sums(8);

  // The program. Every node runs this function with its own Node, which has its rank.
  machine.run([&sums](Node& node) {
    const Rank p = node.size(), r = node.rank();
    const Rank next = mod(r + 1, p), previous = mod(r - 1, p);

    // A node's memory is private: nodes exchange data only by messages.
    const Memory sent = node.memory(sizeof(double)), received = node.memory(sizeof(double));
    double sum = 0;

    // Work on the node's own memory goes into local(). A dry run skips it: it executes the program
    // without data to count and check its messages.
    node.local([&] {
      sum = r * r;
      as<double>(sent)[0] = sum;
    });

    // A step has all messages that a node sends and receives at one time. It returns when they are
    // complete. Each number travels once around the ring: a node forwards the last one it received.
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
