// C++: globals, templates' statics, thread_local, exceptions and destructors of each rank. SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <mpi.h>

inline int shared_by_files = 0;
template <class T>
struct Counter {
  static inline int count = 0;
};
static thread_local int of_thread = 0;
inline int& of_function() {
  static int value = 0;
  return value;
}

struct Tells {
  std::string name = "a global";
  bool ends_aloud = false;
  ~Tells() {
    if (ends_aloud) std::cout << name << " of rank 0 has ended" << std::endl;
  }
} tells;

int deep(int depth, MPI_Comm comm) {
  std::string kept = "kept";
  if (depth > 0) return deep(depth - 1, comm) + static_cast<int>(kept.size());
  MPI_Barrier(comm);
  throw std::runtime_error("thrown in the deep");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  tells.ends_aloud = rank == 0;
  for (int i = 0; i <= rank; ++i) {
    ++shared_by_files, ++Counter<double>::count, ++of_thread, ++of_function();
    MPI_Barrier(MPI_COMM_SELF);
  }
  int wrong = 0;
  try {
    deep(6, MPI_COMM_WORLD);
  } catch (const std::exception& error) {
    int sum = 0, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);  // while it is handled
    wrong += sum != size || std::string(error.what()) != "thrown in the deep";
  }
  for (const int count : {shared_by_files, Counter<double>::count, of_thread, of_function()})
    wrong += count != rank + 1;
  std::vector<int> all(rank == 0 ? size : 0);
  MPI_Gather(&wrong, 1, MPI_INT, all.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    for (const int one : all) wrong += one;
    std::cout << wrong << " wrong" << std::endl;
  }
  MPI_Finalize();
  return 0;
}
