/* A program that provides one MPI function by its library's table: that one is called, any other names itself, by every name.
   SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wormcube/apps/mpi/abi/functions.h"

static const void *seen_buffer;
static long seen_sum;

static int send_(const void *buffer, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  seen_buffer = buffer;
  seen_sum = count + dest + tag + (long)datatype + (long)comm;
  return 77;
}

static struct WormcubeMpiFunctions functions;

static void not_provided(const char *name) {
  puts(name);
  exit(5);
}

extern const struct WormcubeMpiProgram wormcube_mpi_program;
#ifdef OTHER_VERSION
const struct WormcubeMpiProgram wormcube_mpi_program = {sizeof functions - sizeof(void *), &functions, not_provided};
#else
const struct WormcubeMpiProgram wormcube_mpi_program = {sizeof functions, &functions, not_provided};
#endif

typedef int Send(const void *, int, MPI_Datatype, int, int, MPI_Comm);

/* LIBRARY [FUNCTION]: without a function, Send by its four names. */
int main(int argc, char **argv) {
  functions.MPI_Send = send_;
  void *const library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  if (argc > 2) {
    void *const function = dlsym(library, argv[2]);
    void (*called)(void);
    if (function == NULL) return 1;
    memcpy(&called, &function, sizeof called);
    called();
    return 1; /* it must not come back */
  }
  static const char *const names[] = {"MPI_Send", "PMPI_Send"};
  for (int i = 0; i < 2; ++i) {
    void *const function = dlsym(library, names[i]);
    Send *called;
    char byte;
    memcpy(&called, &function, sizeof called);
    seen_buffer = NULL;
    if (called(&byte, 1, MPI_INT, 2, 3, MPI_COMM_WORLD) != 77) return 1;
    if (seen_buffer != &byte || seen_sum != 1 + 2 + 3 + 0x209 + 0x101) return 1;
  }
  puts("sent twice");
  return 0;
}
