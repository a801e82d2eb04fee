/* A job's work, repeatedly: memory, descriptors and threads of the process do not grow.
   Options: rounds.
   SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long entries(const char *folder) {
  long count = 0;
  DIR *const list = opendir(folder);
  while (list != NULL && readdir(list) != NULL) ++count;
  if (list != NULL) closedir(list);
  return count;
}
static long resident_kib(void) {
  long kib = 0;
  char line[200];
  FILE *const file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) sscanf(line, "VmRSS: %ld", &kib);
  if (file != NULL) fclose(file);
  return kib;
}

static int rank, size;

static int copy_attribute(MPI_Comm on, int key, void *extra, void *in, void *out, int *flag) {
  (void)on, (void)key, (void)extra;
  *(void **)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static void one_round(int round) {
  enum { many = 40000 };
  static int out[many], in[many];
  MPI_Comm dup, part, grid, graph;
  MPI_Request requests[8];
  int key, sides[2] = {0, 0}, periods[2] = {1, 1}, to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_split(dup, rank % 2, rank, &part);
  MPI_Dims_create(size, 2, sides);
  MPI_Cart_create(dup, 2, sides, periods, 1, &grid);
  MPI_Dist_graph_create_adjacent(dup, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  for (int length = 1; length <= many; length *= 200) { /* short, and longer than the network keeps */
    MPI_Irecv(in, length, MPI_INT, MPI_ANY_SOURCE, round, dup, requests);
    MPI_Isend(out, length, MPI_INT, to, round, dup, requests + 1);
    MPI_Iallreduce(out, in + many / 2, length / 2, MPI_INT, MPI_SUM, part, requests + 2);
    MPI_Ibarrier(graph, requests + 3);
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, in + many - 1, 1, MPI_INT, graph, requests + 4);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, in, length, MPI_INT, MPI_MAX, grid);
  }
  MPI_Datatype column, pair;
  MPI_Type_vector(100, 1, 100, MPI_INT, &column);
  MPI_Type_create_resized(column, 0, sizeof(int), &pair);
  MPI_Type_commit(&pair);
  MPI_Sendrecv(out, 3, pair, to, 1, in, 300, MPI_INT, from, 1, dup, MPI_STATUS_IGNORE);
  MPI_Bcast(in, 5, pair, round % size, dup);
  MPI_Type_free(&pair);
  MPI_Type_free(&column);
  void *const lent = malloc(5000);
  MPI_Buffer_attach(lent, 5000);
  MPI_Bsend(out, 100, MPI_INT, to, 2, dup);
  MPI_Recv(in, 100, MPI_INT, from, 2, dup, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&in, &out[0]);
  out[0] = 0;
  free(lent);
  MPI_Send_init(out, 10, MPI_INT, to, 3, dup, requests);
  MPI_Recv_init(in, 10, MPI_INT, from, 3, dup, requests + 1);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(requests);
  MPI_Request_free(requests + 1);
  MPI_Win window;
  int *memory;
  MPI_Win_allocate(100 * sizeof(int), sizeof(int), MPI_INFO_NULL, dup, &memory, &window);
  MPI_Win_fence(0, window);
  MPI_Put(out, 10, MPI_INT, to, 0, 10, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, window);
  MPI_Accumulate(out, 10, MPI_INT, to, 20, 10, MPI_INT, MPI_SUM, window);
  MPI_Win_unlock(to, window);
  MPI_Win_free(&window);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "key", "value");
  MPI_Info_free(&info);
  MPI_Group group, some;
  MPI_Comm_group(part, &group);
  MPI_Group_incl(group, 1, (const int[]){0}, &some);
  MPI_Group_free(&some);
  MPI_Group_free(&group);
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Session_finalize(&session);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&part);
  MPI_Comm_free(&dup);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  long kib = 0, files = 0, threads = 0;
  for (int round = 1; round <= rounds; ++round) {
    one_round(round);
    if (rank != 0) continue;
    if (round == 10) kib = resident_kib(), files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
    if (round == rounds) {
      kib = resident_kib() - kib;
      fprintf(stderr, "%ld KiB more after %d rounds than after 10\n", kib, rounds);
      /* A library's workers begin when they are first needed, late on a busy machine; what is left behind is as many as rounds. */
      threads = entries("/proc/self/task") - threads;
      printf("descriptors %ld more, threads %ld more, memory %s\n", entries("/proc/self/fd") - files, threads < 10 ? 0 : threads,
             kib < 2048 ? "no" : "grows");
    }
  }
  MPI_Finalize();
}
