/* Windows in every kind of epoch: all is checked, and rank 0 prints errors.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, wrong;
static void check(int right, int line) {
  if (!right && wrong++ == 0) printf("rank %d: line %d is wrong\n", rank, line);
}
#define CHECK(right) check((right), __LINE__)

static int class_of(int error) {
  int its_class;
  MPI_Error_class(error, &its_class);
  return its_class;
}

static void fences(void) {
  enum { COUNT = 5000 };
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  int *memory, mine[COUNT], got[COUNT];
  MPI_Win window;
  MPI_Win_allocate(COUNT * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  for (int i = 0; i < COUNT; ++i) {
    memory[i] = -1;
    mine[i] = rank * COUNT + i;
  }
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  MPI_Put(mine, COUNT / 2, MPI_INT, next, 0, COUNT / 2, MPI_INT, window);
  MPI_Put(mine, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < COUNT / 2; ++i) CHECK(memory[i] == previous * COUNT + i);
  CHECK(memory[COUNT / 2] == -1);
  MPI_Get(got, 10, MPI_INT, next, 3, 10, MPI_INT, window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < 10; ++i) CHECK(got[i] == rank * COUNT + 3 + i);
  /* From all to all, joined: each element is a sum over the ranks. */
  for (int i = 0; i < 100; ++i) memory[i] = 0;
  MPI_Win_fence(0, window);
  for (int to = 0; to < size; ++to) MPI_Accumulate(mine, 100, MPI_INT, to, 0, 100, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < 100; ++i) CHECK(memory[i] == size * (size - 1) / 2 * COUNT + size * i);
  /* Elements that lie apart, at either end. */
  MPI_Datatype column;
  MPI_Type_vector(4, 2, 5, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < 100; ++i) memory[i] = 1;
  MPI_Win_fence(0, window);
  MPI_Put(mine, 8, MPI_INT, next, 10, 1, column, window);
  MPI_Accumulate(mine, 1, column, next, 50, 8, MPI_INT, MPI_SUM, window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < 8; ++i) {
    CHECK(memory[10 + i / 2 * 5 + i % 2] == previous * COUNT + i);
    CHECK(memory[50 + i] == 1 + previous * COUNT + i / 2 * 5 + i % 2);
  }
  CHECK(memory[12] == 1 && memory[14] == 1 && memory[58] == 1);
  MPI_Get(got, 8, MPI_INT, next, 10, 1, column, window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  for (int i = 0; i < 8; ++i) CHECK(got[i] == rank * COUNT + i);
  MPI_Type_free(&column);
  MPI_Win_free(&window);
  CHECK(window == MPI_WIN_NULL);
}

/* Each exposes its memory to the next and accesses that of the previous one. */
static void groups(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  int memory[4] = {0}, flag = 0;
  MPI_Win window;
  MPI_Group all, to_next, to_previous;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_get_group(window, &all);
  MPI_Group_incl(all, 1, &next, &to_next);
  MPI_Group_incl(all, 1, &previous, &to_previous);
  for (int turn = 0; turn < 5; ++turn) {
    const int value[2] = {rank + 100 * turn, turn};
    MPI_Win_post(to_next, 0, window);
    MPI_Win_start(to_previous, 0, window);
    MPI_Put(value, 2, MPI_INT, previous, 1, 2, MPI_INT, window);
    MPI_Win_complete(window);
    if (turn % 2 == 0) {
      MPI_Win_wait(window);
    } else {
      for (flag = 0; !flag;) MPI_Win_test(window, &flag);
    }
    CHECK(memory[0] == 0 && memory[1] == next + 100 * turn && memory[2] == turn && memory[3] == 0);
  }
  MPI_Group_free(&all), MPI_Group_free(&to_next), MPI_Group_free(&to_previous);
  MPI_Win_free(&window);
}

