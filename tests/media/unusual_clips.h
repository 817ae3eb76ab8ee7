// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bulkhead/status.h"

namespace bulkhead::tests {

// Sound clips of unusual kinds, small and short: each codec and container that
// ffmpeg writes, with the options that make a stream unlike most others, copied
// from container to container, cut and joined.
struct UnusualClip {
  // The name of the file; its extension chooses the container.
  const char* file;
  // The words of an ffmpeg command between its first options and the file, with
  //   %v, %c   a source of 30 pictures of 96x64 and of 176x144 pixels;
  //   %a       a source of 1.2 s of sound, two channels at 44.1 kHz;
  //   %h       the encoder of HEVC, up to its parameters;
  //   @FILE    another clip as an input.
  // Behind `cat`, the clips and the bytes #HEX are joined as they are.
  const char* recipe;
};

// The tables.
std::span<const UnusualClip> UnusualH26xClips();
std::span<const UnusualClip> UnusualVideoClips();
std::span<const UnusualClip> UnusualContainerClips();
std::span<const UnusualClip> UnusualSoundClips();

// Returns the rows of all tables.
std::vector<UnusualClip> UnusualClips();

// Return whether the clip has pictures, and whether it has sound.
bool HasPictures(const UnusualClip& clip);
bool HasSound(const UnusualClip& clip);

// Returns the path of the clip `file`. Each test program makes a clip at most
// once. Returns kNotFound if this machine has no ffmpeg, and kUnsupported if
// ffmpeg cannot make this clip.
Result<std::string> MakeUnusualClip(const std::string& file);

}  // namespace bulkhead::tests
