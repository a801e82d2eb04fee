// The names of Open MPI (coll/tuned), MPICH, NCCL and SMPI. Choices within a name, such as MPICH's
// radix, have a typical value here; the caller's options override it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/aliases.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace wormcube {

namespace {

constexpr Alias table[]{
    {"broadcast", "openmpi", "basic_linear", "naive"},
    {"broadcast", "openmpi", "pipeline", "pipelined-tree:order=rank"},
    {"broadcast", "openmpi", "binary_tree", "pipelined-tree:shape=k-ary:order=rank"},
    {"broadcast", "openmpi", "binomial", "binomial"},
    {"broadcast", "openmpi", "knomial", "pipelined-tree:shape=k-nomial:radix=4:order=rank"},
    {"broadcast", "openmpi", "scatter_allgather", "scatter-allgather:allgather=doubling"},
    {"broadcast", "openmpi", "scatter_allgather_ring", "scatter-allgather:allgather=neighbours"},
    {"broadcast", "mpich", "binomial", "binomial"},
    {"broadcast", "mpich", "tree", "pipelined-tree:shape=k-ary:order=rank:segments=1"},
    {"broadcast", "mpich", "pipelined_tree", "pipelined-tree:shape=k-ary:order=rank"},
    {"broadcast", "mpich", "scatter_ring_allgather", "scatter-allgather:allgather=neighbours"},
    {"broadcast", "mpich", "circ_graph", "circulant"},
    {"broadcast", "nccl", "ring", "pipelined-tree"},
    {"broadcast", "smpi", "flattree", "naive"},
    {"broadcast", "smpi", "NTSL", "pipelined-tree:order=rank"},
    {"broadcast", "smpi", "ompi_pipeline", "pipelined-tree:order=rank"},
    {"broadcast", "smpi", "NTSB", "pipelined-tree:shape=k-ary:order=rank"},
    {"broadcast", "smpi", "binomial_tree", "binomial"},
    {"broadcast", "smpi", "scatter_LR_allgather", "scatter-allgather:allgather=neighbours"},
    {"reduce", "openmpi", "linear", "direct"},
    {"reduce", "openmpi", "pipeline", "pipelined-tree:order=rank"},
    {"reduce", "openmpi", "binary", "pipelined-tree:shape=k-ary:order=rank"},
    {"reduce", "openmpi", "binomial", "halving"},
    {"reduce", "openmpi", "in-order_binary", "pipelined-tree:shape=in-order"},
    {"reduce", "openmpi", "knomial", "pipelined-tree:shape=k-nomial:radix=4:order=rank"},
    {"reduce", "openmpi", "rabenseifner", "reduce-scatter-gather"},
    {"reduce", "mpich", "binomial", "halving"},
    {"reduce", "mpich", "reduce_scatter_gather", "reduce-scatter-gather"},
    {"reduce", "mpich", "circ_graph", "circulant"},
    {"reduce", "nccl", "ring", "pipelined-tree"},
    {"reduce", "smpi", "flat_tree", "direct"},
    {"reduce", "smpi", "NTSL", "pipelined-tree:order=rank"},
    {"reduce", "smpi", "ompi_pipeline", "pipelined-tree:order=rank"},
    {"reduce", "smpi", "binomial", "halving"},
    {"reduce", "smpi", "scatter_gather", "reduce-scatter-gather"},
    {"reduce", "smpi", "rab", "reduce-scatter-gather"},
    {"allgather", "openmpi", "bruck", "bruck"},
    {"allgather", "openmpi", "ring", "ring:order=rank"},
    {"allgather", "openmpi", "neighbor", "neighbour-exchange"},
    {"allgather", "openmpi", "recursive_doubling", "hypercube"},
    {"allgather", "openmpi", "sparbit", "bruck:order=far-first"},
    {"allgather", "mpich", "brucks", "bruck"},
    {"allgather", "mpich", "k_brucks", "bruck:radix=4"},
    {"allgather", "mpich", "ring", "ring:order=rank"},
    {"allgather", "mpich", "recursive_doubling", "hypercube"},
    {"allgather", "mpich", "circ_graph", "circulant"},
    {"allgather", "nccl", "ring", "ring"},
    {"allgather", "nccl", "PAT", "bruck:order=far-first"},
    {"allgather", "smpi", "bruck", "bruck"},
    {"allgather", "smpi", "ring", "ring:order=rank"},
    {"allgather", "smpi", "lr", "ring:order=rank"},
    {"allgather", "smpi", "loosely_lr", "ring:order=rank"},
    {"allgather", "smpi", "NTSLR", "ring:order=rank"},
    {"allgather", "smpi", "ompi_neighborexchange", "neighbour-exchange"},
    {"allgather", "smpi", "rdb", "hypercube"},
    {"allgather", "smpi", "2dmesh", "mesh"},
    {"allgather", "smpi", "3dmesh", "mesh"},
    {"reduce_scatter", "openmpi", "recursive_halving", "hypercube:order=descending"},
    {"reduce_scatter", "openmpi", "ring", "ring:order=rank"},
    {"reduce_scatter", "mpich", "pairwise", "pairwise"},
    {"reduce_scatter", "mpich", "recursive_halving", "hypercube:order=descending"},
    {"reduce_scatter", "nccl", "ring", "ring"},
    {"reduce_scatter", "nccl", "PAT", "bruck"},
    {"reduce_scatter", "smpi", "ompi_ring", "ring:order=rank"},
    {"reduce_scatter", "smpi", "mpich_pair", "pairwise"},
    {"allreduce", "openmpi", "recursive_doubling", "recursive-doubling"},
    {"allreduce", "openmpi", "ring", "ring:order=rank"},
    {"allreduce", "openmpi", "segmented_ring", "ring:order=rank:segments=4"},
    {"allreduce", "openmpi", "rabenseifner", "reduce-scatter-allgather"},
    {"allreduce", "openmpi", "nonoverlapping", "reduce-broadcast"},
    {"allreduce", "mpich", "recursive_doubling", "recursive-doubling"},
    {"allreduce", "mpich", "recursive_multiplying", "recursive-multiplying:radix=4"},
    {"allreduce", "mpich", "ring", "ring:order=rank"},
    {"allreduce", "mpich", "reduce_scatter_allgather", "reduce-scatter-allgather"},
    {"allreduce", "mpich", "tree", "pipelined-tree:shape=k-ary:order=rank"},
    {"allreduce", "mpich", "smp", "two-level:form=leader"},
    {"allreduce", "nccl", "ring", "ring"},
    {"allreduce", "nccl", "tree", "double-tree"},
    {"allreduce", "smpi", "rdb", "recursive-doubling"},
    {"allreduce", "smpi", "lr", "ring:order=rank"},
    {"allreduce", "smpi", "ompi_ring_segmented", "ring:order=rank:segments=4"},
    {"allreduce", "smpi", "rab1", "reduce-scatter-allgather"},
    {"allreduce", "smpi", "rab2", "reduce-scatter-allgather"},
    {"allreduce", "smpi", "rab_rdb", "reduce-scatter-allgather"},
    {"allreduce", "smpi", "redbcast", "reduce-broadcast"},
    {"allreduce", "smpi", "smp_rdb", "two-level:form=leader"},
    {"scan", "openmpi", "recursive_doubling", "hypercube"},
    {"scan", "mpich", "recursive_doubling", "hypercube"},
    {"barrier", "openmpi", "recursive_doubling", "hypercube"},
    {"barrier", "openmpi", "bruck", "dissemination"},
    {"barrier", "openmpi", "tree", "tree"},
    {"barrier", "mpich", "k_dissemination", "dissemination"},
    {"barrier", "smpi", "ompi_bruck", "dissemination"},
    {"alltoall", "openmpi", "linear", "shift"},
    {"alltoall", "openmpi", "linear_sync", "shift"},
    {"alltoall", "openmpi", "pairwise", "shift"},
    {"alltoall", "openmpi", "modified_bruck", "bruck"},
    {"alltoall", "mpich", "scattered", "shift"},
    {"alltoall", "mpich", "pairwise", "shift"},
    {"alltoall", "mpich", "brucks", "bruck"},
    {"alltoall", "mpich", "k_brucks", "bruck:radix=4"},
    {"alltoall", "smpi", "basic_linear", "shift"},
    {"alltoall", "smpi", "pair", "hypercube-pairwise"},
    {"alltoall", "smpi", "ring", "shift"},
    {"alltoall", "smpi", "bruck", "bruck"},
    {"alltoall", "smpi", "2dmesh", "mesh"},
    {"alltoall", "smpi", "3dmesh", "mesh"},
};

std::string lower(std::string_view text) {
  std::string letters(text);
  std::ranges::transform(letters, letters.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return letters;
}

}  // namespace

std::span<const Alias> aliases() { return table; }

const Alias* find_alias(std::string_view operation, std::string_view text) {
  const std::string wanted = lower(text);
  const auto found = std::ranges::find_if(table, [&](const Alias& alias) {
    return alias.operation == operation && lower(alias.library) + "." + lower(alias.name) == wanted;
  });
  return found == std::ranges::end(table) ? nullptr : &*found;
}

}  // namespace wormcube
