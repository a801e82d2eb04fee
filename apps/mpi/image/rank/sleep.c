/* A rank that sleeps yields its core to other ranks.
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

/* Defined by wormcube; absent in a program that has not become a run of wormcube yet. */
__attribute__((weak, visibility("default"))) extern void wormcube_rank_sleep(long long nanoseconds);

/* For the program and its libraries. Weak: a program may define functions of these names. */
#define RANK_STATE __attribute__((visibility("default"), weak))

enum { per_second = 1000000000 };

static int sleep_for(long long nanoseconds) {
  if (wormcube_rank_sleep) wormcube_rank_sleep(nanoseconds);
  return 0;
}

static int is_time(const struct timespec *time) {
  return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < per_second;
}

/* At most a hundred years: more would overflow the nanoseconds. */
static long long nanoseconds_of(long long seconds, long nanoseconds) {
  const long long most = 100LL * 365 * 24 * 3600;
  return (seconds < most ? seconds : most) * per_second + nanoseconds;
}

RANK_STATE unsigned sleep(unsigned seconds) {
  sleep_for((long long)seconds * per_second);
  return 0;
}
RANK_STATE int usleep(useconds_t microseconds) { return sleep_for((long long)microseconds * 1000); }
RANK_STATE int nanosleep(const struct timespec *time, struct timespec *rest) {
  if (!is_time(time)) {
    errno = EINVAL;
    return -1;
  }
  const long long nanoseconds = nanoseconds_of(time->tv_sec, time->tv_nsec);
  if (rest != NULL)
    rest->tv_sec = rest->tv_nsec = 0; /* may be the same object, so only after reading it */
  return sleep_for(nanoseconds);
}
RANK_STATE int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                               struct timespec *rest) {
  if (!is_time(time)) return EINVAL;
  struct timespec now = {0, 0};
  if ((flags & TIMER_ABSTIME) != 0 && clock_gettime(clock, &now) != 0) return EINVAL;
  const long long nanoseconds =
      nanoseconds_of(time->tv_sec - now.tv_sec, time->tv_nsec - now.tv_nsec);
  if (rest != NULL && (flags & TIMER_ABSTIME) == 0) rest->tv_sec = rest->tv_nsec = 0;
  return sleep_for(nanoseconds > 0 ? nanoseconds : 0);
}
RANK_STATE int sched_yield(void) { return sleep_for(0); }
