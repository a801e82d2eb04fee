/* Rank 0 and each other, there and back, of growing size. SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

void pingpong(void) {
  enum { LONGEST = 1 << 20 };
  unsigned char *const data = calloc(LONGEST, 1);
  Number sum = 0;
  for (int other = 1; other < size; ++other) {
    for (int bytes = 0; bytes <= LONGEST; bytes = bytes == 0 ? 1 : bytes * 32) {
      if (rank == 0) {
        for (int i = 0; i < bytes; ++i) data[i] = (unsigned char)(i * 7 + other);
        MPI_Send(data, bytes, MPI_UNSIGNED_CHAR, other, 5, MPI_COMM_WORLD);
        MPI_Recv(data, LONGEST, MPI_UNSIGNED_CHAR, other, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      } else if (rank == other) {
        MPI_Status status;
        int count;
        MPI_Recv(data, LONGEST, MPI_UNSIGNED_CHAR, 0, 5, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_UNSIGNED_CHAR, &count);
        for (int i = 0; i < count; ++i) data[i] ^= 0x55;
        MPI_Ssend(data, count, MPI_UNSIGNED_CHAR, 0, 6, MPI_COMM_WORLD);
      }
      if (rank == 0 || rank == other) {
        for (int i = 0; i < bytes; i += 13) sum = sum * 31 + data[i];
      }
    }
  }
  free(data);
  tell_sum("pingpong", sum);
}
