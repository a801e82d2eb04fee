/* What the kernels have in common. Each is called by all ranks; rank 0 prints lines that depend on the number of ranks
   and on nothing else, so that any two MPIs must print the same. SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNELS_H
#define KERNELS_H
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long Number;

extern int rank, size;

/* Rank 0 prints the sum of what all ranks give, which may wrap around. */
void tell_sum(const char* what, Number mine);
/* The next of a sequence of pseudo-random numbers, below `limit`. */
unsigned below(unsigned limit, Number* state);

void ring(void), pi(void), stencil(void), transpose(void), sample_sort(void), bucket_sort(void),
    halo_2d(void);
void halo_3d(void), pingpong(void), life(void), jacobi(void), tasks(void), all_pairs(void),
    matrix_vector(void);

#endif
