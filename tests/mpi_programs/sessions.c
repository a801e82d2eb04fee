/* Sessions without MPI_Init: process sets, communicators of groups alone, one after the other and side by side. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;

static void sets(MPI_Session session) {
  int count, length, flag, error;
  char name[MPI_MAX_PSET_NAME_LEN], text[16];
  MPI_Info info;
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
  wrong += count < 2;
  for (int i = 0; i < count; ++i) {
    length = 0;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL);
    const int needed = length;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    wrong += length != needed || (int)strlen(name) + 1 != needed;
    MPI_Session_get_pset_info(session, name, &info);
    MPI_Info_get(info, "mpi_size", sizeof text - 1, text, &flag);
    MPI_Group group;
    MPI_Group_from_session_pset(session, name, &group);
    int size;
    MPI_Group_size(group, &size);
    wrong += !flag || atoi(text) != size || (strcmp(name, "mpi://SELF") == 0 && size != 1);
    MPI_Group_free(&group);
    MPI_Info_free(&info);
  }
  MPI_Group group;
  MPI_Error_class(MPI_Group_from_session_pset(session, "mpi://nobody", &group), &error);
  wrong += error != MPI_ERR_ARG;
  MPI_Session_get_info(session, &info);
  MPI_Info_get(info, "thread_level", sizeof text - 1, text, &flag);
  wrong += !flag;
  MPI_Info_free(&info);
}

int main(int argc, char **argv) {
  MPI_Session session, second;
  MPI_Group all, part, other;
  MPI_Comm comm, half, two;
  int rank, size, sum, sums, began;
  MPI_Initialized(&began);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  wrong += began;
  sets(session);
  MPI_Group_from_session_pset(session, "mpi://world", &all);
  for (int again = 0; again < 3; ++again) { /* with the same words */
    MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong += sum != size * (size - 1) / 2;
    if (again < 2) MPI_Comm_free(&comm);
  }
  /* Even and odd ranks, with one word for both. */
  int ranges[2][3] = {{rank % 2, size - 1, 2}, {1 - rank % 2, size - 1, 2}};
  MPI_Group_range_incl(all, 1, ranges, &part);
  MPI_Comm_create_from_group(part, "half", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &half);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
  if (size > 1) {
    MPI_Group_range_incl(all, 1, ranges + 1, &other);
    for (int again = 0; again < 2; ++again) {
      MPI_Intercomm_create_from_groups(part, 0, other, 0, "both", MPI_INFO_NULL, MPI_ERRORS_RETURN, &two);
      MPI_Allreduce(&rank, &sums, 1, MPI_INT, MPI_SUM, two);
      wrong += sum + sums != size * (size - 1) / 2;
      MPI_Comm_free(&two);
    }
    MPI_Group_free(&other);
  }
  /* A second session, of a rank alone, while the first goes on. */
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second);
  MPI_Group self;
  MPI_Comm alone;
  MPI_Group_from_session_pset(second, "mpi://SELF", &self);
  MPI_Comm_create_from_group(self, "alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &alone);
  MPI_Comm_size(alone, &sums);
  wrong += sums != 1;
  MPI_Comm_free(&alone);
  MPI_Group_free(&self);
  MPI_Session_finalize(&second);
  wrong += second != MPI_SESSION_NULL;
  int total;
  MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, comm);
  if (rank == 0) printf("%d wrong\n", total);
  MPI_Group_free(&part);
  MPI_Group_free(&all);
  MPI_Comm_free(&half);
  MPI_Comm_free(&comm);
  if (argc > 1 && strcmp(argv[1], "open") == 0 && rank == 0) return 0;
  MPI_Session_finalize(&session);
  if (argc > 1 && strcmp(argv[1], "after") == 0 && rank == 0) MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}
