// Writes a schedule as C on MPI's profiling interface.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/formats/pmpi.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/collectives/harness/schedule_plan.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/prove.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

namespace wormcube::apps {

namespace {

/// Before the tables.
constexpr std::string_view engine = R"(
/* n units, of which part k begins at cut(n, k). */
static size_t cut(size_t n, size_t k) { return n / PARTS * k + n % PARTS * k / PARTS; }

/* A duplicate of the communicator, so that messages do not meet the program's; freed with it. */
static int free_duplicate(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)extra;
  int error = PMPI_Comm_free((MPI_Comm *)value);
  free(value);
  return error;
}
static MPI_Comm duplicate(MPI_Comm comm) {
  static int key = MPI_KEYVAL_INVALID;
  if (key == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_duplicate, &key, NULL);
  MPI_Comm *kept;
  int found;
  PMPI_Comm_get_attr(comm, key, &kept, &found);
  if (!found) {
    kept = malloc(sizeof *kept);
    PMPI_Comm_dup(comm, kept);
    PMPI_Comm_set_attr(comm, key, kept);
  }
  return *kept;
}

/* Runs the schedule. A block has n units of `type`, `bytes` bytes each. Values lie in slots: the
   parts of the input's blocks, then a slot for each value that arrives or is combined. */
static int perform(const int *code, const char *in, char *out, size_t n, size_t bytes,
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const int inputs = *code++ * PARTS, slots = *code++;
  char **place = malloc((slots + 1) * sizeof *place), *memory, *packed = NULL;
  size_t *count = malloc((slots + 1) * sizeof *count), end = 0;
  for (int id = 0; id < slots; ++id) {
    const int part = id < inputs ? id % PARTS : *code++;
    count[id] = cut(n, part + 1) - cut(n, part);
    if (id < inputs)
      place[id] = (char *)in + (id / PARTS * n + cut(n, part)) * bytes;
    else
      end += count[id] * bytes;
  }
  memory = malloc(end + 1), end = 0;
  for (int id = inputs; id < slots; ++id) place[id] = memory + end, end += count[id] * bytes;

  MPI_Request *requests = NULL;
  MPI_Status *statuses = NULL;
  int error = MPI_SUCCESS;
  for (int steps = *code++, step = 0; error == MPI_SUCCESS; ++step) {
    for (int left = *code++; left > 0; --left, code += 3) { /* [0] + [1] becomes [2] */
      memcpy(place[code[2]], place[code[1]], count[code[2]] * bytes);
      PMPI_Reduce_local(place[code[0]], place[code[2]], (int)count[code[2]], type, op);
    }
    if (step == steps) break;
    /* Each message: 1 if it is sent, the partner, the tag, the number of slots, the slots. */
    const int messages = *code++;
    const int *const first = code;
    size_t several = 0;
    for (int m = 0; m < messages; ++m, code += 4 + code[3]) {
      for (int i = 0; i < code[3]; ++i) several += count[code[4 + i]] * bytes;
    }
    requests = realloc(requests, (messages + 1) * sizeof *requests);
    statuses = realloc(statuses, (messages + 1) * sizeof *statuses);
    packed = realloc(packed, several + 1);
    code = first;
    char *to = packed;
    for (int m = 0; m < messages; ++m, code += 4 + code[3]) {
      char *const begin = code[3] == 1 ? place[code[4]] : to;
      size_t units = 0;
      for (int i = 0; i < code[3]; ++i) {
        const size_t size = count[code[4 + i]] * bytes;
        units += count[code[4 + i]];
        if (code[3] == 1) continue;
        if (code[0]) memcpy(to, place[code[4 + i]], size);
        to += size;
      }
      requests[m] = MPI_REQUEST_NULL;
      if (error != MPI_SUCCESS) continue;
      error = code[0] ? PMPI_Isend(begin, (int)units, type, code[1], code[2], comm, requests + m)
                      : PMPI_Irecv(begin, (int)units, type, code[1], code[2], comm, requests + m);
    }
    const int waited = PMPI_Waitall(messages, requests, statuses);
    if (error == MPI_SUCCESS) error = waited;
    code = first, to = packed;
    for (int m = 0; m < messages; ++m, code += 4 + code[3]) {
      for (int i = 0; code[3] != 1 && i < code[3]; ++i) {
        const size_t size = count[code[4 + i]] * bytes;
        if (!code[0]) memcpy(place[code[4 + i]], to, size);
        to += size;
      }
    }
  }
  if (error != MPI_SUCCESS) out = NULL;
  for (int results = *code++; out != NULL && results > 0; --results, code += 3) {
    memmove(out + (code[1] * n + cut(n, code[2])) * bytes, place[code[0]], count[code[0]] * bytes);
  }
  free(place), free(count), free(memory), free(packed), free(requests), free(statuses);
  return error;
}

/* Whether the schedule is for this communicator. */
static int fits(MPI_Comm comm) {
  int is_inter = 1, ranks = 0;
  if (comm == MPI_COMM_NULL) return 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  PMPI_Comm_size(comm, &ranks);
  return !is_inter && ranks == RANKS;
}
static const int *code_of(MPI_Comm comm, int *rank) {
  PMPI_Comm_rank(comm, rank);
  return codes[*rank];
}
/* Whether an element is its bytes, without gaps or overlap. */
static int is_dense(MPI_Datatype type) {
  MPI_Aint lower, extent, true_lower, true_extent;
  int size;
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
  PMPI_Type_size(type, &size);
  return lower == 0 && extent == size && true_lower == 0 && true_extent == size;
}
static size_t bytes_of(size_t count, MPI_Datatype type) {
  int size;
  PMPI_Type_size(type, &size);
  return count * size;
}
)";

