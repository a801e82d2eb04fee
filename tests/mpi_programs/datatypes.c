/* Datatypes: their properties, and messages that use them. What is printed, in the order of
   ranks, is
   what any MPI prints. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[32768];
static int length;
static void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  length += vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
  va_end(arguments);
}

static int rank, size;

/* Numbers that differ between implementations and are not wrong: names of combiners. */
static const char *name_of(int combiner) {
  return combiner == MPI_COMBINER_NAMED            ? "named"
         : combiner == MPI_COMBINER_DUP            ? "dup"
         : combiner == MPI_COMBINER_CONTIGUOUS     ? "contiguous"
         : combiner == MPI_COMBINER_VECTOR         ? "vector"
         : combiner == MPI_COMBINER_HVECTOR        ? "hvector"
         : combiner == MPI_COMBINER_INDEXED        ? "indexed"
         : combiner == MPI_COMBINER_HINDEXED       ? "hindexed"
         : combiner == MPI_COMBINER_INDEXED_BLOCK  ? "indexed_block"
         : combiner == MPI_COMBINER_HINDEXED_BLOCK ? "hindexed_block"
         : combiner == MPI_COMBINER_STRUCT         ? "struct"
         : combiner == MPI_COMBINER_SUBARRAY       ? "subarray"
         : combiner == MPI_COMBINER_DARRAY         ? "darray"
         : combiner == MPI_COMBINER_RESIZED        ? "resized"
                                                   : "another";
}

static unsigned char memory[4096], received[4096], packed[4096];
enum { middle = 1024 };

