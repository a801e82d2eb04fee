/* Groups, communicators made of them, grids, infos, attributes. What is printed, in the order of ranks, is what any MPI prints.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[16384];
static int length;
static void say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  length += vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
  va_end(arguments);
}
static int rank, size;

static const char *compared(int result) {
  return result == MPI_IDENT ? "ident" : result == MPI_CONGRUENT ? "congruent" : result == MPI_SIMILAR ? "similar" : "unequal";
}

/* A group by the world's ranks. */
static void tell_group(const char *name, MPI_Group group) {
  MPI_Group world;
  int members, here;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_size(group, &members);
  MPI_Group_rank(group, &here);
  int own[64], in_world[64];
  for (int i = 0; i < members; ++i) own[i] = i;
  MPI_Group_translate_ranks(group, members, own, world, in_world);
  if (here == MPI_UNDEFINED) here = -1;
  say("%s: %d here, %d:", name, here, members);
  for (int i = 0; i < members; ++i) say(" %d", in_world[i]);
  say("\n");
  MPI_Group_free(&world);
}

static void tell_sum(const char *name, MPI_Comm on) {
  if (on == MPI_COMM_NULL) {
    say("%s: not in it\n", name);
    return;
  }
  int here, members, sum = 0, list[64];
  MPI_Comm_rank(on, &here);
  MPI_Comm_size(on, &members);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, on);
  MPI_Allgather(&rank, 1, MPI_INT, list, 1, MPI_INT, on);
  say("%s: %d of %d, sum %d:", name, here, members, sum);
  for (int i = 0; i < members; ++i) say(" %d", list[i]);
  say("\n");
}

static void groups(void) {
  MPI_Group world, even, some, made;
  int result;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int evens[1][3] = {{0, size - 1, 2}}, down[2][3] = {{size - 1, 1, -3}, {0, 0, 1}};
  MPI_Group_range_incl(world, 1, evens, &even);
  tell_group("even", even);
  MPI_Group_range_incl(world, 2, down, &some);
  tell_group("some", some);
  MPI_Group_range_excl(world, 1, evens, &made);
  tell_group("odd", made);
  MPI_Group_compare(even, made, &result);
  say("%s\n", compared(result));
  MPI_Group_free(&made);
  MPI_Group_union(some, even, &made), tell_group("union", made), MPI_Group_free(&made);
  MPI_Group_intersection(some, even, &made), tell_group("intersection", made), MPI_Group_free(&made);
  MPI_Group_difference(even, some, &made), tell_group("difference", made), MPI_Group_free(&made);
  MPI_Group_difference(even, even, &made);
  tell_group("empty", made);
  say("%s, ", made == MPI_GROUP_EMPTY ? "the empty group" : "another");
  const int two[] = {1, 0};
  MPI_Group_incl(world, 2, two, &made);
  MPI_Group reversed;
  MPI_Group_incl(made, 2, two, &reversed);
  MPI_Group_compare(made, reversed, &result);
  say("%s, ", compared(result));
  MPI_Group_free(&made);
  say("%d\n", made == MPI_GROUP_NULL);
  MPI_Group_excl(world, 2, two, &made), tell_group("without", made), MPI_Group_free(&made);
  MPI_Group_free(&reversed);
  /* Communicators of them. */
  MPI_Comm on;
  MPI_Comm_create(MPI_COMM_WORLD, some, &on);
  tell_sum("create", on);
  if (on != MPI_COMM_NULL) {
    MPI_Comm again;
    MPI_Comm_dup(on, &again);
    MPI_Comm_compare(on, again, &result);
    tell_sum(compared(result), again);
    MPI_Comm_free(&again), MPI_Comm_free(&on);
  }
  MPI_Group_rank(even, &result);
  for (int i = 0; result != MPI_UNDEFINED && i < 20; ++i) {
    MPI_Comm_create_group(MPI_COMM_WORLD, even, 5, &on);
    if (i == 19) tell_sum("create_group", on);
    MPI_Comm_free(&on);
  }
  MPI_Group_free(&even), MPI_Group_free(&some), MPI_Group_free(&world);
}

