// Which sanitizer this is built with: WORMCUBE_ASAN, WORMCUBE_TSAN.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__has_feature)  // clang
#if __has_feature(address_sanitizer)
#define WORMCUBE_ASAN
#endif
#if __has_feature(thread_sanitizer)
#define WORMCUBE_TSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)  // gcc
#define WORMCUBE_ASAN
#endif
#if defined(__SANITIZE_THREAD__)
#define WORMCUBE_TSAN
#endif
