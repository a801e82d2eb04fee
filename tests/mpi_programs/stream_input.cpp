// std::cin is at its end at once on all ranks but 0, also for constructors of globals. SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <string>

#include <mpi.h>

struct FirstWord {
  std::string word;
  FirstWord() { std::cin >> word; }
};
static FirstWord first;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::string line;
  int found[3] = {static_cast<int>(first.word.size()), 0, 0};
  while (std::getline(std::cin, line)) found[1] += 1 + static_cast<int>(line.size());
  found[2] = std::cin.eof() && !std::cin.bad();
  int all[3 * 1024];
  MPI_Gather(found, 3, MPI_INT, all, 3, MPI_INT, 0, MPI_COMM_WORLD);
  for (int r = 0; rank == 0 && r < size; ++r)
    std::cout << r << ": " << all[3 * r] << " " << all[3 * r + 1] << " " << all[3 * r + 2] << "\n";
  MPI_Finalize();
}
