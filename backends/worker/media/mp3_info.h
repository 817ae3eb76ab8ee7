// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "backends/worker/media/media_bytes.h"

namespace bulkhead::worker {

// Holds what the frame "Xing" or "Info" at the start of an .mp3 file tells
// about the file. The file is hostile: a number can be any that fits its field.
struct Mp3Info {
  int64_t begin = 0;  // the offset of the frame in the file
  int64_t end = 0;    // the offset behind it
  uint32_t frames = 0;
  uint32_t bytes = 0;  // from `begin` to the end of the audio; 0 if not told
  // The frames are counted by LAME or libavformat, which do not count the info
  // frame itself, and the numbers of samples that they have added at the start
  // and at the end are known.
  bool has_padding = false;
  uint32_t start_padding = 0;
  uint32_t end_padding = 0;
};

// Reads the info frame of the file, behind an ID3 tag. Returns nullopt if there
// is none, or none that counts the frames.
std::optional<Mp3Info> ReadMp3Info(MediaBytes file);

}  // namespace bulkhead::worker
