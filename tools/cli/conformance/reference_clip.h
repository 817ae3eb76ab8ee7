// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/conformance/kept_files.h"

namespace bulkhead::cli::conformance {

// A file with one video stream, and the frames that the ffmpeg program decodes
// from it. ffmpeg shares no code with the backend under test.
struct ReferenceClip {
  struct Frame {
    std::optional<int64_t> pts;  // In ticks of the stream's time base.
    // The MD5 of the picture as packed RGB. A component has 16 bits if the clip
    // is `deep`, else 8.
    std::string md5;
  };

  std::string name;  // "h264", or the name of the file
  std::string codec;
  std::string pixel_format;
  std::string path;
  // A text that differs between any two clips. It is part of the recipe
  // (kept_files.h) of files that are made from the clip.
  std::string identity;
  bool made = false;  // Made by MakeClip, not a file of --media.
  // The components have more than 8 bits. Checks then ask for float32, and
  // compare with ffmpeg's RGB of 16 bits.
  bool deep = false;
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<Frame> frames;
};

// Reads the frames of a file with the ffmpeg program. `kept` caches the result.
// Returns kNotFound, with the package to install, if ffmpeg is missing, and
// kBadInput if ffmpeg cannot read the file.
Result<ReferenceClip> ReadReference(const std::string& path,
                                    const std::string& name,
                                    const KeptFiles& kept);

// A clip that MakeClip can make. NamesOfClips() returns all of them.
struct ClipName {
  std::string name;  // "vp9", or a variant: "vp9 of 10 bits"
  std::string codec;
};
std::vector<ClipName> NamesOfClips();
// Makes a small clip, or takes it from `kept`. If the codec has inter-coded
// frames, the clip has them, and several keyframes. Fails like ReadReference.
// Returns kUnsupported if MakeClip knows no such clip, or this ffmpeg cannot
// encode it.
Result<ReferenceClip> MakeClip(const std::string& name, const KeptFiles& kept);

// Makes a clip of three pictures of the given size. Fails like MakeClip.
Result<ReferenceClip> MakeClipOfSize(const std::string& codec, uint32_t width,
                                     uint32_t height, const KeptFiles& kept);
// Returns the pixel format of the clip that MakeClip makes for `name`. Returns
// an empty text if MakeClip knows no such clip.
std::string PixelFormatOf(const std::string& name);

// A choice of fields of bulkhead_frame.
enum class Fields {
  // The fields whose values the codec's bitstream or the packets determine.
  kCertain,
  // The fields of kCertain and those that describe colours. Compared if pixels
  // are wrong: a colour field that differs from ffprobe's explains them.
  // "unknown" is allowed, too, unless the bitstream declares colours.
  kColors,
};

// Returns the allowed values of fields of a clip's frames, from the output of
// ffprobe: " color_space=1|2 color_range=1", where "|" means "or". Each field
// begins with a space. Leaves out fields whose value differs between frames.
// Fails like ReadReference.
Result<std::string> ReadFields(const ReferenceClip& clip, Fields which,
                               const KeptFiles& kept);

// An audio file and the samples that ffmpeg decodes from it, with interleaved
// channels.
struct ReferenceSound {
  std::string path;
  std::vector<float> samples;
};
// Makes one second of audio with an encoder of ffmpeg, in a file called `file`,
// or takes it from `kept`. Fails like MakeClip.
Result<ReferenceSound> MakeSound(const std::string& encoder,
                                 const std::string& file,
                                 const KeptFiles& kept);

}  // namespace bulkhead::cli::conformance
