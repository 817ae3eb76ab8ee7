// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <string>

namespace bulkhead::cli::demo {

// A new temporary directory. The destructor removes it with its contents.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  // The path, or an empty text if the directory could not be created.
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
  // The bit rate in kbit/s of a clip with noise, or 0 for no noise. Without
  // noise, the test pictures compress to almost nothing and decode faster than
  // real video.
  uint32_t noise_kbits = 0;
};

// Makes the clip with the ffmpeg program. Returns kNotFound, with the package
// to install, if there is no such program. A failure leaves no file at `path`.
Status MakeSampleClip(const SampleClip& clip, const std::string& path);

}  // namespace bulkhead::cli::demo
