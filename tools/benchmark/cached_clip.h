// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/cli/demo/sample_clip.h"

namespace bulkhead::benchmark {

// H.264 as cameras and sites have it; `key_interval` in frames.
constexpr cli::SampleClip Clip480p(uint32_t key_interval) {
  return {.width = 854,
          .height = 480,
          .frames = 300,
          .key_interval = key_interval,
          .noise_kbits = 4'000};
}
constexpr cli::SampleClip Clip1080p(uint32_t key_interval) {
  return {.width = 1920,
          .height = 1080,
          .frames = 300,
          .key_interval = key_interval,
          .noise_kbits = 19'000};
}

// The path of such a clip, made once and kept in the user's cache directory:
// encoding takes longer than all that is measured.
Result<std::string> CachedClip(const cli::SampleClip& clip);

}  // namespace bulkhead::benchmark
