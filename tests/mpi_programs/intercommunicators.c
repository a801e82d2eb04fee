/* Intercommunicators: made, merged, copied, cut; messages and collectives between their groups. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most = 64, nothing = -77 };
static int rank, size, wrong;

/* One group of an intercommunicator, as its ranks see both. Its ranks in the world ascend from `first`. */
typedef struct {
  MPI_Comm comm;
  int me, here, there, first, their_first;
} Two;

static int own(const Two *two, int r) { return two->first + r; }
static int theirs(const Two *two, int r) { return two->their_first + r; }

static void messages(const Two *two) {
  MPI_Request requests[2 * most];
  MPI_Status status;
  int in[most], out[most];
  for (int r = 0; r < two->there; ++r) {
    out[r] = own(two, two->me) * 100 + r, in[r] = nothing;
    MPI_Irecv(in + r, 1, MPI_INT, r, 5, two->comm, requests + r);
    MPI_Isend(out + r, 1, MPI_INT, r, 5, two->comm, requests + two->there + r);
  }
  MPI_Waitall(2 * two->there, requests, MPI_STATUSES_IGNORE);
  for (int r = 0; r < two->there; ++r) wrong += in[r] != theirs(two, r) * 100 + two->me;
  for (int r = 0; r < two->there; ++r) MPI_Isend(out + r, 1, MPI_INT, r, 6, two->comm, requests + r);
  for (int r = 0; r < two->there; ++r) {
    int value;
    MPI_Probe(MPI_ANY_SOURCE, 6, two->comm, &status);
    const int from = status.MPI_SOURCE;
    MPI_Recv(&value, 1, MPI_INT, from, MPI_ANY_TAG, two->comm, &status);
    wrong += status.MPI_SOURCE != from || from < 0 || from >= two->there || value != theirs(two, from) * 100 + two->me;
  }
  MPI_Waitall(two->there, requests, MPI_STATUSES_IGNORE);
}

#define FORMS(NAME, name, ...)                                                             \
  do {                                                                                     \
    if (form == 0) MPI_##NAME(__VA_ARGS__, two->comm);                                     \
    if (form == 1) MPI_I##name(__VA_ARGS__, two->comm, &request);                          \
    if (form == 2) MPI_##NAME##_init(__VA_ARGS__, two->comm, MPI_INFO_NULL, &request);     \
    if (form == 2) MPI_Start(&request);                                                    \
    if (form != 0) MPI_Wait(&request, MPI_STATUS_IGNORE);                                  \
    if (form == 2) MPI_Request_free(&request);                                             \
  } while (0)

