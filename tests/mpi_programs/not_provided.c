/* Prints the functions that the program's table lacks. SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "wormcube/apps/mpi/abi/functions.h"

int main(void) {
  const struct WormcubeMpiProgram *const program = dlsym(RTLD_DEFAULT, "wormcube_mpi_program");
#define WORMCUBE_MPI_FUNCTION(result, name, parameters, arguments) \
  if (program->functions->name == NULL) puts(#name);
#include "wormcube/mpi/functions.def"
  return 0;
}
