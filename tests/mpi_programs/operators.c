/* User-defined operators, one of them not commutative, on a type with gaps: products of matrices,
   in the order of ranks. What is
   printed is what any MPI prints. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>

struct matrix {
  int a, gap_1, b, gap_2, c, d;
};
enum { many = 5 };

static void multiply(void *left, void *right, int *count, MPI_Datatype *type) {
  (void)type;
  const struct matrix *const x = left;
  struct matrix *const y = right;
  for (int i = 0; i < *count; ++i) {
    struct matrix r = y[i];
    r.a = (x[i].a * y[i].a + x[i].b * y[i].c) % 1009;
    r.b = (x[i].a * y[i].b + x[i].b * y[i].d) % 1009;
    r.c = (x[i].c * y[i].a + x[i].d * y[i].c) % 1009;
    r.d = (x[i].c * y[i].b + x[i].d * y[i].d) % 1009;
    y[i] = r;
  }
}

static struct matrix in[64 + many], out[many];
static int rank, size;
static void begin(void) {
  for (int i = 0; i < 64 + many; ++i) in[i] = (struct matrix){rank + i + 1, -1, i + 2, -1, rank * 3 + i, 1};
  for (int i = 0; i < many; ++i) out[i] = (struct matrix){0, 77, 0, 78, 0, 0};
}
static void show(const char *name, int sender, int count) {
  struct matrix shown[many];
  MPI_Request request;
  if (rank == 0) MPI_Irecv(shown, sizeof shown, MPI_BYTE, sender, 1, MPI_COMM_WORLD, &request);
  if (rank == sender) MPI_Send(out, sizeof out, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  if (rank != 0) return;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("%s, rank %d:", name, sender);
  for (int i = 0; i < count; ++i) printf(" (%d %d %d %d %d %d)", shown[i].a, shown[i].gap_1, shown[i].b, shown[i].gap_2, shown[i].c, shown[i].d);
  printf("\n");
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int lengths[] = {1, 1, 2};
  const MPI_Aint places[] = {0, 8, 16};
  const MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT};
  MPI_Datatype type;
  MPI_Type_create_struct(3, lengths, places, types, &type);
  MPI_Type_commit(&type);
  MPI_Op product;
  MPI_Op_create(multiply, 0, &product);
  const int last = size - 1;
  begin(), MPI_Allreduce(in, out, many, type, product, MPI_COMM_WORLD), show("allreduce", last, many);
  begin(), MPI_Scan(in, out, many, type, product, MPI_COMM_WORLD), show("scan", last / 2, many);
  begin(), MPI_Exscan(in, out, many, type, product, MPI_COMM_WORLD), show("exscan", last, many);
  begin(), MPI_Reduce(in, out, many, type, product, last, MPI_COMM_WORLD), show("reduce", last, many);
  begin(), MPI_Reduce_scatter_block(in, out, 1, type, product, MPI_COMM_WORLD), show("reduce_scatter_block", last, 2);
  begin();
  for (int i = 0; i < many; ++i) out[i] = in[i], out[i].gap_1 = 5;
  MPI_Allreduce(MPI_IN_PLACE, out, many, type, product, MPI_COMM_WORLD), show("in place", last, many);
  begin();
  for (int i = 0; i < many; ++i) out[i] = in[i + 1], out[i].gap_1 = 5;
  MPI_Reduce_local(in, out, many, type, product), show("local", last, many);
  int commutes;
  MPI_Op_commutative(product, &commutes);
  if (rank == 0) printf("commutes: %d\n", commutes);
  MPI_Op_free(&product), MPI_Type_free(&type);
  MPI_Finalize();
  return 0;
}
