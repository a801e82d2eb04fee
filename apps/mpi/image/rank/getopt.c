/* getopt with separate state for each rank.
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For the program and its libraries. Weak: a program may define functions of these names. */
#define RANK_STATE __attribute__((visibility("default"), weak))

RANK_STATE int optind = 1, opterr = 1, optopt = '?';
RANK_STATE char *optarg;

static char *rest; /* of a word with several short options */
/* Words that are not options and were skipped: argv[first .. last). */
static int first_plain, last_plain;

/* Moves the plain words that were skipped behind the options that follow them. */
static void move_plain_words(char **argv) {
  const int plain = last_plain - first_plain, options = optind - last_plain;
  if (plain > 0 && options > 0) {
    for (int i = 0; i < options; ++i) {
      char *const word = argv[last_plain + i];
      memmove(argv + first_plain + i + 1, argv + first_plain + i, (size_t)plain * sizeof *argv);
      argv[first_plain + i] = word;
    }
  }
  first_plain += optind - last_plain;
  last_plain = optind;
}

static int is_plain(const char *word) { return word[0] != '-' || word[1] == '\0'; }

/* Finds the next word with options; 0 if there is none. */
static int next_word(int argc, char *const constant_argv[], const char *shorts) {
  char **const argv = (char **)constant_argv;
  const int in_order = *shorts == '-',
            at_first_plain = *shorts == '+' || getenv("POSIXLY_CORRECT") != NULL;
  if (optind == 0) optind = 1, first_plain = last_plain = 1;
  if (first_plain == 0) first_plain = last_plain = optind;
  if (last_plain > optind) last_plain = optind;
  if (first_plain > optind) first_plain = optind;
  if (!in_order && !at_first_plain) {
    move_plain_words(argv);
    while (optind < argc && is_plain(argv[optind])) ++optind;
    last_plain = optind;
  }
  if (optind < argc && strcmp(argv[optind], "--") == 0) {
    ++optind;
    move_plain_words(argv);
    last_plain = optind = argc;
    optind = first_plain;
    return 0;
  }
  if (optind >= argc) {
    if (first_plain != last_plain) optind = first_plain;
    return 0;
  }
  return 1;
}

static int missing(const char *shorts) {
  if (*shorts == '-' || *shorts == '+') ++shorts;
  return *shorts == ':' ? ':' : '?';
}
static int reports_errors(const char *shorts) { return opterr != 0 && missing(shorts) != ':'; }

static int long_option(int argc, char *const argv[], const char *shorts, const struct option *longs,
                       int *index, const char *name, const char *dashes, int may_be_short) {
  const size_t length = strcspn(name, "=");
  int found = -1, several = 0;
  for (int i = 0; longs[i].name != NULL; ++i) {
    if (strncmp(longs[i].name, name, length) != 0) continue;
    if (strlen(longs[i].name) == length) {
      found = i, several = 0;
      break;
    }
    if (found < 0) {
      found = i;
    } else if (longs[i].has_arg != longs[found].has_arg || longs[i].flag != longs[found].flag ||
               longs[i].val != longs[found].val) {
      several = 1;
    }
  }
  if (found < 0 && may_be_short) return -2;
  ++optind;
  optopt = 0;
  if (found < 0 || several) {
    if (reports_errors(shorts))
      fprintf(stderr,
              several ? "%s: option '%s%s' is ambiguous\n" : "%s: unrecognized option '%s%s'\n",
              argv[0], dashes, name);
    return '?';
  }
  const struct option *const option = longs + found;
  optopt = 0;
  if (name[length] == '=') {
    if (option->has_arg == no_argument) {
      if (reports_errors(shorts))
        fprintf(stderr, "%s: option '%s%s' doesn't allow an argument\n", argv[0], dashes,
                option->name);
      optopt = option->val;
      return '?';
    }
    optarg = (char *)name + length + 1;
  } else if (option->has_arg == required_argument) {
    if (optind >= argc) {
      if (reports_errors(shorts))
        fprintf(stderr, "%s: option '%s%s' requires an argument\n", argv[0], dashes, option->name);
      optopt = option->val;
      return missing(shorts);
    }
    optarg = argv[optind++];
  }
  if (index != NULL) *index = found;
  if (option->flag == NULL) return option->val;
  *option->flag = option->val;
  return 0;
}

static int option_of(int argc, char *const argv[], const char *shorts, const struct option *longs,
                     int *index, int long_only) {
  if (argc < 1) return -1;
  optarg = NULL;
  if (optind == 0) rest = NULL;
  if (rest == NULL || *rest == '\0') {
    rest = NULL;
    if (!next_word(argc, argv, shorts)) return -1;
    char *const word = argv[optind];
    if (is_plain(word)) {
      if (*shorts != '-') return -1; /* at the first plain word */
      optarg = word;
      ++optind;
      return 1;
    }
    if (longs != NULL && word[1] == '-')
      return long_option(argc, argv, shorts, longs, index, word + 2, "--", 0);
    if (longs != NULL && long_only && (word[2] != '\0' || strchr(shorts, word[1]) == NULL)) {
      const int found = long_option(argc, argv, shorts, longs, index, word + 1, "-",
                                    strchr(shorts, word[1]) != NULL);
      if (found != -2) return found;
    }
    rest = word + 1;
  }
  const char letter = *rest++;
  const char *const known =
      letter == ':' || letter == ';'
          ? NULL
          : strchr(*shorts == '-' || *shorts == '+' ? shorts + 1 : shorts, letter);
  const int last = *rest == '\0';
  if (last) ++optind;
  if (known == NULL) {
    if (reports_errors(shorts)) fprintf(stderr, "%s: invalid option -- '%c'\n", argv[0], letter);
    optopt = letter;
    return '?';
  }
  if (longs != NULL && known[1] == ';' && letter == 'W') {
    const char *const name = last ? (optind < argc ? argv[optind] : NULL) : rest;
    rest = NULL;
    if (name == NULL) {
      if (reports_errors(shorts))
        fprintf(stderr, "%s: option requires an argument -- '%c'\n", argv[0], letter);
      optopt = letter;
      return missing(shorts);
    }
    return long_option(argc, argv, shorts, longs, index, name, "-W ", 0);
  }
  if (known[1] != ':') return letter;
  if (!last) {
    optarg = rest;
    ++optind;
  } else if (known[2] != ':') {
    if (optind >= argc) {
      if (reports_errors(shorts))
        fprintf(stderr, "%s: option requires an argument -- '%c'\n", argv[0], letter);
      optopt = letter;
      rest = NULL;
      return missing(shorts);
    }
    optarg = argv[optind++];
  }
  rest = NULL;
  return letter;
}

RANK_STATE int getopt(int argc, char *const argv[], const char *shorts) {
  return option_of(argc, argv, shorts, NULL, NULL, 0);
}
RANK_STATE int getopt_long(int argc, char *const argv[], const char *shorts,
                           const struct option *longs, int *index) {
  return option_of(argc, argv, shorts, longs, index, 0);
}
RANK_STATE int getopt_long_only(int argc, char *const argv[], const char *shorts,
                                const struct option *longs, int *index) {
  return option_of(argc, argv, shorts, longs, index, 1);
}
