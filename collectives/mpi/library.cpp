// Each collective as one call of MPI.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/mpi/library.hpp"

#include "wormcube/runtime/error.hpp"

#include <array>
#include <limits>
#include <vector>

#include <fmt/core.h>
#include <mpi.h>

namespace wormcube {
namespace {

void require_one_node_each(const Topology& topology, const Parameters& parameters) {
  int is_running = 0, processes = 0;
  MPI_Initialized(&is_running);
  if (is_running != 0) MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (processes != topology.nodes()) {
    throw UsageError(fmt::format(
        "mpi: the MPI library's own collective needs one node in each process: {} nodes, {} "
        "processes; start mpirun -n {}",
        topology.nodes(), processes, topology.nodes()));
  }
  if (parameters.root < 0 || parameters.root >= topology.nodes()) {
    throw UsageError(fmt::format("mpi: root {} of {} nodes", parameters.root, topology.nodes()));
  }
}

/// MPI counts in int.
int count(Bytes bytes) {
  if (bytes > static_cast<Bytes>(std::numeric_limits<int>::max())) {
    throw UsageError(
        fmt::format("mpi: {} bytes in one argument, MPI counts up to {}; use smaller blocks", bytes,
                    std::numeric_limits<int>::max()));
  }
  return static_cast<int>(bytes);
}

void broadcast(Node& node, const Call& call) {
  const int bytes = count(call.output.all().size());
  node.local([&] {
    MPI_Bcast(call.output.all().data(), bytes, MPI_BYTE, call.parameters.root, MPI_COMM_WORLD);
  });
}

void allgather(Node& node, const Call& call) {
  const int bytes = count(call.input.all().size());
  node.local([&] {
    MPI_Allgather(call.input.all().data(), bytes, MPI_BYTE, call.output.all().data(), bytes,
                  MPI_BYTE, MPI_COMM_WORLD);
  });
}

void alltoall(Node& node, const Call& call) {
  const int bytes = count(call.input.bytes());
  node.local([&] {
    MPI_Alltoall(call.input.all().data(), bytes, MPI_BYTE, call.output.all().data(), bytes,
                 MPI_BYTE, MPI_COMM_WORLD);
  });
}

/// What MPI wants to know of uneven blocks.
struct Extents {
  explicit Extents(ConstBlocks blocks) {
    for (Rank b = 0; b < blocks.count(); ++b) {
      counts.push_back(count(blocks[b].size()));
      starts.push_back(count(static_cast<Bytes>(blocks[b].data() - blocks.all().data())));
    }
  }
  std::vector<int> counts, starts;
};

void alltoallv(Node& node, const Call& call) {
  const Extents out(call.input), in{ConstBlocks(call.output)};
  node.local([&] {
    MPI_Alltoallv(call.input.all().data(), out.counts.data(), out.starts.data(), MPI_BYTE,
                  call.output.all().data(), in.counts.data(), in.starts.data(), MPI_BYTE,
                  MPI_COMM_WORLD);
  });
}

void barrier(Node& node, const Call& /*call*/) {
  node.local([] { MPI_Barrier(MPI_COMM_WORLD); });
}

Algorithm row(Operation operation, std::string_view summary, void (*program)(Node&, const Call&)) {
  return {
      .operation = operation,
      .name = "mpi",
      .summary = summary,
      .source = "the MPI library that the program runs with",
      .contention_free = false,
      .remark = "not ours",
      .require = require_one_node_each,
      .predict = [](const Topology&, const Parameters&) { return Prediction{}; },
      .program = program,
  };
}

}  // namespace

std::span<const Algorithm> mpi_library_algorithms() {
  static const std::array table{
      row(Operation::broadcast, "MPI_Bcast", broadcast),
      row(Operation::allgather, "MPI_Allgather", allgather),
      row(Operation::alltoall, "MPI_Alltoall", alltoall),
      row(Operation::alltoallv, "MPI_Alltoallv", alltoallv),
      row(Operation::barrier, "MPI_Barrier", barrier),
  };
  return table;
}

}  // namespace wormcube
