// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace bulkhead::discovery {

// Identifies a file and its state, by its attributes. A different value means
// that the file was written or replaced.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t bytes = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;

  bool operator==(const FileIdentity&) const = default;
};

inline FileIdentity IdentityOf(const struct stat& info) {
  const auto nanoseconds = [](const timespec& time) {
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .bytes = info.st_size,
          .modified_ns = nanoseconds(info.st_mtim),
          .changed_ns = nanoseconds(info.st_ctim)};
}

}  // namespace bulkhead::discovery
