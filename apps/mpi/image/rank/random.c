/* Random numbers and strtok with separate state for each rank; generators as in the system.
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* For the program and its libraries. Weak: a program may define functions of these names. */
#define RANK_STATE __attribute__((visibility("default"), weak))

enum { STATE_BYTES = 128 };
static struct random_data generator;
static char state[STATE_BYTES];
static int begun;

static struct random_data *generator_of_rank(void) {
  if (!begun) {
    begun = 1;
    initstate_r(1, state, STATE_BYTES, &generator);
  }
  return &generator;
}

RANK_STATE long random(void) {
  int32_t number = 0;
  random_r(generator_of_rank(), &number);
  return number;
}
RANK_STATE void srandom(unsigned seed) { srandom_r(seed, generator_of_rank()); }
RANK_STATE int rand(void) { return (int)random(); }
RANK_STATE void srand(unsigned seed) { srandom(seed); }
RANK_STATE char *initstate(unsigned seed, char *memory, size_t bytes) {
  char *const before = (char *)generator_of_rank()->state;
  return initstate_r(seed, memory, bytes, &generator) == 0 ? before : NULL;
}

static struct drand48_data numbers;
RANK_STATE double drand48(void) {
  double number;
  drand48_r(&numbers, &number);
  return number;
}
RANK_STATE double erand48(unsigned short x[3]) {
  double number;
  erand48_r(x, &numbers, &number);
  return number;
}
RANK_STATE long lrand48(void) {
  long number;
  lrand48_r(&numbers, &number);
  return number;
}
RANK_STATE long nrand48(unsigned short x[3]) {
  long number;
  nrand48_r(x, &numbers, &number);
  return number;
}
RANK_STATE long mrand48(void) {
  long number;
  mrand48_r(&numbers, &number);
  return number;
}
RANK_STATE long jrand48(unsigned short x[3]) {
  long number;
  jrand48_r(x, &numbers, &number);
  return number;
}
RANK_STATE void srand48(long seed) { srand48_r(seed, &numbers); }
RANK_STATE unsigned short *seed48(unsigned short seed[3]) {
  static unsigned short before[3];
  memcpy(before, numbers.__x, sizeof before);
  seed48_r(seed, &numbers);
  return before;
}
RANK_STATE void lcong48(unsigned short parameters[7]) { lcong48_r(parameters, &numbers); }

RANK_STATE char *strtok(char *restrict text, const char *restrict between) {
  static char *rest;
  return strtok_r(text, between, &rest);
}
