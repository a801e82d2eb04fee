/* Functions that write to stdout and stderr: they write to the rank's streams (streams.c).
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* For the program and its libraries. Weak: a program may define functions of these names. */
#define RANK_STATE __attribute__((visibility("default"), weak))

#undef putchar
#undef putchar_unlocked
RANK_STATE int putchar(int c) { return putc(c, stdout); }
RANK_STATE int putchar_unlocked(int c) { return putc_unlocked(c, stdout); }
RANK_STATE wint_t putwchar(wchar_t c) { return fputwc(c, stdout); }

/* Keeps a line in one piece. */
RANK_STATE int puts(const char* text) {
  flockfile(stdout);
  const int failed = fputs_unlocked(text, stdout) < 0 || putc_unlocked('\n', stdout) < 0;
  funlockfile(stdout);
  return failed ? EOF : 1;
}

/* printf and vprintf, by the function for any stream. `leading`: the additional parameter of those
   that check their formats. */
#define PRINTS(print, vprint, vfprint, character, leading, ...)          \
  RANK_STATE int vprint(leading const character* format, va_list list);  \
  RANK_STATE int vprint(leading const character* format, va_list list) { \
    return vfprint(stdout, __VA_ARGS__ format, list);                    \
  }                                                                      \
  RANK_STATE int print(leading const character* format, ...);            \
  RANK_STATE int print(leading const character* format, ...) {           \
    va_list list;                                                        \
    va_start(list, format);                                              \
    const int written = vfprint(stdout, __VA_ARGS__ format, list);       \
    va_end(list);                                                        \
    return written;                                                      \
  }
#define COMMA ,
extern int __vfprintf_chk(FILE*, int, const char*, va_list);
extern int __vfwprintf_chk(FILE*, int, const wchar_t*, va_list);
PRINTS(printf, vprintf, vfprintf, char, , )
PRINTS(wprintf, vwprintf, vfwprintf, wchar_t, , )
PRINTS(__printf_chk, __vprintf_chk, __vfprintf_chk, char, int flag COMMA, flag COMMA)
PRINTS(__wprintf_chk, __vwprintf_chk, __vfwprintf_chk, wchar_t, int flag COMMA, flag COMMA)

RANK_STATE void perror(const char* what) {
  const int error = errno;
  const int named = what != NULL && *what != '\0';
  char text[256];
  fprintf(stderr, "%s%s%s\n", named ? what : "", named ? ": " : "",
          strerror_r(error, text, sizeof text));
}
