// The peer: the collectives of an MPI library on oversubscribed ranks, timed as wormcube times its own.
//   mpirun --oversubscribe -n 64 ./mpi_collectives alltoall,allreduce 64 4096 65536
// A line per operation and size: name, bytes of a block, median and least time in us, wrong elements.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <mpi.h>

namespace {

using Values = std::vector<double>;  // a block is of doubles, as wormcube's `--type double`

const MPI_Comm world = MPI_COMM_WORLD;

struct Operation {
  // In blocks, for `ranks` of them.
  int (*gives)(int ranks);
  int (*ends_with)(int ranks);
  void (*call)(const double* in, double* out, int elements);
  /// What element i of a result holds where rank r gave r + 1 everywhere.
  double (*right)(int rank, int ranks, int block);
  bool at_root_only = false;
  bool in_place = false;  // the root's output is its input
};

int one(int) { return 1; }
int each(int ranks) { return ranks; }
double sum(int ranks) { return ranks * (ranks + 1.0) / 2; }

const std::map<std::string, Operation> operations{
    {"barrier",
     {[](int) { return 0; }, [](int) { return 0; },
      [](const double*, double*, int) { MPI_Barrier(world); }, [](int, int, int) { return 0.0; }}},
    {"broadcast",
     {one, one,
      [](const double*, double* out, int elements) {
        MPI_Bcast(out, elements, MPI_DOUBLE, 0, world);
      },
      [](int, int, int) { return 1.0; }, false, true}},
    {"allreduce",
     {one, one,
      [](const double* in, double* out, int elements) {
        MPI_Allreduce(in, out, elements, MPI_DOUBLE, MPI_SUM, world);
      },
      [](int, int ranks, int) { return sum(ranks); }}},
    {"reduce_scatter",
     {each, one,
      [](const double* in, double* out, int elements) {
        MPI_Reduce_scatter_block(in, out, elements, MPI_DOUBLE, MPI_SUM, world);
      },
      [](int, int ranks, int) { return sum(ranks); }}},
    {"scan",
     {one, one,
      [](const double* in, double* out, int elements) {
        MPI_Scan(in, out, elements, MPI_DOUBLE, MPI_SUM, world);
      },
      [](int rank, int, int) { return sum(rank + 1); }}},
    {"allgather",
     {one, each,
      [](const double* in, double* out, int elements) {
        MPI_Allgather(in, elements, MPI_DOUBLE, out, elements, MPI_DOUBLE, world);
      },
      [](int, int, int block) { return block + 1.0; }}},
    {"gather",
     {one, each,
      [](const double* in, double* out, int elements) {
        MPI_Gather(in, elements, MPI_DOUBLE, out, elements, MPI_DOUBLE, 0, world);
      },
      [](int, int, int block) { return block + 1.0; }, true}},
    {"alltoall",
     {each, each,
      [](const double* in, double* out, int elements) {
        MPI_Alltoall(in, elements, MPI_DOUBLE, out, elements, MPI_DOUBLE, world);
      },
      [](int, int, int block) { return block + 1.0; }}}};

struct Times {
  double median_us, least_us;
  long wrong;
};

Times measure(const Operation& operation, int elements, int rank, int ranks) {
  constexpr int warmup = 3, iterations = 21;
  const auto size = static_cast<std::size_t>(elements);
  const auto blocks = static_cast<std::size_t>(operation.ends_with(ranks));
  const Values in(static_cast<std::size_t>(operation.gives(ranks)) * size, rank + 1.0);
  Values out(blocks * size), times;
  for (int iteration = 0; iteration < warmup + iterations; ++iteration) {
    std::fill(out.begin(), out.end(), -1);
    if (operation.in_place && rank == 0) out = in;
    MPI_Barrier(world);
    const double begin = MPI_Wtime();
    operation.call(in.data(), out.data(), elements);
    const double end = MPI_Wtime();
    double first = 0, last = 0;  // one clock: all ranks are on one computer
    MPI_Reduce(&begin, &first, 1, MPI_DOUBLE, MPI_MIN, 0, world);
    MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, world);
    if (iteration >= warmup) times.push_back((last - first) * 1e6);
  }
  long wrong = 0, all_wrong = 0;
  for (std::size_t i = 0; i < out.size() && (rank == 0 || !operation.at_root_only); ++i) {
    wrong += out[i] != operation.right(rank, ranks, static_cast<int>(i / size)) ? 1 : 0;
  }
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, 0, world);
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), all_wrong};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0, rank = 0;
  MPI_Comm_size(world, &ranks);
  MPI_Comm_rank(world, &rank);
  std::istringstream names(argc > 1 ? argv[1] : "");
  for (std::string name; std::getline(names, name, ',');) {
    const auto found = operations.find(name);
    if (found == operations.end()) {
      if (rank == 0) std::fprintf(stderr, "mpi_collectives: no operation '%s'\n", name.c_str());
      MPI_Abort(world, 2);
    }
    for (int argument = 2; argument < argc; ++argument) {
      const int bytes = std::atoi(argv[argument]);
      const auto elements = static_cast<int>(bytes / sizeof(double));
      const Times times = measure(found->second, elements, rank, ranks);
      if (rank == 0) {
        std::printf("%s %d %.1f %.1f %ld\n", name.c_str(), bytes, times.median_us, times.least_us,
                    times.wrong);
        std::fflush(stdout);
      }
    }
  }
  MPI_Finalize();
  return 0;
}
