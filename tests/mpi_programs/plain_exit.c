/* No MPI, as the programs that configure runs. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

static void at_exit(void) { puts("at exit"); }
int main(void) {
  atexit(at_exit);
  printf("no MPI\n");
  exit(7);
}