static void locks(void) {
  enum { TURNS = 10 };
  long long *memory;
  MPI_Win window;
  MPI_Win_allocate(8 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  for (int i = 0; i < 8; ++i) memory[i] = 0;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  const long long one = 1;
  long long value, tickets = 0;
  for (int turn = 0; turn < TURNS; ++turn) { /* what is read is still so when it is written */
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Get(&value, 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, window);
    MPI_Win_flush(0, window);
    ++value;
    MPI_Put(&value, 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, window);
    MPI_Win_unlock(0, window);
  }
  MPI_Win_lock_all(0, window);
  for (int turn = 0; turn < TURNS; ++turn) {
    MPI_Fetch_and_op(&one, &value, MPI_LONG_LONG, size - 1, 1, MPI_SUM, window);
    MPI_Win_flush(size - 1, window);
    tickets += value;
  }
  /* A lock of one's own, of compare and swap. */
  for (int turn = 0; turn < TURNS; ++turn) {
    const long long none = 0, mine = rank + 1;
    for (value = -1; value != 0;) {
      MPI_Compare_and_swap(&mine, &none, &value, MPI_LONG_LONG, 0, 2, window);
      MPI_Win_flush(0, window);
    }
    MPI_Get(&value, 1, MPI_LONG_LONG, 0, 3, 1, MPI_LONG_LONG, window);
    MPI_Win_flush_all(window);
    ++value;
    MPI_Put(&value, 1, MPI_LONG_LONG, 0, 3, 1, MPI_LONG_LONG, window);
    MPI_Win_flush(0, window);
    MPI_Fetch_and_op(&none, &value, MPI_LONG_LONG, 0, 2, MPI_REPLACE, window);
    MPI_Win_flush(0, window);
    CHECK(value == mine);
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  const long long calls = (long long)TURNS * size;
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  if (rank == 0) CHECK(memory[0] == calls && memory[2] == 0 && memory[3] == calls);
  if (rank == size - 1) CHECK(memory[1] == calls);
  MPI_Win_unlock(rank, window);
  long long all;
  MPI_Allreduce(&tickets, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == calls * (calls - 1) / 2);
  /* Requests. */
  MPI_Barrier(MPI_COMM_WORLD);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Request requests[2];
  long long out[2] = {rank, 5}, in[2] = {-1, -1};
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  MPI_Rput(out, 1, MPI_LONG_LONG, next, 4, 1, MPI_LONG_LONG, window, requests);
  MPI_Raccumulate(out + 1, 1, MPI_LONG_LONG, next, 5, 1, MPI_LONG_LONG, MPI_SUM, window, requests + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Win_flush_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(window);
  CHECK(memory[4] == previous && memory[5] == 5);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Rget(in, 1, MPI_LONG_LONG, next, 4, 1, MPI_LONG_LONG, window, requests);
  MPI_Rget_accumulate(out, 1, MPI_LONG_LONG, in + 1, 1, MPI_LONG_LONG, next, 5, 1, MPI_LONG_LONG, MPI_MAX, window, requests + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(in[0] == rank && in[1] == 5);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

static void accumulates(void) {
  struct Pair {
    double value;
    int place;
  };
  struct {
    struct Pair pair;
    int sums[4];
    unsigned char bits;
  } memory;
  memset(&memory, 0, sizeof memory);
  MPI_Win window;
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  const struct Pair mine = {100 - (rank - 1) * (rank - 1), rank};
  const MPI_Aint sums = (MPI_Aint)((char *)memory.sums - (char *)&memory), bits = (MPI_Aint)((char *)&memory.bits - (char *)&memory);
  MPI_Accumulate(&mine, 1, MPI_DOUBLE_INT, 0, 0, 1, MPI_DOUBLE_INT, MPI_MAXLOC, window);
  const unsigned char bit = (unsigned char)(1 << rank % 8);
  MPI_Accumulate(&bit, 1, MPI_UNSIGNED_CHAR, 0, bits, 1, MPI_UNSIGNED_CHAR, MPI_BOR, window);
  MPI_Win_fence(0, window);
  if (rank == 0) {
    CHECK(memory.pair.value == (size > 1 ? 100 : 99) && memory.pair.place == (size > 1 ? 1 : 0));
    CHECK(memory.bits == (1 << (size < 8 ? size : 8)) - 1);
  }
  int old[4] = {-1, -1, -1, -1}, values[4] = {7, 8, 9, 10};
  if (rank == 0) { /* replaced; then only read; in the order of the calls */
    MPI_Get_accumulate(values, 4, MPI_INT, old, 4, MPI_INT, size - 1, sums, 4, MPI_INT, MPI_REPLACE, window);
    MPI_Accumulate(values, 4, MPI_INT, size - 1, sums, 4, MPI_INT, MPI_PROD, window);
  }
  MPI_Win_fence(0, window);
  if (rank == 0) CHECK(old[0] == 0 && old[3] == 0);
  MPI_Get_accumulate(NULL, 0, MPI_INT, old, 4, MPI_INT, size - 1, sums, 4, MPI_INT, MPI_NO_OP, window);
  MPI_Win_fence(0, window);
  CHECK(old[0] == 49 && old[1] == 64 && old[2] == 81 && old[3] == 100);
  MPI_Win_free(&window);
}

static void dynamic_memory(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Win window;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  int *const memory = malloc(10 * sizeof *memory);
  MPI_Win_attach(window, memory, 10 * sizeof *memory);
  MPI_Aint own, its;
  MPI_Get_address(memory, &own);
  MPI_Sendrecv(&own, 1, MPI_AINT, previous, 0, &its, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
  MPI_Put(&rank, 1, MPI_INT, next, MPI_Aint_add(its, 3 * sizeof *memory), 1, MPI_INT, window);
  MPI_Win_unlock(next, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  CHECK(memory[3] == previous);
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(window, memory);
  free(memory);
  MPI_Win_free(&window);
}

static int deleted;
static int on_delete(MPI_Win window, int key, void *value, void *extra) {
  (void)window, (void)key;
  deleted += *(int *)value + *(int *)extra;
  return MPI_SUCCESS;
}
static void descriptions(void) {
  int memory[3], key, flag, length, value = 5, extra = 10, *number;
  MPI_Aint *bytes;
  void *base;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Win window;
  MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_get_attr(window, MPI_WIN_BASE, &base, &flag);
  CHECK(flag && base == memory);
  MPI_Win_get_attr(window, MPI_WIN_SIZE, &bytes, &flag);
  CHECK(flag && *bytes == sizeof memory);
  MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &number, &flag);
  CHECK(flag && *number == 4);
  MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &number, &flag);
  CHECK(flag && *number == MPI_WIN_FLAVOR_CREATE);
  MPI_Win_get_attr(window, MPI_WIN_MODEL, &number, &flag);
  CHECK(flag && *number == MPI_WIN_UNIFIED);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, &extra);
  MPI_Win_get_attr(window, key, &number, &flag);
  CHECK(!flag);
  MPI_Win_set_attr(window, key, &value);
  MPI_Win_get_attr(window, key, &number, &flag);
  CHECK(flag && *number == 5);
  MPI_Win_set_name(window, "a name");
  MPI_Win_get_name(window, name, &length);
  CHECK(length == 6 && strcmp(name, "a name") == 0);
  /* Errors, by the window's own handler. */
  MPI_Errhandler handler;
  MPI_Win_get_errhandler(window, &handler);
  CHECK(handler == MPI_ERRORS_ARE_FATAL);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Put(memory, 1, MPI_INT, size, 0, 1, MPI_INT, window)) == MPI_ERR_RANK);
  CHECK(class_of(MPI_Win_unlock(0, window)) == MPI_ERR_RMA_SYNC);
  MPI_Win_free_keyval(&key);
  MPI_Win_free(&window);
  CHECK(deleted == 15);
}

/* The target waits for a message, and takes no part. */
static void without_the_target(void) {
  int *memory;
  MPI_Win window;
  MPI_Win_allocate((MPI_Aint)(rank == 0 ? (size_t)size * sizeof(int) : 0), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  int token = 0;
  if (rank == 0) {
    if (size > 1) MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    for (int i = 1; i < size; ++i) CHECK(memory[i] == i * i);
    MPI_Win_unlock(0, window);
  } else {
    const int value = rank * rank;
    if (rank > 1) MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Put(&value, 1, MPI_INT, 0, rank, 1, MPI_INT, window);
    MPI_Win_unlock(0, window);
    MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
  }
  MPI_Win_free(&window);
}

/* Freed ones are used again. */
static void many(void) {
  MPI_Win window, first = MPI_WIN_NULL;
  int value, others = 0;
  for (int i = 0; i < 50; ++i) {
    MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (i == 0) first = window;
    others += window != first;
    MPI_Win_free(&window);
  }
  wrong += others > 0;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  fences();
  groups();
  locks();
  accumulates();
  dynamic_memory();
  descriptions();
  without_the_target();
  many();
  int all;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return wrong != 0;
}
