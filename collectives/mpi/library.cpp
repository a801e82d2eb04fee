// Each collective as one call of MPI.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/mpi/library.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <array>
#include <limits>
#include <vector>

#include <fmt/core.h>
#include <mpi.h>

namespace wormcube {
namespace {

const MPI_Comm world = MPI_COMM_WORLD;

void require_one_node_each(const Setting& setting) {
  const Rank nodes = setting.topology.nodes();
  int is_running = 0, processes = 0;
  MPI_Initialized(&is_running);
  if (is_running != 0) MPI_Comm_size(world, &processes);
  if (processes != nodes) {
    throw UsageError(fmt::format(
        "mpi: the MPI library's own collective needs one node in each process: {} nodes, {} "
        "processes; start mpirun -n {}",
        nodes, processes, nodes));
  }
}

/// MPI counts in int.
int count(Bytes items) {
  if (items > static_cast<Bytes>(std::numeric_limits<int>::max())) {
    throw UsageError(
        fmt::format("mpi: {} items in one argument, but MPI counts only up to {}; use smaller "
                    "blocks",
                    items, std::numeric_limits<int>::max()));
  }
  return static_cast<int>(items);
}

/// The input, or MPI_IN_PLACE for one that lies in the output.
const void* input_of(const Call& call) {
  const ConstSpan input = call.input.all();
  const Span output = call.output.all();
  const bool is_inside = !input.empty() && output.data() <= input.data() &&
                         input.data() < output.data() + output.size();
  return is_inside ? MPI_IN_PLACE : static_cast<const void*>(input.data());
}

/// MPI's counts and displacements of uneven blocks.
struct Extents {
  explicit Extents(ConstBlocks blocks) {
    for (Rank b = 0; b < blocks.count(); ++b) {
      counts.push_back(count(blocks[b].size()));
      starts.push_back(count(static_cast<Bytes>(blocks[b].data() - blocks.all().data())));
    }
  }
  std::vector<int> counts, starts;
};

/// The call's own operator and its elements, in MPI's terms.
///
/// MPI gives an operator no argument of its own, so the call's operator is in a variable: a process
/// has one node, which makes one call at a time.
class Operator {
 public:
  explicit Operator(const Reduction& reduction) : before_(current) {
    current = &reduction;
    MPI_Type_contiguous(count(reduction.element_bytes), MPI_BYTE, &element);
    MPI_Type_commit(&element);
    MPI_Op_create(apply, reduction.commutative ? 1 : 0, &operation);
  }
  ~Operator() {
    MPI_Op_free(&operation);
    MPI_Type_free(&element);
    current = before_;
  }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  MPI_Op operation = MPI_OP_NULL;
  MPI_Datatype element = MPI_DATATYPE_NULL;