static void collectives(const Two *two, int low) {
  int out[4 * most], in[4 * most], counts[most], places[most], in_counts[most], in_places[most];
  MPI_Datatype types[most];
  MPI_Request request = MPI_REQUEST_NULL;
  const int here = two->here, there = two->there, me = two->me;
  for (int i = 0; i < most; ++i) types[i] = MPI_INT;
  for (int form = 0; form < 3; ++form) {
    if (form == 0) MPI_Barrier(two->comm);
    if (form == 1) MPI_Ibarrier(two->comm, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int turn = 0; turn < 4; ++turn) { /* the root's group, and which of it */
      const int mine = turn % 2 == low, root = turn / 2 == 0 ? 0 : (mine ? here : there) - 1;
      const int name = !mine ? root : me == root ? MPI_ROOT : MPI_PROC_NULL;
      const int is_root = mine && me == root;
      for (int i = 0; i < 4 * most; ++i) in[i] = nothing, out[i] = own(two, me) * 1000 + i;
      in[0] = mine ? own(two, me) : nothing;
      FORMS(Bcast, bcast, in, 1, MPI_INT, name);
      wrong += in[0] != (mine ? own(two, me) : theirs(two, root));
      in[0] = nothing;
      FORMS(Gather, gather, out, 2, MPI_INT, in, 2, MPI_INT, name);
      for (int r = 0; r < there; ++r)
        for (int k = 0; k < 2; ++k) wrong += in[2 * r + k] != (is_root ? theirs(two, r) * 1000 + k : nothing);
      for (int i = 0; i < 4 * most; ++i) in[i] = nothing;
      FORMS(Scatter, scatter, out, 2, MPI_INT, in, 2, MPI_INT, name);
      for (int k = 0; k < 2; ++k) wrong += in[k] != (mine ? nothing : theirs(two, root) * 1000 + 2 * me + k);
      for (int i = 0; i < 4 * most; ++i) in[i] = nothing;
      for (int r = 0; r < there; ++r) counts[r] = 1 + r % 3, places[r] = 4 * (there - 1 - r);
      FORMS(Gatherv, gatherv, out, 1 + me % 3, MPI_INT, in, counts, places, MPI_INT, name);
      for (int r = 0; r < there; ++r)
        for (int k = 0; k < 4; ++k) wrong += in[places[r] + k] != (is_root && k < counts[r] ? theirs(two, r) * 1000 + k : nothing);
      for (int i = 0; i < 4 * most; ++i) in[i] = nothing;
      FORMS(Scatterv, scatterv, out, counts, places, MPI_INT, in, 1 + me % 3, MPI_INT, name);
      for (int k = 0; k < 4; ++k) wrong += in[k] != (!mine && k < 1 + me % 3 ? theirs(two, root) * 1000 + 4 * (here - 1 - me) + k : nothing);
      in[0] = nothing;
      FORMS(Reduce, reduce, out, in, 1, MPI_INT, MPI_SUM, name);
      int sum = 0;
      for (int r = 0; r < there; ++r) sum += theirs(two, r) * 1000;
      wrong += in[0] != (is_root ? sum : nothing);
    }
    for (int i = 0; i < 4 * most; ++i) in[i] = nothing;
    FORMS(Allgather, allgather, out, 2, MPI_INT, in, 2, MPI_INT);
    for (int r = 0; r < there; ++r)
      for (int k = 0; k < 2; ++k) wrong += in[2 * r + k] != theirs(two, r) * 1000 + k;
    for (int i = 0; i < 4 * most; ++i) in[i] = nothing;
    for (int r = 0; r < there; ++r) counts[r] = r % 3, places[r] = 4 * r;
    FORMS(Allgatherv, allgatherv, out, me % 3, MPI_INT, in, counts, places, MPI_INT);
    for (int r = 0; r < there; ++r)
      for (int k = 0; k < 4; ++k) wrong += in[4 * r + k] != (k < r % 3 ? theirs(two, r) * 1000 + k : nothing);
    for (int i = 0; i < 4 * most; ++i) in[i] = nothing;
    FORMS(Alltoall, alltoall, out, 2, MPI_INT, in, 2, MPI_INT);
    for (int r = 0; r < there; ++r)
      for (int k = 0; k < 2; ++k) wrong += in[2 * r + k] != theirs(two, r) * 1000 + 2 * me + k;
    for (int r = 0; r < there; ++r) counts[r] = in_counts[r] = (me + r) % 3, places[r] = in_places[r] = 4 * r;
    for (int w = 0; w < 2; ++w) {
      for (int i = 0; i < 4 * most; ++i) in[i] = nothing;
      if (w == 0) FORMS(Alltoallv, alltoallv, out, counts, places, MPI_INT, in, in_counts, in_places, MPI_INT);
      for (int r = 0; r < there && w == 1; ++r) places[r] = in_places[r] = 16 * r;
      if (w == 1) FORMS(Alltoallw, alltoallw, out, counts, places, types, in, in_counts, in_places, types);
      for (int r = 0; r < there; ++r)
        for (int k = 0; k < 4; ++k) wrong += in[4 * r + k] != (k < (me + r) % 3 ? theirs(two, r) * 1000 + 4 * me + k : nothing);
    }
    const int pair[2] = {own(two, me), 1};
    FORMS(Allreduce, allreduce, pair, in, 2, MPI_INT, MPI_SUM);
    int sum = 0;
    for (int r = 0; r < there; ++r) sum += theirs(two, r);
    wrong += in[0] != sum || in[1] != there;
    /* Each group reduces here * there elements. */
    static int elements[most * most], got[most];
    for (int i = 0; i < here * there; ++i) elements[i] = own(two, me) + i;
    FORMS(Reduce_scatter_block, reduce_scatter_block, elements, got, there, MPI_INT, MPI_SUM);
    for (int i = 0; i < there; ++i) wrong += got[i] != sum + there * (me * there + i);
    for (int r = 0; r < here; ++r) in_counts[r] = there;
    FORMS(Reduce_scatter, reduce_scatter, elements, got, in_counts, MPI_INT, MPI_SUM);
    for (int i = 0; i < there; ++i) wrong += got[i] != sum + there * (me * there + i);
  }
}

static void properties(const Two *two) {
  int flag, n, me, result;
  MPI_Group group;
  MPI_Comm_test_inter(two->comm, &flag);
  MPI_Comm_size(two->comm, &n);
  MPI_Comm_rank(two->comm, &me);
  wrong += !flag || n != two->here || me != two->me;
  MPI_Comm_remote_size(two->comm, &n);
  MPI_Comm_remote_group(two->comm, &group);
  MPI_Group_size(group, &result);
  wrong += n != two->there || result != n;
  MPI_Group_free(&group);
  MPI_Comm_compare(two->comm, MPI_COMM_WORLD, &result);
  wrong += result != MPI_UNEQUAL;
}

