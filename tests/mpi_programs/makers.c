/* Communicators made by some of the ranks, by one far ahead of the others, or not at all.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, wrong;

/* Groups that differ and overlap, under one tag: only their members call, and come to the next one before others do. */
static void random_groups(void) {
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int *const members = malloc((size_t)size * sizeof *members);
  unsigned state = 1;
  for (int turn = 0; turn < 200; ++turn) {
    int count = 0, sum = 0, found = 0, is_in = 0;
    for (int i = 0; i < size; ++i) {
      state = state * 1103515245u + 12345u;
      if ((state >> 16) % 2 == 0) continue;
      members[count++] = i;
      sum += i;
      is_in += i == rank;
    }
    MPI_Group_incl(world, count, members, &group);
    MPI_Comm made = MPI_COMM_WORLD;
    if (is_in || turn % 3 == 0) MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &made); /* no member: nothing happens */
    if (is_in) {
      MPI_Allreduce(&rank, &found, 1, MPI_INT, MPI_SUM, made);
      wrong += found != sum;
      MPI_Comm_free(&made);
    } else {
      wrong += turn % 3 == 0 && made != MPI_COMM_NULL;
    }
    MPI_Group_free(&group);
  }
  /* Two that are disjoint, at once. */
  const int half[1][3] = {{rank % 2, size - 1, 2}};
  int range[1][3];
  memcpy(range, half, sizeof range);
  MPI_Group_range_incl(world, 1, range, &group);
  for (int turn = 0; turn < 50; ++turn) {
    MPI_Comm made;
    int members_of_it;
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &made);
    MPI_Comm_size(made, &members_of_it);
    wrong += members_of_it != (size + 1 - rank % 2) / 2;
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&group), MPI_Group_free(&world);
  free(members);
}

/* 40000 in all, 100 at a time; nobody else holds the ranks together. */
static void many(void) {
  MPI_Comm copies[100];
  for (int turn = 0; turn < 400; ++turn) {
    for (int i = 0; i < 100; ++i) wrong += MPI_Comm_dup(MPI_COMM_WORLD, copies + i) != MPI_SUCCESS;
    for (int i = 0; i < 100; ++i) MPI_Comm_free(copies + i);
  }
}

static int calls;
static int refuse_copy(MPI_Comm on, int key, void *extra, void *in, void *out, int *flag) {
  (void)on, (void)key, (void)extra, (void)in, (void)out, (void)flag;
  return MPI_ERR_OTHER;
}
static int count_copy(MPI_Comm on, int key, void *extra, void *in, void *out, int *flag) {
  (void)on, (void)key, (void)extra;
  ++calls;
  *(void **)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int count_delete(MPI_Comm on, int key, void *value, void *extra) {
  (void)on, (void)value, (void)extra;
  int again = key; /* a key that is in use may be freed again */
  MPI_Comm_free_keyval(&again);
  --calls;
  return MPI_SUCCESS;
}
static int refuse_type(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag) {
  (void)type, (void)key, (void)extra, (void)in, (void)out, (void)flag;
  return MPI_ERR_OTHER;
}

static void attributes(void) {
  int bad, good, flag, *found, value = 5;
  MPI_Comm parent, copy = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(count_copy, count_delete, &good, NULL);
  MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &bad, NULL);
  MPI_Comm_set_attr(parent, good, &value);
  MPI_Comm_set_attr(parent, bad, &value);
  wrong += MPI_Comm_dup(parent, &copy) == MPI_SUCCESS || copy != MPI_COMM_NULL || calls != 0;
  MPI_Request request;
  copy = MPI_COMM_WORLD;
  wrong += MPI_Comm_idup(parent, &copy, &request) == MPI_SUCCESS || copy != MPI_COMM_NULL || request != MPI_REQUEST_NULL;
  MPI_Comm_delete_attr(parent, bad);
  const int number = good;
  MPI_Comm_free_keyval(&good);
  wrong += good != MPI_KEYVAL_INVALID;
  MPI_Comm_get_attr(parent, number, &found, &flag); /* goes on while it is in use */
  wrong += !flag || *found != 5;
  MPI_Comm_idup(parent, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  wrong += calls != 1;
  MPI_Comm_get_attr(copy, number, &found, &flag);
  wrong += !flag || *found != 5;
  int sum;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy);
  wrong += sum != size * (size - 1) / 2;
  MPI_Comm_free(&copy);
  wrong += calls != 0;
  MPI_Comm_delete_attr(parent, number);
  MPI_Comm_free(&parent);
  MPI_Comm_free_keyval(&bad);
  /* Predefined types have them, too. */
  MPI_Datatype type = MPI_INT;
  MPI_Type_create_keyval(refuse_type, MPI_TYPE_NULL_DELETE_FN, &bad, NULL);
  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &good, NULL);
  MPI_Type_set_attr(MPI_INT, good, &value);
  MPI_Type_get_attr(MPI_INT, good, &found, &flag);
  wrong += !flag || found != &value;
  MPI_Type_get_attr(MPI_DOUBLE, good, &found, &flag);
  wrong += flag;
  MPI_Type_dup(MPI_INT, &type);
  MPI_Type_get_attr(type, good, &found, &flag);
  wrong += !flag || found != &value;
  MPI_Type_set_attr(type, bad, &value);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Datatype copied = MPI_INT;
  wrong += MPI_Type_dup(type, &copied) == MPI_SUCCESS || copied != MPI_DATATYPE_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Type_free(&type);
  MPI_Type_delete_attr(MPI_INT, good);
  MPI_Type_get_attr(MPI_INT, good, &found, &flag);
  wrong += flag;
  MPI_Type_free_keyval(&good), MPI_Type_free_keyval(&bad);
}

