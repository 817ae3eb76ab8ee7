// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bulkhead::sandbox {

// A line of /proc/PID/mountinfo, which proc(5) describes.
struct MountInfo {
  uint64_t device = 0;
  std::string root;     // the part of the file system that is mounted
  std::string point;    // where it is mounted
  std::string type;     // such as "cgroup2"
  std::string options;  // options of the file system, separated by commas
};

// Returns the mounts in the order of the text. Skips incomplete lines. Of
// several mounts at one mount point, the last one hides the others.
std::vector<MountInfo> ParseMountInfo(const std::string& text);

// Returns whether `list`, words that are separated by commas, has `word`.
bool HasWord(const std::string& list, const std::string& word);

}  // namespace bulkhead::sandbox
