// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace bulkhead::tests {

// Whether marks of memory mean something: a sanitizer keeps what was freed.
#if defined(__has_feature)
#define BULKHEAD_HAS_FEATURE(feature) __has_feature(feature)
#else
#define BULKHEAD_HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    BULKHEAD_HAS_FEATURE(address_sanitizer) ||                       \
    BULKHEAD_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kMemoryIsMeasured = false;
#else
inline constexpr bool kMemoryIsMeasured = true;
#endif
#undef BULKHEAD_HAS_FEATURE

// What a process holds, or the most that it was seen to hold.
struct HighWater {
  int64_t resident_kib = 0;
  int64_t descriptors = 0;
  int64_t threads = 0;

  // Raises each mark to what the process holds now. Leaves the marks of a
  // process that has ended or that this user may not look into.
  void Look(pid_t pid);
};

}  // namespace bulkhead::tests