static void show(const char *name, MPI_Datatype type, int distance) {
  int bytes, integers, addresses, types, combiner;
  MPI_Aint lower, extent, true_lower, true_extent;
  MPI_Type_size(type, &bytes);
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  say("%s: size %d, bounds %ld %ld, true %ld %ld", name, bytes, (long)lower, (long)extent, (long)true_lower, (long)true_extent);
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  say("; %s %d %d %d", name_of(combiner), integers, addresses, types);
  if (combiner != MPI_COMBINER_NAMED) {
    int numbers[64];
    MPI_Aint places[16];
    MPI_Datatype olds[16];
    MPI_Type_get_contents(type, 64, 16, 16, numbers, places, olds);
    /* of arrays without the order and the distributions, which are constants of an implementation */
    if (combiner == MPI_COMBINER_SUBARRAY) --integers;
    if (combiner == MPI_COMBINER_DARRAY) integers = 3 + numbers[2];
    for (int i = 0; i < integers; ++i) say(" %d", numbers[i]);
    for (int i = 0; i < addresses; ++i) say(" %ld", (long)places[i]);
    for (int i = 0; i < types; ++i) {
      int of_its_own[4];
      MPI_Type_get_envelope(olds[i], of_its_own, of_its_own + 1, of_its_own + 2, of_its_own + 3);
      say(" %s", name_of(of_its_own[3]));
      if (of_its_own[3] != MPI_COMBINER_NAMED) MPI_Type_free(olds + i);
    }
  }
  say("\n");
  /* Two elements, packed in two parts; as a row of bytes to the next rank, and by the type back. */
  MPI_Type_commit(&type);
  for (int i = 0; i < (int)sizeof memory; ++i) memory[i] = (unsigned char)(i * 31 + i / 256 + rank);
  int position = 0, room;
  MPI_Pack_size(2, type, MPI_COMM_WORLD, &room);
  if (room < 2 * bytes || 2 * bytes > (int)sizeof packed) abort();
  MPI_Pack(memory + middle, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
  MPI_Pack(memory + middle + extent, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
  unsigned sum = 0;
  for (int i = 0; i < position; ++i) sum = sum * 31 + packed[i];
  const int next = (rank + distance) % size, previous = (rank + size - distance) % size;
  MPI_Status status;
  memset(received, 0, sizeof received);
  MPI_Sendrecv(memory + middle, 2, type, next, 1, received + middle, 2, type, previous, 1, MPI_COMM_WORLD, &status);
  int count, elements;
  MPI_Get_count(&status, type, &count);
  MPI_Get_elements(&status, type, &elements);
  unsigned arrived = 0;
  for (int i = 0; i < (int)sizeof received; ++i) arrived = arrived * 31 + received[i];
  memset(received, 0, sizeof received);
  position = 0;
  MPI_Unpack(packed, 2 * bytes, &position, received + middle, 2, type, MPI_COMM_WORLD);
  unsigned unpacked = 0;
  for (int i = 0; i < (int)sizeof received; ++i) unpacked = unpacked * 31 + received[i];
  say("  %d bytes packed: %x, unpacked %x, arrived %x, count %d, elements %d\n", position, sum, unpacked, arrived, count == MPI_UNDEFINED ? -1 : count,
      elements == MPI_UNDEFINED ? -1 : elements);
}

struct particle {
  char kind;
  double at[3];
  int charge;
  short spins[3];
};

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  const MPI_Datatype predefined[] = {MPI_CHAR, MPI_INT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_2INT, MPI_BYTE, MPI_C_DOUBLE_COMPLEX};
  for (size_t i = 0; i < sizeof predefined / sizeof *predefined; ++i) show("predefined", predefined[i], 1);
  MPI_Datatype row, column, types[16];
  MPI_Type_contiguous(5, MPI_INT, &row);
  show("contiguous", row, 1);
  MPI_Type_vector(3, 2, 7, MPI_SHORT, &column);
  show("vector", column, 1);
  int n = 0;
  MPI_Type_vector(3, 2, -4, MPI_INT, &types[n++]);
  MPI_Type_create_hvector(3, 2, 28, column, &types[n++]);
  const int lengths[] = {2, 0, 1, 3}, places[] = {5, 1, -2, 9};
  const MPI_Aint bytes[] = {40, 4, -12, 64};
  MPI_Type_indexed(4, lengths, places, MPI_FLOAT, &types[n++]);
  MPI_Type_create_hindexed(4, lengths, bytes, MPI_FLOAT, &types[n++]);
  MPI_Type_create_indexed_block(4, 2, places, MPI_INT, &types[n++]);
  MPI_Type_create_hindexed_block(4, 2, bytes, MPI_INT, &types[n++]);
  MPI_Type_create_resized(MPI_INT, -4, 12, &types[n++]);
  MPI_Type_dup(column, &types[n++]);
  for (int i = 0; i < n; ++i) show("made", types[i], 1);
  /* A struct of C, its extent as the compiler's. */
  const int blocks[] = {1, 3, 1, 3};
  const MPI_Aint members[] = {offsetof(struct particle, kind), offsetof(struct particle, at), offsetof(struct particle, charge),
                              offsetof(struct particle, spins)};
  const MPI_Datatype kinds[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT};
  MPI_Datatype particle, array, part;
  MPI_Type_create_struct(4, blocks, members, kinds, &particle);
  show("struct", particle, 1);
  MPI_Type_contiguous(3, particle, &array);
  show("structs", array, 1);
  MPI_Aint lower, extent;
  MPI_Type_get_extent(particle, &lower, &extent);
  say("as the compiler's: %d\n", lower == 0 && extent == (MPI_Aint)sizeof(struct particle));
  /* Parts of arrays. */
  const int sizes[] = {4, 5, 6}, subsizes[] = {2, 3, 2}, starts[] = {1, 0, 3};
  for (int order = 0; order < 2; ++order) {
    MPI_Type_create_subarray(3, sizes, subsizes, starts, order == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, MPI_SHORT, &part);
    show("subarray", part, 1);
    MPI_Type_free(&part);
    const int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 2, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {2, 2, 1};
    MPI_Type_create_darray(4, rank % 4, 3, sizes, distributions, arguments, grid, order == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, MPI_SHORT, &part);
    show("darray", part, 0);
    MPI_Type_free(&part);
  }
  /* A message that ends within an element of the receiver's. */
  struct particle out[2], in[2];
  memset(out, 0, sizeof out), memset(in, 0, sizeof in);
  out[0].kind = 'x', out[0].at[2] = 2.5, out[0].charge = -7, out[1].kind = 'y', out[1].at[0] = rank;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Status status;
  MPI_Datatype head;
  MPI_Type_create_struct(2, blocks, members, kinds, &head);
  MPI_Type_commit(&head);
  MPI_Datatype long_head;
  const int one_each[] = {1, 1};
  const MPI_Aint two_places[] = {0, sizeof(struct particle)};
  const MPI_Datatype whole_and_head[] = {particle, head};
  MPI_Type_create_struct(2, one_each, two_places, whole_and_head, &long_head);
  MPI_Type_commit(&long_head);
  MPI_Sendrecv(out, 1, long_head, next, 2, in, 2, particle, previous, 2, MPI_COMM_WORLD, &status);
  int count, elements;
  MPI_Get_count(&status, particle, &count);
  MPI_Get_elements(&status, particle, &elements);
  say("cut: %c %g %d %c %g, count %s, elements %d\n", in[0].kind, in[0].at[2], in[0].charge, in[1].kind, in[1].at[0],
      count == MPI_UNDEFINED ? "undefined" : "defined", elements);
  /* By absolute addresses. */
  int first = 10 * rank, second[3] = {1, 2, rank};
  MPI_Aint addresses[2];
  MPI_Get_address(&first, addresses), MPI_Get_address(second, addresses + 1);
  const int two_blocks[] = {1, 3};
  MPI_Datatype absolute;
  MPI_Type_create_hindexed(2, two_blocks, addresses, MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  int row_of_four[4];
  MPI_Sendrecv(MPI_BOTTOM, 1, absolute, next, 3, row_of_four, 4, MPI_INT, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  say("absolute: %d %d %d %d\n", row_of_four[0], row_of_four[1], row_of_four[2], row_of_four[3]);
  MPI_Bcast(MPI_BOTTOM, 1, absolute, size - 1, MPI_COMM_WORLD);
  say("broadcast: %d %d %d %d\n", first, second[0], second[1], second[2]);
  /* A transposition: columns are sent, rows come. */
  enum { most = 16 };
  int mine[2][most], turned[most][2];
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < most; ++j) mine[i][j] = 100 * rank + 10 * i + j;
  }
  MPI_Datatype one_column, columns;
  MPI_Type_vector(2, 1, most, MPI_INT, &one_column);
  MPI_Type_create_resized(one_column, 0, sizeof(int), &columns);
  MPI_Type_commit(&columns);
  MPI_Type_free(&one_column);
  MPI_Alltoall(mine, 1, columns, turned, 2, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) say("%d %d ", turned[i][0], turned[i][1]);
  int *const all = calloc((size_t)size * 2 * most, sizeof *all);
  MPI_Gather(mine, 2, columns, all, 4, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 4 * size && rank == 0; ++i) say("%d ", all[i]);
  MPI_Allgather(mine[1], 2, MPI_INT, all, 1, columns, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) say("%d %d ", all[i], all[i + most]);
  say("\n");
  free(all);
  /* Freed while it is used. */
  MPI_Request request;
  int one = rank, gap[3] = {0, 0, 0};
  MPI_Datatype sparse;
  MPI_Type_vector(2, 1, 2, MPI_INT, &sparse);
  MPI_Type_commit(&sparse);
  MPI_Irecv(gap, 1, sparse, previous, 4, MPI_COMM_WORLD, &request);
  MPI_Type_free(&sparse);
  const int pair[2] = {one, one + 1};
  MPI_Send(pair, 2, MPI_INT, next, 4, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  say("freed: %d %d %d %d\n", gap[0], gap[1], gap[2], sparse == MPI_DATATYPE_NULL);
  /* Names. */
  char name[MPI_MAX_OBJECT_NAME];
  int characters;
  MPI_Type_get_name(MPI_INT, name, &characters);
  say("%s %d ", name, characters);
  MPI_Type_get_name(particle, name, &characters);
  say("'%s' %d ", name, characters);
  MPI_Type_set_name(particle, "a particle");
  MPI_Type_get_name(particle, name, &characters);
  say("'%s' %d\n", name, characters);

  char *const texts = rank == 0 ? malloc((size_t)size * sizeof text) : NULL;
  MPI_Gather(text, sizeof text, MPI_CHAR, texts, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i) printf("rank %d\n%s", i, texts + (size_t)i * sizeof text);
  free(texts);
  MPI_Finalize();
  return 0;
}
