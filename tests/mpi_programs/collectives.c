/* Every blocking collective on a communicator that the first word names, checked on each rank. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong, checks;
static void check(int right, int line) {
  ++checks;
  if (!right && wrong++ == 0) printf("line %d is wrong\n", line);
}
#define CHECK(right) check((right), __LINE__)

/* 2x2 matrices modulo a prime: associative, and not commutative. */
typedef struct {
  int a, b, c, d;
} Matrix;
enum { PRIME = 9973 };
static Matrix times(Matrix l, Matrix r) {
  const Matrix m = {(l.a * r.a + l.b * r.c) % PRIME, (l.a * r.b + l.b * r.d) % PRIME, (l.c * r.a + l.d * r.c) % PRIME,
                    (l.c * r.b + l.d * r.d) % PRIME};
  return m;
}
static Matrix of_rank(int rank) {
  const Matrix m = {rank + 1, 2, 3, rank * rank + 1};
  return m;
}
static void multiply(void *in, void *inout, int *length, MPI_Datatype *type) {
  Matrix *const l = in, *const r = inout;
  int size;
  MPI_Type_size(*type, &size);
  CHECK(size == (int)sizeof(Matrix));
  for (int i = 0; i < *length; ++i) r[i] = times(l[i], r[i]);
}

