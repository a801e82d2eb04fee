/* Functions that read from stdin: they read the rank's stream (streams.c).
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

/* For the program and its libraries. Weak: a program may define functions of these names. */
#define RANK_STATE __attribute__((visibility("default"), weak))
#define NAMED(name) __asm__(name)

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

/* scanf and vscanf for one C standard: formats differ between standards. */
#define SCANS(prefix, suffix)                                                                  \
  extern int system_vfscanf##suffix(FILE *, const char *, va_list) NAMED(prefix "vfscanf");    \
  RANK_STATE int rank_vscanf##suffix(const char *format, va_list list) NAMED(prefix "vscanf"); \
  RANK_STATE int rank_vscanf##suffix(const char *format, va_list list) {                       \
    return system_vfscanf##suffix(stdin, format, list);                                        \
  }                                                                                            \
  RANK_STATE int rank_scanf##suffix(const char *format, ...) NAMED(prefix "scanf");            \
  RANK_STATE int rank_scanf##suffix(const char *format, ...) {                                 \
    va_list list;                                                                              \
    va_start(list, format);                                                                    \
    const int found = system_vfscanf##suffix(stdin, format, list);                             \
    va_end(list);                                                                              \
    return found;                                                                              \
  }
SCANS("", 89)
SCANS("__isoc99_", 99)
#if __GLIBC_PREREQ(2, 38)
SCANS("__isoc23_", 23)
#endif