/// For operations that move data: every unit is a byte.
constexpr std::string_view moving = R"(
/* Whether bytes lie in the type's order: a derived type may have another one. */
static int is_plain(MPI_Datatype type) {
  int integers, addresses, types, combiner;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED && is_dense(type);
}
/* The data without gaps, in memory of its own if `copies` or if the type has gaps. */
static char *gathered(const void *data, int count, MPI_Datatype type, MPI_Comm comm, int copies,
                      void **own) {
  *own = NULL;
  if (!copies && is_plain(type)) return (char *)data;
  int room, at = 0;
  PMPI_Pack_size(count, type, comm, &room);
  *own = malloc(room + 1);
  PMPI_Pack(data, count, type, *own, room, &at, comm);
  return *own;
}
/* Runs the schedule from data to data, of `in` and `out` elements. NULL: none. */
static int move(const int *code, const void *from, int in, MPI_Datatype in_type, int copies,
                void *to, int out, MPI_Datatype out_type, size_t block, MPI_Comm comm) {
  void *own_in = NULL, *own_out = NULL;
  const MPI_Comm own = duplicate(comm);
  const char *input = from == NULL ? NULL : gathered(from, in, in_type, comm, copies, &own_in);
  char *output = to;
  if (to != NULL && !is_plain(out_type)) {
    output = own_out = malloc(bytes_of(out, out_type) + 1);
  }
  int error = perform(code, input, output, block, 1, MPI_BYTE, MPI_OP_NULL, own);
  if (own_out != NULL && error == MPI_SUCCESS) {
    int at = 0;
    error = PMPI_Unpack(own_out, (int)bytes_of(out, out_type), &at, to, out, out_type, comm);
  }
  free(own_in), free(own_out);
  return error;
}
/* Messages and buffers are counted by int. */
static int is_short(size_t block) { return block <= (size_t)INT_MAX / RANKS; }
)";

constexpr std::string_view reducing = R"(
/* Whether the schedule fits the reduction; the same on all ranks. */
static int fits_reduction(int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int commutes = 1;
  if (!fits(comm) || !is_dense(type) || count < 0) return 0;
  PMPI_Op_commutative(op, &commutes);
  return commutes || !COMMUTATIVE;
}
static int reduce(const int *code, const void *from, int copied, void *to, int count,
                  MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const MPI_Comm own = duplicate(comm);
  const size_t bytes = bytes_of(1, type);
  void *copy = NULL;
  if (copied > 0) {
    copy = malloc(copied * (size_t)count * bytes + 1);
    memcpy(copy, from, copied * (size_t)count * bytes);
    from = copy;
  }
  const int error = perform(code, from, to, count, bytes, type, op, own);
  free(copy);
  return error;
}
)";

/// For functions whose input may lie in the output.
constexpr std::string_view block_at = R"(
/* An element of an array of blocks. */
static void *block_at(const void *data, int block, int count, MPI_Datatype type) {
  MPI_Aint lower, extent;
  PMPI_Type_get_extent(type, &lower, &extent);
  return (char *)data + block * count * extent;
}
)";