static void all_on(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int counts[] = {1, 3, 17, 1000};
  for (int k = 0; k < 4; ++k) {
    const int m = counts[k];
    const size_t each = (size_t)m * (size_t)size;
    int *const out = malloc(each * sizeof *out), *const in = malloc(each * sizeof *in);
    int right = 1;
    for (int root = 0; root < size; root += 1 + size / 3) {
      for (int i = 0; i < m; ++i) in[i] = rank == root ? root * 1000 + i : -1;
      MPI_Bcast(in, m, MPI_INT, root, comm);
      for (int i = 0; i < m; ++i) right = right && in[i] == root * 1000 + i;
      CHECK(right);
      for (int i = 0; i < m; ++i) out[i] = rank * 10000 + i;
      MPI_Gather(out, m, MPI_INT, in, m, MPI_INT, root, comm);
      for (size_t i = 0; rank == root && i < each; ++i) right = right && in[i] == (int)(i / (size_t)m) * 10000 + (int)(i % (size_t)m);
      CHECK(right);
      for (size_t i = 0; i < each; ++i) out[i] = rank == root ? (int)i + root : -5;
      MPI_Scatter(out, m, MPI_INT, rank == root ? MPI_IN_PLACE : in, m, MPI_INT, root, comm);
      for (int i = 0; rank != root && i < m; ++i) right = right && in[i] == rank * m + i + root;
      CHECK(right);
      for (int i = 0; i < m; ++i) out[i] = rank + i;
      MPI_Reduce(out, in, m, MPI_INT, MPI_SUM, root, comm);
      for (int i = 0; rank == root && i < m; ++i) right = right && in[i] == size * (size - 1) / 2 + size * i;
      CHECK(right);
      for (int i = 0; i < m; ++i) in[i] = rank + i;
      MPI_Reduce(rank == root ? MPI_IN_PLACE : in, in, m, MPI_INT, MPI_MAX, root, comm);
      for (int i = 0; rank == root && i < m; ++i) right = right && in[i] == size - 1 + i;
      CHECK(right);
    }
    for (int i = 0; i < m; ++i) out[i] = rank * 10000 + i;
    MPI_Allgather(out, m, MPI_INT, in, m, MPI_INT, comm);
    for (size_t i = 0; i < each; ++i) right = right && in[i] == (int)(i / (size_t)m) * 10000 + (int)(i % (size_t)m);
    CHECK(right);
    for (size_t i = 0; i < each; ++i) in[i] = (int)(i / (size_t)m) == rank ? rank * 7 : -1;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, m, MPI_INT, comm);
    for (size_t i = 0; i < each; ++i) right = right && in[i] == (int)(i / (size_t)m) * 7;
    CHECK(right);
    for (size_t i = 0; i < each; ++i) out[i] = rank * 1000 + (int)(i / (size_t)m);
    MPI_Alltoall(out, m, MPI_INT, in, m, MPI_INT, comm);
    for (size_t i = 0; i < each; ++i) right = right && in[i] == (int)(i / (size_t)m) * 1000 + rank;
    CHECK(right);
    memcpy(in, out, each * sizeof *in);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, m, MPI_INT, comm);
    for (size_t i = 0; i < each; ++i) right = right && in[i] == (int)(i / (size_t)m) * 1000 + rank;
    CHECK(right);
    double *const numbers = malloc(2 * each * sizeof *numbers);
    for (int i = 0; i < m; ++i) numbers[i] = rank + i;
    MPI_Allreduce(numbers, numbers + m, m, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < m; ++i) right = right && numbers[m + i] == size * (size - 1) / 2 + size * i;
    MPI_Allreduce(MPI_IN_PLACE, numbers, m, MPI_DOUBLE, MPI_MIN, comm);
    for (int i = 0; i < m; ++i) right = right && numbers[i] == i;
    CHECK(right);
    for (int i = 0; i < m; ++i) numbers[i] = rank + i;
    MPI_Scan(numbers, numbers + m, m, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < m; ++i) right = right && numbers[m + i] == rank * (rank + 1) / 2 + (rank + 1) * i;
    CHECK(right);
    for (int i = 0; i < m; ++i) numbers[m + i] = -1;
    MPI_Exscan(numbers, numbers + m, m, MPI_DOUBLE, MPI_SUM, comm);
    for (int i = 0; i < m; ++i) right = right && numbers[m + i] == (rank == 0 ? -1 : rank * (rank - 1) / 2 + rank * i);
    CHECK(right);
    for (size_t i = 0; i < each; ++i) out[i] = rank + (int)i;
    MPI_Reduce_scatter_block(out, in, m, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < m; ++i) right = right && in[i] == size * (size - 1) / 2 + size * (rank * m + i);
    CHECK(right);
    free(out), free(in), free(numbers);
  }
  /* Blocks of many sizes, none among them, with gaps. */
  int *const sizes = malloc((size_t)size * sizeof *sizes), *const places = malloc((size_t)size * sizeof *places);
  int *const in = malloc((size_t)(size * (size + 4)) * sizeof *in), *const out = malloc((size_t)(size * (size + 4)) * sizeof *out);
  for (int gap = 0; gap < 2; ++gap) {
    int total = 0, right = 1;
    for (int i = 0; i < size; ++i) sizes[i] = i % 3, places[i] = total, total += sizes[i] + gap;
    for (int i = 0; i < size; ++i) out[i] = rank * 100 + i;
    memset(in, 0, (size_t)(size * (size + 4)) * sizeof *in);
    MPI_Allgatherv(out, sizes[rank], MPI_INT, in, sizes, places, MPI_INT, comm);
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < sizes[i]; ++j) right = right && in[places[i] + j] == i * 100 + j;
    CHECK(right);
    memset(in, 0, (size_t)(size * (size + 4)) * sizeof *in);
    MPI_Gatherv(out, sizes[rank], MPI_INT, in, sizes, places, MPI_INT, size - 1, comm);
    for (int i = 0; rank == size - 1 && i < size; ++i)
      for (int j = 0; j < sizes[i]; ++j) right = right && in[places[i] + j] == i * 100 + j;
    CHECK(right);
    for (int i = 0; i < total; ++i) out[i] = i;
    MPI_Scatterv(out, sizes, places, MPI_INT, in, sizes[rank], MPI_INT, 0, comm);
    for (int j = 0; j < sizes[rank]; ++j) right = right && in[j] == places[rank] + j;
    CHECK(right);
    /* To rank i its own number of elements, and of it as many as this one's number asks for. */
    int *const from = malloc((size_t)size * sizeof *from), *const at = malloc((size_t)size * sizeof *at);
    int received = 0;
    for (int i = 0; i < size; ++i) from[i] = rank % 3, at[i] = received, received += from[i] + gap;
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < sizes[i]; ++j) out[places[i] + j] = rank * 1000 + i;
    MPI_Alltoallv(out, sizes, places, MPI_INT, in, from, at, MPI_INT, comm);
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < from[i]; ++j) right = right && in[at[i] + j] == i * 1000 + rank;
    CHECK(right);
    free(from), free(at);
    int whole = 0, before = 0;
    for (int i = 0; i < size; ++i) before += i < rank ? sizes[i] : 0, whole += sizes[i];
    for (int i = 0; i < whole; ++i) out[i] = rank * i;
    MPI_Reduce_scatter(out, in, sizes, MPI_INT, MPI_SUM, comm);
    for (int j = 0; j < sizes[rank]; ++j) right = right && in[j] == size * (size - 1) / 2 * (before + j);
    CHECK(right);
  }
  free(sizes), free(places), free(in), free(out);
  /* An operator of our own, in the order of ranks. */
  MPI_Op op;
  MPI_Datatype type;
  MPI_Type_contiguous(4, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(multiply, 0, &op);
  Matrix mine[3], product[3], expected = of_rank(0), until = of_rank(0);
  for (int i = 0; i < 3; ++i) mine[i] = of_rank(rank);
  for (int i = 1; i < size; ++i) {
    expected = times(expected, of_rank(i));
    if (i <= rank) until = times(until, of_rank(i));
  }
  MPI_Allreduce(mine, product, 3, type, op, comm);
  CHECK(memcmp(product + 1, &expected, sizeof expected) == 0);
  MPI_Scan(mine, product, 3, type, op, comm);
  CHECK(memcmp(product + 2, &until, sizeof until) == 0);
  MPI_Reduce(mine, product, 3, type, op, size / 2, comm);
  CHECK(rank != size / 2 || memcmp(product, &expected, sizeof expected) == 0);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  /* A value with its place, truth and bits. */
  struct {
    double value;
    int place;
  } pair = {(rank * 7) % size / 2, rank}, least;
  MPI_Allreduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
  CHECK(least.value == 0 && least.place == 0);
  int truth = rank == size - 1, some, bits = 1 << (rank % 31), joined;
  MPI_Allreduce(&truth, &some, 1, MPI_INT, MPI_LOR, comm);
  CHECK(some == 1);
  MPI_Allreduce(&truth, &some, 1, MPI_INT, MPI_LAND, comm);
  CHECK(some == (size == 1));
  MPI_Allreduce(&bits, &joined, 1, MPI_INT, MPI_BOR, comm);
  CHECK(joined == (size >= 31 ? 0x7fffffff : (1 << size) - 1));
  MPI_Barrier(comm);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  all_on(MPI_COMM_WORLD);
  all_on(MPI_COMM_SELF);
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 3, -rank, &part);
  all_on(part);
  MPI_Comm_free(&part);
  int all_wrong, least;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&checks, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) printf("%s, %d wrong\n", least > 100 ? "all was checked" : "too little was checked", all_wrong);
  MPI_Finalize();
  return wrong != 0;
}
