// A library of the program's own with an inline variable: g++ makes that one for a process. SPDX-License-Identifier: Apache-2.0
#include "own_library.h"

inline int the_number = -1;

int remembered_inline(int set) {
  if (set >= 0) the_number = set;
  return the_number;
}
