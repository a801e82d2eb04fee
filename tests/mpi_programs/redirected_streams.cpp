// What ranks above 0 do to their std::cout is not rank 0's affair. SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::ostringstream own;
  std::cout << std::setprecision(3 + rank);
  std::streambuf* const before = std::cout.rdbuf();
  if (rank == 1) std::cout.setstate(std::ios_base::failbit);
  if (rank == 2) std::cout.rdbuf(own.rdbuf());
  if (rank == 3 && std::freopen("/dev/null", "w", stdout) == nullptr) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  std::cout << rank << ": " << 3.14159265 << std::endl;
  MPI_Barrier(MPI_COMM_WORLD);  // lines of two ranks could mix
  if (rank == 2) {
    std::cout.rdbuf(before);
    std::cout << "kept '" << own.str().substr(0, own.str().size() - 1) << "'" << std::endl;
  }
  std::cerr << (rank == 0 ? "errors of rank 0\n" : "");
  MPI_Finalize();
}