static void hints_and_hardware(void) {
  MPI_Info info, used;
  MPI_Comm made;
  int flag, members;
  char value[32];
  MPI_Info_create(&info);
  MPI_Info_set(info, "colour_of_the_cable", "red");
  MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &made);
  MPI_Comm_get_info(made, &used);
  MPI_Info_get(used, "colour_of_the_cable", 31, value, &flag);
  wrong += flag;
  MPI_Info_get(used, "mpi_assert_no_any_tag", 31, value, &flag);
  wrong += !flag || strcmp(value, "true") != 0;
  MPI_Info_free(&used), MPI_Comm_free(&made);
  /* Each node has memory of its own, and no other resource has a name. */
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &made);
  wrong += made != MPI_COMM_NULL;
  MPI_Info_set(info, "mpi_hw_resource_type", "l3cache");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &made);
  wrong += made != MPI_COMM_NULL;
  MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &made);
  MPI_Comm_size(made, &members);
  wrong += members != 1;
  MPI_Comm_free(&made), MPI_Info_free(&info);
  MPI_Info_create(&info);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &made);
  wrong += (made == MPI_COMM_NULL) != (size == 1);
  if (size > 1) {
    MPI_Info_get(info, "mpi_hw_resource_type", 31, value, &flag);
    wrong += !flag || strcmp(value, "mpi_shared_memory") != 0;
    MPI_Comm_free(&made);
  }
  MPI_Info_free(&info);
  MPI_Comm_split_type(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  wrong += (made == MPI_COMM_NULL) != (rank == 0);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
}

/* What hangs on MPI_COMM_SELF ends first, the last first, while MPI may still be used. */
static int at_end;
static int end_one(MPI_Comm on, int key, void *value, void *extra) {
  (void)key, (void)extra;
  int finalized, other;
  MPI_Finalized(&finalized);
  MPI_Comm_rank(MPI_COMM_WORLD, &other);
  at_end = at_end * 10 + (int)((char *)value - (char *)&at_end);
  wrong += finalized || on != MPI_COMM_SELF || other != rank;
  return MPI_SUCCESS;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  random_groups();
  many();
  attributes();
  hints_and_hardware();
  for (int i = 1; i <= 3; ++i) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_one, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, (char *)&at_end + i);
    MPI_Comm_free_keyval(&key);
  }
  int all;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  wrong = 0;
  MPI_Finalize();
  wrong += at_end != 321;
  if (rank == 0) printf("%d wrong, %d at the end\n", all, at_end);
  return wrong != 0;
}
