/* Graphs of ranks. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, wrong;

/* A ring, each with both neighbours, of the first `nodes` ranks. */
static void ring(int nodes) {
  int *const index = malloc((size_t)size * sizeof *index), *const edges = malloc(2 * (size_t)size * sizeof *edges);
  for (int i = 0; i < nodes; ++i) {
    index[i] = 2 * (i + 1);
    edges[2 * i] = (i + nodes - 1) % nodes;
    edges[2 * i + 1] = (i + 1) % nodes;
  }
  MPI_Comm graph, copy;
  int mapped, kind, counts[2], found[2], first, back[4];
  MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &mapped);
  wrong += mapped != (rank < nodes ? rank : MPI_UNDEFINED);
  MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 1, &graph);
  wrong += (graph == MPI_COMM_NULL) != (rank >= nodes);
  if (graph != MPI_COMM_NULL) {
    MPI_Comm_dup(graph, &copy);
    MPI_Topo_test(copy, &kind);
    MPI_Graphdims_get(copy, counts, counts + 1);
    wrong += kind != MPI_GRAPH || counts[0] != nodes || counts[1] != 2 * nodes;
    MPI_Graph_neighbors_count(copy, nodes - 1, &first);
    MPI_Graph_neighbors(copy, rank, 2, found);
    wrong += first != 2 || found[0] != edges[2 * rank] || found[1] != edges[2 * rank + 1];
    MPI_Graph_get(copy, 1, 2, &first, back); /* as much as there is room for */
    wrong += first != 2 || back[0] != nodes - 1 || back[1] != 1 % nodes;
    int in;
    MPI_Sendrecv(&rank, 1, MPI_INT, found[1], 0, &in, 1, MPI_INT, found[0], 0, copy, MPI_STATUS_IGNORE);
    wrong += in != found[0];
    MPI_Comm_free(&copy), MPI_Comm_free(&graph);
  }
  free(index), free(edges);
}

static void show(MPI_Comm graph, int weighted, int first_weight) {
  int counts[2], flag, in[2] = {-1, -1}, out[2] = {-1, -1}, in_weights[2] = {0, 0}, out_weights[2] = {0, 0}, kind;
  MPI_Topo_test(graph, &kind);
  MPI_Dist_graph_neighbors_count(graph, counts, counts + 1, &flag);
  wrong += kind != MPI_DIST_GRAPH || counts[0] != 2 || counts[1] != 1 || flag != weighted;
  MPI_Dist_graph_neighbors(graph, 2, in, weighted ? in_weights : MPI_UNWEIGHTED, 1, out, weighted ? out_weights : MPI_UNWEIGHTED);
  const int before = (rank + size - 1) % size;
  /* Each sends to the next; all of them come from before, twice. */
  wrong += in[0] != before || out[0] != (rank + 1) % size || in[1] != rank;
  if (weighted) wrong += in_weights[0] != first_weight + before || in_weights[1] != 100 || out_weights[0] != first_weight + rank;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ring(size);
  ring(size > 2 ? size - 1 : 1);
  MPI_Comm graph, copy;
  const int before = (rank + size - 1) % size, next = (rank + 1) % size;
  /* Adjacent: what each knows of itself. */
  const int in[2] = {before, rank}, out[1] = {next};
  const int in_weights[2] = {10 + before, 100}, out_weights[1] = {10 + rank};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, in, in_weights, 1, out, out_weights, MPI_INFO_NULL, 0, &graph);
  show(graph, 1, 10);
  MPI_Comm_dup(graph, &copy);
  show(copy, 1, 10);
  MPI_Comm_free(&graph), MPI_Comm_free(&copy);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, in, MPI_UNWEIGHTED, 1, out, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &graph);
  show(graph, 0, 0);
  MPI_Comm_free(&graph);
  /* Edges contributed by others: rank 0 contributes all. */
  int *const sources = malloc((size_t)size * sizeof *sources), *const degrees = malloc((size_t)size * sizeof *degrees);
  int *const ends = malloc((size_t)size * sizeof *ends), *const weights = malloc((size_t)size * sizeof *weights);
  for (int i = 0; i < size; ++i) {
    sources[i] = i;
    degrees[i] = 1;
    ends[i] = (i + 1) % size;
    weights[i] = 20 + i;
  }
  MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? size : 0, sources, degrees, ends, rank == 0 ? weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph);
  int counts[2], flag, found[2], found_weights[2];
  MPI_Dist_graph_neighbors_count(graph, counts, counts + 1, &flag);
  MPI_Dist_graph_neighbors(graph, 1, found, found_weights, 1, found + 1, found_weights + 1);
  wrong += counts[0] != 1 || counts[1] != 1 || !flag || found[0] != before || found[1] != next;
  wrong += found_weights[0] != 20 + before || found_weights[1] != 20 + rank;
  int got;
  MPI_Sendrecv(&rank, 1, MPI_INT, found[1], 0, &got, 1, MPI_INT, found[0], 0, graph, MPI_STATUS_IGNORE);
  wrong += got != before;
  MPI_Comm_free(&graph);
  /* And each of the edges of the rank before it, several times over. */
  for (int turn = 0; turn < 100; ++turn) {
    const int source[1] = {before}, two[1] = {2}, to[2] = {rank, before};
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, source, two, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, counts, counts + 1, &flag);
    MPI_Dist_graph_neighbors(graph, 2, found, MPI_UNWEIGHTED, 1, &got, MPI_UNWEIGHTED);
    wrong += counts[0] != 2 || counts[1] != 2 || flag || got != next;
    wrong += !((found[0] == before && found[1] == rank) || (found[0] == rank && found[1] == before));
    MPI_Comm_free(&graph);
  }
  /* What is none. */
  int kind, none[2] = {1, 0};
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  wrong += MPI_Graphdims_get(MPI_COMM_WORLD, &kind, &kind) != MPI_ERR_TOPOLOGY;
  wrong += MPI_Graph_create(MPI_COMM_WORLD, size + 1, none, none, 0, &graph) != MPI_ERR_TOPOLOGY;
  none[1] = size;
  wrong += MPI_Graph_map(MPI_COMM_WORLD, 1, none, none + 1, &kind) != MPI_ERR_ARG;
  wrong += MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, none + 1, MPI_UNWEIGHTED, 0, none, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph) != MPI_ERR_RANK;
  free(sources), free(degrees), free(ends), free(weights);
  int all;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return wrong != 0;
}