struct Function {
  std::string_view operation, text;
};
/// The functions that take MPI's place.
constexpr std::array functions{Function{"allgather", R"(
int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  int rank;
  if (!fits(comm) || recvcount < 0 || !is_short(bytes_of(recvcount, recvtype)))
    return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  const int *const code = code_of(comm, &rank), in_place = sendbuf == MPI_IN_PLACE;
  if (in_place) {
    sendbuf = block_at(recvbuf, rank, recvcount, recvtype);
    sendcount = recvcount, sendtype = recvtype;
  }
  return move(code, sendbuf, sendcount, sendtype, in_place, recvbuf, RANKS * recvcount, recvtype,
              bytes_of(recvcount, recvtype), comm);
}
)"},
                               Function{"alltoall", R"(
int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  int rank;
  if (!fits(comm) || recvcount < 0 || !is_short(bytes_of(recvcount, recvtype)))
    return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  const int *const code = code_of(comm, &rank), in_place = sendbuf == MPI_IN_PLACE;
  if (in_place) sendbuf = recvbuf, sendcount = recvcount, sendtype = recvtype;
  return move(code, sendbuf, RANKS * sendcount, sendtype, in_place, recvbuf, RANKS * recvcount,
              recvtype, bytes_of(recvcount, recvtype), comm);
}
)"},
                               Function{"broadcast", R"(
int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int rank;
  if (!fits(comm) || root != ROOT || count < 0 || !is_short(bytes_of(count, type)))
    return PMPI_Bcast(buffer, count, type, root, comm);
  const int *const code = code_of(comm, &rank);
  return move(code, rank == ROOT ? buffer : NULL, count, type, 0, rank == ROOT ? NULL : buffer,
              count, type, bytes_of(count, type), comm);
}
)"},
                               Function{"gather", R"(
int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  int rank = -1;
  const int *const code = fits(comm) ? code_of(comm, &rank) : NULL;
  const int is_root = rank == ROOT, in_place = sendbuf == MPI_IN_PLACE;
  const size_t block = rank < 0  ? 0
                       : is_root ? bytes_of(recvcount, recvtype)
                                 : bytes_of(sendcount, sendtype);
  if (rank < 0 || root != ROOT || !is_short(block))
    return PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  if (in_place) {
    sendbuf = block_at(recvbuf, rank, recvcount, recvtype);
    sendcount = recvcount, sendtype = recvtype;
  }
  return move(code, sendbuf, sendcount, sendtype, in_place, is_root ? recvbuf : NULL,
              RANKS * recvcount, recvtype, block, comm);
}
)"},
                               Function{"scatter", R"(
int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  int rank = -1;
  const int *const code = fits(comm) ? code_of(comm, &rank) : NULL;
  const int is_root = rank == ROOT;
  const size_t block = rank < 0  ? 0
                       : is_root ? bytes_of(sendcount, sendtype)
                                 : bytes_of(recvcount, recvtype);
  if (rank < 0 || root != ROOT || !is_short(block))
    return PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
  return move(code, is_root ? sendbuf : NULL, RANKS * sendcount, sendtype, 0,
              recvbuf == MPI_IN_PLACE ? NULL : recvbuf, recvcount, recvtype, block, comm);
}
)"},
                               Function{"allreduce", R"(
int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  int rank;
  if (!fits_reduction(count, type, op, comm))
    return PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm);
  const int in_place = sendbuf == MPI_IN_PLACE;
  return reduce(code_of(comm, &rank), in_place ? recvbuf : sendbuf, in_place, recvbuf, count, type,
                op, comm);
}
)"},
                               Function{"scan", R"(
int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
             MPI_Comm comm) {
  int rank;
  if (!fits_reduction(count, type, op, comm))
    return PMPI_Scan(sendbuf, recvbuf, count, type, op, comm);
  const int in_place = sendbuf == MPI_IN_PLACE;
  return reduce(code_of(comm, &rank), in_place ? recvbuf : sendbuf, in_place, recvbuf, count, type,
                op, comm);
}
)"},
                               Function{"reduce", R"(
int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
               int root, MPI_Comm comm) {
  int rank;
  if (root != ROOT || !fits_reduction(count, type, op, comm))
    return PMPI_Reduce(sendbuf, recvbuf, count, type, op, root, comm);
  const int *const code = code_of(comm, &rank), in_place = sendbuf == MPI_IN_PLACE;
  return reduce(code, in_place ? recvbuf : sendbuf, in_place, rank == ROOT ? recvbuf : NULL, count,
                type, op, comm);
}
)"},
                               Function{"reduce_scatter", R"(
int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type,
                             MPI_Op op, MPI_Comm comm) {
  int rank;
  if (!fits_reduction(count, type, op, comm))
    return PMPI_Reduce_scatter_block(sendbuf, recvbuf, count, type, op, comm);
  const int in_place = sendbuf == MPI_IN_PLACE;
  return reduce(code_of(comm, &rank), in_place ? recvbuf : sendbuf, in_place ? RANKS : 0, recvbuf,
                count, type, op, comm);
}
)"}};

