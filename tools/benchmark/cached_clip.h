// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/demo/sample_clip.h"

namespace bulkhead::benchmark {

// H.264 clips at bit rates that are common for cameras and web sites.
// `key_interval` is the number of frames from one keyframe to the next.
constexpr cli::demo::SampleClip Clip480p(uint32_t key_interval) {
  return {.width = 854,
          .height = 480,
          .frames = 300,
          .key_interval = key_interval,
          .noise_kbits = 4'000};
}
constexpr cli::demo::SampleClip Clip1080p(uint32_t key_interval) {
  return {.width = 1920,
          .height = 1080,
          .frames = 300,
          .key_interval = key_interval,
          .noise_kbits = 19'000};
}

// Returns the path of the file `name` in Bulkhead's part of the user's cache
// directory, which is created if it is missing.
std::string CachePath(const std::string& name);

// Returns the path of the clip. Makes the clip on the first call and keeps it
// in the user's cache directory, because encoding takes longer than measuring.
Result<std::string> CachedClip(const cli::demo::SampleClip& clip);

}  // namespace bulkhead::benchmark
