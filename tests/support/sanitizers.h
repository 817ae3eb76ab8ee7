// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::tests {

// True in a build with AddressSanitizer or ThreadSanitizer.
#ifdef __has_feature
#define BULKHEAD_HAS_FEATURE(x) __has_feature(x)
#else
#define BULKHEAD_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    BULKHEAD_HAS_FEATURE(address_sanitizer) ||                       \
    BULKHEAD_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kHasSanitizer = true;
#else
inline constexpr bool kHasSanitizer = false;
#endif
#undef BULKHEAD_HAS_FEATURE

// How much more time than otherwise a deadline gives to what runs here: a
// sanitizer makes the application and bulkheadd several times slower.
inline constexpr int kSlowdown = kHasSanitizer ? 4 : 1;

}  // namespace bulkhead::tests
