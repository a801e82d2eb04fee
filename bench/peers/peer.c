/* The operations of compare.py on an MPI library, measured like wormcube's own.
 *   mpicc -O2 peer.c -o peer && mpirun -n 64 ./peer SECONDS OPERATION BYTES..
 * A line for each size: operation, bytes, us per call between barriers (median), us per call back to back, least us between
 * barriers, calls of each kind, wrong elements. Blocks have doubles; 0 bytes means no block.
 *   Between barriers: barrier, call, barrier, ..; a call's time is from the first rank that begins it to the last that ends it.
 *   Back to back: one barrier, all calls, one barrier; the time from the first rank's begin to the last rank's end, over their number.
 * The number of calls fits SECONDS, by the time of the second of two warm-up calls; half of them are of each kind; 3 to 101.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

enum { most_calls = 101, least_calls = 3, burst = 64 };

static int rank, ranks;

/* Reads the clock by a system call, because a simulator replaces the library's functions by a simulated clock. */
static double now_us(void) {
  struct timespec time;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

struct call {
  double *in, *out;
  int size; /* elements of a block */
};

static void barrier(struct call* call) {
  (void)call;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void broadcast(struct call* call) {
  MPI_Bcast(rank == 0 ? call->in : call->out, call->size, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void allreduce(struct call* call) {
  MPI_Allreduce(call->in, call->out, call->size, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce_scatter(struct call* call) {
  MPI_Reduce_scatter_block(call->in, call->out, call->size, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void scan(struct call* call) {
  MPI_Scan(call->in, call->out, call->size, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void allgather(struct call* call) {
  MPI_Allgather(call->in, call->size, MPI_DOUBLE, call->out, call->size, MPI_DOUBLE, MPI_COMM_WORLD);
}
static void gather(struct call* call) {
  MPI_Gather(call->in, call->size, MPI_DOUBLE, call->out, call->size, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
static void alltoall(struct call* call) {
  MPI_Alltoall(call->in, call->size, MPI_DOUBLE, call->out, call->size, MPI_DOUBLE, MPI_COMM_WORLD);
}
/* There and back, between the first two ranks. */
static void ping_pong(struct call* call) {
  if (rank > 1) return;
  if (rank == 0) MPI_Send(call->in, call->size, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  MPI_Recv(call->out, call->size, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(call->in, call->size, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
}
/* Each rank of the lower half sends 64 messages at once to its partner in the upper half, which answers by an empty one. */
static void messages(struct call* call) {
  MPI_Request requests[burst];
  const int half = ranks / 2, partner = rank < half ? rank + half : rank - half;
  if (rank >= 2 * half) return;
  for (int i = 0; i < burst; ++i) {
    if (rank < half) {
      MPI_Isend(call->in, call->size, MPI_DOUBLE, partner, i, MPI_COMM_WORLD, &requests[i]);
    } else {
      MPI_Irecv(call->out + (size_t)i * call->size, call->size, MPI_DOUBLE, partner, i, MPI_COMM_WORLD, &requests[i]);
    }
  }
  MPI_Waitall(burst, requests, MPI_STATUSES_IGNORE);
  if (rank < half) {
    MPI_Recv(NULL, 0, MPI_DOUBLE, partner, burst, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(NULL, 0, MPI_DOUBLE, partner, burst, MPI_COMM_WORLD);
  }
}
/* The most even sides of a torus with two or three dimensions, the smallest first. */
static void sides(int of, int dimensions, int* side) {
  int first = 1;
  for (int i = 1, power = 1; power <= of; ++i, power = dimensions == 2 ? i * i : i * i * i) {
    if (of % i == 0) first = i;
  }
  side[0] = first;
  if (dimensions == 2) {
    side[1] = of / first;
  } else {
    sides(of / first, 2, side + 1);
  }
}
/* The next and the previous rank in each dimension. */
static void neighbours(int of, int dimensions, int* around) {
  int side[3], stride = 1;
  sides(ranks, dimensions, side);
  for (int d = dimensions - 1; d >= 0; stride *= side[d--]) {
    const int at = of / stride % side[d];
    around[2 * d] = of + ((at + 1) % side[d] - at) * stride;
    around[2 * d + 1] = of + ((at + side[d] - 1) % side[d] - at) * stride;
  }
}
/* Each rank exchanges blocks with its neighbours. */
static void exchange(struct call* call, int dimensions) {
  MPI_Request requests[12];
  int around[6];
  const int count = 2 * dimensions;
  neighbours(rank, dimensions, around);
  for (int i = 0; i < count; ++i) {
    /* Data for the next rank comes from the previous one. */
    MPI_Irecv(call->out + (size_t)i * call->size, call->size, MPI_DOUBLE, around[i ^ 1], i, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < count; ++i) {
    MPI_Isend(call->in, call->size, MPI_DOUBLE, around[i], i, MPI_COMM_WORLD, &requests[count + i]);
  }
  MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
}
static void halo(struct call* call) { exchange(call, 2); }
static void halo_3d(struct call* call) { exchange(call, 3); }

/* Every rank contributes rank + 1 everywhere. Returns the expected value of a block at a rank; 0: not checked. */
static double sum_to(int n) { return n * (n + 1.0) / 2; }
static double of_first(int block) { return block >= 0 && rank > 0 ? 1 : 0; }
static double of_all(int block) { return block < 0 ? 0 : sum_to(ranks); }
static double of_lower(int block) { return block < 0 ? 0 : sum_to(rank + 1); }
static double of_each(int block) { return block + 1; }
static double of_each_at_root(int block) { return rank == 0 ? block + 1 : 0; }
static double of_other(int block) { return block >= 0 && rank < 2 ? 2 - rank : 0; }
static double of_partner(int block) {
  const int half = ranks / 2;
  return block >= 0 && rank >= half && rank < 2 * half ? rank - half + 1 : 0;
}
static double of_neighbour(int block) {
  int around[6];
  neighbours(rank, 2, around);
  return around[block ^ 1] + 1;
}
static double of_neighbour_3d(int block) {
  int around[6];
  neighbours(rank, 3, around);
  return around[block ^ 1] + 1;
}

static const struct operation {
  const char* name;
  void (*run)(struct call*);
  int in, out; /* blocks; -1: one for each rank */
  double (*right)(int block);
} operations[] = {{"barrier", barrier, 0, 0, of_all},
                  {"broadcast", broadcast, 1, 1, of_first},
                  {"allreduce", allreduce, 1, 1, of_all},
                  {"reduce_scatter", reduce_scatter, -1, 1, of_all},
                  {"scan", scan, 1, 1, of_lower},
                  {"allgather", allgather, 1, -1, of_each},
                  {"gather", gather, 1, -1, of_each_at_root},
                  {"alltoall", alltoall, -1, -1, of_each},
                  {"ping-pong", ping_pong, 1, 1, of_other},
                  {"messages", messages, 1, burst, of_partner},
                  {"halo", halo, 1, 4, of_neighbour},
                  {"halo-3d", halo_3d, 1, 6, of_neighbour_3d}};

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* For each repetition, the time from the first rank's start to the last rank's end; valid on the first rank. */
static void spans(const double* begins, const double* ends, double* times, int count) {
  double firsts[most_calls], lasts[most_calls];
  MPI_Reduce(begins, firsts, count, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(ends, lasts, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  for (int i = 0; i < count && rank == 0; ++i) times[i] = lasts[i] - firsts[i];
}

static void measure(const struct operation* operation, long bytes, double seconds) {
  double begins[most_calls], ends[most_calls], times[most_calls], all = 0;
  struct call call = {NULL, NULL, (int)(bytes / (long)sizeof(double))};
  const size_t in_size = (size_t)(operation->in < 0 ? ranks : operation->in) * call.size;
  const size_t out_blocks = (size_t)(operation->out < 0 ? ranks : operation->out);
  call.in = malloc((in_size + 1) * sizeof(double));
  call.out = malloc((out_blocks * call.size + 1) * sizeof(double));
  if (call.in == NULL || call.out == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  for (size_t i = 0; i < in_size; ++i) call.in[i] = rank + 1;
  for (size_t i = 0; i < out_blocks * call.size; ++i) call.out[i] = -1;
  for (int i = 0; i < 2; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    begins[0] = now_us();
    operation->run(&call);
    ends[0] = now_us();
  }
  spans(begins, ends, times, 1);
  int count = 0;
  if (rank == 0) {
    const double fit = seconds * 1e6 / 2 / (times[0] + 1);
    count = fit > most_calls ? most_calls : fit < least_calls ? least_calls : (int)fit;
  }
  MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    begins[i] = now_us();
    operation->run(&call);
    ends[i] = now_us();
  }
  spans(begins, ends, times, count);
  MPI_Barrier(MPI_COMM_WORLD);
  begins[0] = now_us();
  for (int i = 0; i < count; ++i) operation->run(&call);
  ends[0] = now_us();
  MPI_Barrier(MPI_COMM_WORLD);
  spans(begins, ends, &all, 1);
  long wrong = 0, all_wrong = 0;
  for (size_t i = 0; i < out_blocks * call.size; ++i) {
    const double right = operation->right((int)(i / call.size));
    wrong += right != 0 && call.out[i] != right;
  }
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    qsort(times, (size_t)count, sizeof(double), compare);
    printf("%s %ld %.3f %.3f %.3f %d %ld\n", operation->name, bytes, times[count / 2], all / count, times[0], count,
           all_wrong);
    fflush(stdout);
  }
  free(call.in);
  free(call.out);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const struct operation* operation = NULL;
  for (size_t i = 0; argc > 3 && i < sizeof operations / sizeof *operations; ++i) {
    if (strcmp(operations[i].name, argv[2]) == 0) operation = &operations[i];
  }
  if (operation == NULL) {
    if (rank == 0) fprintf(stderr, "usage: peer SECONDS OPERATION BYTES..\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int i = 3; i < argc; ++i) measure(operation, atol(argv[i]), atof(argv[1]));
  MPI_Finalize();
  return 0;
}
