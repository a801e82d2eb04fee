// std::cin, cout, cerr and clog for each rank, on its standard streams (streams.c).
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <iostream>
#include <new>
#include <streambuf>

#include <ext/stdio_sync_filebuf.h>

namespace {

/// Writes to the stream that is the standard stream at that time: a rank may redirect it.
class Output : public std::streambuf {
 public:
  explicit Output(std::FILE*& stream) : stream_(stream) {}

 private:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof()))
      return std::fflush(stream_) == 0 ? traits_type::not_eof(c) : c;
    return std::putc(c, stream_);
  }
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    return static_cast<std::streamsize>(
        std::fwrite(text, 1, static_cast<std::size_t>(count), stream_));
  }
  int sync() override { return std::fflush(stream_); }

  std::FILE*& stream_;
};

using Input = __gnu_cxx::stdio_sync_filebuf<char>;

// Never destroyed, like the library's own streams.
alignas(Input) std::byte input[sizeof(Input)];
alignas(Output) std::byte output[sizeof(Output)], errors[sizeof(Output)];

}  // namespace

// Under the names that the program's code uses; weak, because the library's archive defines them
// too. Not for the program's shared libraries, whose constructors would use them before they exist.
#define STREAM(kind, name, symbol)                     \
  extern std::byte name[sizeof(kind)] __asm__(symbol); \
  alignas(kind) __attribute__((visibility("hidden"), weak)) std::byte name[sizeof(kind)]
extern "C" {
STREAM(std::istream, rank_cin, "_ZSt3cin");
STREAM(std::ostream, rank_cout, "_ZSt4cout");
STREAM(std::ostream, rank_cerr, "_ZSt4cerr");
STREAM(std::ostream, rank_clog, "_ZSt4clog");
}

namespace {

// After streams.c's, before the program's.
__attribute__((constructor(102))) void open_streams() {
  static const std::ios_base::Init streams;
  auto* const cout = new (rank_cout) std::ostream(new (output) Output(stdout));
  (new (rank_cin) std::istream(new (input) Input(stdin)))->tie(cout);
  auto* const cerr = new (rank_cerr) std::ostream(new (errors) Output(stderr));
  cerr->setf(std::ios_base::unitbuf);
  cerr->tie(cout);
  new (rank_clog) std::ostream(cerr->rdbuf());
}

}  // namespace
