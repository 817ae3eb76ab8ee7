// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <string>

namespace bulkhead::cli {

// A directory that is removed, with what is in it, by the destructor.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  // Empty when it could not be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A synthetic H.264 clip in an MP4 file.
struct SampleClip {
  uint32_t width = 640;
  uint32_t height = 360;
  uint32_t frames = 120;
  uint32_t key_interval = 48;
  // Film grain, so to speak: without it test pictures compress to nothing and
  // decode faster than anything real. Kilobits a second; 0: no noise.
  uint32_t noise_kbits = 0;
};

// Has the ffmpeg program make it. kNotFound, with what to install, when there
// is none. The file is complete or not there.
Status MakeSampleClip(const SampleClip& clip, const std::string& path);

}  // namespace bulkhead::cli
