/* Separate standard streams for each rank. Rank 0 reads standard input; the others see its end.
   Standard output and error are the process's until the rank closes or redirects one.
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

/* Defined by wormcube, which calls it while it loads this copy of the program; absent in a program
   that has not become a run of wormcube yet. */
__attribute__((weak, visibility("default"))) extern int wormcube_rank_that_is_loaded(void);

/* For the program and its libraries. Weak: a program may define functions of these names. */
#define RANK_STATE __attribute__((visibility("default"), weak))
#define NAMED(name) __asm__(name)

/* The system's own functions, by names that nothing here defines. */
extern FILE system_input NAMED("_IO_2_1_stdin_"), system_output NAMED("_IO_2_1_stdout_"),
    system_errors NAMED("_IO_2_1_stderr_");
extern ssize_t system_read(int, void*, size_t) NAMED("__read");
extern ssize_t system_write(int, const void*, size_t) NAMED("__write");
extern int system_close(int) NAMED("__close");
extern int system_dup2(int, int) NAMED("__dup2");
extern int system_fclose(FILE*) NAMED("_IO_fclose");

/* The system's function, by its type; the one of that name here would be found first. */
#define SYSTEMS(function, result, ...)    \
  result (*system_function)(__VA_ARGS__); \
  *(void**)&system_function = dlsym(RTLD_NEXT, function)

/* Libraries' constructors come before open_streams(). */
__attribute__((visibility("default"))) FILE *stdin = &system_input, *stdout = &system_output,
                                            *stderr = &system_errors;

/* The descriptors that stand for the rank's 0, 1 and 2. */
enum { closed = -1, nowhere = -2 }; /* like /dev/null, but without a descriptor for each rank */
static int place_of_rank[3] = {0, 1, 2};
static pid_t home;
static int is_own[3]; /* a stream of the rank, which looks up its descriptor at each use */

/* Whether this is a process forked by the rank, which has its own descriptors. */
static int is_forked(void) { return getpid() != home; }

static int place_of(int file) { return file >= 0 && file <= 2 ? place_of_rank[file] : file; }

RANK_STATE ssize_t read(int file, void* to, size_t bytes) {
  const int place = place_of(file);
  return place == nowhere ? 0 : system_read(place, to, bytes);
}
RANK_STATE ssize_t write(int file, const void* from, size_t bytes) {
  const int place = place_of(file);
  return place == nowhere ? (ssize_t)bytes : system_write(place, from, bytes);
}

static ssize_t read_own(void* cookie, char* to, size_t bytes) {
  return read((int)(long)cookie, to, bytes);
}
static ssize_t write_own(void* cookie, const char* from, size_t bytes) {
  return write((int)(long)cookie, from, bytes);
}
static int seek_own(void* cookie, off64_t* offset, int from) {
  const int place = place_of((int)(long)cookie);
  const off64_t at = place == nowhere ? 0 : lseek64(place, *offset, from);
  if (at < 0) return -1;
  *offset = at;
  return 0;
}

static void own_stream(int file) {
  static const char* const modes[] = {"r", "w", "w"};
  static const int buffering[] = {_IOFBF, _IOLBF, _IONBF};
  FILE** const streams[] = {&stdin, &stdout, &stderr};
  const cookie_io_functions_t functions = {.read = read_own, .write = write_own, .seek = seek_own};
  FILE* const stream = fopencookie((void*)(long)file, modes[file], functions);
  if (stream == NULL) return;
  setvbuf(stream, NULL, buffering[file], BUFSIZ);
  *streams[file] = stream;
  is_own[file] = 1;
}

/* Before the program's own constructors, which may read and write. */
__attribute__((constructor(101))) static void open_streams(void) {
  home = getpid();
  if (wormcube_rank_that_is_loaded == NULL || wormcube_rank_that_is_loaded() == 0) return;
  place_of_rank[0] = nowhere;
  own_stream(0);
}