static void grids(void) {
  int sides[3] = {0, 0, 0}, periods[3] = {1, 0, 1}, coordinates[3], back;
  MPI_Dims_create(size, 2, sides);
  say("%d nodes: %d x %d;", size, sides[0], sides[1]);
  const int numbers[] = {1, 7, 12, 16, 30, 36, 60, 64, 100, 1024};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    int three[3] = {0, 0, 0};
    MPI_Dims_create(numbers[i], 3, three);
    say(" %dx%dx%d", three[0], three[1], three[2]);
  }
  say("\n");
  MPI_Comm grid, part;
  int kind, dimensions;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 0, &grid);
  MPI_Topo_test(grid, &kind);
  MPI_Cartdim_get(grid, &dimensions);
  say("%d %d\n", kind == MPI_CART, dimensions);
  MPI_Cart_get(grid, 2, sides, periods, coordinates);
  MPI_Cart_rank(grid, coordinates, &back);
  say("%dx%d, %d %d, at %d %d, rank %d\n", sides[0], sides[1], periods[0], periods[1], coordinates[0], coordinates[1], back);
  for (int d = 0; d < 2; ++d) {
    int source, destination;
    MPI_Cart_shift(grid, d, d == 0 ? 1 : 2, &source, &destination);
    say("shift %d: %d %d;", d, source == MPI_PROC_NULL ? -1 : source, destination == MPI_PROC_NULL ? -1 : destination);
    int got = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, destination, 0, &got, 1, MPI_INT, source, 0, grid, MPI_STATUS_IGNORE);
    say(" got %d\n", got);
  }
  int over[2] = {coordinates[0] - sides[0] * 3, coordinates[1]};
  MPI_Cart_rank(grid, over, &back);
  say("round: %d\n", back);
  for (int d = 0; d < 2; ++d) {
    const int remain[] = {d == 0, d == 1};
    MPI_Cart_sub(grid, remain, &part);
    tell_sum(d == 0 ? "column" : "row", part);
    MPI_Cartdim_get(part, &dimensions);
    say("%d dimension\n", dimensions);
    MPI_Comm_free(&part);
  }
  MPI_Comm copy;
  MPI_Comm_dup(grid, &copy);
  MPI_Topo_test(copy, &kind);
  say("a copy has it, too: %d\n", kind == MPI_CART);
  MPI_Comm_free(&copy), MPI_Comm_free(&grid);
  /* Fewer places than ranks. */
  if (size > 1) {
    const int fewer[] = {size - 1}, open[] = {0};
    MPI_Cart_create(MPI_COMM_WORLD, 1, fewer, open, 0, &grid);
    tell_sum("fewer", grid);
    if (grid != MPI_COMM_NULL) MPI_Comm_free(&grid);
  }
  MPI_Topo_test(MPI_COMM_WORLD, &kind);
  say("the world has none: %d\n", kind == MPI_UNDEFINED);
}

static void infos(void) {
  MPI_Info info, copy;
  int keys, flag, characters;
  char value[64], key[MPI_MAX_INFO_KEY + 1];
  MPI_Info_create(&info);
  MPI_Info_set(info, "colour", "red");
  MPI_Info_set(info, "size", "12");
  MPI_Info_set(info, "colour", "a longer value");
  MPI_Info_dup(info, &copy);
  MPI_Info_delete(info, "size");
  MPI_Info_get_nkeys(info, &keys);
  say("%d key:", keys);
  MPI_Info_get_nthkey(info, 0, key);
  MPI_Info_get(info, key, 63, value, &flag);
  say(" %s %s %d,", key, value, flag);
  MPI_Info_get(info, "size", 63, value, &flag);
  say(" %d, copy", flag);
  MPI_Info_get_valuelen(copy, "size", &characters, &flag);
  MPI_Info_get_nkeys(copy, &keys);
  say(" %d %d %d\n", keys, characters, flag);
  MPI_Info_free(&info), MPI_Info_free(&copy);
  say("%d\n", info == MPI_INFO_NULL);
}

static int copied, deleted;
static int copy_value(MPI_Comm on, int key, void *extra, void *in, void *out, int *flag) {
  (void)on, (void)key;
  ++*(int *)extra;
  *(void **)out = (char *)in + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_value(MPI_Comm on, int key, void *value, void *extra) {
  (void)on, (void)key, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

static void attributes(void) {
  int key, other, flag;
  char words[] = "words";
  void *found;
  MPI_Comm one, two;
  MPI_Comm_create_keyval(copy_value, delete_value, &key, &copied);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_get_attr(one, key, &found, &flag);
  say("%d ", flag);
  MPI_Comm_set_attr(one, key, words);
  MPI_Comm_set_attr(one, other, words + 3);
  MPI_Comm_dup(one, &two);
  MPI_Comm_get_attr(two, key, &found, &flag);
  say("%d %s ", flag, (char *)found);
  MPI_Comm_get_attr(two, other, &found, &flag);
  say("%d, copied %d deleted %d; ", flag, copied, deleted);
  MPI_Comm_delete_attr(two, key);
  MPI_Comm_set_attr(one, key, words + 2);
  say("deleted %d; ", deleted);
  MPI_Comm_free(&one), MPI_Comm_free(&two);
  say("deleted %d\n", deleted);
  MPI_Comm_free_keyval(&key), MPI_Comm_free_keyval(&other);
  say("%d\n", key == MPI_KEYVAL_INVALID);
  int *most_tag;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most_tag, &flag);
  say("tags: %d %d\n", flag, *most_tag >= 32767);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  groups();
  grids();
  infos();
  attributes();
  char *const texts = rank == 0 ? malloc((size_t)size * sizeof text) : NULL;
  MPI_Gather(text, sizeof text, MPI_CHAR, texts, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; ++i) printf("rank %d\n%s", i, texts + (size_t)i * sizeof text);
  free(texts);
  MPI_Finalize();
  return 0;
}
