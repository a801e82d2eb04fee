/* The cores that a rank's own thread may use, for each rank: ranks share threads, whose cores are
   the runtime's affair. What a rank sets has no effect but on what it is told.
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Defined by wormcube: whether the calling thread runs a rank. Absent in a program that has not
   become a run of wormcube yet. */
__attribute__((weak, visibility("default"))) extern int wormcube_rank_runs(void);

/* For the program and its libraries. Weak: a program may define functions of these names. */
#define RANK_STATE __attribute__((visibility("default"), weak))

enum { MOST_BYTES = 8192 };
static unsigned char own[MOST_BYTES]; /* what the rank has set */
static int is_set;

/* The rank's thread is the only one that may call MPI, so a program takes it for its main one. */
static int is_own_thread(pid_t thread) {
  return wormcube_rank_runs && wormcube_rank_runs() &&
         (thread == 0 || thread == getpid() || thread == (pid_t)syscall(SYS_gettid));
}

/* The process's, as its first thread has them: the runtime may bind the others. */
static int cores_of_process(size_t bytes, void* set) {
  const long used = syscall(SYS_sched_getaffinity, getpid(), bytes, set);
  if (used < 0) return errno;
  memset((char*)set + used, 0, bytes - (size_t)used);
  return 0;
}

static int get_own(size_t bytes, void* set) {
  const int error = cores_of_process(bytes, set);
  unsigned char* const cores = set;
  for (size_t i = 0; error == 0 && is_set && i < bytes; ++i)
    cores[i] &= i < MOST_BYTES ? own[i] : 0;
  return error;
}
static int set_own(size_t bytes, const void* set) {
  unsigned char wanted[MOST_BYTES] = {0}, there[MOST_BYTES];
  const int error = cores_of_process(MOST_BYTES, there);
  if (error != 0) return error;
  memcpy(wanted, set, bytes < MOST_BYTES ? bytes : MOST_BYTES);
  int any = 0;
  for (size_t i = 0; i < MOST_BYTES; ++i) any |= wanted[i] & there[i];
  if (!any) return EINVAL;
  memcpy(own, wanted, MOST_BYTES);
  is_set = 1;
  return 0;
}

static int result_of(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

/* The system's functions, for other threads. */
typedef int of_thread(pthread_t, size_t, void*);
static of_thread* system_function(const char* name) {
  of_thread* found;
  *(void**)&found = dlsym(RTLD_NEXT, name);
  return found;
}

RANK_STATE int sched_getaffinity(pid_t thread, size_t bytes, cpu_set_t* set) {
  if (is_own_thread(thread)) return result_of(get_own(bytes, set));
  const long used = syscall(SYS_sched_getaffinity, thread, bytes, set);
  if (used < 0) return -1;
  memset((char*)set + used, 0, bytes - (size_t)used);
  return 0;
}
RANK_STATE int sched_setaffinity(pid_t thread, size_t bytes, const cpu_set_t* set) {
  if (is_own_thread(thread)) return result_of(set_own(bytes, set));
  return (int)syscall(SYS_sched_setaffinity, thread, bytes, set);
}
RANK_STATE int pthread_getaffinity_np(pthread_t thread, size_t bytes, cpu_set_t* set) {
  if (pthread_equal(thread, pthread_self()) && is_own_thread(0)) return get_own(bytes, set);
  return system_function("pthread_getaffinity_np")(thread, bytes, set);
}
RANK_STATE int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t* set) {
  if (pthread_equal(thread, pthread_self()) && is_own_thread(0)) return set_own(bytes, set);
  return system_function("pthread_setaffinity_np")(thread, bytes, (void*)set);
}