/* Makes this the rank's descriptor 0, 1 or 2; it is closed when another one replaces it. */
static void move(int file, int place) {
  FILE* const streams[] = {stdin, stdout, stderr};
  if (file != 0) fflush(streams[file]);
  if (!is_own[file]) own_stream(file);
  if (place_of_rank[file] > 2) system_close(place_of_rank[file]);
  place_of_rank[file] = place;
}

/* A new descriptor of the rank for the same file; `closed` if there is none left. */
static int copy_of(int place) {
  struct stat what;
  if (fstat(place, &what) == 0 && S_ISCHR(what.st_mode) && what.st_rdev == makedev(1, 3))
    return nowhere;
  return fcntl(place, F_DUPFD_CLOEXEC, 3);
}

RANK_STATE int dup2(int from, int to) {
  const int place = place_of(from);
  if (to < 0 || to > 2 || is_forked()) {
    if (place != nowhere) return system_dup2(place, to);
    const int null = open("/dev/null", O_RDWR);
    const int made = null < 0 ? -1 : system_dup2(null, to);
    system_close(null);
    return made;
  }
  if (from == to && place != closed) return to;
  const int copy = place == nowhere ? nowhere : copy_of(place);
  if (copy == closed) return -1;
  move(to, copy);
  return to;
}

RANK_STATE int dup3(int from, int to, int flags) {
  if (from != to && to >= 0 && to <= 2 && !is_forked()) return dup2(from, to);
  SYSTEMS("dup3", int, int, int, int);
  return system_function(place_of(from), to, flags);
}

/* The lowest free descriptor of the three, one that the rank has closed, or none. */
RANK_STATE int dup(int from) {
  const int place = place_of(from), forked = is_forked();
  for (int file = 0; file < 3 && !forked; ++file) {
    if (place_of_rank[file] == closed && place != closed) return dup2(from, file);
  }
  return place == nowhere ? open("/dev/null", O_RDWR) : fcntl(place, F_DUPFD, forked ? 0 : 3);
}

RANK_STATE int close(int file) {
  if (file < 0 || file > 2 || is_forked()) return system_close(file);
  if (place_of_rank[file] == closed) {
    errno = EBADF;
    return -1;
  }
  move(file, closed);
  return 0;
}

/* Which of the rank's standard streams it is; -1: none, or the process's for this rank only. */
static int number_of(const FILE* stream) {
  if (stream == &system_input || is_forked()) return -1;
  return stream == stdin ? 0 : stream == stdout ? 1 : stream == stderr ? 2 : -1;
}

RANK_STATE int fileno(FILE* stream) {
  const int file = number_of(stream);
  if (file >= 0) return file;
  SYSTEMS("fileno", int, FILE*);
  return system_function(stream);
}

RANK_STATE int fclose(FILE* stream) {
  const int file = number_of(stream);
  if (file < 0) return system_fclose(stream);
  const int failed = file != 0 && fflush(stream) != 0;
  move(file, closed);
  return failed ? EOF : 0;
}

#define REOPENS(name, open)                                                 \
  RANK_STATE FILE* name(const char* path, const char* mode, FILE* stream) { \
    const int file = number_of(stream);                                     \
    if (file < 0) {                                                         \
      SYSTEMS(#name, FILE*, const char*, const char*, FILE*);               \
      return system_function(path, mode, stream);                           \
    }                                                                       \
    if (path == NULL) return stream; /* another mode of the same file */    \
    FILE* const opened = open(path, mode);                                  \
    if (opened == NULL) return NULL;                                        \
    const int copy = copy_of(fileno(opened));                               \
    system_fclose(opened);                                                  \
    if (copy == closed) return NULL;                                        \
    move(file, copy);                                                       \
    FILE* const streams[] = {stdin, stdout, stderr};                        \
    clearerr(streams[file]);                                                \
    return streams[file];                                                   \
  }
REOPENS(freopen, fopen)
REOPENS(freopen64, fopen64)