using Numbers = std::vector<std::int64_t>;

/// One rank's plan as numbers, in the order in which the engine reads them.
Numbers code_of(const SlotPlan& plan, Rank parts) {
  Numbers code{plan.inputs, static_cast<std::int64_t>(plan.slots.size())};
  const auto inputs = static_cast<std::size_t>(plan.inputs) * static_cast<std::size_t>(parts);
  for (std::size_t id = inputs; id < plan.slots.size(); ++id) code.push_back(plan.slots[id].part);
  code.push_back(static_cast<std::int64_t>(plan.steps.size()) - 1);
  for (std::size_t gap = 0; gap < plan.gaps.size(); ++gap) {
    code.push_back(static_cast<std::int64_t>(plan.gaps[gap].size()));
    for (const SlotPlan::Combination& each : plan.gaps[gap])
      code.insert(code.end(), {each.left, each.right, each.result});
    if (gap + 1 == plan.gaps.size()) break;
    code.push_back(static_cast<std::int64_t>(plan.steps[gap].size()));
    for (const SlotPlan::Message& message : plan.steps[gap]) {
      code.insert(code.end(),
                  {message.is_send ? 1 : 0, message.peer, static_cast<std::int64_t>(message.tag),
                   static_cast<std::int64_t>(message.content.size())});
      code.insert(code.end(), message.content.begin(), message.content.end());
    }
  }
  code.push_back(static_cast<std::int64_t>(plan.results.size()));
  for (const SlotPlan::Result& result : plan.results)
    code.insert(code.end(), {result.from, result.block, result.part});
  return code;
}

}  // namespace

std::string pmpi_text(const NamedSchedule& schedule, std::string_view name) {
  if (!schedule.operation)
    throw UsageError(
        fmt::format("{} names no operation, so the C code cannot replace an MPI function", name));
  const Rank ranks = schedule.schedule.topology.nodes();
  const ScheduledCall call = scheduled_call(*schedule.operation, ranks);
  const auto function =
      std::ranges::find(functions, call.operation->name, [](const auto& f) { return f.operation; });
  if (function == functions.end()) {
    std::string known;
    for (const Function& each : functions) known += fmt::format(" {}", each.operation);
    throw UsageError(
        fmt::format("C code with MPI's profiling interface is available for{}, but not for {}",
                    known, call.operation->name));
  }
  const Goal goal = goal_of(call.operation, call.arguments, ranks);
  const NamedReport report = prove_named(schedule, &goal);
  if (!report.findings.empty() || report.delivered != true) {
    throw UsageError(
        fmt::format("the schedule of {} does not perform {}: {}", name, call.operation->name,
                    report.findings.empty() ? report.reason : report.findings.front()));
  }
  fmt::memory_buffer text;
  const auto print = [&]<class... T>(fmt::format_string<T...> format, T&&... arguments) {
    fmt::format_to(std::back_inserter(text), format, std::forward<T>(arguments)...);
  };
  print(
      "/* {} on {}, for {} ranks. Written and proved by wormcube.\n"
      "   Link it before the MPI library: mpicc program.c this.c; or as a shared library:\n"
      "   mpicc -shared -fPIC this.c -o libthis.so, and LD_PRELOAD=./libthis.so.\n"
      "   SPDX-License-Identifier: Apache-2.0 */\n"
      "#include <limits.h>\n#include <stdlib.h>\n#include <string.h>\n\n#include <mpi.h>\n\n"
      "enum {{ RANKS = {}, PARTS = {}, ROOT = {}, COMMUTATIVE = {} }};\n\n",
      name, schedule.schedule.topology.name(), ranks, ranks, schedule.form.parts,
      call.arguments.root, schedule.commutative ? 1 : 0);
  std::string list;
  const std::vector<SlotPlan> plans = node_plans(schedule, goal);
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    print("static const int code_{}[] = {{", rank);
    std::size_t column = 100;
    for (const std::int64_t number : code_of(plans[rank], schedule.form.parts)) {
      const std::string word = fmt::format("{},", number);
      if (column + word.size() > 98) {
        print("\n  ");
        column = 2;
      }
      print("{}", word);
      column += word.size();
    }
    print("\n}};\n");
    list += fmt::format("{}code_{},", rank % 8 == 0 ? "\n  " : " ", rank);
  }
  print("static const int *const codes[RANKS] = {{{}\n}};\n", list);
  const bool has_place = function->text.find("block_at") != std::string_view::npos;
  print("{}{}{}{}", engine, call.operation->reduces ? reducing : moving,
        has_place ? block_at : std::string_view(), function->text);
  return fmt::to_string(text);
}

}  // namespace wormcube::apps
