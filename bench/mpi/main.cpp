// The cost of nodes in MPI processes, measured under mpirun: a step, pieces, and all-to-all
// compared with MPI_Alltoall.
//   mpirun -n 2 wormcube_mpi_bench steps ring:2 ring:1024
//   mpirun -n 2 wormcube_mpi_bench pieces
//   mpirun -n 16 wormcube_mpi_bench alltoall complete:16 hypercube:4 torus:4x4
// All-to-all: a few calls in turn of every algorithm for the network and of MPI_Alltoall.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/collectives/mpi/library.hpp"
#include "wormcube/runtime/machine/mpi/machine.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/core.h>

using namespace wormcube;

namespace {

using Clock = std::chrono::steady_clock;

/// The median over iterations of the slowest process' time after a barrier, in microseconds.
template <class Setup>
double median_us(MpiMachine& machine, int iterations, Setup setup) {
  std::vector<double> times(static_cast<std::size_t>(iterations));
  const Collective barrier = parse_collective(operations::barrier, "dissemination");
  machine.run([&](Node& node) {
    auto measured = setup(node);
    for (int i = -1; i < iterations; ++i) {
      barrier.algorithm->program(
          node, {{ConstSpan(), 0}, {Span(), 0}, barrier.arguments, barrier.options});
      const auto start = Clock::now();
      measured();
      const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
      if (i >= 0)
        times[static_cast<std::size_t>(i)] = std::max(times[static_cast<std::size_t>(i)], us);
    }
  });
  machine.maximum(times);
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void steps(MpiMachine& machine) {
  constexpr int count = 20;
  for (const Bytes bytes : {Bytes{64}, Bytes{4096}, Bytes{65536}}) {
    const double us = median_us(machine, 11, [&](Node& node) {
      return [&node, out = std::vector<std::byte>(bytes),
              in = std::vector<std::byte>(bytes)]() mutable {
        const Rank p = node.size();
        for (int i = 0; i < count; ++i) {
          node.step({send(mod(node.rank() + 1, p), ConstSpan(out)),
                     receive(mod(node.rank() - 1, p), Span(in))});
        }
      };
    });
    if (machine.is_first_process()) {
      fmt::print("{:>10} {:>9} {:>8} {:>12.2f} {:>16.3f}\n", machine.topology().nodes(),
                 machine.processes(), bytes, us / count, us / count / machine.topology().nodes());
    }
  }
}

void pieces() {
  for (const Bytes eager_limit : {Bytes{0}, Bytes{1} << 17}) {
    for (const Bytes bytes : {Bytes{64}, Bytes{4096}, Bytes{65536}}) {
      for (const std::size_t count : {1, 2, 4, 16, 64}) {
        for (const bool packed : {false, true}) {
          if (eager_limit > 0 && !packed) continue;  // short messages are always packed
          MpiOptions options;
          options.eager_limit = eager_limit;
          options.pack_pieces = packed;
          MpiMachine machine(Topology::parse("ring:2"), options);
          const double us = median_us(machine, 101, [&](Node& node) {
            // Every other stretch of a buffer twice as long.
            std::vector<std::byte> out(2 * bytes), in(2 * bytes);
            std::vector<Span> sent, taken;
            const Bytes each = bytes / count;
            for (std::size_t i = 0; i < count; ++i) {
              sent.push_back(Span(out).subspan(2 * i * each, each));
              taken.push_back(Span(in).subspan(2 * i * each, each));
            }
            return [&node, out = std::move(out), in = std::move(in), sent, taken] {
              node.step(
                  {send_pieces(1 - node.rank(), sent), receive_pieces(1 - node.rank(), taken)});
            };
          });
          if (machine.is_first_process()) {
            fmt::print("{:>8} {:>7} {:>22} {:>10.2f}\n", bytes, count,
                       eager_limit > 0 ? "short: packed"
                       : packed        ? "long: packed"
                                       : "long: MPI datatype",
                       us);
          }
        }
      }
    }
  }
}

/// A few calls in turn of every algorithm for the network and of MPI_Alltoall, so that other load
/// affects all of them.
void alltoall(MpiMachine& machine, int rounds) {
  const Topology& topology = machine.topology();
  for (const Bytes bytes : {Bytes{64}, Bytes{4096}, Bytes{65536}}) {
    const std::vector<Collective> all = admitted(operations::alltoall, topology);
    std::vector<std::vector<double>> times(all.size());
    std::uint64_t wrong = 0;
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        CollectiveRun run;
        run.block_bytes = bytes;
        run.iterations = 3;
        const RunResult result = run_collective(machine, all[i], run);
        times[i].insert(times[i].end(), result.times_us.begin(), result.times_us.end());
        wrong += result.wrong.value_or(1);
      }
    }
    if (!machine.is_first_process()) continue;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::ranges::sort(times[i]);
      fmt::print("{:<14} {:>8} {:<22} {:>12.1f} us\n", topology.name(), bytes, all[i].text(),
                 times[i][times[i].size() / 2]);
    }
    if (wrong > 0) fmt::print("WRONG: {} bytes\n", wrong);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const MpiSession mpi(argc, argv);
  for (const Algorithm& each : mpi_library_algorithms()) add_algorithm(each, "MPI library");
  const std::string what = argc > 1 ? argv[1] : "";
  if (mpi.process() == 0)
    fmt::print("# {}, {} processes\n", MpiSession::library(), mpi.processes());
  if (what == "steps" && mpi.process() == 0) {
    fmt::print("{:>10} {:>9} {:>8} {:>12} {:>16}\n", "nodes", "processes", "bytes", "us per step",
               "us per message");
  }
  if (what == "pieces") pieces();
  for (int i = 2; i < argc; ++i) {
    MpiMachine machine(Topology::parse(argv[i]));
    if (what == "steps") steps(machine);
    if (what == "alltoall") alltoall(machine, 5);
  }
  return 0;
}
