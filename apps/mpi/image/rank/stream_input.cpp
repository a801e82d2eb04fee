// std::cin of each rank its own, on its standard input (input.c).
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <iostream>
#include <new>

#include <ext/stdio_sync_filebuf.h>

namespace {

using Buffer = __gnu_cxx::stdio_sync_filebuf<char>;

// Never destroyed, as the library's own.
alignas(Buffer) std::byte buffer[sizeof(Buffer)];

}  // namespace

// By the name that the program's code has for it.
extern "C" {
extern std::byte rank_cin[sizeof(std::istream)] __asm__("_ZSt3cin");
alignas(std::istream)
    __attribute__((visibility("hidden"))) std::byte rank_cin[sizeof(std::istream)];
}

namespace {

// After input.c's, before the program's.
__attribute__((constructor(102))) void open_stream() {
  static const std::ios_base::Init streams;
  (new (rank_cin) std::istream(new (buffer) Buffer(stdin)))->tie(&std::cout);
}

}  // namespace
