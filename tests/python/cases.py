"""The algorithms of wormcube.textbook with their operation, networks, arguments, and the built-in algorithm of the same kind."""
# SPDX-License-Identifier: Apache-2.0
# name, operation, networks, options of record() (P: the number of nodes), and the built-in algorithm with the same counts.
CASES = [
    ("ring", "allgather", "ring:6 ring:7", {}, "ring"),
    ("doubling", "allgather", "hypercube:3 torus:4x4", {}, "hypercube"),
    ("bruck", "allgather", "ring:6 complete:7", {}, "bruck"),
    ("torus", "allgather", "torus:4x3 torus:3x3x3", {}, "mesh"),
    ("exchange", "alltoall", "ring:5 torus:3x3", {}, "shift"),
    ("pairwise", "alltoall", "hypercube:3 torus:4x4", {}, "hypercube-pairwise"),
    ("bruck_exchange", "alltoall", "ring:6 complete:7", {}, "bruck"),
    ("train", "alltoall", "ring:6 ring:7", {}, "ring"),
    ("tree", "broadcast", "petersen ring:7", {"root": 3}, "binomial"),
    ("pipeline", "broadcast", "ring:6 line:5", {"parts": 4}, "pipelined-tree:shape=chain:segments=4"),
    ("scatter_allgather", "broadcast", "ring:6 ring:7", {"parts": "P", "root": 1}, "scatter-allgather"),
    ("scatter_tree", "scatter", "hypercube:3 torus:4x4", {"root": 3}, "hypercube"),
    ("gather_direct", "gather", "ring:5 torus:3x3", {"root": 2}, "direct"),
    ("reduce_in_order", "reduce", "line:7 hypercube:3", {}, "hypercube"),
    ("halving", "reduce_scatter", "hypercube:3 torus:4x4", {}, "hypercube"),
    ("reduce_scatter_ring", "reduce_scatter", "ring:5 ring:8", {"commutative": True}, "ring:order=ring"),
    ("ring_sum", "allreduce", "ring:5 torus:3x3", {"parts": "P", "commutative": True}, "ring:order=ring"),
    ("allreduce_doubling", "allreduce", "hypercube:3 torus:4x4", {}, "recursive-doubling"),
    ("rabenseifner", "allreduce", "hypercube:3 torus:4x4", {"parts": "P"}, "reduce-scatter-allgather"),
    ("scan", "scan", "hypercube:3 torus:4x4", {}, "hypercube"),
    ("exscan_line", "exscan", "line:6 ring:5", {}, "ring:segments=1"),
    ("dissemination", "barrier", "ring:6 torus:3x3", {}, "dissemination"),
    ("k_exchange", "k_alltoall", "ring:6 hypercube:3", {"sources": (0, 2, 3)}, "direct"),
    ("shift", "shift", "ring:6 torus:3x3", {"distance": 2}, "direct"),
    ("permute", "permute", "ring:6 hypercube:3", {}, "direct"),
]
# msccl-tools' examples: name, operation, nodes, options, the XML file, and its counts: sends, chunks sent, chunks combined.
# The files: github.com/Azure/msccl-tools, examples/mscclang, as its compiler writes them.
MSCCL = [
    ("allgather_allpairs", "allgather", 4, {}, "allgather_allpairs_4", 12, 12, 0),
    ("allgather_allpairs", "allgather", 8, {"parts": 2}, "allgather_allpairs_8_2", 112, 112, 0),
    ("allgather_doubling", "allgather", 4, {"parts": 2}, "allgather_recursive_doubling_4_2", 16, 24, 0),
    ("allgather_doubling", "allgather", 8, {}, "allgather_recursive_doubling_8", 24, 56, 0),
    ("allgather_ring", "allgather", 4, {}, "allgather_ring_4", 12, 12, 0),
    ("allgather_ring", "allgather", 5, {"parts": 2}, "allgather_ring_5_2_2", 40, 40, 0),
    ("allreduce_one_step", "allreduce", 4, {"parts": 4}, "allreduce_1step_4", 12, 48, 48),
    ("allreduce_allpairs", "allreduce", 8, {"parts": 64}, "allreduce_a100_allpairs_8", 112, 896, 448),
    ("allreduce_allpairs", "allreduce", 8, {"parts": 8}, "allreduce_a100_allpairs_v2_8", 112, 112, 56),
    ("allreduce_pcie", "allreduce", 8, {"parts": 64, "options": {"local": 4}}, "allreduce_a100_pcie_hierarchical_8", 64, 896, 448),
    ("allreduce_hierarchical", "allreduce", 8, {"parts": 8, "commutative": True, "options": {"local": 4}}, "hierarchical_allreduce_4_2", 112, 112, 56),
    ("ring_sum", "allreduce", 8, {"parts": 8, "commutative": True}, "allreduce_a100_ring_8", 112, 112, 56),
    ("ring_sum", "allreduce", 4, {"parts": 4, "commutative": True}, "simple_allreduce_ring_4", 24, 24, 12),
    ("rabenseifner", "allreduce", 8, {"parts": 8}, "allreduce_rdh_8", 48, 112, 56),
    ("alltoall_allpairs", "alltoall", 4, {}, "alltoall_allpairs_4", 12, 12, 0),
    ("alltoall_allpairs", "alltoall", 8, {}, "alltoall_allpairs_8", 56, 56, 0),
    ("allgather_ring", "allgather", 8, {}, "allgather_ring_8_8", 56, 56, 0),
    ("allgather_ring", "allgather", 4, {}, "simple_allgather_ring", 12, 12, 0),
    ("ring_sum", "allreduce", 8, {"parts": 8, "commutative": True}, "allreduce_a100_ring_8_8", 112, 112, 56),
    ("alltoall_three_step", "alltoall", 8, {"options": {"local": 4}}, "alltoall_three_step_2_4", 56, 104, 0),
    ("alltoall_two_step", "alltoall", 8, {"options": {"local": 4}}, "alltoall_two_step_2_4", 56, 80, 0),
    ("allreduce_two_pairs", "allreduce", 4, {"parts": 2}, "allreduce_a100_ncv4_4", 12, 12, 8),
    ("allreduce_chains", "allreduce", 4, {"parts": 2, "commutative": True, "options": {"chains": ((3, 2, 1, 0), (2, 3, 0, 1))}}, "allreduce_a100_ncv4_v2_4",
     12, 12, 6),
    ("allreduce_two_machines", "allreduce", 32, {"parts": 256, "options": {"local": 16}}, "allreduce_a100_multinode_allpairs_16", 992, 15872, 8192),
    ("allreduce_hierarchical", "allreduce", 8, {"parts": 16, "commutative": True, "options": {"local": 4, "instances": 2}},
     "hierarchical_allreduce_4_2_manual", 224, 224, 112),
]
# Two more files combine the data of the first 8 of 16 GPUs on the other 8. No operation does: in a reduction all nodes give data. Their stages are operations
# of 8 nodes: a reduce-scatter, a message from each of these nodes, and an allgather. The file, first and last stage, chunks of a block, and the counts.
PIPELINES = [
    ("pipeline_a100_allpairs_8", "reduce_scatter_allpairs", "allgather_allpairs", 8, 120, 960, 448),
    ("pipeline_a100_ring_8", "reduce_scatter_ring", "allgather_ring", 1, 120, 120, 56),
]


def options_on(options, nodes):
    """The options of record() on a network of this many nodes."""
    return {name: nodes if value == "P" else value for name, value in options.items()}
