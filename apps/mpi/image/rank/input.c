/* Standard input is rank 0's; the other ranks are at its end.
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>
#include <wchar.h>

/* The program wormcube's, while it loads this copy of the program; there is none before the program has become a run of it. */
__attribute__((weak, visibility("default"))) extern int wormcube_rank_that_is_loaded(void);

/* Weak: a program may have functions of these names. */
#define RANK_STATE __attribute__((visibility("hidden"), weak))
#define NAMED(name) __asm__(name)

/* The system's own, by names that nothing here has. */
extern FILE system_input NAMED("_IO_2_1_stdin_");
extern ssize_t system_read(int, void *, size_t) NAMED("__read");

__attribute__((visibility("hidden"))) FILE *stdin;
static int is_mine;

static ssize_t at_end(void *cookie, char *buffer, size_t bytes) {
  (void)cookie, (void)buffer, (void)bytes;
  return 0;
}

/* Before the program's own constructors, which may read. Without a descriptor: there are thousands of ranks. */
__attribute__((constructor(101))) static void open_input(void) {
  is_mine = wormcube_rank_that_is_loaded == NULL || wormcube_rank_that_is_loaded() == 0;
  const cookie_io_functions_t functions = {.read = at_end};
  stdin = is_mine ? &system_input : fopencookie(NULL, "r", functions);
}

RANK_STATE ssize_t read(int file, void *to, size_t bytes) {
  return file == 0 && !is_mine ? 0 : system_read(file, to, bytes);
}

/* A stream without a descriptor cannot be opened again: another takes its place. */
#define REOPENS(name)                                                                     \
  RANK_STATE FILE *name(const char *path, const char *mode, FILE *stream) {               \
    if (stream != stdin || is_mine) {                                                     \
      FILE *(*reopen)(const char *, const char *, FILE *);                                \
      *(void **)&reopen = dlsym(RTLD_DEFAULT, #name); /* the system's: this one is hidden */ \
      return reopen(path, mode, stream);                                                  \
    }                                                                                     \
    FILE *const opened = fopen(path, mode);                                               \
    if (opened != NULL) stdin = opened;                                                   \
    return opened;                                                                        \
  }
REOPENS(freopen)
REOPENS(freopen64)

/* What the system's library reads from its own stdin. */
#undef getchar
#undef getchar_unlocked
RANK_STATE int getchar(void) { return getc(stdin); }
RANK_STATE int getchar_unlocked(void) { return getc_unlocked(stdin); }
RANK_STATE wint_t getwchar(void) { return fgetwc(stdin); }

RANK_STATE char *rank_gets(char *line) NAMED("gets");
RANK_STATE char *rank_gets(char *line) {
  char *end = line;
  int c;
  while ((c = getc(stdin)) != EOF && c != '\n') *end++ = (char)c;
  *end = '\0';
  return c == EOF && (end == line || ferror(stdin)) ? NULL : line;
}

/* scanf and vscanf of a C standard: its formats differ. */
#define SCANS(prefix, suffix)                                                                                        \
  extern int system_vfscanf##suffix(FILE *, const char *, va_list) NAMED(prefix "vfscanf");                         \
  RANK_STATE int rank_vscanf##suffix(const char *format, va_list list) NAMED(prefix "vscanf");                      \
  RANK_STATE int rank_vscanf##suffix(const char *format, va_list list) { return system_vfscanf##suffix(stdin, format, list); } \
  RANK_STATE int rank_scanf##suffix(const char *format, ...) NAMED(prefix "scanf");                                 \
  RANK_STATE int rank_scanf##suffix(const char *format, ...) {                                                      \
    va_list list;                                                                                                   \
    va_start(list, format);                                                                                         \
    const int found = system_vfscanf##suffix(stdin, format, list);                                                  \
    va_end(list);                                                                                                   \
    return found;                                                                                                   \
  }
SCANS("", 89)
SCANS("__isoc99_", 99)
#if __GLIBC_PREREQ(2, 38)
SCANS("__isoc23_", 23)
#endif