/* All pairs of things that are made of one. */
static void made(const Two *two, int low) {
  Two copy = *two;
  MPI_Request request;
  int result;
  MPI_Comm_dup(two->comm, &copy.comm);
  MPI_Comm_compare(two->comm, copy.comm, &result);
  wrong += result != MPI_CONGRUENT;
  messages(&copy);
  MPI_Comm_free(&copy.comm);
  MPI_Comm_idup(two->comm, &copy.comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  properties(&copy);
  collectives(&copy, low);
  MPI_Comm_free(&copy.comm);
  for (int high = 0; high < 2; ++high) {
    MPI_Comm whole;
    MPI_Intercomm_merge(two->comm, low ? 1 - high : high, &whole);
    int n, me;
    MPI_Comm_size(whole, &n);
    MPI_Comm_rank(whole, &me);
    const int own_first = (low ? 1 - high : high) == 0;
    wrong += n != two->here + two->there || me != two->me + (own_first ? 0 : two->there);
    int sum, value = rank;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, whole);
    wrong += sum != size * (size - 1) / 2;
    MPI_Comm_free(&whole);
  }
  /* The first two of each group; of one rank's group nobody has the second colour. */
  Two part = *two;
  MPI_Comm_split(two->comm, two->me < 2 ? 3 : MPI_UNDEFINED, two->me, &part.comm);
  wrong += (part.comm == MPI_COMM_NULL) != (two->me >= 2);
  part.here = two->here < 2 ? two->here : 2, part.there = two->there < 2 ? two->there : 2;
  if (part.comm != MPI_COMM_NULL) {
    properties(&part);
    messages(&part);
    collectives(&part, low);
    MPI_Comm_free(&part.comm);
  }
  MPI_Comm_split(two->comm, low, 0, &part.comm);
  wrong += part.comm != MPI_COMM_NULL;
  MPI_Group group, first;
  const int one = 0;
  MPI_Comm_group(two->comm, &group);
  MPI_Group_incl(group, 1, &one, &first);
  MPI_Comm_create(two->comm, first, &part.comm);
  wrong += (part.comm == MPI_COMM_NULL) != (two->me > 0);
  part.here = part.there = 1;
  if (part.comm != MPI_COMM_NULL) {
    properties(&part);
    collectives(&part, low);
    MPI_Comm_free(&part.comm);
  }
  MPI_Comm_create(two->comm, low ? first : MPI_GROUP_EMPTY, &part.comm);
  wrong += part.comm != MPI_COMM_NULL;
  MPI_Group_free(&group);
  MPI_Group_free(&first);
}

static void errors(const Two *two) {
  int error, value = 0, result;
  MPI_Comm none;
  MPI_Comm_set_errhandler(two->comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Scan(&value, &result, 1, MPI_INT, MPI_SUM, two->comm), &error);
  wrong += error != MPI_ERR_COMM;
  MPI_Error_class(MPI_Bcast(&value, 1, MPI_INT, two->there, two->comm), &error);
  wrong += error != MPI_ERR_ROOT;
  MPI_Error_class(MPI_Send(&value, 1, MPI_INT, two->there, 0, two->comm), &error);
  wrong += error != MPI_ERR_RANK;
  MPI_Error_class(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &none), &error);
  wrong += error != MPI_ERR_COMM;
  MPI_Error_class(MPI_Cart_create(two->comm, 1, &two->here, &value, 0, &none), &error);
  wrong += error != MPI_ERR_COMM;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int cut = 1; cut < size; cut += 1 + size / 4) { /* ranks below it, and the others */
    MPI_Comm local;
    Two two;
    const int low = rank < cut;
    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &local);
    MPI_Comm_rank(local, &two.me);
    two.here = low ? cut : size - cut, two.there = size - two.here;
    two.first = low ? 0 : cut, two.their_first = low ? cut : 0;
    for (int again = 0; again < 2; ++again) {
      const int leader = again ? two.here - 1 : 0, their_leader = again ? two.there - 1 : 0;
      MPI_Intercomm_create(local, leader, MPI_COMM_WORLD, theirs(&two, their_leader), 17, &two.comm);
      properties(&two);
      messages(&two);
      collectives(&two, low);
      made(&two, low);
      errors(&two);
      again ? MPI_Comm_disconnect(&two.comm) : MPI_Comm_free(&two.comm);
      wrong += two.comm != MPI_COMM_NULL;
    }
    MPI_Comm_free(&local);
  }
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  wrong += parent != MPI_COMM_NULL;
  int all;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return 0;
}