 private:
  // The first operand is that of the lower ranks.
  static void apply(void* left, void* right, int* elements, MPI_Datatype* /*element*/) {
    auto* const result = static_cast<std::byte*>(right);
    current->apply(static_cast<const std::byte*>(left), result, result,
                   static_cast<std::size_t>(*elements));
  }
  static inline const Reduction* current = nullptr;
  const Reduction* before_;
};

int elements(Bytes bytes, const Call& call) {
  return count(bytes / call.arguments.reduction.element_bytes);
}

void broadcast(Node& node, const Call& call) {
  const int bytes = count(call.output.all().size());
  node.local(
      [&] { MPI_Bcast(call.output.all().data(), bytes, MPI_BYTE, call.arguments.root, world); });
}

void reduce(Node& node, const Call& call) {
  const int items = elements(call.input.all().size(), call);
  node.local([&] {
    const Operator with(call.arguments.reduction);
    MPI_Reduce(input_of(call), call.output.all().data(), items, with.element, with.operation,
               call.arguments.root, world);
  });
}

void allreduce(Node& node, const Call& call) {
  const int items = elements(call.output.all().size(), call);
  node.local([&] {
    const Operator with(call.arguments.reduction);
    MPI_Allreduce(input_of(call), call.output.all().data(), items, with.element, with.operation,
                  world);
  });
}

void reduce_scatter(Node& node, const Call& call) {
  const int items = elements(call.output.all().size(), call);
  node.local([&] {
    const Operator with(call.arguments.reduction);
    MPI_Reduce_scatter_block(input_of(call), call.output.all().data(), items, with.element,
                             with.operation, world);
  });
}

void reduce_scatterv(Node& node, const Call& call) {
  std::vector<int> items;
  for (const Bytes bytes : call.sizes) items.push_back(elements(bytes, call));
  node.local([&] {
    const Operator with(call.arguments.reduction);
    MPI_Reduce_scatter(input_of(call), call.output.all().data(), items.data(), with.element,
                       with.operation, world);
  });
}

void scan(Node& node, const Call& call) {
  const int items = elements(call.output.all().size(), call);
  node.local([&] {
    const Operator with(call.arguments.reduction);
    MPI_Scan(input_of(call), call.output.all().data(), items, with.element, with.operation, world);
  });
}

// What MPI_Exscan leaves in node 0's output is undefined; ours is unchanged.
void exscan(Node& node, const Call& call) {
  const Span output = call.output.all();
  const int items = elements(output.size(), call);
  const Memory unwanted = node.memory(node.rank() == 0 ? output.size() : 0);
  node.local([&] {
    const Operator with(call.arguments.reduction);
    MPI_Exscan(input_of(call), node.rank() == 0 ? unwanted.data() : output.data(), items,
               with.element, with.operation, world);
  });
}

void allgather(Node& node, const Call& call) {
  const int bytes = count(call.input.all().size());
  node.local([&] {
    MPI_Allgather(input_of(call), bytes, MPI_BYTE, call.output.all().data(), bytes, MPI_BYTE,
                  world);
  });
}

void allgatherv(Node& node, const Call& call) {
  const int bytes = count(call.input.all().size());
  const Extents in{ConstBlocks(call.output)};
  node.local([&] {
    MPI_Allgatherv(input_of(call), bytes, MPI_BYTE, call.output.all().data(), in.counts.data(),
                   in.starts.data(), MPI_BYTE, world);
  });
}

void scatter(Node& node, const Call& call) {
  const int bytes = count(call.output.all().size());
  node.local([&] {
    MPI_Scatter(input_of(call), bytes, MPI_BYTE, call.output.all().data(), bytes, MPI_BYTE,
                call.arguments.root, world);
  });
}

void scatterv(Node& node, const Call& call) {
  const int bytes = count(call.output.all().size());
  const Extents out(call.input);
  node.local([&] {
    MPI_Scatterv(input_of(call), out.counts.data(), out.starts.data(), MPI_BYTE,
                 call.output.all().data(), bytes, MPI_BYTE, call.arguments.root, world);
  });
}

void gather(Node& node, const Call& call) {
  const int bytes = count(call.input.all().size());
  node.local([&] {
    MPI_Gather(input_of(call), bytes, MPI_BYTE, call.output.all().data(), bytes, MPI_BYTE,
               call.arguments.root, world);
  });
}

void gatherv(Node& node, const Call& call) {
  const int bytes = count(call.input.all().size());
  const Extents in{ConstBlocks(call.output)};
  node.local([&] {
    MPI_Gatherv(input_of(call), bytes, MPI_BYTE, call.output.all().data(), in.counts.data(),
                in.starts.data(), MPI_BYTE, call.arguments.root, world);
  });
}

void alltoall(Node& node, const Call& call) {
  const int bytes = count(call.input.bytes());
  node.local([&] {
    MPI_Alltoall(call.input.all().data(), bytes, MPI_BYTE, call.output.all().data(), bytes,
                 MPI_BYTE, world);
  });
}

void alltoallv(Node& node, const Call& call) {
  const Extents out(call.input), in{ConstBlocks(call.output)};
  node.local([&] {
    MPI_Alltoallv(call.input.all().data(), out.counts.data(), out.starts.data(), MPI_BYTE,
                  call.output.all().data(), in.counts.data(), in.starts.data(), MPI_BYTE, world);
  });
}

void barrier(Node& node, const Call& /*call*/) {
  node.local([] { MPI_Barrier(world); });
}

Algorithm row(Operation operation, std::string_view summary, void (*program)(Node&, const Call&)) {
  return {
      .operation = operation,
      .name = "mpi",
      .summary = summary,
      .source = "the MPI library that the program runs with",
      .contention_free = false,
      .remark = "the algorithm is the MPI library's, not ours",
      .require = require_one_node_each,
      .selection = Selection::by_name,
      .program = program,
  };
}

}  // namespace

std::span<const Algorithm> mpi_library_algorithms() {
  static const std::array table{
      row(operations::broadcast, "MPI_Bcast", broadcast),
      row(operations::reduce, "MPI_Reduce", reduce),
      row(operations::allgather, "MPI_Allgather", allgather),
      row(operations::allgatherv, "MPI_Allgatherv", allgatherv),
      row(operations::reduce_scatter, "MPI_Reduce_scatter_block", reduce_scatter),
      row(operations::reduce_scatterv, "MPI_Reduce_scatter", reduce_scatterv),
      row(operations::allreduce, "MPI_Allreduce", allreduce),
      row(operations::scan, "MPI_Scan", scan),
      row(operations::exscan, "MPI_Exscan", exscan),
      row(operations::barrier, "MPI_Barrier", barrier),
      row(operations::scatter, "MPI_Scatter", scatter),
      row(operations::scatterv, "MPI_Scatterv", scatterv),
      row(operations::gather, "MPI_Gather", gather),
      row(operations::gatherv, "MPI_Gatherv", gatherv),
      row(operations::alltoall, "MPI_Alltoall", alltoall),
      row(operations::alltoallv, "MPI_Alltoallv", alltoallv),
  };
  return table;
}

}  // namespace wormcube
