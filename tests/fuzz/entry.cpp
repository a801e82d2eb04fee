// The entry of one libFuzzer program; WORMCUBE_FUZZ_TARGET names its target.
// SPDX-License-Identifier: Apache-2.0
#ifdef WORMCUBE_FUZZ_TARGET
#include "wormcube/tests/fuzz/targets.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  wormcube::fuzz::WORMCUBE_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
#endif
