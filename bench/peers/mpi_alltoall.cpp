// The peer: MPI_Alltoall on oversubscribed ranks, timed as wormcube times its own.
//   mpirun --oversubscribe -n 64 ./mpi_alltoall 64 4096 65536
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int argument = 1; argument < argc; ++argument) {
    const int bytes = std::atoi(argv[argument]);
    constexpr int warmup = 1, iterations = 11;
    std::vector<char> out(static_cast<std::size_t>(ranks) * bytes, static_cast<char>(rank)),
        in(out.size());
    std::vector<double> times;
    for (int iteration = 0; iteration < warmup + iterations; ++iteration) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      MPI_Alltoall(out.data(), bytes, MPI_CHAR, in.data(), bytes, MPI_CHAR, MPI_COMM_WORLD);
      const double end = MPI_Wtime();
      double first = 0, last = 0;  // one clock: all ranks are on one computer
      MPI_Reduce(&begin, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
      MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      if (iteration >= warmup) times.push_back(last - first);
    }
    long wrong = 0;
    for (int q = 0; q < ranks; ++q)
      wrong += in[static_cast<std::size_t>(q) * bytes] != static_cast<char>(q) ? 1 : 0;
    std::sort(times.begin(), times.end());
    if (rank == 0) {
      std::printf("MPI_Alltoall %d ranks x %d B: median %.1f us, min %.1f us, wrong %ld\n", ranks,
                  bytes, times[times.size() / 2] * 1e6, times.front() * 1e6, wrong);
    }
  }
  MPI_Finalize();
  return 0;
}
