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
  std::string options;  // of the file system, by commas
};

// Returns the mounts in the order of the text: where several are at one place,
// the last one is seen. Leaves out lines that are not complete.
std::vector<MountInfo> ParseMountInfo(const std::string& text);

// Returns whether the list, with commas between words, has the word.
bool HasWord(const std::string& list, const std::string& word);

}  // namespace bulkhead::sandbox
