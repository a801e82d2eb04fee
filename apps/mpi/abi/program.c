/* How libmpi_abi.so.1 finds its program. `wormcube mpirun` loads it and exports
   wormcube_mpi_program. A program started directly finds no such symbol: before any of its code
   runs, it becomes `wormcube mpirun -n 1 PROGRAM ARGUMENTS`.
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wormcube/apps/mpi/abi/library.h"

#define SONAME "libmpi_abi.so.1"

/* Set while a program becomes mpirun: if it gets here again, it has not found wormcube. */
static const char started_again[] = "WORMCUBE_MPI_STARTED";

struct WormcubeMpiFunctions wormcube_mpi_functions;

static void (*program_misses)(const char *name);

void wormcube_mpi_missing(const char *name) {
  if (program_misses != NULL) program_misses(name);
  fprintf(stderr, "%s: %s was called outside of a run: start the program with `wormcube mpirun`\n",
          program_invocation_short_name, name);
  _exit(2);
}

/* Whether the process's own program, the first of its objects, needs this library, unlike an
   interpreter that loads a module which needs it. */
static int is_needed_by_program(struct dl_phdr_info *object, size_t bytes, void *needed) {
  (void)bytes;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn) *const first =
        (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    const char *strings = NULL;
    for (const ElfW(Dyn) *entry = first; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_STRTAB) strings = (const char *)entry->d_un.d_ptr;
    }
    for (const ElfW(Dyn) *entry = first; strings != NULL && entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_NEEDED && strcmp(strings + entry->d_un.d_val, SONAME) == 0)
        *(int *)needed = 1;
    }
  }
  return 1; /* no further object */
}

/* Tries PATH as `wormcube`; returns if there is none. */
static void become(const char *path, char **arguments) {
  arguments[0] = (char *)path;
  execv(path, arguments);
}

static void become_mpirun(int argc, char **argv) {
  static char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  char **const arguments = calloc((size_t)argc + 6, sizeof *arguments);
  if (length < 0 || arguments == NULL) {
    perror("starting `wormcube mpirun`");
    _exit(2);
  }
  arguments[1] = (char *)"mpirun";
  arguments[2] = (char *)"-n";
  arguments[3] = (char *)"1";
  arguments[4] = program;
  for (int i = 1; i < argc; ++i) arguments[4 + i] = argv[i];
  if (getenv(started_again) != NULL) {
    fprintf(stderr, "%s: started by %s, which is not wormcube\n", program, getenv(started_again));
    _exit(2);
  }
  const char *const chosen = getenv("WORMCUBE");
  if (chosen != NULL && *chosen != '\0') {
    setenv(started_again, chosen, 1);
    become(chosen, arguments);
    fprintf(stderr, "%s: WORMCUBE=%s: %s\n", program, chosen, strerror(errno));
    _exit(2);
  }
  /* The library's folder: in a build tree, or lib/wormcube of an installation. */
  Dl_info here;
  if (dladdr((void *)&wormcube_mpi_functions, &here) != 0 && strrchr(here.dli_fname, '/') != NULL) {
    static const char *const places[] = {"../wormcube", "../../bin/wormcube",
                                         "../../../bin/wormcube"};
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
      char path[PATH_MAX];
      const int folder = (int)(strrchr(here.dli_fname, '/') - here.dli_fname);
      if (snprintf(path, sizeof path, "%.*s/%s", folder, here.dli_fname, places[i]) >=
          (int)sizeof path)
        continue;
      setenv(started_again, path, 1);
      become(path, arguments);
    }
  }
  setenv(started_again, "wormcube", 1);
  arguments[0] = (char *)"wormcube";
  execvp("wormcube", arguments);
  fprintf(stderr,
          "%s: an MPI program for wormcube, but wormcube was not found: set WORMCUBE to its path, "
          "or add its folder to PATH\n",
          program);
  _exit(2);
}

__attribute__((constructor)) static void find_program(int argc, char **argv) {
  const struct WormcubeMpiProgram *const found = dlsym(RTLD_DEFAULT, "wormcube_mpi_program");
  if (found != NULL) {
    if (found->functions == NULL) { /* wormcube loads it before the functions are there */
      const char *const preloaded = getenv("LD_PRELOAD");
      fprintf(stderr,
              "wormcube: LD_PRELOAD=%s: a library that calls MPI functions cannot be preloaded, "
              "because each rank needs its own; link it with the program instead: wormcube mpicc "
              "PROGRAM.o LIBRARY\n",
              preloaded == NULL ? "" : preloaded);
      _exit(2);
    }
    if (found->bytes != sizeof wormcube_mpi_functions) {
      fprintf(stderr,
              "%s: %zu bytes of functions, but the program has %zu: these are two versions of "
              "wormcube\n",
              SONAME, sizeof wormcube_mpi_functions, found->bytes);
      _exit(2);
    }
    wormcube_mpi_functions = *found->functions;
    program_misses = found->not_provided;
    unsetenv(started_again); /* programs that ranks start begin anew */
    return;
  }
  int needed = 0;
  dl_iterate_phdr(is_needed_by_program, &needed);
  if (needed) become_mpirun(argc, argv);
}
